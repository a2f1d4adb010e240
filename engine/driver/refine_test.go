package driver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/driver/derived"
	"example.com/pipe/engine/step"
)

// refined is a pipeline with a refine loop: what creates, and what validates, are scripts.
func refined(keys, create, validate string) string {
	indent := func(script string) string {
		return strings.ReplaceAll(strings.TrimSpace(script), "\n", "\n          ")
	}
	return fmt.Sprintf(`
name: one
version: 1
stages:
  - id: generate-plan
    outputs: {file: string}
    refine_loop:
      name: plan
      max_attempts: 5
      %s
      create:
        run: |
          %s
      validate:
        run: |
          %s
`, strings.ReplaceAll(keys, "\n", "\n      "), indent(create), indent(validate))
}

const (
	feedbackFile = ".tot-docs/001-feature/task-1-feedback.md"
	creates      = `
n=$(($(cat n.txt 2>/dev/null || echo 0) + 1))
echo $n > n.txt
echo "file=.tot-docs/tasks/001-feature.md" > "$PIPE_OUTPUT"
cp "$PIPE_BRIEF" "brief-$n.md"
if [ -n "${PIPE_FEEDBACK_FILE-}" ] && [ -f "$PIPE_FEEDBACK_FILE" ]; then cp "$PIPE_FEEDBACK_FILE" "seen-$n.md"; fi`
	passesThird = `
if [ "$(cat n.txt)" -ge 3 ]; then echo '{"status": "PASS", "summary": "good"}'
else echo '{"status": "FAIL", "summary": "not yet", "critical": ["no goal - plan.md:'$(cat n.txt)'",
  {"description": "no owner", "file": "plan.md", "line": 7, "suggested_fix": "name one"}],
  "warnings": ["long"], "suggestions": ["draw it"]}'; fi > "$PIPE_FEEDBACK"`
)

// stages gives the stages of status.json.
func (w *world) stages() string {
	w.t.Helper()
	var status struct {
		Stages json.RawMessage `json:"stages"`
	}
	if err := json.Unmarshal([]byte(w.read(derived.StatusFile)), &status); err != nil {
		w.t.Fatal(err)
	}
	return string(status.Stages)
}

func (w *world) todo() string {
	w.t.Helper()
	return w.read(filepath.Join(derived.SessionDir, "todo-generate-plan.md"))
}

// inWorkspace reads a file of the workspace, "" if there is none.
func (w *world) inWorkspace(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(b)
}

// TestSeed001StatusOfThreeAttempts gives the status of the todo-loop-enforcement document for a loop that passes with
// the third of five attempts.
func TestSeed001StatusOfThreeAttempts(t *testing.T) {
	w := newWorld(t, refined("", creates, passesThird))
	if status := w.run(); status != step.RunSucceeded {
		t.Fatalf("%s\n%s", status, w.state())
	}
	const failed, passed = `{"critical":2,"warnings":1}`, `{"critical":0,"warnings":0}`
	want := `{"generate-plan":{"status":"completed","output":".tot-docs/tasks/001-feature.md","planRefinement":{"attempts":3,"maxAttempts":5,"history":[` +
		`{"attempt":1,"result":"FAIL","issueCount":` + failed + `},{"attempt":2,"result":"FAIL","issueCount":` + failed +
		`},{"attempt":3,"result":"PASS","issueCount":` + passed + `}]}}}`
	if got := w.stages(); got != want {
		t.Errorf("stages of status.json:\n%s\nwant\n%s", got, want)
	}
	want = `1. [completed] Attempt 1 - Generate/validate plan: FAIL (critical: 2, warnings: 1)
2. [completed] Attempt 2 - Refine based on feedback (if needed): FAIL (critical: 2, warnings: 1)
3. [completed] Attempt 3 - Refine based on feedback (if needed): PASS (critical: 0, warnings: 0)
4. [skipped] Attempt 4 - Refine based on feedback (if needed)
5. [skipped] Attempt 5 - Refine based on feedback (if needed)
`
	if got := w.todo(); got != want {
		t.Errorf("the list:\n%s\nwant\n%s", got, want)
	}
}

// received gives when the findings of a validation were journalled, the last time.
func (w *world) received() string {
	w.t.Helper()
	at := ""
	for _, r := range w.records() {
		if r, ok := r.(step.FeedbackReceived); ok {
			at = r.At.String()
		}
	}
	return at
}

func TestSeed000FeedbackFileOfALoop(t *testing.T) {
	w := newWorld(t, refined("feedback_file: "+feedbackFile, creates, passesThird))
	w.write(feedbackFile, "# left over from an earlier run\n")
	if status := w.run(); status != step.RunSucceeded {
		t.Fatalf("%s\n%s", status, w.state())
	}
	if got := w.inWorkspace("seen-1.md"); got != "# left over from an earlier run\n" {
		t.Errorf("the first attempt sees %q", got)
	}
	seen := w.inWorkspace("seen-3.md")
	seen = strings.Join(append(strings.Split(seen, "\n")[:4], strings.Split(seen, "\n")[5:]...), "\n") // without its time
	if want := `# Task Feedback: task-1

**Status:** FAIL
**Attempt:** 2/5

## Summary

not yet

## Issues

### Critical

- [ ] no goal - plan.md:2
- [ ] no owner Fix: name one - plan.md:7

### Warnings

- [ ] long

## Suggestions

- draw it
`; seen != want {
		t.Errorf("the third attempt sees\n%s\nwant\n%s", seen, want)
	}
	if brief := w.inWorkspace("brief-3.md"); !strings.Contains(brief, "**plan.md:2** - no goal") || !strings.Contains(brief, "Fix: name one") {
		t.Errorf("its brief:\n%s", brief)
	}
	want := "# Task Feedback: task-1\n\n**Status:** PASS\n**Attempt:** 3/5\n**Timestamp:** " + w.received() +
		"\n\n## Summary\n\ngood\n\n## Sign-Off\n\n✅ APPROVED - Task task-1 implementation verified\n"
	if got := w.inWorkspace(feedbackFile); got != want {
		t.Errorf("the file in the end:\n%s\nwant\n%s", got, want)
	}
	previous := w.read(filepath.Join("stages", "generate-plan", "validate", "2.1", "scratch", "previous-feedback.md"))
	if !strings.Contains(previous, "**Attempt:** 1/5") {
		t.Errorf("the second validation finds aside\n%s", previous)
	}
}

// TestValidatorsAnswer reads what validators leave, in each way, and what is no answer.
func TestValidatorsAnswer(t *testing.T) {
	const file = `file="$PIPE_FEEDBACK_FILE"; mkdir -p "$(dirname "$file")"; `
	for _, c := range []struct {
		name, validate string
		class, message string // of a validation that did not take place
		result         string // of the first attempt
		end            string // of the feedback file
	}{
		{"PASS", `echo '{"status": "PASS"}' > "$PIPE_FEEDBACK"`, "", "", `"result":"PASS"`, "implementation verified\n"},
		{"pass in YAML", `printf 'status: pass\nwarnings: [long]\n' > "$PIPE_FEEDBACK"`, "", "", `"result":"PASS","issueCount":{"critical":0,"warnings":1}`, "implementation verified\n"},
		{"FAIL with a summary alone", `echo '{"status": "FAIL", "summary": "bad"}' > "$PIPE_FEEDBACK"`, "", "", `"result":"FAIL","issueCount":{"critical":1,"warnings":0}`, "- [ ] bad\n"},
		{"items", `echo '[{"severity": "blocking", "description": "x"}]' > "$PIPE_FEEDBACK"`, "", "", `"result":"FAIL"`, "- [ ] x\n"},
		{"no items", `echo '[]' > "$PIPE_FEEDBACK"`, "", "", `"result":"PASS"`, "implementation verified\n"},
		{"nothing", `true`, "review_unavailable", "the validation left no answer: it must write {\"status\": \"PASS\"}", "", ""},
		{"another status", `echo '{"status": "DONE"}' > "$PIPE_FEEDBACK"`, "review_unavailable", `the file that $PIPE_FEEDBACK names: status: "DONE" is not known, expected "PASS" or "FAIL"`, "", ""},
		{"FAIL without a word", `echo '{"status": "FAIL"}' > "$PIPE_FEEDBACK"`, "review_unavailable", "the file that $PIPE_FEEDBACK names: the status is FAIL and nothing says why", "", ""},
		{"PASS with critical", `echo '{"status": "PASS", "critical": ["x"]}' > "$PIPE_FEEDBACK"`, "review_unavailable", "the file that $PIPE_FEEDBACK names: the status is PASS with 1 critical", "", ""},
		{"critical without a status", `echo '{"critical": ["x"]}' > "$PIPE_FEEDBACK"`, "review_unavailable", "the file that $PIPE_FEEDBACK names: status: missing", "", ""},
		{"both forms", `echo '{"status": "FAIL", "feedback_items": []}' > "$PIPE_FEEDBACK"`, "review_unavailable", "the file that $PIPE_FEEDBACK names: it has fields of an answer", "", ""},
		{"the file itself", file + `printf '# T\n\n**Status:** FAIL\n\n### Critical\n- [ ] mine - a.md:3\n- [x] done\n' > "$file"`, "", "", `"result":"FAIL","issueCount":{"critical":1,"warnings":0}`, "- [x] done\n"},
		{"a file with a sign-off", file + `printf '## Sign-Off\n✅ APPROVED\n' > "$file"`, "", "", `"result":"PASS"`, "APPROVED\n"},
		{"the file and an answer", file + `echo junk > "$file"; echo '{"status": "PASS"}' > "$PIPE_FEEDBACK"`, "", "", `"result":"PASS"`, "implementation verified\n"},
		{"a malformed file", file + `echo junk > "$file"`, "review_unavailable", `the feedback file "` + feedbackFile + `" says neither PASS nor FAIL: `, "", ""},
		{"a file without a word", file + `: > "$file"`, "review_unavailable", `the feedback file "` + feedbackFile + `" says neither PASS nor FAIL: `, "", ""},
		{"a link as file", file + `ln -s /etc/hostname "$file"`, "review_unavailable", `the feedback file "` + feedbackFile + `" can't be read: it is, or is reached through, a symbolic link`, "", ""},
		{"a folder as file", file + `mkdir "$file"`, "review_unavailable", `the feedback file "` + feedbackFile + `" can't be read: it is not a regular file`, "", ""},
		{"a FIFO as file", file + `mkfifo "$file"`, "review_unavailable", `the feedback file "` + feedbackFile + `" can't be read: it is not a regular file`, "", ""},
		{"a link in its place, and an answer", file + `ln -s /etc/hostname "$file"; echo '{"status": "PASS"}' > "$PIPE_FEEDBACK"`, "", "", `"result":"PASS"`, "implementation verified\n"},
		{"a failure", `exit 3`, "exit", "exit status 3", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, refined("on_exhausted: fail\nfeedback_file: "+feedbackFile, creates, c.validate))
			w.plan.Graph.Nodes[1].Loop.MaxIterations = 1
			w.run()
			class, message := w.failure("generate-plan/validate")
			if class != c.class && c.class != "" || !strings.HasPrefix(message, c.message) {
				t.Errorf("class %q, message %q\nwant  %q, %q", class, message, c.class, c.message)
			}
			history := w.stages()
			if c.class != "" {
				if !strings.Contains(history, `"history":[]`) {
					t.Errorf("a validation that did not take place is an attempt: %s", history)
				}
				return
			}
			if !strings.Contains(history, `{"attempt":1,`+c.result) {
				t.Errorf("%s\nwant %s", history, c.result)
			}
			if got := w.inWorkspace(feedbackFile); !strings.HasSuffix(got, c.end) {
				t.Errorf("the feedback file\n%s\nwant it to end in %q", got, c.end)
			}
		})
	}
}

// TestFeedbackFileInTheWay refuses to validate where the feedback file could not be written, and writes nothing
// elsewhere.
func TestFeedbackFileInTheWay(t *testing.T) {
	outside := t.TempDir()
	for _, c := range []struct {
		name, file, message string
		put                 func(w *world)
	}{
		{"a folder", "f.md", `what lies at feedback_file "f.md" can't be put aside: it is not a regular file`, func(w *world) { w.write("f.md/x", "") }},
		{"a way out", "out/f.md", `what lies at feedback_file "out/f.md" can't be put aside: it is, or is reached through, a symbolic link`, func(w *world) {
			if err := os.Symlink(outside, filepath.Join(w.root, "out")); err != nil {
				w.t.Fatal(err)
			}
		}},
		{"above", "${{ '../f.md' }}", `feedback_file "../f.md" must lie in the workspace`, nil},
		{"absolute", "${{ '/tmp/f.md' }}", `feedback_file "/tmp/f.md" must lie in the workspace`, nil},
		{"the workspace", "${{ '.' }}", `feedback_file "." must name a file`, nil},
		{"git's own", "${{ '.git/f.md' }}", `feedback_file ".git/f.md" must not lie in .git`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, refined(`feedback_file: "`+c.file+`"`, creates, passesThird))
			if c.put != nil {
				c.put(w)
			}
			w.run()
			var messages []string
			for _, r := range w.records() {
				if f, ok := r.(step.StageFailed); ok {
					messages = append(messages, f.Class+": "+f.Message)
				}
			}
			if got := strings.Join(messages, "\n"); !strings.HasPrefix(got, "permission_denied: "+c.message) || strings.Contains(got, "\n") {
				t.Errorf("failures\n%s\nwant %s", got, c.message)
			}
		})
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside lies %v, %v", left, err)
	}
}

// TestFeedbackFileIsNoWork takes a create that touches the feedback file alone for one that did nothing.
func TestFeedbackFileIsNoWork(t *testing.T) {
	for name, file := range map[string]string{"a name": "notes/f.md", "an expression": "notes/${{ run.task_id }}.md"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, refined("convergence: {no_change: true}\nfeedback_file: "+file, `
echo "file=x" > "$PIPE_OUTPUT"
mkdir -p notes
echo done >> "$PIPE_FEEDBACK_FILE"`, `echo '{"status": "FAIL", "summary": "bad"}' > "$PIPE_FEEDBACK"`))
			if status := w.run(); status != step.RunIsPaused {
				t.Fatalf("%s\n%s", status, w.state())
			}
			var rules []string
			for _, r := range w.records() {
				if e, ok := r.(step.EscalationRaised); ok {
					rules = append(rules, e.Escalation.Reason)
				}
			}
			if fmt.Sprint(rules) != "[no_change]" {
				t.Errorf("escalated for %v, want no_change", rules)
			}
		})
	}
}

// TestFailedCreateIsAnAttempt counts it, keeps what it was in the feedback file, and goes on.
func TestFailedCreateIsAnAttempt(t *testing.T) {
	w := newWorld(t, refined("feedback_file: "+feedbackFile, creates+`
if [ $n = 1 ]; then echo oops >&2; exit 7; fi`, `echo '{"status": "PASS"}' > "$PIPE_FEEDBACK"`))
	if status := w.run(); status != step.RunSucceeded {
		t.Fatalf("%s\n%s", status, w.state())
	}
	if got := w.stages(); !strings.Contains(got, `"history":[{"attempt":1,"result":"FAIL","issueCount":{"critical":1,"warnings":0}},{"attempt":2,"result":"PASS"`) {
		t.Errorf("%s", got)
	}
	if got := w.inWorkspace("seen-2.md"); !strings.Contains(got, "**Attempt:** 1/5\n") || !strings.Contains(got, "failed (exit): exit status 7: oops") {
		t.Errorf("the second attempt sees\n%s", got)
	}
}

// TestStatusWords follows a refined stage through status.json and its list: what a process may read is written before
// the process starts.
func TestStatusWords(t *testing.T) {
	w := newWorld(t, refined("", creates+`
cp "$PIPE_SESSION/todo-generate-plan.md" "todo-create-$n.md"; cp "$PIPE_SESSION/../status.json" "status-create-$n.json"`,
		passesThird+`
cp "$PIPE_SESSION/todo-generate-plan.md" "todo-validate-$(cat n.txt).md"; cp "$PIPE_SESSION/../status.json" "status-validate-$(cat n.txt).json"`))
	w.run()
	for _, n := range []int{1, 2, 3} {
		for _, half := range []string{"create", "validate"} {
			todo := w.inWorkspace(fmt.Sprintf("todo-%s-%d.md", half, n))
			if lines := strings.Split(todo, "\n"); !strings.HasPrefix(lines[n-1], fmt.Sprintf("%d. [in-progress] ", n)) || strings.Count(todo, "[in-progress]") != 1 ||
				strings.Count(todo, "[completed]") != n-1 {
				t.Errorf("attempt %d, %s: the list was\n%s", n, half, todo)
			}
			status := w.inWorkspace(fmt.Sprintf("status-%s-%d.json", half, n))
			if !strings.Contains(status, fmt.Sprintf(`{"generate-plan":{"status":"in-progress","planRefinement":{"attempts":%d,`, n-1)) {
				t.Errorf("attempt %d, %s: the status was\n%s", n, half, status)
			}
		}
	}
}
