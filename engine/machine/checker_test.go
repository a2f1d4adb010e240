package machine_test

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
)

// checker reads the records of a run beside its plan, and says which invariant they break. It keeps a model of
// its own, so that it does not believe what the machine believes.
type checker struct {
	plan    *plan.Plan
	stages  map[string]*modelStage
	items   map[string]feedback.Item
	order   []string // ids of items
	rounds  map[feedback.Pair]int
	granted map[feedback.Pair]int
	raised  map[string]feedback.Escalation
	open    map[string]string // running tries: effect → path
	jobs    int
	broken  []string
}

type modelStage struct {
	status   machine.StageStatus
	accepted bool
	blocked  bool
}

func newChecker(p *plan.Plan) *checker {
	return &checker{
		plan: p, stages: map[string]*modelStage{}, items: map[string]feedback.Item{},
		rounds: map[feedback.Pair]int{}, granted: map[feedback.Pair]int{},
		raised: map[string]feedback.Escalation{}, open: map[string]string{},
	}
}

func (c *checker) breaks(invariant, format string, args ...any) {
	c.broken = append(c.broken, invariant+": "+fmt.Sprintf(format, args...))
}

func (c *checker) stage(path string) *modelStage {
	s := c.stages[path]
	if s == nil {
		s = &modelStage{status: machine.Pending}
		c.stages[path] = s
	}
	return s
}

// node finds the node of a path, its graph, the prefix of its neighbours, and its item as written ("[1]").
func (c *checker) node(path string) (*plan.Node, *plan.Graph, string, string) {
	g, prefix := &c.plan.Graph, ""
	parts := strings.Split(path, "/")
	for k, part := range parts {
		id, item := part, ""
		if at := strings.IndexByte(part, '['); at >= 0 {
			id, item = part[:at], part[at:]
		}
		n := &g.Nodes[g.Index(id)]
		if k == len(parts)-1 {
			return n, g, prefix, item
		}
		g, prefix = n.Body, prefix+part+"/"
	}
	panic("no node for " + path)
}

func (c *checker) met(path string) bool {
	s := c.stage(path)
	n, _, _, item := c.node(path)
	switch s.status {
	case machine.Skipped:
		return true
	case machine.Succeeded:
		isSource := n.Loop != nil && (n.ForEach == nil || item != "")
		return !s.blocked && (!isSource || s.accepted)
	case machine.Failed:
		return n.ContinueOnError
	}
	return false
}

func (c *checker) record(r machine.Record) {
	switch r := r.(type) {
	case machine.RunStarted:
		c.jobs = r.Run.Jobs
	case machine.StageStarted:
		c.started(r)
	case machine.StageSucceeded:
		delete(c.open, r.Effect)
		s := c.stage(r.Stage)
		s.status, s.accepted = machine.Succeeded, r.Reason == "override"
	case machine.StageFailed:
		delete(c.open, r.Effect)
		c.stage(r.Stage).status = machine.Failed
	case machine.RetryScheduled:
		delete(c.open, r.Failed)
	case machine.StageSkipped:
		c.stage(r.Stage).status = machine.Skipped
	case machine.StageNotRun:
		c.dropped(r.Stage)
		c.stage(r.Stage).status = machine.NotRun
	case machine.StageCancelled:
		c.closeOf(r.Stage)
		c.stage(r.Stage).status = machine.Cancelled
	case machine.StageInterrupted:
		delete(c.open, r.Effect)
	case machine.StageStale:
		if !r.Cancel {
			c.closeOf(r.Stage)
			*c.stage(r.Stage) = modelStage{status: machine.Stale}
		}
	case machine.ItemOpened:
		if _, known := c.items[r.Item.ID]; known {
			c.breaks("ids never change", "item %s was opened twice", r.Item.ID)
		}
		c.items[r.Item.ID] = r.Item
		c.order = append(c.order, r.Item.ID)
	case machine.ItemChanged:
		was := c.items[r.Item.ID]
		if was.Description != r.Item.Description {
			c.breaks("ids never change", "item %s was %q and is %q", r.Item.ID, was.Description, r.Item.Description)
		}
		c.items[r.Item.ID] = r.Item
	case machine.FeedbackRouted:
		c.routed(r)
	case machine.EscalationRaised:
		c.raisedOne(r.Escalation)
	case machine.EscalationDecided:
		c.decided(r)
	case machine.RunPaused:
		if len(c.open) > 0 {
			c.breaks("a paused run runs nothing", "%v", c.open)
		}
	case machine.RunFinished:
		c.finished(r)
	}
}

func (c *checker) closeOf(path string) {
	for e, p := range c.open {
		if p == path {
			delete(c.open, e)
		}
	}
}

func (c *checker) started(r machine.StageStarted) {
	n, g, prefix, item := c.node(r.Stage)
	for _, need := range n.Needs {
		path := prefix + g.Nodes[need].ID
		if !c.met(path) && (item == "" || g.Nodes[need].ForEach == nil || !c.met(path+item)) {
			c.breaks("no stage starts before its needs", "%s started before %s (%s)", r.Stage, path, c.stage(path).status)
		}
	}
	if s := c.stage(r.Stage); s.status == machine.Succeeded || s.status == machine.Skipped {
		c.breaks("a finished stage does not run again unless it is stale", "%s", r.Stage)
	}
	c.stage(r.Stage).status = machine.Running
	if r.Composite {
		c.clearBelow(r.Stage)
		return
	}
	for _, path := range c.open {
		other, _, _, _ := c.node(path)
		if n.Writes || other.Writes {
			c.breaks("who writes has the workspace alone", "%s started beside %s", r.Stage, path)
		}
	}
	c.open[r.Effect] = r.Stage
	if len(c.open) > c.jobs {
		c.breaks("no more run at once than may", "%d with %d jobs", len(c.open), c.jobs)
	}
}

// dropped holds a stage that does not run against its needs: one of them must have failed, or be a review whose
// findings can't be routed. Parts of a composite that does not run go with it.
func (c *checker) dropped(path string) {
	n, g, prefix, item := c.node(path)
	if item != "" || (prefix != "" && c.stage(strings.TrimSuffix(prefix, "/")).status == machine.NotRun) {
		return
	}
	if !slices.ContainsFunc(n.Needs, func(need int) bool { return !c.met(prefix + g.Nodes[need].ID) }) {
		c.breaks("what can run is not dropped", "%s", path)
	}
}

// clearBelow makes the parts of a composite that starts pending.
func (c *checker) clearBelow(path string) {
	for p, s := range c.stages {
		if strings.HasPrefix(p, path+"[") || strings.HasPrefix(p, path+"/") {
			*s = modelStage{status: machine.Pending}
		}
	}
}

func (c *checker) routed(r machine.FeedbackRouted) {
	pair := feedback.Pair{Source: r.Source, Target: r.Target}
	n, _, _, _ := c.node(r.Source)
	open := 0
	for _, id := range c.order {
		item := c.items[id]
		if item.IsOpen() && item.Severity == feedback.Blocking && slices.Contains(item.Sources, r.Source) {
			open++
		}
	}
	switch r.Action {
	case feedback.Accept:
		c.stage(r.Source).accepted = true
		if open > 0 {
			c.breaks("only what has no open blocking item is accepted", "%s with %d", r.Source, open)
		}
	case feedback.ReImplement:
		c.rounds[pair]++
	}
	c.checkRounds(pair, n)
}

func (c *checker) checkRounds(pair feedback.Pair, n *plan.Node) {
	if most := n.Loop.MaxIterations + c.granted[pair]; c.rounds[pair]+1 > most {
		c.breaks("rounds stay within the cap and what was granted", "%v: iteration %d of %d", pair, c.rounds[pair]+1, most)
	}
}

func (c *checker) raisedOne(e feedback.Escalation) {
	c.raised[e.ID] = e
	if e.Target != "" && e.Reason == feedback.ReasonNoChange {
		c.stage(e.Target).blocked = true
	}
	for _, id := range c.order {
		item := c.items[id]
		if !item.IsOpen() || item.Severity != feedback.Blocking || !slices.ContainsFunc(item.Sources, func(s string) bool { return slices.Contains(e.Sources, s) }) {
			continue
		}
		if !slices.ContainsFunc(e.Blocking, func(b feedback.Item) bool { return b.ID == id }) && e.Target != "" {
			c.breaks("no open blocking item is lost", "%s is not in escalation %s", id, e.ID)
		}
	}
}

func (c *checker) decided(r machine.EscalationDecided) {
	e := c.raised[r.ID]
	if e.Target != "" && r.Closed {
		c.stage(e.Target).blocked = false
	}
	for _, source := range e.Sources {
		n, _, _, _ := c.node(source)
		if n.Loop == nil || e.Target == "" {
			continue
		}
		target := c.targetOf(source)
		pair := feedback.Pair{Source: source, Target: target}
		c.granted[pair] += r.Rounds
		if r.Decision == "refer-back" {
			c.rounds[pair]++
			c.checkRounds(pair, n)
		}
		if r.Decision == "override" && r.Closed && c.stage(source).status == machine.Succeeded {
			c.stage(source).accepted = true
		}
	}
	if r.Closed {
		delete(c.raised, r.ID)
	}
}

func (c *checker) targetOf(source string) string {
	n, g, prefix, item := c.node(source)
	t := &g.Nodes[n.Loop.Target]
	if item != "" && t.ForEach != nil {
		if path := prefix + t.ID + item; c.stages[path] != nil {
			return path
		}
	}
	return prefix + t.ID
}

func (c *checker) finished(r machine.RunFinished) {
	for _, id := range c.order {
		item := c.items[id]
		if !item.IsOpen() || item.Severity != feedback.Blocking {
			continue
		}
		if !slices.ContainsFunc(r.OpenItems, func(o feedback.Item) bool { return o.ID == id }) {
			c.breaks("no open blocking item is lost", "%s is not in the last record", id)
		}
		if r.Status == machine.RunSucceeded && !slices.ContainsFunc(item.Sources, c.mayFail) {
			c.breaks("no run succeeds over an open blocking item", "%s of %v", id, item.Sources)
		}
	}
	for path, s := range c.stages {
		switch s.status {
		case machine.Running, machine.Waiting:
			c.breaks("a finished run runs nothing", "%s is %s", path, s.status)
		}
	}
}

// mayFail reports whether a stage, or one that it is part of, goes on after an error.
func (c *checker) mayFail(path string) bool {
	parts := strings.Split(path, "/")
	for k := range parts {
		if n, _, _, _ := c.node(strings.Join(parts[:k+1], "/")); n.ContinueOnError {
			return true
		}
	}
	return false
}
