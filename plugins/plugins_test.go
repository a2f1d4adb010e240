// Package plugins runs the example plugins as the README beside them says, with the real program.
package plugins

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/pipe/cmd/pipe/built"
)

// project is a git repository with the example plugins and the files of the README.
func project(t *testing.T) (dir string, pipe func(args ...string) string) {
	t.Helper()
	for _, tool := range []string{"git", "bash", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			built.Missing(t, tool)
		}
	}
	base := t.TempDir()
	if err := errors.Join(built.LookAtSources(), built.Command(base)); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(base, "project")
	if err := os.CopyFS(filepath.Join(dir, "plugins"), os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile("(?s)```yaml\n# (\\S+)\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(files) != 2 {
		t.Fatalf("the README shows %d files, expected 2", len(files))
	}
	for _, f := range files {
		write(t, dir, f[1], f[2])
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "USER=anna", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+base)
		out, err := cmd.CombinedOutput()
		if err != nil && name == "git" {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("git", "init", "-q")
	run("git", "add", "plugins")
	run("git", "-c", "user.name=anna", "-c", "user.email=anna@example.com", "commit", "-qm", "begin")
	return dir, func(args ...string) string { t.Helper(); return run(filepath.Join(base, "pipe"), args...) }
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stages gives what `pipe show` says of each stage: its status, and its outputs in JSON.
func stages(t *testing.T, show string) map[string]string {
	t.Helper()
	var run struct {
		Stages []struct {
			ID, Status string
			Outputs    json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(show), &run); err != nil {
		t.Fatalf("%v\n%s", err, show)
	}
	out := map[string]string{}
	for _, s := range run.Stages {
		out[s.ID] = s.Status + " " + string(s.Outputs)
	}
	return out
}

func TestExamples(t *testing.T) {
	t.Parallel()
	dir, pipe := project(t)
	write(t, dir, "a \"b\".go", "package a\n\n// TODO: say why\n// FIXME\n")
	write(t, dir, "notes.txt", "TODO\n")
	pipe("run", "look")
	got := stages(t, pipe("show", "last", "--json"))
	if !regexp.MustCompile(`^succeeded \{"version":"[0-9a-f]{7,}"\}$`).MatchString(got["version"]) {
		t.Errorf("version: %s", got["version"])
	}
	if !strings.HasPrefix(got["large_files"], "succeeded") {
		t.Errorf("large_files: %s", got["large_files"])
	}
	// The README beside the plugins tells of the mark too.
	if !regexp.MustCompile(`^succeeded \{"marks":[2-9]\}$`).MatchString(got["todo"]) {
		t.Errorf("todo: %s", got["todo"])
	}
	events := pipe("events", "last")
	for _, want := range []string{`a \"b\".go`, "TODO: say why"} {
		if !strings.Contains(events, want) {
			t.Errorf("the events don't tell of %s", want)
		}
	}
	if strings.Contains(events, "notes.txt") {
		t.Error("a file that no pattern matches was read")
	}
	if log := pipe("logs", "last", "version"); !strings.Contains(log, "asking git in ") {
		t.Errorf("the log of version: %s", log)
	}
}

// What is too large is a blocking item, whatever its name is.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	dir, pipe := project(t)
	name := "big \"q\" \\ é\t.bin"
	write(t, dir, name, strings.Repeat("x", 600<<10))
	out := pipe("run", "look")
	if !strings.Contains(out, "it has 600 KB, at most 500 are allowed") || !strings.Contains(out, "large_files failed") {
		t.Errorf("the run says\n%s", out)
	}
}

// A setting that is missing, or that there is none of, is said in the log, and is no clean review.
func TestSettings(t *testing.T) {
	t.Parallel()
	dir, pipe := project(t)
	write(t, dir, "pipelines/wrong.yaml", `name: wrong
version: 1
stages:
  - {id: large_files, needs: [], uses: large-files, feedback: {format: items}}
  - {id: todo, needs: [], uses: todo, with: {mark: [TODO]}, feedback: {format: items}}
`)
	out := pipe("run", "wrong")
	for _, want := range []string{"give it by env: {MAX_KB: 500}", "with has no 'mark', expected marks, severity, files"} {
		if !strings.Contains(out, want) {
			t.Errorf("the run does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "succeeded") {
		t.Errorf("something succeeded:\n%s", out)
	}
}
