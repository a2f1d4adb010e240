package machine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomPlanText writes a plan in the text form of parsePlan: joins, nested and crossing loops, approvals,
// retries, items and, if wanted, bodies.
func randomPlanText(rng *rand.Rand, bodies bool) string {
	g := planWriter{rng: rng}
	g.graph("s", "", 3+rng.IntN(6), bodies)
	return g.out.String()
}

type planWriter struct {
	rng *rand.Rand
	out strings.Builder
}

func (g *planWriter) chance(percent int) bool { return g.rng.IntN(100) < percent }

// graph writes n stages; ancestors holds for each what it needs, directly or not.
func (g *planWriter) graph(name, indent string, n int, nest bool) {
	ancestors := make([]map[int]bool, n)
	for i := range n {
		ancestors[i] = map[int]bool{}
		fmt.Fprintf(&g.out, "%s%s%d", indent, name, i)
		var needs []string
		for k := range i {
			if g.chance(100 / (i - k + 1)) {
				needs = append(needs, fmt.Sprintf("%s%d", name, k))
				ancestors[i][k] = true
				for a := range ancestors[k] {
					ancestors[i][a] = true
				}
			}
		}
		if len(needs) > 0 {
			fmt.Fprintf(&g.out, " needs=%s", strings.Join(needs, ","))
		}
		body := nest && g.chance(8)
		g.words(name, i, ancestors[i], body)
		g.out.WriteString("\n")
		if body {
			g.graph(fmt.Sprintf("%s%dx", name, i), indent+"  ", 1+g.rng.IntN(3), false)
		}
	}
}

func (g *planWriter) words(name string, i int, ancestors map[int]bool, body bool) {
	if len(ancestors) > 0 && !body && g.chance(55) {
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
	}
	for _, w := range []struct {
		percent int
		text    string
	}{
		{25, "writes"}, {12, "continue"}, {12, "approval"}, {25, "retry=2"}, {6, "when=false"}, {6, "when=again"},
		{6, "interrupt=ask"}, {4, "interrupt=fail"}, {2, "pre=error"}, {3, "post=again"}, {6, "foreach=list:2"}, {2, "foreach=list:0"},
	} {
		if g.chance(w.percent) && !strings.HasSuffix(g.out.String(), "list:2") {
			g.out.WriteString(" " + w.text)
		}
	}
}
