//go:build linux

package hold

import (
	"strings"
	"syscall"
	"testing"
)

// TestNestedRuns has a stage run another pipeline, one of whose stages leaves a stubborn process: what ends
// the outer run ends the inner one and all that it left.
func TestNestedRuns(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*place, *started){
		"cancelled": func(p *place, s *started) {
			p.want(0, "cancel", s.outer())
			if r := s.end(); r.status != 1 {
				p.t.Errorf("the outer run: %s", r)
			}
		},
		"interrupted": func(p *place, s *started) {
			s.signal(syscall.SIGINT)
			if r := s.end(); r.status != 130 {
				p.t.Errorf("the outer run: %s", r)
			}
		},
		"killed, then resumed": func(p *place, s *started) {
			s.signal(syscall.SIGKILL)
			s.end()
			p.write("../go-on", "")
			p.want(0, "resume", s.outer())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newRun(t, `stages: [{id: out, run: pipe run inner}]`)
			p.write("pipelines/inner.yaml", "name: inner\nversion: 1\n"+`
stages:
  - id: in
    run: |
      if [ -e ../go-on ]; then exit 0; fi
      setsid bash -c 'trap "" TERM HUP INT; echo $$ > ../grandchild; while :; do echo still here; sleep 0.2; done' &
      until [ -e ../go-on ]; do sleep 0.02; done
`)
			outer := p.start("run", "p")
			p.until("the inner stage runs", func() bool { return p.exists("../grandchild") && strings.TrimSpace(p.read("../grandchild")) != "" })
			if n := len(p.runs()); n != 2 {
				t.Fatalf("there are %d runs", n)
			}
			end(p, outer)
			p.leavesNothing()
			for _, run := range p.runs() {
				if r := p.want(0, "show", run); strings.Contains(r.out, "status    running") {
					t.Errorf("a run goes on: %s", r)
				}
			}
		})
	}
}

// outer is the id of the run that a command started.
func (s *started) outer() string {
	s.t.Helper()
	_, rest, ok := strings.Cut(s.out.String(), "run started run=")
	if !ok {
		s.t.Fatalf("no run was started: %s", s.out.String())
	}
	id, _, _ := strings.Cut(rest, " ")
	return id
}
