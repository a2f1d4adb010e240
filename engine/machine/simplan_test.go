package machine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomPlanText writes a plan in the text form of parsePlan: joins, nested and crossing loops, approvals,
// retries, items and, if wanted, bodies.
func randomPlanText(rng *rand.Rand, bodies bool) string {
	g := planWriter{rng: rng, undo: bodies && rng.IntN(3) == 0}
	if bodies {
		g.policy()
	}
	depth := 0
	if bodies {
		depth = 2
	}
	g.graph("s", "", 3+rng.IntN(6), depth)
	return g.out.String()
}

// convergence writes the rules of a loop.
func (g *planWriter) convergence() {
	for _, rule := range []string{"same", "disputed", "ratchet"} {
		if g.chance(25) {
			fmt.Fprintf(&g.out, " %s=%d", rule, 1+g.rng.IntN(2))
		}
	}
	if g.chance(20) {
		g.out.WriteString(" nochange=off")
	}
}

// policy writes what holds for the whole plan.
func (g *planWriter) policy() {
	var words []string
	for _, w := range []string{"unattended", "deadline=300", "fail", "notify", "notify", "before=false"} {
		if g.chance(8) && (w != "before=false" || g.chance(20)) {
			words = append(words, w)
		}
	}
	if len(words) > 0 {
		fmt.Fprintf(&g.out, "! %s\n", strings.Join(words, " "))
	}
}

type planWriter struct {
	rng  *rand.Rand
	out  strings.Builder
	undo bool // stages have rollbacks
}

func (g *planWriter) chance(percent int) bool { return g.rng.IntN(100) < percent }

// graph writes n stages, with bodies down to a depth; ancestors holds for each what it needs, directly or not.
func (g *planWriter) graph(name, indent string, n, depth int) {
	ancestors := make([]map[int]bool, n)
	last := make([]string, n) // what who needs a stage must wait for
	for i := range n {
		ancestors[i] = map[int]bool{}
		fmt.Fprintf(&g.out, "%s%s%d", indent, name, i)
		var needs []string
		for k := range i {
			if g.chance(100 / (i - k + 1)) {
				needs = append(needs, last[k])
				ancestors[i][k] = true
				for a := range ancestors[k] {
					ancestors[i][a] = true
				}
			}
		}
		if len(needs) > 0 {
			fmt.Fprintf(&g.out, " needs=%s", strings.Join(needs, ","))
		}
		body := depth > 0 && g.chance(10)
		at := g.out.Len()
		g.words(name, i, ancestors[i], body)
		last[i] = fmt.Sprintf("%s%d", name, i)
		if words := g.out.String()[at:]; !body && g.chance(15) && !strings.Contains(words, " gate") {
			last[i] = g.verifier(last[i], indent, words)
			continue
		}
		if body {
			g.out.WriteString([]string{"", " escalates=fail", " escalates=findings", " escalates=findings"}[g.rng.IntN(4)])
		}
		g.out.WriteString("\n")
		if body {
			g.graph(fmt.Sprintf("%s%dx", name, i), indent+"  ", 1+g.rng.IntN(4), depth-1)
		}
	}
	if g.chance(20) {
		g.finally(name, indent)
	}
}

// verifier writes what verifies a stage, with its words: verifiers, or the validation of a refine loop.
func (g *planWriter) verifier(of, indent, words string) string {
	name := of + "v"
	fmt.Fprintf(&g.out, "\n%s%s needs=%s loop=%s max=%d when=ran:%s %s", indent, name, of, of, 1+g.rng.IntN(3), of,
		[]string{"self", "refine=plan"}[g.rng.IntN(2)])
	for w := range strings.FieldsSeq(words) {
		if w == "writes" || strings.HasPrefix(w, "foreach=") || strings.HasPrefix(w, "parallel=") {
			g.out.WriteString(" " + w)
		}
	}
	if g.chance(15) {
		g.out.WriteString(" exhausted=fail")
	}
	g.out.WriteString("\n")
	return name
}

// finally writes the finally of a graph.
func (g *planWriter) finally(name, indent string) {
	fmt.Fprintf(&g.out, "%sfinally\n", indent)
	for i := range 1 + g.rng.IntN(2) {
		fmt.Fprintf(&g.out, "%s  %sf%d", indent, name, i)
		for _, w := range []string{"writes", "retry=2", "when=false", "interrupt=ask", "pre=error"} {
			if g.chance(10) {
				g.out.WriteString(" " + w)
			}
		}
		if g.undo {
			g.out.WriteString(" rollback=manual")
		}
		g.out.WriteString("\n")
	}
}

// approval writes an approval, or a stage that is nothing else.
func (g *planWriter) approval(name string, i int, ancestors map[int]bool, loop, body bool) {
	if !g.chance(15) {
		return
	}
	g.out.WriteString([]string{" approval", " gate"}[g.rng.IntN(2)])
	if g.chance(40) {
		g.out.WriteString(" deadline=200")
	}
	if g.chance(50) {
		g.out.WriteString(" ontimeout=" + []string{"approve", "fail", "reject"}[g.rng.IntN(3)])
	}
	switch {
	case g.chance(20):
		g.out.WriteString(" onreject=skip")
	case len(ancestors) > 0 && !loop && !body && g.chance(80):
		for k := range i {
			if ancestors[k] {
				fmt.Fprintf(&g.out, " onreject=%s%d max=%d", name, k, 1+g.rng.IntN(3))
				break
			}
		}
	}
}

func (g *planWriter) words(name string, i int, ancestors map[int]bool, body bool) {
	loop := len(ancestors) > 0 && g.chance(55)
	if loop {
		var targets []int
		for k := range i { // in order, so that a seed always gives the same plan
			if ancestors[k] {
				targets = append(targets, k)
			}
		}
		fmt.Fprintf(&g.out, " loop=%s%d max=%d", name, targets[g.rng.IntN(len(targets))], 1+g.rng.IntN(3))
		if g.chance(15) {
			g.out.WriteString(" exhausted=fail")
		}
		if g.chance(20) {
			g.out.WriteString(" rerun=path")
		}
		g.convergence()
	}
	g.approval(name, i, ancestors, loop, body)
	foreach := false
	for _, w := range []struct {
		percent int
		text    string
	}{
		{25, "writes"}, {12, "continue"}, {25, "retry=2"}, {6, "when=false"}, {6, "when=again"},
		{6, "interrupt=ask"}, {4, "interrupt=fail"}, {2, "pre=error"}, {3, "post=again"}, {6, "foreach=list:2"}, {3, "foreach=lists:3,1"}, {2, "foreach=lists:1,3"}, {2, "foreach=list:0"},
	} {
		if g.chance(w.percent) && !(foreach && strings.HasPrefix(w.text, "foreach")) {
			g.out.WriteString(" " + w.text)
			foreach = foreach || strings.HasPrefix(w.text, "foreach")
		}
	}
	if g.undo && g.chance(50) {
		g.out.WriteString(" rollback=" + []string{"git_revert", "file_restore", "manual", "run undoenv=error"}[g.rng.IntN(4)])
	}
	if foreach && g.chance(40) {
		g.out.WriteString(" parallel=1")
	}
}
