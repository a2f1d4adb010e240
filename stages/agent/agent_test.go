package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
)

func TestMain(m *testing.M) {
	if err := proc.Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func newKind(t *testing.T) stage.Kind {
	starter := proc.NewStarter()
	t.Cleanup(starter.Close)
	return New(starter)
}

func newCall(t *testing.T, output string, command ...string) *stage.Call {
	t.Helper()
	list := value.List{}
	for _, word := range command {
		list = append(list, word)
	}
	config := value.NewObject(value.Field{Name: "name", Value: "reviewer"}, value.Field{Name: "command", Value: list})
	if output != "" {
		config.Set("output", output)
	}
	dir := t.TempDir()
	for _, name := range []string{"ws/sub", "ws/bin", "stage"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &stage.Call{
		Run: runID(t), Effect: "e1", Stage: "review", Kind: Name, Config: config, Prompt: "look at it\n",
		Env:       []string{"PATH=" + os.Getenv("PATH"), "PIPE_EFFECT=e1", "PIPE_RUN_ID=" + runID(t)},
		Workspace: dir + "/ws", Dir: dir + "/ws/sub", StageDir: dir + "/stage",
	}
}

func TestJSON(t *testing.T) {
	kind := newKind(t)
	big := `{"outputs":{"text":"` + strings.Repeat("x", 1<<20) + `"}}`
	for _, tc := range []struct {
		name, said string
		class      stage.Class
		message    string
	}{
		{"all", `{"outputs":{"n":1},"summary":"s","feedback_items":[{"severity":"blocking","description":"d","line":4}],"replies":[{"id":"review.1","status":"fixed"}]}` + "\n", stage.OK, ""},
		{"nothing to say", `{}`, stage.OK, ""},
		{"nulls", `{"outputs":null,"feedback_items":null,"prior":null}`, stage.OK, ""},
		{"beyond head and tail", big, stage.OK, ""},
		{"silence", " \n", stage.Protocol, "the agent wrote nothing to stdout, expected one JSON object"},
		{"prose", "I think\n that \x1b[31mthis works", stage.Protocol, `that \x1b[31mthis works`},
		{"prose around", `Here it is: {"summary":"s"}`, stage.Protocol, `: Here it is: {"summary":"s"}`},
		{"two objects", `{"summary":"a"}{"summary":"b"}`, stage.Protocol, `is not one JSON object`},
		{"cut off", `{"summary":"a`, stage.Protocol, `is not one JSON object`},
		{"binary", strings.Repeat("\x01", 500), stage.Protocol, strings.Repeat(`\x01`, 40) + "…"},
		{"list", `[]`, stage.Protocol, `is a list of 0, expected one JSON object: []`},
		{"misspelt", `{"feedback_item":[]}`, stage.Protocol, `unknown field "feedback_item", expected outputs, summary, feedback_items, replies, prior`},
		{"outputs", `{"outputs":[1]}`, stage.Protocol, `outputs are a list of 1, expected an object`},
		{"bad item", `{"feedback_items":[{"severity":"bad","description":"d"}]}`, stage.ReviewUnavailable, `items can't be read: `},
		{"long prose", strings.Repeat("é", 500), stage.Protocol, strings.Repeat("é", 80) + "…"},
		{"too much", strings.Repeat(" ", 16<<20+1), stage.Protocol, "wrote 16777217 bytes to stdout, expected one JSON object of at most 16777216"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call := newCall(t, "json", "cat")
			call.Prompt = tc.said
			out, err := kind.Run(context.Background(), call)
			if err != nil || out.Class != tc.class || !strings.Contains(out.Message, tc.message) {
				t.Fatalf("got %v %q, %v", out.Class, out.Message, err)
			}
			if (tc.message == "") != (out.Message == "") || strings.ContainsAny(out.Message, "\n\x1b") {
				t.Errorf("message %q", out.Message)
			}
		})
	}
}

func TestJSONResult(t *testing.T) {
	kind := newKind(t)
	call := newCall(t, "json", "cat")
	call.Prompt = `{"outputs":{"n":1},"summary":"s","feedback_items":[{"severity":"blocking","description":"d","line":4}],"prior":"all_fixed"}`
	out, err := kind.Run(context.Background(), call)
	if err != nil || out.ExitCode != 0 || out.Result == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	if n, _ := out.Outputs.Get("n"); n != int64(1) || out.Outputs.Len() != 1 {
		t.Errorf("outputs %v", out.Outputs)
	}
	r := out.Result
	if r.Summary != "s" || r.Prior != feedback.PriorAllFixed || len(r.Items) != 1 || r.Items[0].Line != 4 {
		t.Errorf("result %+v", r)
	}

	// A summary alone is no review, nor are replies to nothing.
	for _, said := range []string{
		`{"outputs":{"feedback_items":[]},"summary":"s"}`,
		`{"outputs":{"n":1},"summary":"s","replies":[]}`,
	} {
		call = newCall(t, "json", "cat")
		call.Prompt = said
		if out, err := kind.Run(context.Background(), call); err != nil || out.Class != stage.OK || out.Result != nil || out.Outputs.Len() != 1 {
			t.Errorf("%s: %+v, %v", said, out, err)
		}
	}
}

// What an agent said is kept beside a failing status, for formats that take the status for success.
func TestExitStatus(t *testing.T) {
	kind := newKind(t)
	for said, wantResult := range map[string]bool{`{"feedback_items":[]}`: true, `sorry`: false} {
		call := newCall(t, "json", "sh", "-c", "cat; echo why >&2; exit 2")
		call.Prompt = said
		out, err := kind.Run(context.Background(), call)
		if err != nil || out.Class != stage.Exit || out.ExitCode != 2 || out.Message != "exit status 2: why" || (out.Result != nil) != wantResult {
			t.Errorf("%s: %+v, %v", said, out, err)
		}
	}
}

func TestText(t *testing.T) {
	kind := newKind(t)
	for _, tc := range []struct {
		said    string
		class   stage.Class
		message string
		text    string
	}{
		{"an answer\n\nof two\r\n\n", stage.OK, "", "an answer\n\nof two"},
		{"", stage.OK, "", ""},
		{strings.Repeat("x", 1<<20), stage.OK, "", strings.Repeat("x", 1<<20)},
		{"a \xff", stage.InvalidOutput, "the agent's stdout is not UTF-8: a \uFFFD", ""},
		{strings.Repeat("x", 1<<20+1), stage.InvalidOutput, "the agent wrote 1048577 bytes to stdout, expected a text of at most 1048576", ""},
	} {
		call := newCall(t, "text", "cat")
		call.Prompt = tc.said
		out, err := kind.Run(context.Background(), call)
		if err != nil || out.Class != tc.class || out.Message != tc.message {
			t.Errorf("%.20q: got %v %q, %v", tc.said, out.Class, out.Message, err)
			continue
		}
		text, _ := out.Outputs.Get("text")
		if got, _ := text.(string); got != tc.text {
			t.Errorf("%.20q: text %.40q", tc.said, got)
		}
	}
}

func TestPlainLog(t *testing.T) {
	call := newCall(t, "", "sh", "-c", "pwd; cat; exit 0")
	out, err := newKind(t).Run(context.Background(), call)
	if err != nil || out.Class != stage.OK || out.Outputs != nil || out.Result != nil {
		t.Errorf("%+v, %v", out, err)
	}
	log, err := os.ReadFile(call.StageDir + "/stdout.log")
	if err != nil || !strings.HasSuffix(string(log), "/ws/sub\nlook at it\n") {
		t.Errorf("log %q, %v", log, err)
	}
}

func TestCommandOfTheWorkspace(t *testing.T) {
	kind := newKind(t)
	call := newCall(t, "text", "./bin/reviewer", "./x")
	out, err := kind.Run(context.Background(), call)
	if err != nil || out.Class != stage.Unavailable || !strings.Contains(out.Message, "/ws/bin/reviewer") {
		t.Errorf("a missing program: %+v, %v", out, err)
	}
	file := filepath.Join(call.Workspace, "bin", "reviewer")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho \"$1\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err = kind.Run(context.Background(), call); err != nil || out.Class != stage.PermissionDenied {
		t.Errorf("a file that may not be executed: %+v, %v", out, err)
	}
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err = kind.Run(context.Background(), call); err != nil || out.Class != stage.OK {
		t.Fatalf("%+v, %v", out, err)
	}
	if text, _ := out.Outputs.Get("text"); text != "./x" {
		t.Errorf("text %v", text)
	}
}

func TestEndings(t *testing.T) {
	kind := newKind(t)
	if out, err := kind.Run(context.Background(), newCall(t, "json", "sh", "-c", "kill -9 $$")); err != nil || out.Class != stage.Signal {
		t.Errorf("%+v, %v", out, err)
	}
	for want, cause := range map[stage.Class]error{stage.Timeout: context.DeadlineExceeded, stage.Cancelled: nil} {
		ctx, stop := context.WithCancelCause(context.Background())
		stop(cause)
		if out, err := kind.Run(ctx, newCall(t, "json", "cat")); err != nil || out.Class != want {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

func TestOurOwnFailures(t *testing.T) {
	kind := newKind(t)
	gone := newCall(t, "json", "cat")
	gone.StageDir += "/gone"
	if out, err := kind.Run(context.Background(), gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %+v, %v", out, err)
	}
	empty := newCall(t, "json")
	if out, err := kind.Run(context.Background(), empty); err == nil {
		t.Errorf("without a command: %+v", out)
	}
	number := newCall(t, "json", "cat")
	number.Config.Set("command", value.List{"cat", int64(1)})
	if out, err := kind.Run(context.Background(), number); err == nil {
		t.Errorf("with a number: %+v", out)
	}
}

// An agent that spoils its own log has not kept to its output; that is no failure of ours.
func TestSpoiltLog(t *testing.T) {
	kind := newKind(t)
	for _, script := range []string{`: > "$0"`, `rm "$0"`, `rm "$0"; yes | head -c 2M > "$0"`} {
		call := newCall(t, "json", "sh", "-c", "head -c 1M /dev/zero; "+script)
		list, _ := call.Config.Get("command")
		call.Config.Set("command", append(list.(value.List), call.StageDir+"/stdout.log"))
		out, err := kind.Run(context.Background(), call)
		if err != nil || out.Class != stage.Protocol || !strings.HasPrefix(out.Message, "what the agent said is lost: ") && script != `: > "$0"` {
			t.Errorf("%s: %+v, %v", script, out, err)
		}
	}
}

func TestCheck(t *testing.T) {
	span := source.Span{Start: source.Pos{Line: 3, Col: 4}}
	for _, tc := range []struct {
		command value.Value
		want    bool
	}{
		{value.List{"a", "b"}, false}, {value.List{}, true}, {value.List{" "}, true}, {nil, false}, {"a", false},
	} {
		var got []diag.Diagnostic
		New(nil).Check(&stage.CheckPass{Span: span, Report: func(d diag.Diagnostic) { got = append(got, d) },
			Config: value.NewObject(value.Field{Name: "name", Value: "r"}, value.Field{Name: "command", Value: tc.command})})
		if (len(got) == 1) != tc.want {
			t.Errorf("%v: %+v", tc.command, got)
		}
		if tc.want && (got[0].Span != span || got[0].Message != `agent "r" has no command, expected a program and its arguments`) {
			t.Errorf("%v: %+v", tc.command, got[0])
		}
	}
}

// runID names a test's processes, also when the same test runs twice on a machine.
func runID(t *testing.T) string { return fmt.Sprintf("%s-%d", t.Name(), os.Getpid()) }

// TestVerdict lets what validates answer PASS or FAIL, and nobody else.
func TestVerdict(t *testing.T) {
	kind := newKind(t)
	for _, tc := range []struct {
		said      string
		validates bool
		class     stage.Class
		message   string
		items     int
	}{
		{`{"outputs": {"n": 1}, "status": "PASS", "summary": "good"}`, true, stage.OK, "", 0},
		{`{"status": "FAIL", "critical": ["a"], "warnings": ["b"], "suggestions": ["c"]}`, true, stage.OK, "", 3},
		{`{"feedback_items": [{"severity": "blocking", "description": "d"}]}`, true, stage.OK, "", 1},
		{`{"status": "OK"}`, true, stage.ReviewUnavailable, `status: "OK" is not known, expected "PASS" or "FAIL"`, 0},
		{`{"state": "PASS"}`, true, stage.Protocol, `unknown field "state", expected outputs, summary, feedback_items, replies, prior, or status, summary, critical, warnings, suggestions`, 0},
		{`{"status": "PASS"}`, false, stage.Protocol, `unknown field "status", expected outputs, summary, feedback_items, replies, prior`, 0},
	} {
		call := newCall(t, "json", "/bin/sh", "-c", "cat >/dev/null; printf %s '"+tc.said+"'")
		call.Validates = tc.validates
		out, err := kind.Run(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if out.Class != tc.class || !strings.Contains(out.Message, tc.message) {
			t.Errorf("%s: class %q, message %q", tc.said, out.Class, out.Message)
		}
		if tc.class == stage.OK && (out.Result == nil || len(out.Result.Items) != tc.items) {
			t.Errorf("%s: result %+v", tc.said, out.Result)
		}
	}
}
