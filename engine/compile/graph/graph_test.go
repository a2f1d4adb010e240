package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// draw gives a random graph in which nodes need earlier ones, and the table of all pairs.
func draw(t *rapid.T) (Needs, [][]bool) {
	n := rapid.IntRange(1, 150).Draw(t, "nodes")
	needs, before := make(Needs, n), make([][]bool, n)
	for i := range n {
		before[i] = make([]bool, n)
		for k := range i {
			if rapid.IntRange(0, 9).Draw(t, "edge") == 0 {
				needs[i] = append(needs[i], k)
				before[i][k] = true
				for j, yes := range before[k] {
					before[i][j] = before[i][j] || yes
				}
			}
		}
	}
	return needs, before
}

func TestBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		needs, before := draw(t)
		var asked []Edge
		for i := range needs {
			for k := range needs {
				asked = append(asked, Edge{From: i, To: k})
			}
		}
		yes := needs.Before(asked)
		for _, e := range asked {
			if yes[e] != before[e.From][e.To] {
				t.Fatalf("%d before %d: %v, want %v", e.To, e.From, yes[e], before[e.From][e.To])
			}
		}
		e := rapid.SampledFrom(asked).Draw(t, "pair")
		if got := needs.RunsBefore(e.To, e.From); got != before[e.From][e.To] {
			t.Fatalf("RunsBefore(%d, %d) is %v", e.To, e.From, got)
		}
	})
}

func TestReduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		needs, before := draw(t)
		reduced := needs.Reduce()
		for i, left := range reduced {
			keeps := make(map[int]bool)
			for _, k := range left {
				keeps[k] = true
			}
			for _, k := range needs[i] {
				implied := false
				for _, o := range needs[i] {
					implied = implied || before[o][k]
				}
				if keeps[k] == implied {
					t.Fatalf("node %d needs %d: kept %v, implied by another need %v", i, k, keeps[k], implied)
				}
			}
		}
	})
}

func TestSinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		needs, _ := draw(t)
		var s Sinks
		for i := range needs {
			var want []int
			for k := range i {
				free := true
				for j := range i {
					for _, n := range needs[j] {
						free = free && n != k
					}
				}
				if free {
					want = append(want, k)
				}
			}
			if diff := cmp.Diff(want, s.All()); diff != "" {
				t.Fatalf("sinks before node %d (-want +got):\n%s", i, diff)
			}
			s.Add(i, needs[i])
		}
	})
}

func TestBreakCycles(t *testing.T) {
	for _, c := range []struct {
		name   string
		needs  Needs
		cycles [][]int
	}{
		{"none", Needs{nil, {0}, {0, 1}}, nil},
		{"two", Needs{{1}, {0}}, [][]int{{0, 1}}},
		{"not from the first", Needs{{3}, nil, {1, 4}, {4}, {2}}, [][]int{{2, 4}}},
		{"round", Needs{nil, {3}, {1}, {2}}, [][]int{{1, 3, 2}}},
		{"two cycles", Needs{{1}, {0, 2}, {1}}, [][]int{{0, 1}, {1, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.cycles, c.needs.BreakCycles()); diff != "" {
				t.Errorf("cycles (-want +got):\n%s", diff)
			}
			if left := c.needs.BreakCycles(); left != nil {
				t.Errorf("cycles are left: %v", left)
			}
		})
	}
}
