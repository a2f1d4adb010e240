//go:build linux

package hold

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// most is the memory that the command may take, in KiB, whatever a stage prints.
const most = 100 << 10

// TestMuchOutput has a stage print 1 GB, as lines and as one line, and a review print a report of 24 MB whose
// one finding comes last. None of it is held in memory, neither by the run nor by who looks at it.
//
// It runs by itself: the system counts as a process's memory what its parent had when it started it, and that is all
// that tests beside it hold.
func TestMuchOutput(t *testing.T) {
	p := newRun(t, `
stages:
  - id: noisy
    run: |
      head -c 500000000 /dev/zero | tr '\0' x
      yes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -c 500000000 || true
  - {id: target, run: "true"}
  - id: report
    run: |
      yes 'no finding in this line' | head -c 24000000 || true
      echo 'a.go:3: late'
    feedback: {format: lines, pattern: '^(?P<file>[a-z.]+):(?P<line>[0-9]+): (?P<description>.*)$'}
    feedback_loop: {target_stage: target, max_iterations: 1}
`)
	r := p.pipe("run", "p")
	if r.status != 4 {
		t.Fatal(r)
	}
	p.says(r, "noisy succeeded", `opened severity=blocking source=report at=a.go:3 description=late`)
	info, err := os.Stat(p.inRun("stages/noisy/1.1/stdout.log"))
	if err != nil || info.Size() != 1e9 {
		t.Errorf("the log: %v, want 1 GB: %v", info.Size(), err)
	}
	took := []*result{r, p.want(0, "show", "last", "--json"), p.want(0, "why", "last", "noisy")}
	for n, r := range took {
		t.Logf("command %d took %d MiB", n, r.usage.Maxrss>>10)
		if r.usage.Maxrss > most {
			t.Errorf("command %d took %d MiB, want at most %d", n, r.usage.Maxrss>>10, most>>10)
		}
	}
	// Reading the log is not holding it either.
	logs := p.cmd("logs", "last", "noisy")
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	logs.Stdout = null
	if err := logs.Run(); err != nil {
		t.Fatal(err)
	}
	if usage := rusage(logs); usage.Maxrss > most {
		t.Errorf("logs took %d MiB", usage.Maxrss>>10)
	}
	if err := os.RemoveAll(p.inRun("stages/noisy")); err != nil { // 1 GB need not wait for the end of all tests
		t.Error(err)
	}
}

// harmless wants text to hold nothing that a terminal obeys, and to be UTF-8.
func (p *place) harmless(what, text string) {
	p.t.Helper()
	if !utf8.ValidString(text) {
		p.t.Errorf("%s is not UTF-8: %q", what, clip(text))
	}
	bad := func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}
	if i := strings.IndexFunc(text, bad); i >= 0 {
		p.t.Errorf("%s holds what a terminal obeys: %q", what, clip(text[max(0, i-100):min(len(text), i+100)]))
	}
}

// TestHostileText puts escapes and bytes that are no text wherever a stage can put text: stdout, outputs,
// items, names of files and agents, replies, messages. No screen obeys it, and all JSON is JSON.
func TestHostileText(t *testing.T) {
	t.Parallel()
	evil := `\\u001b[31m\\u001b]0;t\\u0007\\u202e\\u009b2J\\r\\nend`
	p := newPlace(t, "pipelines/p.yaml", fmt.Sprintf(`
name: p
version: 1
outputs: {all: "${{ stages.noisy.outputs.text }}", obj: "${{ stages.noisy.outputs.obj }}"}
stages:
  - id: noisy
    run: |
      printf '\033[31mred \377\376 \033]0;title\007 \r over \342\202' | tee /dev/stderr
      printf '{"text": "%[1]s", "obj": {"%[1]s": ["%[1]s"]}}' > "$PIPE_OUTPUT"
    outputs: {text: string, obj: object}
  - id: bad
    run: printf 'x=\033[2J\377' > "$PIPE_OUTPUT"
    outputs: {x: string}
    continue_on_error: true
  - id: dies
    run: printf '\033[2Jdead \377\n' >&2; exit 3
    continue_on_error: true
  - id: implement
    agent: coder
    prompt: do it
  - id: review
    env: {EVIL: "${{ stages.noisy.outputs.text }}"}
    run: |
      touch "$(printf 'e\033[31mvil\377\n.txt')"
      printf '[{"severity":"blocking","file":"e%[1]s","description":"%[1]s","suggested_fix":"%[1]s","source_agent":"%[1]s","gate_id":"%[1]s","category":"%[1]s"}]' > "$PIPE_FEEDBACK"
    feedback_loop: {target_stage: implement, max_iterations: 2}
`, evil), "pipe.yaml", `
agents:
  coder:
    command: [bash, -c, "cat > ../prompt.$PIPE_ITERATION; printf '\\033[31m\\377 said'; date +%N > change"]
`)
	run := p.want(4, "run", "p")
	if !strings.Contains(run.out, "Feedback Loop Escalation") {
		t.Fatal(run)
	}
	id := p.last()
	for _, args := range [][]string{
		{"show", id}, {"ps"}, {"logs", id}, {"events", id}, {"why", id}, {"why", id, "review"}, {"why", id, "dies"},
		{"why", id, "bad"}, {"why", id, "implement"}, {"doctor", "--run", id}, {"doctor", "--replay", id},
		{"decide", id, "refer-back", "--note", "\x1b[31m\xff note", "--by", "\x1b]0;me\x07"},
	} {
		r := p.want(0, args...)
		p.harmless(strings.Join(args[:1], " "), r.out)
		p.harmless(args[0]+" (stderr)", r.err)
	}
	p.harmless("run", run.out)
	p.harmless("run (stderr)", run.err)
	again := p.want(4, "resume", id)
	p.harmless("resume", again.out+again.err)
	over := p.want(0, "decide", id, "override", "--reason", "\x1b[2J\xfe", "--resume")
	p.harmless("override", over.out+over.err)
	if !strings.Contains(over.out, "output all=") {
		t.Errorf("no outputs: %s", over)
	}
	p.harmless("brief", p.read(".pipe/runs/"+id+"/stages/implement/2.1/brief.md"))
	p.harmless("feedback.log", p.read(".pipe/runs/"+id+"/feedback.log"))
	for _, args := range [][]string{{"show", id, "--json"}, {"ps", "--json"}, {"events", id, "--json"}, {"why", id, "--json"}, {"doctor", "--run", id, "--json"}} {
		out := p.want(0, args...).out
		p.harmless(strings.Join(args, " "), out)
		for line := range strings.Lines(out) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q: not JSON: %s", args, clip(line))
			}
		}
	}
	if got := p.show().Outputs["all"]; got != "\x1b[31m\x1b]0;t\a\u202e\u009b2J\r\nend" {
		t.Errorf("the output is %q: JSON carries it unchanged", got)
	}
	p.leavesNothing()
}
