package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/pipe/engine"
	"example.com/pipe/specs/contracts"
)

const namesContract = "name: p\nversion: 1\nstages: [{id: a, run: x, contract: NAME}]\n"

// contractProject opens a project of files with the contracts of the program.
func contractProject(t *testing.T, files ...string) *engine.Project {
	t.Helper()
	p, err := engine.OpenProject(project(t, files...).Root, engine.Options{Contracts: contracts.Files, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestContractPlaces looks a name up where several folders have it: the first one counts, and what lies there
// that can't be read is reported and not stepped over.
func TestContractPlaces(t *testing.T) {
	asks := func(input string) string {
		return "name: c\ninput_schema: {required: [{name: " + input + ", type: string}]}\n"
	}
	for name, c := range map[string]struct {
		files []string
		want  string // the beginning of what is said of the stage
	}{
		"project":      {[]string{"specs/contracts/c.yaml", asks("here"), ".pipe/contracts/c.yaml", asks("there")}, `the contract "c" requires the input "here"`},
		"state":        {[]string{".pipe/contracts/c.yml", asks("there")}, `the contract "c" requires the input "there"`},
		"program":      {[]string{"pipelines/c.yaml", "", "specs/contracts/d.yaml", ""}, `there is no contract "c"`},
		"two forms":    {[]string{"specs/contracts/c.yaml", asks("x"), "specs/contracts/c.md", "---\n---\n"}, `contract "c": specs/contracts has c.yaml and c.md of this name; keep one of them`},
		"not a file":   {[]string{"specs/contracts/c.yaml/x", ""}, `contract "c": "specs/contracts/c.yaml" can't be read: `},
		"dots":         {[]string{"specs/c.yaml", asks("x")}, `there is no contract "../c"`},
		"with its end": {[]string{"specs/contracts/c.yaml", asks("x")}, `there is no contract "c.yaml"`},
	} {
		t.Run(name, func(t *testing.T) {
			ref := map[string]string{"dots": "../c", "with its end": "c.yaml"}[name]
			if ref == "" {
				ref = "c"
			}
			p := contractProject(t, append(c.files, "pipelines/p.yaml", strings.Replace(namesContract, "NAME", ref, 1))...)
			l, err := p.Load("p", "")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, d := range l.Diags {
				if d.Span.File == "pipelines/p.yaml" {
					got += d.Message + "\n"
				}
			}
			if !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("got %s", l.Diags.Text())
			}
		})
	}
}

// TestContractsListed lists what stages can name. What explains a folder is no contract, and a name of the
// project hides the program's.
func TestContractsListed(t *testing.T) {
	p := contractProject(t, "specs/contracts/README.md", "text", "specs/contracts/own.md", "", "specs/contracts/notes.txt", "",
		"specs/contracts/folder/x.yaml", "", ".pipe/contracts/own.yaml", "", ".pipe/contracts/todo-loop-enforcement.yml", "")
	entries, err := p.Contracts()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name+"="+e.File)
	}
	const want = "cross-stage-feedback=shipped/contracts/cross-stage-feedback.md own=specs/contracts/own.md " +
		"task-feedback-reader=shipped/contracts/task-feedback-reader.md todo-loop-enforcement=.pipe/contracts/todo-loop-enforcement.yml"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s", strings.Join(got, " "))
	}
}

// TestCheckContract names contracts in each way.
func TestCheckContract(t *testing.T) {
	p := contractProject(t, "specs/contracts/own.md", "---\nname: own\n---\n", "specs/contracts/bad.yaml", "nam: bad\n", "elsewhere.yml", "name: elsewhere\n")
	for ref, want := range map[string]string{
		"own":                                    "",
		"specs/contracts/own.md":                 "",
		filepath.Join(p.Root, "elsewhere.yml"):   "",
		"elsewhere.yml":                          "",
		"cross-stage-feedback":                   "",
		"bad":                                    "specs/contracts/bad.yaml:1:1: error: unknown key \"nam\" in the contract; did you mean \"name\"? [unknown-key]\n",
		"on":                                     `there is no contract "on"; did you mean "own"?`,
		"elsewhere":                              `there is no contract "elsewhere"; there are bad, cross-stage-feedback, own, task-feedback-reader, todo-loop-enforcement`,
		"specs/contracts/nosuch.md":              `there is no contract "specs/contracts/nosuch.md"; no file `,
		filepath.Join(p.Root, "specs/contracts"): "specs/contracts:1:1: error: \"specs/contracts\" can't be read: ",
	} {
		got := ""
		if c, err := p.CheckContract(ref, p.Root); err != nil {
			got = err.Error()
		} else {
			got = c.Diags.Short()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s", ref, got)
		}
	}
}

func TestIsContractFile(t *testing.T) {
	dir := t.TempDir()
	for file, want := range map[string]bool{
		"contracts/x.yaml": true, "contracts/x.md": true, "contracts/x.txt": false, "contracts/README.md": false,
		"a.yaml": true, "b.yaml": false, "c.md": false, "d.md": true,
	} {
		text := map[string]string{"a.yaml": "cacheable: true\n", "b.yaml": "stages: []\n", "d.md": "---\npre_checks: []\n---\n"}[file]
		write(t, filepath.Join(dir, file), text)
		if got := engine.IsContract(filepath.Join(dir, file)); got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
	if engine.IsContract(filepath.Join(dir, "nosuch.yaml")) || engine.IsContract(dir) {
		t.Error("what is not there is a contract")
	}
}

// A program without contracts of its own has those of the project.
func TestNoShippedContracts(t *testing.T) {
	root := project(t, "pipelines/p.yaml", strings.Replace(namesContract, "NAME", "own", 1), "specs/contracts/own.yaml", "name: own\n").Root
	for _, shipped := range []fstest.MapFS{nil, {"other.md": {Data: []byte("---\nname: other\n---\n")}}} {
		opt := engine.Options{Environ: os.Environ()}
		if shipped != nil {
			opt.Contracts = shipped
		}
		p, err := engine.OpenProject(root, opt)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := p.Load("p", ""); err != nil || len(l.Diags) > 0 || l.Plan.Graph.Nodes[0].Contract != "own" {
			t.Errorf("%v %s", err, l.Diags.Text())
		}
	}
}
