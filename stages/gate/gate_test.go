package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
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

func start(t *testing.T, kind func(*proc.Starter) stage.Kind) stage.Kind {
	starter := proc.NewStarter()
	t.Cleanup(starter.Close)
	return kind(starter)
}

// newCall makes a call in a fresh workspace, whose stage folder lies in there.
func newCall(t *testing.T, fields ...value.Field) *stage.Call {
	t.Helper()
	ws := filepath.Join(t.TempDir(), "shop")
	dir := filepath.Join(ws, ".pipe", "runs", "r", "stages", "gate", "1.1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	run := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	return &stage.Call{
		Run: run, Effect: "e1", Stage: "gate", Iteration: 1, Attempt: 1, Config: value.NewObject(fields...),
		Env: []string{"PATH=" + os.Getenv("PATH"), "PIPE_EFFECT=e1", "PIPE_RUN_ID=" + run, "STAGE_DIR=" + dir,
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(ws)},
		Workspace: ws, Dir: ws, StageDir: dir,
	}
}

func run(t *testing.T, kind stage.Kind, call *stage.Call) stage.Outcome {
	t.Helper()
	out, err := kind.Run(context.Background(), call)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestGate(t *testing.T) {
	kind := start(t, New)
	const tests = "echo '=== RUN   TestCart'; echo 'some words'; echo '--- FAIL: TestCart (0.01s)' >&2; echo '    cart_test.go:9: want 1'; echo FAIL; echo rest; echo rest2; exit 1"
	for _, c := range []struct {
		script, lines, want string
	}{
		{tests, "", "--- FAIL: TestCart (0.01s)\n\n=== RUN   TestCart\nsome words\n--- FAIL: TestCart (0.01s)\n    cart_test.go:9: want 1\nFAIL\nrest"},
		{tests, "1", "--- FAIL: TestCart (0.01s)\n\nsome words\n--- FAIL: TestCart (0.01s)\n    cart_test.go:9: want 1"},
		{tests, "0", "--- FAIL: TestCart (0.01s)"},
		{"echo one; echo two; echo; echo three; echo; exit 2", "2", "three\n\ntwo\n\nthree"},
		{"echo alone; exit 2", "", "alone"},
		{"exit 3", "", "exit status 3, and it said nothing"},
		{"printf 'a\\033[31m: error:\\033[0m b\\000\\377\\n'; exit 1", "", "a: error: b\uFFFD"},
		{"printf '10%%\\r20%%\\rERROR done\\r\\n'; exit 1", "", "ERROR done"},
		{"echo 'main.rs:1: error[E0308]: types'; exit 1", "", "main.rs:1: error[E0308]: types"},
		{"echo '0 errors, fine'; echo 'npm ERR! code 1'; exit 1", "0", "npm ERR! code 1"},
		{"echo 'make: nothing to do'; echo 'make[2]: *** [Makefile:3: test] Interrupt'; exit 2", "0", "make[2]: *** [Makefile:3: test] Interrupt"},
		{"echo 'terror: none, no FAILSAFE'; echo 'panic: boom'; exit 2", "0", "panic: boom"},
	} {
		call := newCall(t, value.Field{Name: "run", Value: c.script})
		if c.lines != "" {
			call.Config.Set("context_lines", int64(c.lines[0]-'0'))
		}
		out := run(t, kind, call)
		if out.Class != stage.OK || out.Message != "" || out.ExitCode < 1 || out.Diagnosis == nil || out.Diagnosis.Gate == nil {
			t.Errorf("%q: %+v", c.script, out)
			continue
		}
		g := *out.Diagnosis.Gate
		if g.Summary != c.want {
			t.Errorf("%q: the summary is\n%s\nwant\n%s", c.script, g.Summary, c.want)
		}
		artifact := ".pipe/runs/r/stages/gate/1.1/stdout.log"
		if c.script == "exit 3" {
			artifact = "" // there is no such file
		}
		if g.Repo != "shop" || g.ArtifactPath != artifact {
			t.Errorf("%q: repo %q, artifact %q", c.script, g.Repo, g.ArtifactPath)
		}
		checkItem(t, out, envelope.SourceSquashGate)
	}
}

// checkItem holds the outcome of a rejection to what an envelope is made of: one blocking item, that of its
// diagnosis.
func checkItem(t *testing.T, out stage.Outcome, want envelope.Source) {
	t.Helper()
	if out.Result == nil || len(out.Result.Items) != 1 || out.Result.Items[0].Severity != feedback.Blocking || out.Diagnosis.Source() != want {
		t.Errorf("result %+v, source %q", out.Result, out.Diagnosis.Source())
		return
	}
	e := envelope.New(want, envelope.Issue{}, nil, []envelope.PriorDefect{{Cycle: 1, Source: want}},
		envelope.Contents{Items: out.Result.Items, Diagnosis: out.Diagnosis})
	if err := e.Validate(); err != nil || len(e.ReviewerConcerns) != 0 || len(envelope.Render(e)) != 1 {
		t.Errorf("its envelope: %v, %+v", err, e)
	}
	normal, err := feedback.Normalise(*out.Result, feedback.Context{})
	if err != nil || normal.Items[0].Fingerprint != out.Result.Items[0].Fingerprint {
		t.Errorf("normalised: %v, %+v", err, normal)
	}
}

func TestGateNamesTheRepository(t *testing.T) {
	kind := start(t, New)
	call := newCall(t, value.Field{Name: "run", Value: "echo no; exit 1"})
	git(t, call.Workspace, "init", "-q")
	for _, c := range []struct{ url, want string }{
		{"", "shop"}, {"https://me:secret@git.example/teams/shop/backend.git", "teams/shop/backend"},
		{"git@git.example:shop/backend.git", "shop/backend"}, {"/srv/git/till.git/", "till"}, {"../till", "till"},
		{"ssh://git@git.example:22/shop/\x1b[31mx", "shop/x"}, {"file:///srv/git/cart.git", "cart"},
	} {
		if c.url != "" {
			git(t, call.Workspace, "config", "remote.origin.url", c.url)
		}
		if got := run(t, kind, call).Diagnosis.Gate.Repo; got != c.want {
			t.Errorf("%q: %q, want %q", c.url, got, c.want)
		}
	}
	call.Config.Set("repo", "given")
	if got := run(t, kind, call).Diagnosis.Gate.Repo; got != "given" {
		t.Errorf("%q, want given", got)
	}
	call.Workspace = filepath.Join(call.Workspace, "elsewhere")
	if got := run(t, kind, call).Diagnosis.Gate.ArtifactPath; got != filepath.Join(call.StageDir, "stdout.log") {
		t.Errorf("the log outside of the workspace is %q", got)
	}
}

// TestNoFinding: what a command could not do is a failure with its class; a command that passes is a clean review.
func TestNoFinding(t *testing.T) {
	for _, kind := range []func(*proc.Starter) stage.Kind{New, NewCI, NewVerifiers} {
		kind := start(t, kind)
		for _, c := range []struct {
			script string
			class  stage.Class
		}{
			{"nosuch-program", stage.Unavailable}, {"./locked", stage.PermissionDenied}, {"kill -KILL $$", stage.Signal},
		} {
			call := newCall(t, configOf(kind, c.script)...)
			if err := os.WriteFile(filepath.Join(call.Workspace, "locked"), []byte("#!/bin/sh\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out := run(t, kind, call)
			if out.Class != c.class || out.Result != nil || out.Diagnosis != nil || out.Message == "" {
				t.Errorf("%s: %q: %+v", kind.Name, c.script, out)
			}
		}
		out := run(t, kind, newCall(t, configOf(kind, "echo '--- FAIL: not really'")...))
		if out.Class != stage.OK || out.Result == nil || out.Result.Items == nil || len(out.Result.Items) != 0 || out.Diagnosis != nil {
			t.Errorf("%s: a command that passes: %+v", kind.Name, out)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if out, err := kind.Run(ctx, newCall(t, configOf(kind, "exit 1")...)); err != nil || out.Class != stage.Cancelled || out.Result != nil {
			t.Errorf("%s: cancelled: %+v, %v", kind.Name, out, err)
		}
	}
}

// configOf is a config of a kind with one script.
func configOf(kind stage.Kind, run string) []value.Field {
	if kind.Name != VerifiersName {
		return []value.Field{{Name: "run", Value: run}, {Name: "workflow", Value: "build"}}
	}
	return []value.Field{{Name: "commands", Value: value.List{command("only", run)}}}
}

func command(name, run string) *value.Object {
	return value.NewObject(value.Field{Name: "name", Value: name}, value.Field{Name: "run", Value: run})
}

func TestGateWhoseLogIsGone(t *testing.T) {
	kind := start(t, New)
	for _, spoil := range []string{"true", "mkfifo $STAGE_DIR/stdout.log", "ln -s /etc/passwd $STAGE_DIR/stdout.log"} {
		call := newCall(t, value.Field{Name: "run", Value: "echo 'error: it broke'; until test -f $STAGE_DIR/stdout.log; do :; done; rm $STAGE_DIR/stdout.log; " + spoil + "; exit 1"})
		if got := run(t, kind, call).Diagnosis.Gate; got.Summary != "error: it broke" || got.ArtifactPath != "" {
			t.Errorf("%s: %+v", spoil, got)
		}
	}
}

func TestHugeOutput(t *testing.T) {
	kind := start(t, New)
	call := newCall(t, value.Field{Name: "run", Value: "head -c 3000000 /dev/zero | tr '\\0' x; echo; seq 100000; echo 'error: here'; head -c 3000000 /dev/zero | tr '\\0' é; exit 1"})
	got := run(t, kind, call).Diagnosis.Gate.Summary
	if !strings.HasPrefix(got, "error: here\n\n99998\n99999\n100000\nerror: here\n") || len(got) > summaryLimit+10 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %.200q", len(got), got)
	}
}

func TestVerifiers(t *testing.T) {
	kind := start(t, NewVerifiers)
	call := newCall(t, value.Field{Name: "commands", Value: value.List{
		command("lint", "echo clean"),
		command("mute", "true"),
		command("test\n", "echo 'cart.go:7: no'; printf 'bad \\377\\033[1m\\n' >&2; exit 3"),
		command("never", "touch $STAGE_DIR/never"),
	}})
	out := run(t, kind, call)
	if out.Class != stage.OK || out.ExitCode != 3 || out.Diagnosis == nil || out.Diagnosis.Verifier == nil {
		t.Fatalf("%+v", out)
	}
	v := *out.Diagnosis.Verifier
	if v.VerifierName != "test\n" || v.Gate != "post_submit" || v.Stdout != "cart.go:7: no" || v.Stderr != "bad \uFFFD" || v.ExitCode != 3 || v.DurationMs < 0 {
		t.Errorf("%+v", v)
	}
	if out.Result.Items[0].SourceAgent != "test\n" {
		t.Errorf("source agent %q", out.Result.Items[0].SourceAgent)
	}
	checkItem(t, out, envelope.SourceVerifierChain)
	if _, err := os.Stat(filepath.Join(call.StageDir, "never")); err == nil {
		t.Error("a verifier ran after one that rejected")
	}
	for log, want := range map[string]string{
		"stdout.log": "==> verifier lint\nclean\n==> verifier test\\x0a\ncart.go:7: no\n",
		"stderr.log": "==> verifier test\\x0a\nbad \377\033[1m\n",
	} {
		if b, err := os.ReadFile(filepath.Join(call.StageDir, log)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v, want %q", log, b, err, want)
		}
	}
}

// TestSilentVerifiersLeaveNoLog: nothing is written for who says nothing.
func TestSilentVerifiersLeaveNoLog(t *testing.T) {
	call := newCall(t, value.Field{Name: "commands", Value: value.List{command("one", "true"), command("two", "exit 1")}})
	run(t, start(t, NewVerifiers), call)
	for _, log := range []string{"stdout.log", "stderr.log"} {
		if b, err := os.ReadFile(filepath.Join(call.StageDir, log)); err == nil {
			t.Errorf("%s is there: %q", log, b)
		}
	}
}

// TestVerifierThatTakesTooLong names the verifier, and the limit.
func TestVerifierThatTakesTooLong(t *testing.T) {
	const limit = 300 * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, &proc.LimitError{Limit: limit})
	defer cancel()
	out, err := start(t, NewVerifiers).Run(ctx, newCall(t, value.Field{Name: "commands", Value: value.List{command("slow", "exec sleep 60")}}))
	if err != nil || out.Class != stage.Timeout || !strings.HasPrefix(out.Message, `the verifier "slow" did not end in the time`) ||
		!strings.HasSuffix(out.Message, "time limit of 300ms") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestVerifierThatSaysMuchOrNothing(t *testing.T) {
	kind := start(t, NewVerifiers)
	out := run(t, kind, newCall(t, value.Field{Name: "commands", Value: value.List{command("much", "seq 100000; head -c 200000 /dev/zero | tr '\\0' x >&2; exit 1")}}))
	v := out.Diagnosis.Verifier
	if len(v.Stdout) > streamLimit+10 || !strings.HasPrefix(v.Stdout, "…\n9") || !strings.HasSuffix(v.Stdout, "\n99999\n100000") || len(v.Stderr) > streamLimit+10 {
		t.Errorf("%d and %d bytes: %.40q", len(v.Stdout), len(v.Stderr), v.Stdout)
	}
	if _, err := json.Marshal(v); err != nil {
		t.Error(err)
	}
	out = run(t, kind, newCall(t, value.Field{Name: "commands", Value: value.List{command("mute", "exit 1")}}))
	if got := out.Result.Items[0].Description; got != `the verifier "mute" rejected the work with exit status 1 and said nothing` {
		t.Errorf("%q", got)
	}
}

func TestVerifierThatSpoilsLogs(t *testing.T) {
	kind := start(t, NewVerifiers)
	call := newCall(t, value.Field{Name: "commands", Value: value.List{
		command("first", "rm -f $STAGE_DIR/std*.log $STAGE_DIR/script; ln -s $STAGE_DIR/secret $STAGE_DIR/stdout.log; mkfifo $STAGE_DIR/stderr.log; ln -s $STAGE_DIR/secret $STAGE_DIR/script"),
		command("second", "#"+strings.Repeat("x", 100<<10)+"\necho no; exit 1"),
	}})
	secret := filepath.Join(call.StageDir, "secret")
	if err := os.WriteFile(secret, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, kind, call); out.Diagnosis == nil || out.Diagnosis.Verifier.Stdout != "no" {
		t.Errorf("%+v", out)
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "mine" {
		t.Errorf("it was written through a link: %q, %v", b, err)
	}
}

func TestVerifierThatCannotWork(t *testing.T) {
	out := run(t, start(t, NewVerifiers), newCall(t, value.Field{Name: "commands", Value: value.List{command("lint", "true"), command("test", "nosuch-program")}}))
	if out.Class != stage.Unavailable || !strings.HasPrefix(out.Message, `the verifier "test" could not do its work: exit status 127: test: line 1: nosuch-program: `) {
		t.Errorf("%+v", out)
	}
	for _, config := range []value.List{{"make"}, {value.NewObject()}} {
		if out, err := start(t, NewVerifiers).Run(context.Background(), newCall(t, value.Field{Name: "commands", Value: config})); err == nil {
			t.Errorf("%v: %+v", config, out)
		}
	}
}

func TestCI(t *testing.T) {
	kind := start(t, NewCI)
	for _, c := range []struct {
		script string
		want   envelope.CIFailure
	}{
		{`echo waiting >&2; echo '{"run_url": "https://ci.example/r/1", "summary": "job test: step unit"}'; exit 1`,
			envelope.CIFailure{Workflow: "build", RunURL: "https://ci.example/r/1", Summary: "job test: step unit"}},
		{`printf '{"workflow": "night\\nly\\u001b[1m", "run_url": " http://u:p@ci.example/r?a=1#x ", "summary": "a\\u0000b\\nc"}'; exit 9`,
			envelope.CIFailure{Workflow: "night ly", RunURL: "http://u:xxxxx@ci.example/r?a=1#x", Summary: "ab\nc"}},
		{`echo '{"workflow": null, "run_url": "https://ci.example", "summary": "s"}'; exit 1`, envelope.CIFailure{Workflow: "build", RunURL: "https://ci.example", Summary: "s"}},
	} {
		out := run(t, kind, newCall(t, configOf(kind, c.script)...))
		if out.Class != stage.OK || out.Diagnosis == nil || *out.Diagnosis.CI != c.want {
			t.Errorf("%q: %+v", c.script, out)
			continue
		}
		checkItem(t, out, envelope.SourceCIFailure)
	}
	for said, want := range map[string]string{
		``:                                  "the command that waits for CI wrote nothing to stdout",
		`done`:                              "is not one JSON object",
		`[]`:                                "expected one JSON object",
		`{}`:                                "run_url is missing",
		`{"run_url": "https://ci.example"}`: "summary is missing",
		`{"run_url": "https://ci.example", "summary": " \u0001"}`:                  "summary is missing",
		`{"run_url": "javascript:alert(1)", "summary": "s"}`:                       `run_url: "javascript:alert(1)" is no address`,
		`{"run_url": "https:///x", "summary": "s"}`:                                "is no address",
		`{"run_url": "https://a b", "summary": "s"}`:                               "is no address",
		`{"run_url": "https://ci.example", "summary": 1}`:                          "summary: expected text, found",
		`{"run_url": "https://ci.example", "sumary": "s"}`:                         `unknown field "sumary"`,
		`{"run_url": "https://` + strings.Repeat("x", 3000) + `", "summary": "s"}`: "bytes, expected at most 2000",
	} {
		out := run(t, kind, newCall(t, configOf(kind, "echo '"+said+"'; exit 4")...))
		if out.Class != stage.ReviewUnavailable || !strings.HasPrefix(out.Message, "exit status 4") || !strings.Contains(out.Message, want) || out.Result != nil {
			t.Errorf("%q: %+v, want %q", said, out, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		kind stage.Kind
		with map[string]string // as written; text with ${{ is evaluated later
		want string
	}{
		{New(nil), map[string]string{"run": "make test"}, ""},
		{New(nil), map[string]string{"run": "if"}, `script-syntax the script of "run" does not parse as bash: `},
		{New(nil), map[string]string{"run": ""}, `script-empty "run" is empty`},
		{New(nil), map[string]string{"run": "echo ${{ inputs.x }}"}, `script-template ${{ }} is not evaluated in "run"`},
		{New(nil), map[string]string{"run": "x", "context_lines": "21"}, `gate-lines "context_lines" is 21, expected 0 to 20`},
		{New(nil), map[string]string{"run": "x", "context_lines": "-1"}, `gate-lines "context_lines" is -1`},
		{NewCI(nil), map[string]string{"run": "fi"}, "script-syntax"},
		{NewVerifiers(nil), map[string]string{"commands": "("}, `script-syntax the script of "lint" does not parse`},
	} {
		pass := stage.CheckPass{Config: value.NewObject(), Scalars: map[string]source.Scalar{}}
		for name, text := range c.with {
			pass.Scalars[name] = source.NewScalar(text, source.Span{Start: source.Pos{Line: 3, Col: 5}}, nil)
			switch {
			case strings.Contains(text, "${{"):
			case name == "context_lines":
				var n int64
				fmt.Sscan(text, &n)
				pass.Config.Set(name, n)
			case name == "commands":
				pass.Config.Set(name, value.List{command("lint", text)})
			default:
				pass.Config.Set(name, text)
			}
		}
		var got []string
		pass.Report = func(d diag.Diagnostic) { got = append(got, string(d.Code)+" "+d.Message) }
		c.kind.Check(&pass)
		if text := strings.Join(got, "\n"); (text == "") != (c.want == "") || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s %v: %q, want %q", c.kind.Name, c.with, text, c.want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("=== RUN\n--- FAIL: T\n\x1b[31mx\r\n\xff"), 3)
	f.Add([]byte("a\n\n b\n\n"), 0)
	f.Fuzz(func(t *testing.T, log []byte, around int) {
		around = min(max(around, 0), maxLines)
		got := find(t.Context(), bytes.NewReader(log), around)
		if !utf8.ValidString(got) || len(got) > summaryLimit+len("…") || strings.ContainsAny(got, "\x00\x1b\r") {
			t.Errorf("%q", got)
		}
		if lines := strings.Count(got, "\n"); lines > 2*around+2 {
			t.Errorf("%d lines around, and %q", around, got)
		}
	})
}
