package driver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// What a stage leaves, and what becomes of it: a class with the beginning of the message, or success.
func TestWhatAStageLeaves(t *testing.T) {
	const review = "role: review\nrun: |\n  "
	for _, c := range []struct {
		name, keys string
		class      string // "": it succeeds
		message    string
	}{
		{"nothing", "run: 'true'", "", ""},
		{"an exit status", "run: exit 3", "exit", "exit status 3"},
		{"a signal", "run: kill -9 $$", "signal", ""},
		{"a timeout", "timeout: 200ms\nrun: sleep 60", "timeout", ""},
		{"no such shell", "shell: ./nosuch\nrun: 'true'", "unavailable", ""},
		{"outputs", "outputs: {n: integer}\nrun: echo n=3 >> \"$PIPE_OUTPUT\"", "", ""},
		{"outputs after a failure", "outputs: {n: integer}\nrun: echo n=x >> \"$PIPE_OUTPUT\"; exit 2", "exit", "exit status 2"},
		{"a missing output", "outputs: {n: integer}\nrun: 'true'", "invalid_output", `output "n" is declared and was not given; write name=value to the file that $PIPE_OUTPUT`},
		{"an undeclared output", "run: echo n=3 >> \"$PIPE_OUTPUT\"", "invalid_output", `output "n" (line 1) is not declared`},
		{"an output that was deleted", "run: echo n=1 > \"$PIPE_OUTPUT\"; rm \"$PIPE_OUTPUT\"", "", ""},
		{"a FIFO as output", "run: mkfifo \"$PIPE_OUTPUT\"", "invalid_output", "PIPE_OUTPUT can't be read: it is not a regular file"},
		{"a folder as output", "run: mkdir \"$PIPE_OUTPUT\"", "invalid_output", "PIPE_OUTPUT can't be read: it is not a regular file"},
		{"a link as output", "run: ln -sf /etc/hostname \"$PIPE_OUTPUT\"", "invalid_output", "PIPE_OUTPUT can't be read: it is, or is reached through, a symbolic link"},
		{"2 MiB of output", "run: head -c 2097152 /dev/zero | tr '\\0' a > \"$PIPE_OUTPUT\"", "invalid_output", "PIPE_OUTPUT: it is larger than the 1048576 bytes"},
		{"output that is no UTF-8", "run: printf 'a=\\377' > \"$PIPE_OUTPUT\"", "invalid_output", "PIPE_OUTPUT: it is not UTF-8"},
		{"replies of a stage that is no review", "run: echo '{\"replies\":[]}' > \"$PIPE_FEEDBACK\"", "invalid_output", "the file that $PIPE_FEEDBACK names: "},
		{"no items of a review", review + "true", "review_unavailable", "the review left no items"},
		{"a clean review", review + "echo '[]' > \"$PIPE_FEEDBACK\"", "", ""},
		{"items that can't be read", review + "echo '[{\"severity\":\"blocker\",\"description\":\"x\"}]' > \"$PIPE_FEEDBACK\"", "review_unavailable", "the file that $PIPE_FEEDBACK names: feedback_items[0].severity"},
		{"a FIFO as items", review + "mkfifo \"$PIPE_FEEDBACK\"", "review_unavailable", "the file that $PIPE_FEEDBACK names can't be read: it is not a regular file"},
		{"a review that fails", review + "exit 1", "exit", "exit status 1"},
		{"an ok exit status", "feedback: {format: items, ok_exit_codes: [0, 7]}\nrun: echo '[]' > \"$PIPE_FEEDBACK\"; exit 7", "", ""},
		{"items, and a status that is none of a review", review + "echo '[]' > \"$PIPE_FEEDBACK\"; exit 1", "exit", "exit status 1; PIPE_FEEDBACK was written but not read; see feedback.ok_exit_codes"},
		{"go-test without a test", "feedback: {format: go-test}\nrun: exit 1", "review_unavailable", "the review did not take place"},
		{"go-test, status 2", "feedback: {format: go-test}\nrun: exit 2", "review_unavailable", "the review did not take place: exit status 2"},
		{"go-vet that is clean", "feedback: {format: go-vet}\nrun: 'true'", "", ""},
		{"report and PIPE_FEEDBACK", "feedback: {format: go-vet}\nrun: echo '[]' > \"$PIPE_FEEDBACK\"", "invalid_output", "items are given twice"},
		{"a report that is not there", "feedback: {format: go-vet, path: vet.txt}\nrun: 'true'", "review_unavailable", `the report "vet.txt" is not there`},
		{"a report of an earlier try", "feedback: {format: items, path: old.json}\nrun: 'true'", "review_unavailable", `the review left no items: it must write them to "old.json"`},
		{"a report behind a link", "feedback: {format: go-vet, path: out/vet.txt}\nrun: ln -s /tmp out", "review_unavailable", `the report "out/vet.txt" can't be read: it is, or is reached through, a symbolic link`},
		{"junit that is whole, any status", "feedback: {format: junit, path: r.xml}\nrun: echo '<testsuite><testcase name=\"a\"><failure/></testcase></testsuite>' > r.xml; exit 9", "findings", "1 open blocking item"},
		{"junit that is cut off", "feedback: {format: junit, path: r.xml}\nrun: echo '<testsuite>' > r.xml; exit 1", "review_unavailable", "the review did not take place: the report ends in the middle"},
		{"junit, and nothing failed in it", "feedback: {format: junit, path: r.xml}\nrun: echo '<testsuite/>' > r.xml; exit 5", "review_unavailable", "the review did not take place: exit status 5"},
		{"junit of a runner that is not there", "feedback: {format: junit, path: r.xml}\nrun: nosuchrunner", "review_unavailable", `the report "r.xml" is not there: the stage must write it anew in each try; exit status 127: `},
		{"sarif with an error", "feedback: {format: sarif, path: r.sarif}\nrun: echo '{\"version\":\"2.1.0\",\"runs\":[{\"results\":[{\"level\":\"error\",\"message\":{\"text\":\"m\"}}]}]}' > r.sarif; exit 1", "findings", "1 open blocking item"},
		{"sarif with warnings only", "feedback: {format: sarif, path: r.sarif}\nrun: echo '{\"version\":\"2.1.0\",\"runs\":[{\"results\":[{\"message\":{\"text\":\"m\"}}]}]}' > r.sarif; exit 1", "", ""},
		{"sarif of a scan that failed", "feedback: {format: sarif, path: r.sarif}\nrun: echo '{\"version\":\"2.1.0\",\"runs\":[{\"results\":[],\"invocations\":[{\"executionSuccessful\":false}]}]}' > r.sarif", "review_unavailable", "the review did not take place: the report says of run 1 that the tool did not succeed"},
		{"sarif, status 2", "feedback: {format: sarif, path: r.sarif}\nrun: echo '{\"version\":\"2.1.0\",\"runs\":[{\"results\":[]}]}' > r.sarif; exit 2", "review_unavailable", "the review did not take place: exit status 2, expected one of 0, 1"},
		{"rdjson that blocks", "feedback: {format: rdjson, path: r.json}\nrun: echo '{\"diagnostics\":[{\"message\":\"m\"}]}' > r.json", "findings", "1 open blocking item"},
		{"rdjson that is cut off", "feedback: {format: rdjson, path: r.json}\nrun: printf '{\"diagnostics\":[' > r.json; exit 1", "review_unavailable", "the review did not take place: the report ends in the middle, at byte 16"},
		{"rdjsonl without a line", "feedback: {format: rdjsonl, path: $PIPE_STAGE_DIR/r.jsonl}\nrun: touch $PIPE_STAGE_DIR/r.jsonl", "", ""},
		{"a report in the scratch folder", "feedback: {format: junit, path: $PIPE_STAGE_DIR/a/r.xml}\nrun: mkdir $PIPE_STAGE_DIR/a; echo '<testsuite/>' > $PIPE_STAGE_DIR/a/r.xml", "", ""},
		{"no report in the scratch folder", "feedback: {format: junit, path: $PIPE_STAGE_DIR/r.xml}\nrun: 'true'", "review_unavailable", `the report "$PIPE_STAGE_DIR/r.xml" is not there`},
		{"a link in the scratch folder", "feedback: {format: go-vet, path: $PIPE_STAGE_DIR/r}\nrun: ln -s /etc/hostname $PIPE_STAGE_DIR/r", "review_unavailable", `the report "$PIPE_STAGE_DIR/r" can't be read: it is, or is reached through, a symbolic link`},
		{"items in the scratch folder", "feedback: {format: items, path: $PIPE_STAGE_DIR/items.json}\nrun: echo '[]' > $PIPE_STAGE_DIR/items.json", "", ""},
		{"dir that leaves the workspace", "dir: \"${{ '../' }}\"\nrun: 'true'", "permission_denied", `dir "../" must lie in the workspace`},
		{"dir that leaves it by a link", "dir: out\nrun: 'true'", "permission_denied", `dir "out" must lie in the workspace`},
		{"dir that is not there", "dir: nosuch\nrun: 'true'", "unavailable", `dir "nosuch" can't be used`},
		{"absolute dir", "dir: \"${{ '/tmp' }}\"\nrun: 'true'", "permission_denied", `dir "/tmp" must lie in the workspace`},
		{"dir", "dir: sub\nrun: test \"$PWD\" = \"$PIPE_WORKSPACE/sub\"", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, single(c.keys))
			w.write("old.json", "[]")
			w.write("sub/x", "")
			if strings.Contains(c.keys, "dir: out") {
				if err := os.Symlink("/tmp", filepath.Join(w.root, "out")); err != nil {
					t.Fatal(err)
				}
			}
			status := w.run()
			class, message := w.failure("s")
			if class != c.class || !strings.HasPrefix(message, c.message) {
				t.Errorf("class %q, message %q\nwant  %q, %q", class, message, c.class, c.message)
			}
			if want := c.class == ""; (status == step.RunSucceeded) != want {
				t.Errorf("status %s", status)
			}
		})
	}
}

func TestItemsOfAReport(t *testing.T) {
	w := newWorld(t, single(`
dir: sub
feedback: {format: lines, pattern: '^(?P<file>[^:]+):(?P<line>\d+): (?P<description>.*)$'}
run: |
  echo "a.go:2: wrong"
  echo "$PIPE_WORKSPACE/sub/b.go:1: also wrong" >&2
  echo "../../etc/passwd:1: far away" >&2
  exit 1
continue_on_error: true`))
	w.write("sub/a.go", "one\ntwo\n")
	w.run()
	var got []string
	for _, r := range w.records() {
		if o, ok := r.(step.ItemOpened); ok {
			got = append(got, fmt.Sprintf("%s:%d %s %v", o.Item.File, o.Item.Line, o.Item.Description, o.Item.Flags != nil))
		}
	}
	want := []string{"sub/a.go:2 wrong false", "sub/b.go:1 also wrong false", ":0 far away true"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("items %q\nwant  %q", got, want)
	}
}

func TestWhatAProcessGets(t *testing.T) {
	t.Setenv("CLAUDECODE", "1")
	t.Setenv("PIPE_FOREIGN", "1")
	t.Setenv("OURS", "ours")
	w := newWorld(t, single(`
env: {MINE: "${{ run.task_id }}", OURS: theirs}
run: |
  env | grep -E '^(PIPE_|CLAUDECODE|MINE|OURS)' | sed "s#$PIPE_WORKSPACE#WS#; s#$RUNDIR#RUN#" | LC_ALL=C sort > env.txt
  test ! -e "$PIPE_FEEDBACK" -a ! -e "$PIPE_OUTPUT" -a -f "$PIPE_BRIEF" -a -d "$PIPE_STAGE_DIR" -a -d "$PIPE_SESSION" -a ! -s "$PIPE_BRIEF"`))
	t.Setenv("RUNDIR", w.dir)
	if status := w.run(); status != step.RunSucceeded {
		t.Fatalf("%s: %s", status, w.state())
	}
	b, err := os.ReadFile(filepath.Join(w.root, "env.txt"))
	if err != nil {
		t.Fatal(err)
	}
	const folder = "RUN/stages/s/1.1/"
	want := "MINE=task-1\nOURS=theirs\nPIPE_ATTEMPT=1\nPIPE_BRIEF=" + folder + "brief.md\nPIPE_EFFECT=e1\nPIPE_FEEDBACK=" + folder +
		"feedback\nPIPE_IDEMPOTENCY_KEY=" + w.id + "/s/1\nPIPE_INPUT=" + folder + "input.json\nPIPE_ITERATION=1\nPIPE_OUTPUT=" +
		folder + "output\nPIPE_PIPELINE=one\nPIPE_RUN_ID=" + w.id + "\nPIPE_SESSION=RUN/session.current\nPIPE_STAGE=s\nPIPE_STAGE_DIR=" +
		folder + "scratch\nPIPE_TASK_ID=task-1\nPIPE_WORKSPACE=WS\n"
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}

// scripted is a kind that does what the test says.
func scripted(run func(context.Context, *stage.Call) (stage.Outcome, error)) stage.Kind {
	return stage.Kind{Name: "scripted", Run: run}
}

// with makes the stage "s" of a world one of the scripted kind.
func with(w *world) *world {
	w.plan.Graph.Nodes[0].Kind = "scripted"
	return w
}

func TestValuesOnTwoChannels(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		out        stage.Outcome
		leave      string // PIPE_FEEDBACK
		class      string
	}{
		{"outputs of the kind", "outputs: {a: string}\nrun: x", stage.Outcome{Outputs: value.NewObject(value.Field{Name: "a", Value: "b"})}, "", ""},
		{"of the wrong type", "outputs: {a: string}\nrun: x", stage.Outcome{Outputs: value.NewObject(value.Field{Name: "a", Value: int64(1)})}, "", "invalid_output"},
		{"items of the kind", "role: review\nrun: x", stage.Outcome{Result: &feedback.Result{}}, "", ""},
		{"items on both", "role: review\nrun: x", stage.Outcome{Result: &feedback.Result{}}, "[]", "invalid_output"},
		{"items without a severity", "role: review\nrun: x", stage.Outcome{Result: &feedback.Result{Items: []feedback.Item{{Description: "x"}}}}, "", "review_unavailable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := with(newWorld(t, single(c.keys), scripted(func(_ context.Context, call *stage.Call) (stage.Outcome, error) {
				if c.leave != "" {
					if err := os.WriteFile(filepath.Join(call.StageDir, "feedback"), []byte(c.leave), 0o600); err != nil {
						return stage.Outcome{}, err
					}
				}
				return c.out, nil
			})))
			w.run()
			if class, message := w.failure("s"); class != c.class {
				t.Errorf("class %q (%s), want %q", class, message, c.class)
			}
		})
	}
}
