package shipped

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// loop is a review of a shipped pipeline, and how its routes are played.
type loop struct {
	pipeline, source, target string
	most                     int // the cap
	inputs                   []string
	command                  bool // the source is a command of the project, which nobody needs to play

	// The patches of the target's rounds. The first is not enough; in the route that ends in one round the
	// second is; in the others the second is not enough either, and the third, which is a person's work after
	// retry, is.
	first, more, rest []string
}

// loops are all loops of the shipped pipelines. What tests look at gets better by the patches of its
// pipeline; where a review comes after tests, the first round has to be whole for them.
var loops = []loop{
	{pipeline: "full-feature", source: "architecture_review", target: "plan", most: 2, inputs: []string{"complexity=high"}},
	{pipeline: "full-feature", source: "security_verify", target: "implement", most: 2,
		first: []string{"full-feature-first"}, more: []string{"more"}, rest: []string{"full-feature-rest"}},
	{pipeline: "full-feature", source: "observability_review", target: "implement", most: 2,
		first: []string{"full-feature-first"}, more: []string{"more"}, rest: []string{"full-feature-rest"}},
	{pipeline: "full-feature", source: "quality_review", target: "implement", most: 2,
		first: []string{"full-feature-first"}, more: []string{"more"}, rest: []string{"full-feature-rest"}},
	{pipeline: "bug-fix", source: "test_verify", target: "fix", most: 2, command: true,
		first: []string{"bug-fix-first"}, more: []string{"more"}, rest: []string{"bug-fix-rest"}},
	{pipeline: "bug-fix", source: "quality_review", target: "fix", most: 2,
		first: []string{"bug-fix-first", "bug-fix-rest"}, more: []string{"more"}, rest: []string{"again"}},
	{pipeline: "refactor", source: "behaviour_verify", target: "refactor", most: 2, command: true,
		first: []string{"refactor-first"}, more: []string{"more"}, rest: []string{"refactor-rest"}},
	{pipeline: "refactor", source: "quality_review", target: "refactor", most: 2,
		first: []string{"refactor-first", "refactor-rest"}, more: []string{"more"}, rest: []string{"again"}},
	{pipeline: "security-review", source: "security_verify", target: "fix", most: 1,
		first: []string{"security-review-first"}, rest: []string{"security-review-rest"}},
	{pipeline: "performance", source: "benchmark_verify", target: "implement", most: 2,
		first: []string{"performance-first"}, more: []string{"more"}, rest: []string{"performance-rest"}},
	{pipeline: "performance", source: "observability_review", target: "implement", most: 2,
		first: []string{"performance-first"}, more: []string{"more"}, rest: []string{"performance-rest"}},
}

// route is a way through a pipeline.
type route struct {
	name   string
	inputs []string

	patches map[string][]string // what an agent changes, by "stage round"
	says    map[string]string   // what it says otherwise than always, by "stage round"

	steps []step
	tree  []string // the patches that make the tree of the end
}

// step is a command of the route, or, without one, a person's work.
type step struct {
	command []string
	status  int    // its exit status
	run     string // the status of the run after it
	hand    []string
}

// byHand is a person's work; on a plan there is none that could be seen in the tree.
func byHand(patches []string) []step {
	if len(patches) == 0 {
		return nil
	}
	return []step{{hand: patches}}
}

func decide(status int, run, what string, args ...string) step {
	return step{command: slices.Concat([]string{"decide", "last", what}, args), status: status, run: run}
}

// start are the steps that lead to an outcome: full-feature is approved before it is built.
func (l *loop) start(status int, run string) []step {
	if l.pipeline == "full-feature" && l.target != "plan" {
		return []step{{status: 4, run: "waiting"}, approve(status, run)}
	}
	return []step{{status: status, run: run}}
}

// end are the steps after a decision that lets the plan be built.
func (l *loop) end(d step) []step {
	if l.target == "plan" {
		d.status, d.run = 4, "waiting"
		return []step{d, approve(0, "succeeded")}
	}
	return []step{d}
}

func approve(status int, run string) step {
	return step{command: []string{"approve", "last", "--resume"}, status: status, run: run}
}

// done is all that the target's work is made of.
func (l *loop) done() []string { return slices.Concat(l.first, l.rest) }

// route makes one way through the loop: the review blocks in the given rounds, and the work of each of the
// target's rounds is that of rounds.
func (l *loop) route(name string, blocked int, rounds ...[]string) *route {
	r := &route{name: l.source + ": " + name, inputs: l.inputs, patches: map[string][]string{}, says: map[string]string{}}
	for i, patches := range rounds {
		key := fmt.Sprintf("%s %d", l.target, i+1)
		r.patches[key] = patches
		r.tree = append(r.tree, patches...)
		if l.target == "plan" { // it changes no file, and must not say the same again
			r.says[key] = strings.Replace(answers[l.pipeline]["plan"], "# Deleting", fmt.Sprintf("# Round %d of deleting", i+1), 1)
		}
	}
	if l.command {
		return r
	}
	for round := 1; round <= blocked; round++ {
		says := blames(l.source)
		if round > 1 {
			says = replies(l.source, l.source, "not_fixed", "it still can")
		}
		r.says[fmt.Sprintf("%s %d", l.source, round)] = says
	}
	if blocked > 0 {
		r.says[fmt.Sprintf("%s %d", l.source, blocked+1)] = replies(l.source, l.source, "fixed", "")
	}
	return r
}

// routes gives every way through the loop.
func (l *loop) routes() []*route {
	var out []*route
	add := func(r *route, steps ...step) {
		r.steps = steps
		out = append(out, r)
	}
	if l.most > 1 {
		r := l.route("one round", 1, l.first, l.rest)
		steps := l.start(0, "succeeded")
		if l.target == "plan" {
			steps = []step{{status: 4, run: "waiting"}, approve(0, "succeeded")}
		}
		add(r, steps...)
	}
	capped := [][]string{l.first, l.more}[:l.most]
	again := slices.Concat(capped, [][]string{l.rest})

	r := l.route("cap, retry", l.most, capped...)
	r.tree = append(r.tree, l.rest...)
	add(r, slices.Concat(l.start(4, "paused"), byHand(l.rest), l.end(decide(0, "succeeded", "retry", "--resume")))...)

	add(l.route("cap, refer-back", l.most, again...),
		slices.Concat(l.start(4, "paused"), l.end(decide(0, "succeeded", "refer-back", "--note", "mind who reads it", "--resume")))...)

	add(l.route("cap, override", l.most, capped...),
		slices.Concat(l.start(4, "paused"), l.end(decide(0, "succeeded", "override", "--reason", "good enough for now", "--resume")))...)

	add(l.route("cap, abort", l.most, capped...),
		slices.Concat(l.start(4, "paused"), []step{decide(0, "cancelled", "abort")})...)
	return out
}

// routesOf gives all ways through a pipeline: the one without a finding, those of its loops, and those that
// only this pipeline has.
func routesOf(pipeline string) []*route {
	var out []*route
	for i := range loops {
		l := &loops[i]
		if l.pipeline != pipeline || l.target == "plan" {
			continue
		}
		accepted := l.route("accepted at once", 0, l.done())
		accepted.name = "accepted at once"
		accepted.steps = l.start(0, "succeeded")
		out = append(out, accepted)
		break
	}
	for i := range loops {
		if loops[i].pipeline == pipeline {
			out = append(out, loops[i].routes()...)
		}
	}
	return append(out, special[pipeline]()...)
}

// play makes the plays of a route, and takes it.
func (r *route) take(t *testing.T, p *place, pipeline string) string {
	t.Helper()
	for stage, usual := range answers[pipeline] {
		for round := 1; round <= 4; round++ {
			p.write(fmt.Sprintf("../plays/%s-round%d.json", stage, round), usual)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.says)) {
		p.write("../plays/"+strings.Replace(key, " ", "-round", 1)+".json", r.says[key])
	}
	for _, key := range slices.Sorted(maps.Keys(r.patches)) {
		if len(r.patches[key]) > 0 {
			p.write("../plays/"+strings.Replace(key, " ", "-round", 1)+".patch", p.patch(r.patches[key]...))
		}
	}
	var told strings.Builder
	for _, s := range r.steps {
		if len(s.hand) > 0 {
			p.apply(s.hand...)
			continue
		}
		args, name := s.command, ""
		if args == nil {
			args = []string{"run", pipeline}
			for _, in := range slices.Concat(tasks[pipeline], r.inputs) {
				args = append(args, "--input", in)
			}
		}
		if name = args[0]; name == "decide" {
			name = args[2]
		}
		status, out := p.pipe(args...)
		shown := p.show()
		if status != s.status || shown.Status != s.run {
			t.Fatalf("%v: exit status %d and %s, want %d and %s\n%s", args, status, shown.Status, s.status, s.run, out)
		}
		fmt.Fprintf(&told, "%s: exit status %d, %s\n", name, status, shown.Status)
	}
	return told.String()
}

// tasks are the inputs that each run of a pipeline has.
var tasks = map[string][]string{
	"full-feature": {"task=let notes be deleted"},
	"bug-fix":      {"task=a note of one line has no title"},
	"refactor":     {"task=say once where a note is kept"},
	"performance":  {"task=searching for several words is slow"},
}
