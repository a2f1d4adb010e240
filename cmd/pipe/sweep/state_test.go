//go:build linux

package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// masks are what may differ between two runs that did the same.
var masks = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\b01[0-9A-HJKMNP-TV-Z]{24}\b`), "RUN"},
	{regexp.MustCompile(`task-[0-9a-hjkmnp-tv-z]{6}-`), "task-XXXXXX-"},
	{regexp.MustCompile(`"duration_ms":\d+`), `"duration_ms":0`},
	{regexp.MustCompile(`"stage_runs":\d+`), `"stage_runs":0`}, // interrupted tries are counted
}

func masked(text string) string {
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.with)
	}
	return text
}

// final is the state that a run must come to, whatever happened on its way, as text. It asserts on the way
// that derived files are what the journal says.
func (p *project) final(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	status, show := p.pipe(t, "show", "last", "--json")
	if status != 0 {
		t.Fatalf("pipe show: status %d\n%s", status, show)
	}
	derived := p.derived(t)
	if got := derived["run.json"]; got != show {
		t.Errorf("run.json is not what the journal gives:\n%s\nthe journal:\n%s", got, show)
	}
	for _, name := range slices.Sorted(maps.Keys(derived)) {
		fmt.Fprintf(&b, "%s:\n%s\n", name, derived[name])
	}
	b.WriteString(ended(p.journal(t)))
	fmt.Fprintf(&b, "tree %s\n", p.tree(t))
	return masked(strings.ReplaceAll(b.String(), p.workspace(), "WORKSPACE"))
}

// derived reads the files of the last run that follow from its journal.
func (p *project) derived(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(p.runDir(t)), "session.current/*")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range append(names, "run.json", "status.json", "feedback.log") {
		text, err := os.ReadFile(filepath.Join(p.runDir(t), name))
		if err != nil {
			t.Error(err)
		}
		files[name] = string(text)
	}
	return files
}

// ended tells the executions with a recorded end, and the items as they stand at last, in a canonical order.
func ended(records []record) string {
	var lines []string
	items := map[string]string{}
	for _, r := range records {
		switch r.Type {
		case "stage.succeeded", "stage.failed":
			lines = append(lines, fmt.Sprintf("execution %s %d.%d %s\n", r.Stage, r.Iteration, r.Attempt, r.Type))
		case "retry.scheduled": // its attempt is the next one
			lines = append(lines, fmt.Sprintf("execution %s %d.%d failed, retried\n", r.Stage, r.Iteration, r.Attempt-1))
		case "item.opened", "item.changed":
			var item struct{ ID string }
			if err := json.Unmarshal(r.Item, &item); err != nil {
				return err.Error() // and so differs from the reference
			}
			items[item.ID] = string(r.Item)
		}
	}
	for _, item := range items {
		lines = append(lines, "item "+item+"\n")
	}
	slices.Sort(lines) // parallel stages end in any order
	return strings.Join(lines, "")
}

// tree hashes the workspace: what git would commit.
func (p *project) tree(t *testing.T) string {
	t.Helper()
	_, err := p.git("add", "-A")
	if err != nil {
		t.Error(err)
		return ""
	}
	tree, err := p.git("write-tree")
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(tree)
}

// checkExecutions compares what the journal says with what the stages noted. before is the journal as the
// killed command left it.
func (p *project) checkExecutions(t *testing.T, before []record) {
	t.Helper()
	started, ended, _ := p.noted(t)
	success := map[execution]int{}
	lost := map[string]bool{}
	type try struct {
		stage              string
		iteration, attempt int
	}
	tries := map[try]string{}
	for _, r := range p.journal(t) {
		switch r.Type {
		case "stage.succeeded":
			if r.Effect == "" {
				continue // nothing of its own ran: it has parts, or was an approval
			}
			success[r.execution]++
			k := try{r.Stage, r.Iteration, r.Attempt}
			if first, twice := tries[k]; twice {
				t.Errorf("%+v counts as finished twice, by %s and %s", k, first, r.Effect)
			}
			tries[k] = r.Effect
		case "stage.interrupted":
			lost[r.Effect] = true
		}
	}
	for e, n := range success {
		if n != 1 || started[e] != 1 || ended[e] != 1 {
			t.Errorf("%+v is recorded as finished %d times; it noted %d starts and %d ends", e, n, started[e], ended[e])
		}
	}
	for e, n := range ended {
		if success[e] == 0 && !lost[e.Effect] || n != 1 {
			t.Errorf("%+v came to its end %d times, and the journal knows nothing of it", e, n)
		}
	}
	for _, r := range before {
		if r.Type == "stage.succeeded" && r.Effect != "" && (success[r.execution] != 1 || started[r.execution] != 1) {
			t.Errorf("%+v was finished before the kill; after the resume it is recorded %d times, and it started %d times",
				r.execution, success[r.execution], started[r.execution])
		}
	}
}

// carries reports whether the environment of a process holds a text at the beginning of an entry.
func carries(pid int, text string) bool {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(append([]byte{0}, env...), append([]byte{0}, text...))
}

// process is one that carries a run's id.
type process struct {
	pid     int
	command string
}

// processes gives all that carry a run's id.
func processes(t *testing.T, run string) []process {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var list []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !carries(pid, "PIPE_RUN_ID="+run+"\x00") {
			continue // no process, gone by now, or none of ours
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil {
			list = append(list, process{pid, strings.ReplaceAll(string(line), "\x00", " ")})
		}
	}
	return list
}

// checkLeft sees that nothing of a run is left over: no process, no lock, no file of a moment.
func (p *project) checkLeft(t *testing.T) {
	t.Helper()
	for _, id := range p.runs(t) {
		if list := processes(t, id); len(list) > 0 {
			t.Errorf("processes of run %s are left: %v", id, list)
		}
	}
	for _, name := range []string{
		filepath.Join(p.runDir(t), "lock"),
		filepath.Join(p.workspace(), ".pipe", "workspace.lock"),
	} {
		if err := isFree(name); err != nil {
			t.Errorf("the lock %s: %v", name, err)
		}
	}
	err := filepath.WalkDir(p.runDir(t), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.Contains(filepath.Base(path), ".tmp") {
			t.Errorf("a file of a moment is left: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	inbox, err := os.ReadDir(filepath.Join(p.runDir(t), "inbox"))
	if err != nil && !os.IsNotExist(err) || len(inbox) > 0 {
		t.Errorf("the inbox: %v, %v", inbox, err)
	}
}

// isFree takes a lock and gives it back.
func isFree(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
