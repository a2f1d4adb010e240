package compile

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/toolchain"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// inProject are the options for a project with a pipe.yaml and files.
func inProject(t *testing.T, config string, files ...string) Options {
	t.Helper()
	p, ds := specs.ParseProject(source.NewFile("pipe.yaml", config))
	if len(ds) > 0 {
		t.Fatal(ds.Text())
	}
	tree := fstest.MapFS{}
	for _, name := range files {
		name, text, _ := strings.Cut(name, "=")
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	opt := options(t)
	opt.Kinds = append(slices.Clone(opt.Kinds), stage.Kind{Name: kindCommand}, stage.Kind{Name: kindPlugin})
	opt.Commands, opt.Plugins = p.Commands, p.Plugins
	opt.FindCommand = func(dir, role string) (toolchain.Command, error) { return toolchain.Find(fs.FS(tree), dir, role) }
	opt.FindPlugin = func(name string) (string, error) {
		if name == "installed" {
			return "/opt/bin/pipe-stage-installed", nil
		}
		return "", errors.New("not found")
	}
	return opt
}

func compiled(t *testing.T, text string, opt Options) (*plan.Plan, string) {
	t.Helper()
	doc, ds := specs.ParsePipeline(source.NewFile("p.yaml", text))
	p, more := Compile(doc, opt)
	ds.Add(more...)
	return p, ds.Text()
}

const aGoMod, aJest, odd = "go.mod=module m", `package.json={"scripts": {"test": "jest"}}`, `package.json={"scripts": {"test": "make test"}}`

// What a stage with command runs, and how what it says is read.
func TestProjectCommand(t *testing.T) {
	const impl = "name: p\nversion: 1\nstages:\n  - {id: implement, run: 'true'}\n"
	for _, tc := range []struct {
		name, stage, config, file string
		want                      string
	}{
		{"found", "{id: t, command: test, feedback_loop: {target_stage: implement}}", "", aGoMod, "review go test -json ./... go-test [0 1]"},
		{"found, without a loop", "{id: t, command: test}", "", aGoMod, "review go test -json ./... go-test [0 1]"},
		{"named comes first", "{id: t, command: test}", "commands: {test: {run: make test, format: junit, path: r.xml}}", aGoMod, "review make test junit r.xml any"},
		{"named, with statuses", "{id: t, command: lint}", "commands: {lint: {run: x, format: lines, pattern: 'x(?P<line>y)', ok_exit_codes: [0, 4]}}", aGoMod, "review x lines x(?P<line>y) [0 4]"},
		{"named, a script alone", "{id: t, command: lint}", "commands: {lint: ./lint.sh}", aGoMod, "work ./lint.sh"},
		{"named, a script that leaves items", "{id: t, command: lint, feedback_loop: {target_stage: implement}}", "commands: {lint: ./lint.sh}", aGoMod, "review ./lint.sh"},
		{"the stage's own feedback", "{id: t, command: test, feedback: {format: lines, pattern: '(?P<file>x)'}}", "", aGoMod, "review go test -json ./... lines (?P<file>x) [0 1]"},
		{"said to be no review", "{id: t, command: test, role: work}", "", aGoMod, "work go test -json ./..."},
		{"another folder", "{id: t, command: test, dir: web}", "", "web/" + aJest, `review npm run --silent test lines ^\s*(?P<description>FAIL\s+(?:\S+\s+)?(?P<file>\S+\.[cm]?[jt]sx?))\b [0 1]`},
		{"a script whose report is not known", "{id: t, command: test}", "", odd, "work npm run --silent test"},
		{"not known, with feedback of the stage", "{id: t, command: test, feedback: {format: junit, path: r.xml}, feedback_loop: {target_stage: implement}}", "", odd, "review npm run --silent test junit r.xml any"},
		{"a command that a loop leads to", "{id: make, command: build}\n  - {id: t, command: test, feedback_loop: {target_stage: make}}", "", aGoMod, "review go test -json ./... go-test [0 1]"},
	} {
		opt := inProject(t, tc.config, tc.file)
		p, ds := compiled(t, impl+"  - "+tc.stage+"\n", opt)
		if p == nil {
			t.Errorf("%s: %s", tc.name, ds)
			continue
		}
		n := &p.Graph.Nodes[len(p.Graph.Nodes)-1]
		script, _ := n.Config.Get("script")
		text, _ := script.(string)
		got := n.Role.String() + " " + text
		if f := n.Feedback; f != nil {
			got += " " + f.Format + " " + f.Path + f.Pattern
			got = strings.TrimSpace(got) + " any"
			if f.OKExitCodes != nil {
				got = strings.TrimSuffix(got, "any") + codes(f.OKExitCodes)
			}
		}
		if n.Kind != kindCommand || got != tc.want {
			t.Errorf("%s: kind %q\n got  %s\n want %s", tc.name, n.Kind, got, tc.want)
		}
	}
}

func codes(list []int) string {
	var out []string
	for _, c := range list {
		out = append(out, string(rune('0'+c)))
	}
	return "[" + strings.Join(out, " ") + "]"
}

// Each mistake with a command, with the lines to add.
func TestProjectCommandMistakes(t *testing.T) {
	const impl = "name: p\nversion: 1\nstages:\n  - {id: implement, run: 'true'}\n  - "
	for _, tc := range []struct {
		name, stage, config, file string
		want                      []string
	}{
		{"nothing there", "{id: t, command: test}", "", "README.md=", []string{
			"p.yaml:5:22: error: pipe.yaml has no command \"test\", and the project is of no kind whose commands are known",
			"[unknown-command]", "help: name it in pipe.yaml:", "commands:", "test: {run: make test, format: junit, path: report.xml}"}},
		{"misspelt", "{id: t, command: tset}", "commands: {test: x}", aGoMod, []string{`did you mean "test"?`}},
		{"misspelt, found", "{id: t, command: tes}", "", aGoMod, []string{`and the project is Go (go.mod), which has bench, build, lint, test`, `did you mean "test"?`}},
		{"two kinds", "{id: t, command: test}", "", aGoMod + "\x00" + aJest, []string{
			`the project has several commands "test": that of Go (go.mod) and that of Node (package.json)`, `test: {run: "go test -json ./...", format: go-test}`}},
		{"a folder that is known later", `{id: t, command: test, dir: "${{ run.id }}"}`, "", aGoMod, []string{"none can be found in a folder that is known only when the stage starts"}},
		{"a loop over what can't be read", "{id: t, command: test, feedback_loop: {target_stage: implement}}", "", odd, []string{
			`"t" sends back what the command "test" finds, and it can't be read: the script "test" of package.json is "make test"`, `its loop is here`,
			`test: {run: "npm run --silent test", format: junit, path: report.xml}`}},
		{"an expression in a script of pipe.yaml", "{id: t, command: test}", "commands: {test: 'make ${{ inputs.x }}'}", aGoMod, []string{
			"pipe.yaml:1:24: error: ${{ }} is not evaluated in run", "the stage that runs the command can give it values through env"}},
	} {
		opt := inProject(t, tc.config, strings.Split(tc.file, "\x00")...)
		p, ds := compiled(t, impl+tc.stage+"\n", opt)
		for _, want := range tc.want {
			if !strings.Contains(ds, want) {
				t.Errorf("%s: no %q in\n%s", tc.name, want, ds)
			}
		}
		if p != nil {
			t.Errorf("%s: it has a plan", tc.name)
		}
	}
}

// A shipped pipeline is looked at without the project that it will run in.
func TestMissingCommandAllowed(t *testing.T) {
	const text = "name: p\nversion: 1\nstages:\n  - {id: implement, run: 'true'}\n  - {id: t, command: test, feedback_loop: {target_stage: implement}}\n"
	opt := inProject(t, "", "README.md=")
	opt.AllowMissingCommands = true
	p, ds := compiled(t, text, opt)
	if p == nil || !strings.Contains(ds, "warning: pipe.yaml has no command") {
		t.Errorf("%v\n%s", p, ds)
	}
	opt.AllowMissingCommands, opt.ConfigUnread = false, true
	if _, ds := compiled(t, text, opt); ds != "" {
		t.Errorf("pipe.yaml can't be read, and it is said that it has no command:\n%s", ds)
	}
}

// What a stage with uses becomes: a plugin of pipe.yaml, or one that is installed.
func TestPlugins(t *testing.T) {
	opt := inProject(t, "plugins: {deploy: {command: [./bin/deploy, -v], result: stdout}, approve: {command: [x]}}", aGoMod)
	p, ds := compiled(t, "name: p\nversion: 1\ninputs: {to: string}\nstages:\n"+
		"  - {id: a, uses: deploy, with: {target: \"${{ inputs.to }}\", deep: {n: 1, list: [a, \"${{ run.id }}\"]}}}\n"+
		"  - {id: b, uses: installed}\n", opt)
	if p == nil {
		t.Fatal(ds)
	}
	a, b := &p.Graph.Nodes[0], &p.Graph.Nodes[1]
	for _, tc := range []struct {
		n    *plan.Node
		want string
	}{{a, `{"name":"deploy","command":["./bin/deploy","-v"],"result":"stdout"}`}, {b, `{"name":"installed","command":["/opt/bin/pipe-stage-installed"]}`}} {
		if text, err := value.Format(tc.n.Config); err != nil || text != tc.want || tc.n.Kind != kindPlugin {
			t.Errorf("kind %q, config %s, %v; want %s", tc.n.Kind, text, err, tc.want)
		}
	}
	if len(a.With) != 1 || a.With[0].Name != "with" || len(a.With[0].Value.Fields) != 2 || b.With != nil {
		t.Errorf("with %+v, %+v", a.With, b.With)
	}

	_, ds = compiled(t, "name: p\nversion: 1\nstages:\n  - {id: a, uses: deplyo}\n  - {id: b, uses: nosuch}\n  - {id: c, uses: plugin}\n"+
		"  - {id: d, uses: deploy, with: {x: \"${{ inputs.nosuch }}\"}}\n", opt)
	for _, want := range []string{
		`p.yaml:4:19: error: there is no kind or plugin "deplyo", and no program for it: not found [unknown-kind]`, `did you mean "deploy"?`,
		`there are approval, approve, deploy; a plugin is named in pipe.yaml, or is a program pipe-stage-nosuch of the PATH:`,
		`nosuch: {command: [./plugins/nosuch]}`, `there is no kind or plugin "plugin"`, `"inputs" has no "nosuch"`,
	} {
		if !strings.Contains(ds, want) {
			t.Errorf("no %q in\n%s", want, ds)
		}
	}
}
