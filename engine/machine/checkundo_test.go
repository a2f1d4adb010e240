package machine_test

import (
	"slices"

	"example.com/pipe/engine/step"
)

// undoChecker holds the rollbacks of a run against its invariants.
type undoChecker struct {
	started   []string // what has a rollback, in the order of first starts
	begun     []string
	running   string          // effect of the one that is under way
	cancelled bool            // the run is being cancelled
	wanted    bool            // with rollbacks
	stopped   bool            // a cancel stopped them
	outcome   *step.RunStatus // what came of all but what stands in the run's finally
}

// undo takes in what a record says about rollbacks.
func (c *checker) undo(r step.Record) {
	u := &c.undone
	switch r := r.(type) {
	case step.StageStarted:
		if u.running != "" {
			c.breaks("nothing starts while a rollback runs", "%s", r.Stage)
		}
		n, _, _, item := c.node(r.Stage)
		_, final := c.finalOf(r.Stage)
		if n.Rollback != nil && !final && (n.ForEach == nil || item != "") && !slices.Contains(u.started, r.Stage) {
			u.started = append(u.started, r.Stage)
		}
	case step.RunCancelling:
		u.cancelled = true
		switch {
		case r.Rollback:
			u.wanted = true
		case u.running != "":
			u.stopped = true
		}
	case step.RollbackStarted:
		c.rollsBack(r)
	case step.RollbackFinished:
		if r.Effect != u.running {
			c.breaks("one rollback after another", "%s ends while %q runs", r.Stage, u.running)
		}
		u.running = ""
	case step.FinallyStarted:
		if r.Stage == "" {
			u.outcome = &r.Status
			c.allUndone(r.Status)
		}
	case step.RunFinished:
		if u.outcome == nil {
			c.allUndone(r.Status)
		}
	}
}

func (c *checker) rollsBack(r step.RollbackStarted) {
	u := &c.undone
	if slices.Contains(u.begun, r.Stage) {
		c.breaks("what a stage did is undone once", "%s again", r.Stage)
	}
	u.begun = append(u.begun, r.Stage)
	if n := len(u.begun); n > len(u.started) || u.started[len(u.started)-n] != r.Stage {
		c.breaks("what started last is undone first", "%v of %v", u.begun, u.started)
	}
	if len(c.open) > 0 || u.running != "" {
		c.breaks("one rollback after another", "%s beside %v %s", r.Stage, c.open, u.running)
	}
	if u.stopped {
		c.breaks("a cancel stops rollbacks", "%s begins", r.Stage)
	}
	if u.cancelled && !u.wanted || !u.cancelled && !c.hasFailed() {
		c.breaks("nothing is undone without a failure or a wish", "%s", r.Stage)
	}
	if c.had[""] && !c.stopped {
		c.breaks("rollbacks come before finally", "%s", r.Stage)
	}
	u.running = r.Effect
}

// hasFailed reports whether a stage of the run itself did not come to a good end.
func (c *checker) hasFailed() bool {
	for i := range c.plan.Graph.Nodes {
		if !c.met(c.plan.Graph.Nodes[i].ID) {
			return true
		}
	}
	return false
}

// allUndone holds the end of a run, before its finally, against what it must have undone.
func (c *checker) allUndone(status step.RunStatus) {
	u := &c.undone
	must := status == step.RunFailed || status == step.RunCancelled && u.wanted
	if must && !u.stopped && len(u.begun) < len(u.started) {
		c.breaks("all that started is undone", "%v of %v", u.begun, u.started)
	}
	if status == step.RunSucceeded && len(u.begun) > 0 {
		c.breaks("nothing is undone without a failure or a wish", "%v", u.begun)
	}
}
