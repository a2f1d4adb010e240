//go:build linux

package hold

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTaskIDsAreNoPaths gives task ids that would lead out of the run's folder.
func TestTaskIDsAreNoPaths(t *testing.T) {
	t.Parallel()
	p := newRun(t, `stages: [{id: a, run: "true"}]`)
	for _, id := range []string{"a/../../b", "../x", "/etc", "..", ".", "-x", "a b", "a\nb", strings.Repeat("x", 101)} {
		r := p.want(2, "run", "p", "--task-id", id)
		p.says(r, "the task id", "must be 1 to 100 letters")
	}
	if p.exists(".pipe/runs") && len(p.runs()) > 0 {
		t.Error("a run was started")
	}
	for _, ref := range []string{"../../..", "/etc", "..", "01/../..", "a/b"} {
		for _, command := range []string{"show", "resume", "cancel", "logs", "events", "why"} {
			p.want(2, command, ref)
		}
	}
}

// TestPathsThatLeadOut writes paths that leave the workspace where an author may write one.
func TestPathsThatLeadOut(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - {id: a, run: "true", dir: ../}
  - {id: b, run: "true", dir: /etc}
  - {id: c, run: "true", dir: a/../../b}
  - {id: d, run: "true", feedback: {format: lines, pattern: '(?P<file>.*)', path: ../report}, feedback_loop: {target_stage: a}}
  - {id: e, run: "true", feedback: {format: lines, pattern: '(?P<file>.*)', path: /etc/passwd}, feedback_loop: {target_stage: a}}
  - {id: f, agent: x, prompt_file: ../../etc/passwd}
  - {id: g, agent: x, prompt_file: /etc/passwd}
`)
	r := p.want(1, "check", "p", "--short")
	for line := 5; line <= 11; line++ {
		p.says(r, fmt.Sprintf("pipelines/p.yaml:%d:", line))
	}
	if strings.Contains(r.out+r.err, "root:") {
		t.Errorf("a file was read: %s", r)
	}
	p.want(1, "run", "p")
}

// TestPathsOfItems has a review name files outside: the item is kept, its path is not.
func TestPathsOfItems(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - {id: implement, run: "date +%N > change"}
  - id: review
    run: |
      cat > "$PIPE_FEEDBACK" <<'END'
      [{"severity":"blocking","file":"../../etc/passwd","line":1,"description":"one"},
       {"severity":"blocking","file":"/etc/passwd","description":"two"},
       {"severity":"blocking","file":"a/../../../etc/passwd","description":"three"},
       {"severity":"blocking","file":"./sub/../change","line":1,"description":"four"},
       {"severity":"blocking","file":"link","description":"five"}]
      END
      ln -sf /etc/passwd link
    feedback_loop: {target_stage: implement, max_iterations: 2}
`)
	p.want(4, "run", "p")
	s := p.show()
	if s.Escalation == nil {
		t.Fatal("no escalation")
	}
	files := map[string]string{}
	for _, item := range s.Escalation.Items {
		files[item.Description] = item.File
	}
	want := map[string]string{"one": "", "two": "", "three": "", "four": "change", "five": "link"}
	for what, file := range want {
		if got, ok := files[what]; !ok || got != file {
			t.Errorf("item %q: file %q (%v), want %q", what, got, ok, file)
		}
	}
	brief := p.read(".pipe/runs/" + p.last() + "/stages/implement/2.1/brief.md")
	if strings.Contains(brief, "passwd") || !strings.Contains(brief, "**(no file)** - one") {
		t.Errorf("the brief is\n%s", brief)
	}
	for _, name := range []string{"events.jsonl", "run.json", "feedback.log"} {
		if text := p.read(".pipe/runs/" + p.last() + "/" + name); strings.Contains(text, "root:x:") {
			t.Errorf("%s holds the text of a file outside", name)
		}
	}
	p.leavesNothing()
}

// TestSwappedLinks puts links, pipes and folders in the place of what was checked before: nothing outside is
// read, written or removed, and nobody waits.
func TestSwappedLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, stages, says string }{
		{"dir", `
stages:
  - {id: make, run: "mkdir sub; ln -s .. out"}
  - {id: swap, run: "rmdir sub; ln -s ../outside sub"}
  - {id: a, run: "touch was-here", dir: sub}
`, `dir \"sub\" must lie in the workspace`},
		{"dir through a link", `
stages:
  - {id: make, run: "ln -s ../outside link; mkdir ../outside/sub"}
  - {id: a, run: "touch was-here", dir: link/sub}
`, `dir \"link/sub\" must lie in the workspace`},
		{"dir of a link that loops", `
stages:
  - {id: make, run: "ln -s sub sub"}
  - {id: a, run: "touch was-here", dir: sub}
`, `dir \"sub\" can't be used`},
		{"report", `
stages:
  - {id: make, run: "echo 'secret.go:1: is told' > ../outside/report"}
  - id: a
    run: ln -s ../outside/report report
    feedback: {format: go-vet, path: report}
    feedback_loop: {target_stage: make}
`, `the report \"report\" can't be read: it is, or is reached through, a symbolic link`},
		{"report below a link", `
stages:
  - {id: make, run: "echo 'secret.go:1: is told' > ../outside/report; ln -s ../outside sub"}
  - id: a
    run: "true"
    feedback: {format: go-vet, path: sub/report}
    feedback_loop: {target_stage: make}
`, `the report \"sub/report\" can't be read: it is, or is reached through, a symbolic link`},
		{"output is a link", `
stages:
  - {id: a, run: 'echo x=secret > ../outside/o; ln -sf "$PIPE_WORKSPACE/../outside/o" "$PIPE_OUTPUT"', outputs: {x: string}}
`, "PIPE_OUTPUT can't be read: it is, or is reached through, a symbolic link"},
		{"output is a pipe", `
stages:
  - {id: a, run: 'mkfifo "$PIPE_OUTPUT"', outputs: {x: string}}
`, "PIPE_OUTPUT can't be read: it is not a regular file"},
		{"output is a folder", `
stages:
  - {id: a, run: 'mkdir "$PIPE_OUTPUT"', outputs: {x: string}}
`, "PIPE_OUTPUT can't be read: it is not a regular file"},
		{"items are a link", `
stages:
  - {id: make, run: "true"}
  - {id: a, run: 'ln -s /etc/passwd "$PIPE_FEEDBACK"', feedback_loop: {target_stage: make}}
`, "symbolic link"},
		{"items are a pipe", `
stages:
  - {id: make, run: "true"}
  - {id: a, run: 'mkfifo "$PIPE_FEEDBACK"', feedback_loop: {target_stage: make}}
`, "it is not a regular file"},
		{"items are a device", `
stages:
  - {id: make, run: "true"}
  - {id: a, run: 'ln -s /dev/zero "$PIPE_FEEDBACK"', feedback_loop: {target_stage: make}}
`, "symbolic link"},
		{"stage folder", `
stages:
  - {id: make, run: "true"}
  - id: a
    run: |
      d=$(dirname "$PIPE_OUTPUT")
      mv "$d" "$d.away"
      echo x=secret > ../outside/output
      ln -s "$PIPE_WORKSPACE/../outside" "$d"
    outputs: {x: string}
`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newRun(t, c.stages)
			if err := os.Mkdir(p.path("../outside"), 0o755); err != nil {
				t.Fatal(err)
			}
			r := p.want(1, "run", "p")
			p.says(r, c.says)
			if p.exists("../outside/was-here") {
				t.Error("the stage worked outside")
			}
			for _, name := range []string{"events.jsonl", "run.json"} {
				if text := p.read(".pipe/runs/" + p.last() + "/" + name); strings.Contains(text, "secret.go") || strings.Contains(text, `"x":"secret"`) || strings.Contains(text, "root:x:") {
					t.Errorf("%s holds what stood outside", name)
				}
			}
			p.want(0, "logs", "last")
			p.want(0, "why", "last")
			p.leavesNothing()
		})
	}
}

// TestReportOfAnotherTry leaves a report, and a link to one, from before: neither is read, and what the link
// leads to stays.
func TestReportOfAnotherTry(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - {id: make, run: "ln -s ../precious report"}
  - id: a
    run: "true"
    feedback: {format: go-vet, path: report}
    feedback_loop: {target_stage: make}
`)
	p.write("../precious", "a.go:1: old\n")
	p.says(p.want(1, "run", "p"), `the report \"report\" is not there`)
	if got := p.read("../precious"); got != "a.go:1: old\n" {
		t.Errorf("the file that the link leads to is now %q", got)
	}
}
