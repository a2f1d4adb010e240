package shipped

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/pipe/cmd/pipe/built"
)

// program is the folder that holds the command.
var program string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "shipped-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := built.Command(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = dir
	return m.Run()
}

// repos is the folder of the sample repositories and of what was recorded in them.
var repos = filepath.Join("..", "..", "..", "testdata", "repos")

// environ is our environment without what could make git and go work elsewhere, or ask the network.
func environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "PIPE_") {
			env = append(env, kv)
		}
	}
	return append(env, "PATH="+program+string(os.PathListSeparator)+os.Getenv("PATH"), "USER=anna", "LC_ALL=C.UTF-8",
		"GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
}

// place is a copy of a sample repository.
type place struct {
	t    *testing.T
	lang string
	base string // holds the project, and what agents play
	dir  string // the project
}

// newPlace copies the repository of a language, with patches, and commits it.
func newPlace(t *testing.T, lang string, patches ...string) *place {
	t.Helper()
	if err := built.LookAtSources(); err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := (&place{t: t, lang: lang, base: base}).beside("notes")
	p.apply(patches...)
	p.do("git", "init", "-q")
	p.do("git", "add", "-A")
	p.do("git", "-c", "user.name=anna", "-c", "user.email=anna@example.com", "commit", "-q", "-m", "notes")
	return p
}

// beside is a copy of the repository in another folder, without git.
func (p *place) beside(name string) *place {
	p.t.Helper()
	c := &place{t: p.t, lang: p.lang, base: p.base, dir: filepath.Join(p.base, name)}
	if err := os.CopyFS(c.dir, os.DirFS(filepath.Join(repos, "notes-"+p.lang))); err != nil {
		p.t.Fatal(err)
	}
	c.agents("default")
	return c
}

// agents writes the pipe.yaml in which each of the names is an agent of its own: it notes its name beside the
// project, and plays.
func (p *place) agents(names ...string) {
	p.t.Helper()
	agent, err := filepath.Abs(filepath.Join(repos, "wordcount-recording", "agent.sh"))
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := os.ReadFile(agent)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write("../agent.sh", string(text)) // it looks for plays beside itself
	var b strings.Builder
	b.WriteString("agents:\n")
	for _, name := range names {
		fmt.Fprintf(&b, "  %s: {command: [sh, -c, 'echo %s >> ../played-$PIPE_STAGE; exec sh ../agent.sh plays'], output: json}\n", name, name)
	}
	p.write("pipe.yaml", b.String())
}

func (p *place) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// patch gives the text of patches of the place's language.
func (p *place) patch(names ...string) string {
	p.t.Helper()
	var all strings.Builder
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(repos, "notes-recording", p.lang, name+".patch"))
		if err != nil {
			p.t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// apply changes the project as a person would.
func (p *place) apply(patches ...string) {
	p.t.Helper()
	for _, name := range patches {
		cmd := p.cmd("git", "apply", "-")
		cmd.Stdin = strings.NewReader(p.patch(name))
		if out, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("patch %s: %v\n%s", name, err, out)
		}
	}
}

func (p *place) cmd(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = p.dir, environ()
	return cmd
}

func (p *place) do(name string, args ...string) {
	p.t.Helper()
	if out, err := p.cmd(name, args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// pipe runs the command, and gives its exit status and what it printed.
func (p *place) pipe(args ...string) (status int, out string) {
	p.t.Helper()
	var buf bytes.Buffer
	cmd := p.cmd(filepath.Join(program, "pipe"), args...)
	cmd.Stdout, cmd.Stderr = &buf, &buf
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("pipe %v: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), buf.String()
}

// shown is what the tests read of `pipe show --json`.
type shown struct {
	Run    string
	Status string
	Stages []struct {
		ID, Status string
		Iteration  int
	}
	Loops []struct {
		Source, Target string
		Iteration      int
		Max            int     `json:"max_iterations"`
		Last           *string `json:"last_action"`
	} `json:"feedback_loops"`
	Escalations []struct{ Reason string }
	Outputs     map[string]any
}

func (p *place) show() *shown {
	p.t.Helper()
	status, out := p.pipe("show", "last", "--json")
	s := new(shown)
	if err := json.Unmarshal([]byte(out), s); err != nil || status != 0 {
		p.t.Fatalf("show: exit status %d, %v\n%s", status, err, out)
	}
	return s
}

// item finds an item in a loop's state file: its id, severity and status.
var item = regexp.MustCompile(`(?m)^- \*\*([a-z_]+\.\d+)\*\* \((\w+), (\w+)\)`)

// items gives all items of all rounds of the last run, in the order of its loops.
func (p *place) items(s *shown) []string {
	p.t.Helper()
	var out []string
	for _, l := range s.Loops {
		files, err := filepath.Glob(filepath.Join(p.dir, ".pipe", "runs", s.Run, "session.current", "*-"+l.Source+"-"+l.Target+".md"))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				p.t.Fatal(err)
			}
			for _, m := range item.FindAllStringSubmatch(string(b), -1) {
				out = append(out, strings.Join(m[1:], " "))
			}
		}
	}
	return out
}

// tree gives the files of the project by their names.
func (p *place) tree() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(p.dir), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == ".pipe" || e.Name() == "__pycache__"):
			return fs.SkipDir
		case !e.IsDir():
			out[path] = p.read(path)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}
