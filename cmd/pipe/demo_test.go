package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// demo runs a script of testdata/demo and returns its screen, the folder that it made, and the run's id.
func demo(t *testing.T, script string) (screen, folder, run string) {
	t.Helper()
	pipe, err := exec.LookPath("pipe") // TestMain put it into PATH
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	cmd := exec.Command("bash", filepath.Join("..", "..", "testdata", "demo", script), pipe)
	// A git that asks for signatures and hooks must not matter, nor what we are called ourselves.
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "USER=anna", "HOSTNAME=laptop", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=commit.gpgsign", "GIT_CONFIG_VALUE_0=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	entries, err := os.ReadDir(tmp)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the demo left %v, want one folder: %v", entries, err)
	}
	folder = filepath.Join(tmp, entries[0].Name())
	runs, err := filepath.Glob(filepath.Join(folder, "wordcount", ".pipe", "runs", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("the demo left the runs %v, want one: %v", runs, err)
	}
	run = filepath.Base(runs[0])
	if left := processesOf(t, run); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	return string(out), folder, run
}

// processesOf lists the processes that carry a run's id in their environment. Where there is no /proc, it
// finds none.
func processesOf(t *testing.T, run string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it ended, or is another user's
		}
		if slices.Contains(strings.Split(string(b), "\x00"), "PIPE_RUN_ID="+run) {
			out = append(out, filepath.Dir(f))
		}
	}
	return out
}

// inOrder asks for lines that match the patterns, one after the other.
func inOrder(t *testing.T, screen string, patterns ...string) {
	t.Helper()
	rest := screen
	for _, p := range patterns {
		at := regexp.MustCompile(`(?m)^` + p).FindStringIndex(rest)
		if at == nil {
			t.Errorf("no line like %q where it is due in\n%s", p, screen)
			return
		}
		rest = rest[at[1]:]
	}
}

// goTest runs the tests of a demo's repository.
func goTest(folder string) error {
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = filepath.Join(folder, "wordcount")
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	return cmd.Run()
}

func TestDemo(t *testing.T) {
	t.Parallel()
	screen, folder, run := demo(t, "run.sh")
	inOrder(t, screen,
		`# .*AGENTS.*RECORDED`,
		`\$ pipe run bug-fix --input`,
		`\S+ diagnose succeeded`,
		`\S+ fix succeeded iteration=1 attempt=1`,
		`\S+ (\S+) opened severity=blocking source=test_verify at=wordcount_test.go:\d+ description="TestTop failed: `,
		`\S+ test_verify feedback_routed target=fix action=re_implement iteration=2/2 items=\S+$`,
		`\S+ fix succeeded iteration=2 attempt=1`,
		`\S+ \S+ fixed iteration=2 by=test_verify`,
		`\S+ test_verify feedback_routed target=fix action=accept iteration=2/2`,
		`\S+ quality_review feedback_routed target=fix action=accept iteration=1/2`,
		`\S+ run succeeded$`,
		`output summary="Count .*Top`,
		`\$ cat .*brief.md`,
		`## Feedback Loop: Iteration 2$`,
		`\*\*Source:\*\* test_verify \(go-test\)$`,
		`1\. \*\*wordcount_test.go:\d+\*\* - TestTop failed: `,
		`\$ pipe show last`,
		`status    succeeded$`,
		`  fix +succeeded  2 `,
		`  test_verify -> fix +2/2 +accept +0$`,
		`# All files of the run are in$`,
		`# \S+/wordcount/.pipe/runs/`+run+`$`,
	)
	if strings.Contains(screen, "TestCount failed") {
		t.Errorf("the bug that round 1 fixes was reported:\n%s", screen)
	}
	if err := goTest(folder); err != nil {
		t.Errorf("the tests of the repository fail at the end: %v", err)
	}
}

func TestDemoEscalation(t *testing.T) {
	t.Parallel()
	screen, folder, run := demo(t, "escalation.sh")
	inOrder(t, screen,
		`# .*AGENTS.*RECORDED`,
		`\$ pipe run bug-fix --input`,
		`\S+ test_verify feedback_routed target=fix action=re_implement iteration=2/2 `,
		`\S+ test_verify feedback_routed target=fix action=escalate iteration=2/2 rule=iteration_cap_reached `,
		`\S+ run paused reason=iteration_cap_reached$`,
		`## Feedback Loop Escalation$`,
		`- \*\*wordcount_test.go:\d+\*\* - TestCount failed: `,
		`- \*\*wordcount_test.go:\d+\*\* - TestTop failed: `,
		`   pipe decide `+run+` test_verify override --id x1 --reason TEXT$`,
		`# .*exit status 4`,
		`\$ pipe decide `+run+` test_verify override --id x1 --reason '`,
		`decided: override for test_verify$`,
		`go on with: pipe resume `+run+`$`,
		`\$ pipe resume `+run+`$`,
		`\S+ run succeeded$`,
		`status    succeeded$`,
		`  test_verify -> fix +2/2 +override +0$`,
		`  \S+ a person decided override by anna@laptop: `,
	)
	if goTest(folder) == nil {
		t.Error("the tests of the repository pass, though nothing was fixed")
	}
}

// TestSampleRepository holds the sample to what the demo tells: two bugs, each with a test that fails
// because of it alone, and a repository without remarks of go vet.
func TestSampleRepository(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	if err := os.CopyFS(tmp, os.DirFS(filepath.Join("..", "..", "testdata", "repos", "wordcount"))); err != nil {
		t.Fatal(err)
	}
	recording, err := filepath.Abs(filepath.Join("..", "..", "testdata", "repos", "wordcount-recording"))
	if err != nil {
		t.Fatal(err)
	}
	do := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = tmp
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GIT_CEILING_DIRECTORIES="+filepath.Dir(tmp))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil && name != "go" {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out.String())
		}
		return out.String()
	}
	failing := func() []string {
		return regexp.MustCompile(`(?m)^--- FAIL: \w+`).FindAllString(do("go", "test", "./..."), -1)
	}
	if got := do("go", "vet", "./..."); got != "" {
		t.Errorf("go vet says %s", got)
	}
	if got := failing(); len(got) != 2 {
		t.Errorf("%v at the start, want two tests that fail", got)
	}
	for round, want := range [][]string{{"--- FAIL: TestTop"}, nil} {
		patch := filepath.Join(recording, "fixes", fmt.Sprintf("fix-round%d.patch", round+1))
		do("git", "apply", patch)
		if got := failing(); !slices.Equal(got, want) {
			t.Errorf("%v after round %d, want %v", got, round+1, want)
		}
	}
}
