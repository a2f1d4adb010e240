package check

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

var (
	wantComment = regexp.MustCompile(`# want((?: "(?:[^"\\]|\\.)*")+)\s*$`)
	quotedText  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// load compiles a sound document.
func load(t testing.TB, name, text string) (*plan.Plan, *specs.Pipeline) {
	t.Helper()
	doc, ds := specs.ParsePipeline(source.NewFile(name, text))
	p, more := compile.Compile(doc, compile.Options{AllowMissingAgents: true})
	if ds.HasErrors() || p == nil {
		t.Fatalf("%s%s", ds.Text(), more.Text())
	}
	return p, doc
}

// TestWants checks the files of testdata: each piece of advice must be wanted by the line on which it
// stands, and the other way round.
func TestWants(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	found := make(map[diag.Code]bool)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, doc := load(t, file, string(text))
		ds := Check(p, doc).Sorted()
		for _, d := range ds {
			found[d.Code] = true
			if d.Severity == diag.Error {
				t.Errorf("advice is an error: %s", d.Line())
			}
		}
		compare(t, file, string(text), ds)
	}
	for _, r := range Rules() {
		if !found[r.Code] {
			t.Errorf("no case for the rule %s", r.Code)
		}
		if r.Doc == "" || r.Run == nil {
			t.Errorf("rule %s is not whole", r.Code)
		}
	}
}

func compare(t *testing.T, file, text string, ds diag.List) {
	t.Helper()
	wants := make(map[int][]string)
	for i, line := range strings.Split(text, "\n") {
		if m := wantComment.FindStringSubmatch(line); m != nil {
			for _, q := range quotedText.FindAllString(m[1], -1) {
				w, err := strconv.Unquote(q)
				if err != nil {
					t.Fatalf("%s:%d: %v", file, i+1, err)
				}
				wants[i+1] = append(wants[i+1], w)
			}
		}
	}
next:
	for _, d := range ds {
		full := d.Message + " [" + string(d.Code) + "]; " + d.Help
		line := d.Span.Start.Line
		for k, w := range wants[line] {
			if strings.Contains(full, w) {
				wants[line] = append(wants[line][:k:k], wants[line][k+1:]...)
				continue next
			}
		}
		t.Errorf("%s:%d:%d: nobody wants %s", file, line, d.Span.Start.Col, full)
	}
	for line, left := range wants { // the order of a test's complaints is of no matter
		for _, w := range left {
			t.Errorf("%s:%d wants %q, which is not reported", file, line, w)
		}
	}
}

func TestNothingToCheck(t *testing.T) {
	p, doc := load(t, "p.yaml", "name: p\nversion: 1\nstages:\n  - {id: a, run: \"true\"}\n")
	if ds := Check(p, doc); len(ds) > 0 {
		t.Errorf("a pipeline with nothing to say about: %s", ds.Text())
	}
	if ds := Check(nil, doc); len(ds) > 0 {
		t.Error("no plan, but advice")
	}
	p.Graph.Nodes = nil
	if ds := Check(p, doc); len(ds) > 0 {
		t.Error("a plan of another document, but advice")
	}
}

func TestBounds(t *testing.T) {
	p, _ := load(t, "p.yaml", `name: p
version: 1
defaults: {retry: {max_attempts: 3}}
stages:
  - {id: plan, run: "true"}
  - {id: plan-review, run: "true", feedback_loop: {target_stage: plan}}
  - {id: implement, run: "true"}
  - {id: test, run: "true", needs: [implement], feedback_loop: {target_stage: implement, max_iterations: 4}}
  - {id: side, run: "true", needs: [plan], retry: {max_attempts: 1}}
  - {id: audit, run: "true", needs: [test], feedback_loop: {target_stage: implement, rerun: path}}
  - {id: last, run: "true"}
`)
	var got []string
	for i, b := range Bounds(&p.Graph) {
		got = append(got, fmt.Sprintf("%s %d %d", p.Graph.Nodes[i].ID, b.Runs, b.Tries))
	}
	want := []string{"plan 2 6", "plan-review 2 6", "implement 6 18", "test 6 18", "side 2 2", "audit 6 18", "last 5 15"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
}

// What verifies the items of a for_each counts anew for each of them when the for_each starts again as a whole, also where
// one of them is what was routed with the loop that makes it start.
func TestBoundsOfSelfLoopsBeside(t *testing.T) {
	each := &plan.ForEach{As: "item"}
	g := plan.Graph{Nodes: []plan.Node{
		{ID: "implement"},
		{ID: "read", Needs: []int{0}, Loop: &plan.Loop{Target: 0, MaxIterations: 2, Rerun: plan.Path}},
		{ID: "each", ForEach: each, Needs: []int{0}},
		{ID: "each/verifiers", ForEach: each, Needs: []int{2}, Loop: &plan.Loop{Target: 2, MaxIterations: 2, Self: true, Rerun: plan.Downstream}},
		{ID: "one", Needs: []int{0}},
		{ID: "one/verifiers", Needs: []int{4}, Loop: &plan.Loop{Target: 4, MaxIterations: 2, Self: true, Rerun: plan.Downstream}},
	}}
	var got []int
	for _, b := range Bounds(&g) {
		got = append(got, b.Runs)
	}
	if diff := cmp.Diff([]int{2, 2, 4, 4, 2, 2}, got); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
}

// The reviews of a for_each have a loop for each item, and stages inside of a pipeline count on.
func TestBoundsOfItems(t *testing.T) {
	loop := func(target, most int) *plan.Loop {
		return &plan.Loop{Target: target, MaxIterations: most, Rerun: plan.Downstream}
	}
	each := &plan.ForEach{As: "item"}
	inner := &plan.Graph{Nodes: []plan.Node{{ID: "x"}, {ID: "y", Needs: []int{0}, Loop: loop(0, 3), Retry: plan.Retry{MaxAttempts: 2}}}}
	g := plan.Graph{Nodes: []plan.Node{
		{ID: "implement", ForEach: each},
		{ID: "read", ForEach: each, Needs: []int{0}, Loop: loop(0, 4)},
		{ID: "beside", ForEach: each, Needs: []int{0}},
		{ID: "all", Needs: []int{1, 2}, Body: inner},
		{ID: "after", ForEach: each, Needs: []int{3}},
		{ID: "fix"},
		{ID: "many", ForEach: each, Needs: []int{5}, Loop: loop(5, 2)},
		{ID: "end", Needs: []int{6}, Loop: loop(5, 2), Body: inner},
	}}
	want := []Bound{
		{Runs: 4, Tries: 4, PerItem: true},
		{Runs: 4, Tries: 4, PerItem: true},
		{Runs: 4, Tries: 4, PerItem: true},
		{Runs: 1, Tries: 1, Items: 3, Body: []Bound{{Runs: 3, Tries: 3, Items: 3}, {Runs: 3, Tries: 6, Items: 3}}},
		{Runs: 1, Tries: 1, Items: 3, PerItem: true},
		{Runs: 2, Tries: 2, Items: 1},
		{Runs: 2, Tries: 2, Items: 1, PerItem: true},
		{Runs: 2, Tries: 2, Items: 1, Body: []Bound{{Runs: 4, Tries: 4, Items: 1}, {Runs: 4, Tries: 8, Items: 1}}},
	}
	if diff := cmp.Diff(want, Bounds(&g)); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
}

// TestBoundsAgree compares the bounds of random graphs with those counted loop by loop.
func TestBoundsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 150).Draw(t, "nodes")
		g := plan.Graph{Nodes: make([]plan.Node, n)}
		before := make([]map[int]bool, n)
		for i := range n {
			before[i] = map[int]bool{}
			g.Nodes[i].ID = fmt.Sprintf("s%d", i)
			if i == 0 {
				continue
			}
			k := rapid.IntRange(0, i-1).Draw(t, "need")
			g.Nodes[i].Needs = []int{k}
			before[i][k] = true
			for j := range before[k] {
				before[i][j] = true
			}
			if rapid.Bool().Draw(t, "loop") {
				g.Nodes[i].Loop = &plan.Loop{Target: k, MaxIterations: rapid.IntRange(1, 4).Draw(t, "max"), Rerun: plan.Downstream}
				if rapid.Bool().Draw(t, "path") {
					g.Nodes[i].Loop.Rerun = plan.Path
				}
			}
		}
		want := make([]int, n)
		for v := range n {
			want[v] = 1
			for s := range n {
				l := g.Nodes[s].Loop
				if l == nil || v != l.Target && !before[v][l.Target] {
					continue
				}
				if l.Rerun == plan.Path && !onTheWay(&g, before, s, v) {
					continue
				}
				want[v] += l.MaxIterations - 1
			}
		}
		for i, b := range Bounds(&g) {
			if b.Runs != want[i] {
				t.Fatalf("node %d runs %d times, want %d", i, b.Runs, want[i])
			}
		}
	})
}

// onTheWay reports whether a loop with rerun: path makes a node run again: it lies on the way to its source, or
// to that of a loop that may be routed with it.
func onTheWay(g *plan.Graph, before []map[int]bool, source, node int) bool {
	if node == source || before[source][node] {
		return true
	}
	for o := range g.Nodes {
		l := g.Nodes[o].Loop
		if l == nil || l.MaxIterations < 2 || l.Target == g.Nodes[source].Loop.Target || o == source || before[o][source] || before[source][o] {
			continue
		}
		if l.Rerun != plan.Path || node == o || before[o][node] {
			return true
		}
	}
	return false
}

// The loop of a stage with itself multiplies what else makes the stage run, and nothing behind it.
func TestBoundsOfSelfLoops(t *testing.T) {
	p, _ := load(t, "p.yaml", `name: p
version: 1
stages:
  - id: plan
    refine_loop: {create: {run: "true"}, validate: {run: "true"}}
    retry: {max_attempts: 2}
  - {id: implement, run: "true", verifiers: {max_iterations: 3, commands: [{name: vet, run: "true"}]}}
  - {id: test, run: "true", feedback_loop: {target_stage: implement}}
  - {id: audit, run: "true", feedback_loop: {target_stage: plan}}
  - {id: once, run: "true", needs: [], verifiers: {max_iterations: 1, commands: [{name: vet, run: "true"}]}}
  - {id: last, run: "true"}
`)
	var got []string
	for i, b := range Bounds(&p.Graph) {
		got = append(got, fmt.Sprintf("%s %d %d", p.Graph.Nodes[i].ID, b.Runs, b.Tries))
	}
	want := []string{"plan 10 20", "plan/validate 10 20", "implement 9 9", "implement/verifiers 9 9", "test 3 3", "audit 3 3",
		"once 1 1", "once/verifiers 1 1", "last 3 3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
}

// In a pipeline that runs again, and for each item, the loop of a stage with itself counts anew each time.
func TestBoundsOfSelfLoopsInside(t *testing.T) {
	loop := func(target, most int, self bool) *plan.Loop {
		return &plan.Loop{Target: target, MaxIterations: most, Rerun: plan.Path, Self: self}
	}
	each := &plan.ForEach{As: "item"}
	inner := &plan.Graph{Nodes: []plan.Node{{ID: "x"}, {ID: "x/verifiers", Needs: []int{0}, Loop: loop(0, 3, true)}}}
	g := plan.Graph{Nodes: []plan.Node{
		{ID: "implement", ForEach: each},
		{ID: "implement/verifiers", ForEach: each, Needs: []int{0}, Loop: loop(0, 2, true)},
		{ID: "read", ForEach: each, Needs: []int{1}, Loop: loop(0, 4, false)},
		{ID: "all", Needs: []int{2}, Body: inner},
		{ID: "look", Needs: []int{3}, Loop: &plan.Loop{Target: 3, MaxIterations: 2, Rerun: plan.Downstream}},
	}}
	want := []Bound{
		{Runs: 8, Tries: 8, PerItem: true},
		{Runs: 8, Tries: 8, PerItem: true},
		{Runs: 4, Tries: 4, PerItem: true},
		{Runs: 2, Tries: 2, Body: []Bound{{Runs: 6, Tries: 6}, {Runs: 6, Tries: 6}}},
		{Runs: 2, Tries: 2},
	}
	if diff := cmp.Diff(want, Bounds(&g)); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
}
