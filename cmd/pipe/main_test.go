package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pipe": main})
}

// TestScripts runs the real command in scripts: testdata/script/*.txtar. Beside testscript's own commands
// there are:
//
//	status N COMMAND…   the command exits with status N
//	mask FILE…          what differs from run to run becomes a word: times, durations, ids of runs
//	json FILE…          each is one JSON document, or one a line, and holds nothing that a terminal obeys
//	until TEXT COMMAND… runs the command until its stdout holds the text
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("USER", "anna")
			env.Setenv("HOSTNAME", "laptop")
			env.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(env.WorkDir))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": statusCmd, "mask": maskCmd, "json": jsonCmd, "until": untilCmd,
		},
	})
}

// statusCmd runs a command and compares its exit status.
func statusCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %q: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q: exit status %d, want %d", args[1:], got, want)
	}
}

var masks = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`), "TIME"},
	{regexp.MustCompile(`\b01[0-9A-HJKMNP-TV-Z]{24}\b`), "RUN"},
	{regexp.MustCompile(`task-[0-9a-hjkmnp-tv-z]{6}-`), "task-XXXXXX-"},
	{regexp.MustCompile(`\b\d+(ms|\.\ds|m\d\ds)\b`), "DURATION"},
	{regexp.MustCompile(`"duration_ms":\d+`), `"duration_ms":0`},
	{regexp.MustCompile(`(DURATION|TIME) +`), "$1 "},
	{regexp.MustCompile(`\b(pid|process) \d+`), "$1 PID"},
	{regexp.MustCompile(`(PATH|on host) \S+`), "$1 X"},
	{regexp.MustCompile(`"(hash|tracked|base)":"[^"]*"`), `"$1":"TREE"`},
}

func maskCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mask FROM TO")
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.with)
	}
	writeFile(ts, ts.MkAbs(args[1]), text)
}

func jsonCmd(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				ts.Fatalf("%s: not JSON: %s", name, line)
			}
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0xfffd && neg }) {
			ts.Fatalf("%s holds what a terminal obeys: %q", name, text)
		}
		if text == "" {
			ts.Fatalf("%s is empty", name)
		}
	}
}

func untilCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until TEXT COMMAND...")
	}
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ts.Exec(args[1], args[2:]...)
		if out := ts.ReadFile("stdout"); err == nil && strings.Contains(out, args[0]) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			ts.Fatalf("%q never printed %q; stdout: %s; stderr: %s", args[1:], args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
		}
	}
}

func writeFile(ts *testscript.TestScript, path, text string) {
	ts.Check(os.WriteFile(path, []byte(text), 0o644))
}
