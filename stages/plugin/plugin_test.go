package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.com/pipe/engine/proc"
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

func newCall(t *testing.T, result string, command ...string) *stage.Call {
	t.Helper()
	list := value.List{}
	for _, word := range command {
		list = append(list, word)
	}
	config := value.NewObject(value.Field{Name: "name", Value: "deploy"}, value.Field{Name: "command", Value: list})
	if result != "" {
		config.Set("result", result)
	}
	dir := t.TempDir()
	for _, name := range []string{"ws/sub", "ws/bin", "stage"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	return &stage.Call{
		Run: run, Effect: "e1", Stage: "deploy", Kind: Name, Config: config,
		Env:       []string{"PATH=" + os.Getenv("PATH"), "PIPE_EFFECT=e1", "PIPE_RUN_ID=" + run},
		Workspace: dir + "/ws", Dir: dir + "/ws/sub", StageDir: dir + "/stage",
	}
}

// What a plugin prints and how it ends, and what comes of it.
func TestRun(t *testing.T) {
	kind := newKind(t)
	for _, tc := range []struct {
		name, result, script string
		class                stage.Class
		message              string
		outputs, items       bool
	}{
		{"a log", "", "echo hello", stage.OK, "", false, false},
		{"a log that looks like an answer", "", `echo '{"outputs":{"n":1}}'`, stage.OK, "", false, false},
		{"a status", "", "echo why >&2; exit 3", stage.Exit, "exit status 3: why", false, false},
		{"an answer", "stdout", `echo '{"outputs":{"n":1},"feedback_items":[{"severity":"blocking","description":"d"}]}'`, stage.OK, "", true, true},
		{"an empty answer", "stdout", "echo '{}'", stage.OK, "", false, false},
		{"no answer", "stdout", "true", stage.Protocol, "the plugin wrote nothing to stdout, expected one JSON object", false, false},
		{"prose", "stdout", "echo deployed", stage.Protocol, "the plugin's stdout is not one JSON object", false, false},
		{"a word before", "stdout", "echo deploying; echo '{}'", stage.Protocol, "the plugin's stdout is not one JSON object", false, false},
		{"two answers", "stdout", "echo '{}'; echo '{}'", stage.Protocol, "the plugin's stdout is not one JSON object", false, false},
		{"a list", "stdout", "echo '[]'", stage.Protocol, "the plugin's stdout is a list of 0, expected one JSON object: []", false, false},
		{"an unknown field", "stdout", `echo '{"output":{}}'`, stage.Protocol, `the plugin's JSON object has an unknown field "output", expected outputs, `, false, false},
		{"not UTF-8", "stdout", `printf '{"summary":"\377"}'`, stage.Protocol, "the plugin's stdout is not UTF-8: {", false, false},
		{"a megabyte", "stdout", `printf '{"outputs":{"n":"'; head -c 1048576 /dev/zero | tr '\0' x; printf '"}}'`, stage.OK, "", true, false},
		{"beyond the limit", "stdout", "head -c 16777217 /dev/zero", stage.Protocol, "the plugin wrote 16777217 bytes to stdout, expected one JSON object of at most 16777216", false, false},
		{"an answer, and a status", "stdout", `echo '{"feedback_items":[]}'; exit 1`, stage.Exit, "exit status 1", false, true},
		{"prose, and a status", "stdout", "echo no; exit 1", stage.Exit, "exit status 1", false, false},
		{"a signal", "stdout", "echo '{}'; kill -9 $$", stage.Signal, "", false, false},
		{"an item that can't be read", "stdout", `echo '{"feedback_items":[{}]}'`, stage.ReviewUnavailable, "the plugin's items can't be read", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := kind.Run(context.Background(), newCall(t, tc.result, "sh", "-c", tc.script))
			if err != nil || out.Class != tc.class || !strings.Contains(out.Message, tc.message) {
				t.Fatalf("got %v %q, %v", out.Class, out.Message, err)
			}
			if (out.Outputs != nil) != tc.outputs || (out.Result != nil) != tc.items {
				t.Errorf("outputs %v, result %+v", out.Outputs, out.Result)
			}
		})
	}
}

func TestProgramOfTheWorkspace(t *testing.T) {
	kind := newKind(t)
	call := newCall(t, "", "./bin/deploy", "./x")
	out, err := kind.Run(context.Background(), call)
	if err != nil || out.Class != stage.Unavailable || !strings.Contains(out.Message, "/ws/bin/deploy") {
		t.Errorf("a missing program: %+v, %v", out, err)
	}
	file := filepath.Join(call.Workspace, "bin", "deploy")
	if err := os.WriteFile(file, []byte("#!/bin/sh\npwd; echo \"$1\"; cat"), 0o600); err != nil {
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
	log, err := os.ReadFile(filepath.Join(call.StageDir, "stdout.log"))
	if err != nil || !strings.HasSuffix(string(log), "/ws/sub\n./x\n") {
		t.Errorf("log %q, %v", log, err)
	}
}

func TestStopped(t *testing.T) {
	kind := newKind(t)
	for want, cause := range map[stage.Class]error{stage.Timeout: context.DeadlineExceeded, stage.Cancelled: nil} {
		ctx, stop := context.WithCancelCause(context.Background())
		stop(cause)
		if out, err := kind.Run(ctx, newCall(t, "stdout", "cat")); err != nil || out.Class != want {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

func TestOurOwnFailures(t *testing.T) {
	kind := newKind(t)
	gone := newCall(t, "stdout", "cat")
	gone.StageDir += "/gone"
	if out, err := kind.Run(context.Background(), gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %+v, %v", out, err)
	}
	if out, err := kind.Run(context.Background(), newCall(t, "stdout")); err == nil {
		t.Errorf("without a command: %+v", out)
	}
}

// TestRunWithoutItsLog has a plugin put something else in the place of its log, which is read for a long answer.
func TestRunWithoutItsLog(t *testing.T) {
	kind := newKind(t)
	for _, put := range []string{"mkfifo $log", "ln -s /dev/zero $log", "ln -s other $log", ": > $log", ":"} {
		call := newCall(t, "stdout", "sh", "-c", "echo '{\"summary\": \"'; head -c 300000 /dev/zero | tr '\\0' x; echo '\"}'; log=../../stage/stdout.log; cp $log ../../stage/other; rm $log; "+put)
		out, err := kind.Run(t.Context(), call)
		if err != nil || out.Class != stage.Protocol || !strings.Contains(out.Message, "is lost") {
			t.Errorf("%s: %s %q, %v", put, out.Class, out.Message, err)
		}
	}
}
