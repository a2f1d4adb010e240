package machine_test

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/check"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// checker reads the records of a run beside its plan, and says which invariant they break. It keeps a model of
// its own, so that it does not believe what the machine believes.
type checker struct {
	plan     *plan.Plan
	stages   map[string]*modelStage
	items    map[string]feedback.Item
	order    []string // ids of items
	rounds   map[feedback.Pair]int
	granted  map[feedback.Pair]int
	raised   map[string]feedback.Escalation
	open     map[string]string // running tries: effect → path
	jobs     int
	tree     func() string   // what the workspace holds at this moment
	retried  bool            // the records that follow are of a retry
	attempts []feedback.Pair // of that retry: refine loops that may make one more attempt
	asking   map[string]bool
	finally  map[string]bool // by owner: what stands in its finally may run
	had      map[string]bool // by owner: its finally has begun in this execution
	asked    map[string]step.ApprovalAsked
	left     map[string]string // by path of a stage that something verifies: the tree that it left, until anything else may have changed it
	now      step.Instant
	alone    bool // the run is unattended
	stopped  bool // a cancel stopped what stands in finally, too

	runs   map[string]map[int]bool // by path: the iterations in which it started
	person bool                    // a person decided an escalation: then bounds don't hold

	gave     map[string]bool         // by source: it said something since it was routed last
	looked   map[string]map[int]bool // by id: the rounds in which it was found not fixed, since a person was asked
	disputes map[string]int          // by id: how often it was disputed since

	escalated  []feedback.Pair // routed so one after another: a join
	stuck      bool            // for one of them the rule holds
	escalating bool            // the record before was such a one
	undone     undoChecker
	broken     []string
}

type modelStage struct {
	status   step.StageStatus
	accepted bool
	blocked  bool
	approved bool
	on       string // tree that it was approved for, until it starts
}

func newChecker(p *plan.Plan, tree func() string) *checker {
	return &checker{
		plan: p, tree: tree, asking: map[string]bool{}, stages: map[string]*modelStage{}, items: map[string]feedback.Item{},
		rounds: map[feedback.Pair]int{}, granted: map[feedback.Pair]int{},
		raised: map[string]feedback.Escalation{}, open: map[string]string{}, finally: map[string]bool{},
		gave: map[string]bool{}, looked: map[string]map[int]bool{}, disputes: map[string]int{},
		left: map[string]string{}, had: map[string]bool{}, runs: map[string]map[int]bool{}, asked: map[string]step.ApprovalAsked{},
	}
}

func (c *checker) breaks(invariant, format string, args ...any) {
	c.broken = append(c.broken, invariant+": "+fmt.Sprintf(format, args...))
}

func (c *checker) stage(path string) *modelStage {
	s := c.stages[path]
	if s == nil {
		s = &modelStage{status: step.Pending}
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
		if g.Index(id) < 0 {
			g = g.Finally
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
	case step.Skipped:
		return true
	case step.Succeeded:
		isSource := n.Loop != nil && (n.ForEach == nil || item != "")
		return !s.blocked && (!isSource || s.accepted)
	case step.Failed:
		return n.ContinueOnError
	}
	return false
}

func (c *checker) record(r step.Record) {
	c.undo(r)
	routed, ok := r.(step.FeedbackRouted)
	escalates := ok && routed.Action == feedback.Escalate
	if escalates && !c.escalating {
		c.escalated, c.stuck = nil, false
	}
	c.escalating = escalates
	if _, ok := r.(step.StageStale); !ok {
		c.retried, c.attempts = false, nil
	}
	switch r := r.(type) {
	case step.RunStarted:
		c.jobs, c.alone = r.Run.Jobs, r.Run.Unattended
	case step.RunCancelling:
		c.stopped = c.stopped || r.Finally
	case step.FinallyStarted:
		c.finallyStarted(r.Stage)
	case step.FinallyFinished:
		c.finally[r.Stage] = false
	case step.StageRejected:
		c.stage(r.Stage).status = step.Rejected
	case step.RunResumed:
		c.person = c.person || r.Tree != nil // what was changed by hand is looked at again, which is in no bound
		clear(c.left)
	case step.RunWaiting:
		c.nobody("waits")
	case step.StageStarted:
		c.started(r)
	case step.StageSucceeded:
		c.succeeded(r)
	case step.StageFailed:
		delete(c.open, r.Effect)
		delete(c.asking, r.Stage)
		delete(c.left, r.Stage)
		c.stage(r.Stage).status = step.Failed
		if r.Reason == feedback.ReasonIterationCap {
			c.exhausted(r.Stage)
		}
	case step.RetryScheduled:
		delete(c.open, r.Failed)
	case step.StageSkipped:
		c.stage(r.Stage).status = step.Skipped
	case step.StageNotRun:
		c.dropped(r.Stage)
		delete(c.asking, r.Stage)
		c.stage(r.Stage).status = step.NotRun
	case step.StageCancelled:
		c.closeOf(r.Stage)
		c.stage(r.Stage).status = step.Cancelled
	case step.StageInterrupted:
		delete(c.open, r.Effect)
		n, _, _, _ := c.node(r.Stage)
		c.asking[r.Stage] = n.OnInterrupt == plan.Ask
	case step.ApprovalAnswered:
		s := c.stage(r.Stage)
		s.approved, s.on = r.Approved, r.Tree.Tracked
		switch until := c.asked[r.Stage].Until; {
		case r.Answer != "" && until > 0 && until <= c.now:
			c.breaks("a deadline that passed comes before a later answer", "%s answered at %d, deadline %d", r.Stage, c.now, until)
		case r.By == "timeout" && (until == 0 || until > c.now):
			c.breaks("a deadline does not pass early", "%s at %d, deadline %d", r.Stage, c.now, until)
		}
	case step.ApprovalAsked:
		c.stage(r.Stage).approved = false
		c.asked[r.Stage] = r
	case step.StageStale:
		c.stale(r)
	case step.ItemOpened:
		if _, known := c.items[r.Item.ID]; known {
			c.breaks("ids never change", "item %s was opened twice", r.Item.ID)
		}
		c.items[r.Item.ID] = r.Item
		c.order = append(c.order, r.Item.ID)
	case step.ItemChanged:
		was := c.items[r.Item.ID]
		reworded := was.Fingerprint != "" && was.Fingerprint == r.Item.Fingerprint || // the evidence is what it was
			strings.HasPrefix(r.Item.Description, c.head(r.Item.ID)+" in the words") || strings.HasPrefix(r.Item.Description, r.Item.ID+" in the words")
		if was.Description != r.Item.Description && !reworded {
			c.breaks("ids never change", "item %s was %q and is %q", r.Item.ID, was.Description, r.Item.Description)
		}
		c.closedBy(was, r.Item)
		c.items[r.Item.ID] = r.Item
		c.counted(was, r.Item)
	case step.FeedbackReceived:
		c.gave[r.Source] = true
	case step.FeedbackRouted:
		c.routed(r)
	case step.EscalationRaised:
		c.raisedOne(r.Escalation)
	case step.EscalationDecided:
		c.decided(r)
	case step.RunPaused:
		c.nobody("pauses")
		if len(c.open) > 0 {
			c.breaks("a paused run runs nothing", "%v", c.open)
		}
	case step.RunFinished:
		c.finished(r)
	}
}

func (c *checker) succeeded(r step.StageSucceeded) {
	s := c.stage(r.Stage)
	n, _, _, _ := c.node(r.Stage)
	if n.Kind == "approval" && n.ForEach == nil || n.Kind == "approval" && strings.HasSuffix(r.Stage, "]") { // it starts nothing
		c.startedApproved(r.Stage)
		s.status, s.accepted = step.Succeeded, false
		return
	}
	if s.status != step.Running || (r.Reason == "override" && !c.asking[r.Stage]) {
		c.breaks("only what ran succeeds", "%s, which is %s", r.Stage, s.status)
	}
	delete(c.open, r.Effect)
	delete(c.asking, r.Stage)
	s.status, s.accepted = step.Succeeded, r.Reason == "override"
	if n.Writes && r.Tree != nil && n.ForEach == nil && n.Loop == nil { // items share the workspace; a review is verified once it has settled
		c.left[r.Stage] = r.Tree.Hash
	}
}

func (c *checker) stale(r step.StageStale) {
	n, g, prefix, item := c.node(r.Stage)
	within := false // a pipeline inside the run that is a review: it reviews again as a whole
	if prefix != "" {
		owner, _, _, _ := c.node(strings.TrimSuffix(prefix, "/"))
		within = owner.Loop != nil
	}
	inside := prefix != "" && (n.Body != nil || n.ForEach != nil) // it goes with what it is part of
	if c.retried && !within && !inside && n.Loop == nil && c.met(r.Stage) && slices.ContainsFunc(g.Nodes, func(o plan.Node) bool {
		return o.Loop != nil && &g.Nodes[o.Loop.Target] == n
	}) {
		c.breaks("a retry keeps what was done by hand", "%s runs again", r.Stage)
	}
	delete(c.left, c.verified(r.Stage))
	if r.Anew {
		c.countAnew(r.Stage)
	}
	for _, pair := range c.attempts {
		if pair.Target == r.Stage && r.Cause == step.ByFeedback {
			c.rounds[pair]++
		}
	}
	if r.Cancel {
		return
	}
	c.closeOf(r.Stage)
	delete(c.asking, r.Stage)
	if group := c.stage(prefix + n.ID); item != "" && group.status != step.Stale {
		group.status = step.Running // with this item
	}
	s := c.stage(r.Stage)
	*s = modelStage{status: step.Stale, approved: s.approved && r.Cause != step.ByUpstream}
}

// countAnew forgets the rounds of a stage's loop with itself, and what was granted to it.
func (c *checker) countAnew(path string) {
	pair := feedback.Pair{Source: path, Target: c.targetOf(path)}
	delete(c.rounds, pair)
	delete(c.granted, pair)
}

// nobody holds an unattended run against what it must not do.
func (c *checker) nobody(does string) {
	if c.alone {
		c.breaks("an unattended run waits for nobody", "it %s", does)
	}
}

// finallyStarted holds the beginning of a finally against what else of its graph goes on.
func (c *checker) finallyStarted(owner string) {
	prefix := owner + "/"
	if owner == "" {
		prefix = ""
	}
	if c.had[owner] {
		c.breaks("finally runs once", "%q again", owner)
	}
	c.finally[owner], c.had[owner] = true, true
	for path, s := range c.stages {
		if strings.HasPrefix(path, prefix) && (s.status == step.Running || s.status == step.Waiting) {
			c.breaks("finally comes when all else has ended", "%s is %s", path, s.status)
		}
	}
}

// finalOf gives the owner of the finally that a stage stands in, and whether it stands in one.
func (c *checker) finalOf(path string) (string, bool) {
	n, g, prefix, _ := c.node(path)
	for k := range g.Nodes {
		if &g.Nodes[k] == n {
			owner := strings.TrimSuffix(prefix, "/")
			whole := &c.plan.Graph
			if owner != "" {
				o, _, _, _ := c.node(owner)
				whole = o.Body
			}
			return owner, whole.Finally == g
		}
	}
	return "", false
}

// exhausted holds a review that failed since its loop is exhausted against its counter.
func (c *checker) exhausted(path string) {
	n, _, _, item := c.node(path)
	if n.Loop == nil || n.Body != nil || (n.ForEach != nil && item == "") {
		return // a composite, for one of its parts
	}
	pair := feedback.Pair{Source: path, Target: c.targetOf(path)}
	if !slices.ContainsFunc(c.escalated, c.atCap) || !slices.Contains(c.escalated, pair) {
		c.breaks("only what is at its cap is exhausted, or in a join with that", "%s of %v", path, c.escalated)
	}
}

// atCap reports whether a loop may not go on.
func (c *checker) atCap(pair feedback.Pair) bool {
	n, _, _, _ := c.node(pair.Source)
	return c.rounds[pair]+1 >= n.Loop.MaxIterations+c.granted[pair]
}

// verified gives the stage that another verifies; "": it is no such stage.
func (c *checker) verified(path string) string {
	if n, _, _, item := c.node(path); n.Loop != nil && n.Loop.Self && (n.ForEach == nil || item != "") {
		return c.targetOf(path)
	}
	return ""
}

func (c *checker) closeOf(path string) {
	for e, p := range c.open {
		if p == path {
			delete(c.open, e)
		}
	}
}

func (c *checker) started(r step.StageStarted) {
	n, g, prefix, item := c.node(r.Stage)
	for _, need := range n.Needs {
		path := prefix + g.Nodes[need].ID
		if n.Loop != nil && n.Loop.Self && r.Composite && n.ForEach != nil && c.stage(path).status == step.Running {
			continue // it verifies item by item
		}
		if !c.met(path) && (item == "" || g.Nodes[need].ForEach == nil || !c.met(path+item)) {
			c.breaks("no stage starts before its needs", "%s started before %s (%s)", r.Stage, path, c.stage(path).status)
		}
	}
	if owner, final := c.finalOf(r.Stage); final && !c.finally[owner] {
		c.breaks("what stands in finally runs then", "%s", r.Stage)
	} else if !final && c.had[owner] {
		c.breaks("nothing of a graph starts after its finally", "%s", r.Stage)
	}
	if n.ForEach != nil && item != "" && n.ForEach.MaxParallel > 0 && c.othersOf(r.Stage) >= n.ForEach.MaxParallel {
		c.breaks("no more items run at once than may", "%s", r.Stage)
	}
	if s := c.stage(r.Stage); s.status == step.Succeeded || s.status == step.Skipped {
		c.breaks("a finished stage does not run again unless it is stale", "%s", r.Stage)
	}
	if n.Approval != nil && (n.ForEach == nil || item != "") {
		c.startedApproved(r.Stage)
	}
	if tree, ok := c.left[c.verified(r.Stage)]; ok && r.Attempt == 1 && n.Writes && tree != c.tree() {
		c.breaks("what verifies a stage finds what it left", "%s starts on %q, which left %q", r.Stage, c.tree(), tree)
	}
	delete(c.left, c.verified(r.Stage))
	c.stage(r.Stage).status = step.Running
	c.briefed(r)
	if c.runs[r.Stage] == nil {
		c.runs[r.Stage] = map[int]bool{}
	}
	c.runs[r.Stage][r.Iteration] = true
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

// briefed holds what a try is handed against its bounds.
func (c *checker) briefed(r step.StageStarted) {
	if len(r.Brief) > feedback.BriefTokens { // the machines of the simulation count bytes
		c.breaks("a brief stays within its tokens", "%s: %s", r.Stage, r.Brief)
	}
	if r.Envelope == nil {
		return
	}
	if err := r.Envelope.Validate(); err != nil {
		c.breaks("an envelope is whole", "%s: %s", r.Stage, err)
	}
	for _, id := range r.BriefIDs { // those of the brief are in the envelope, too
		if !slices.ContainsFunc(r.Envelope.ReviewerConcerns, func(i feedback.Item) bool { return c.head(i.ID) == c.head(id) }) {
			c.breaks("an envelope has what the brief has", "%s: %s", r.Stage, id)
		}
	}
}

// othersOf counts the other items of a for_each that run.
func (c *checker) othersOf(path string) int {
	n := 0
	group := path[:strings.LastIndexByte(path, '[')+1]
	for p, s := range c.stages {
		if p != path && strings.HasPrefix(p, group) && !strings.Contains(p[len(group):], "/") && s.status == step.Running && c.goesOn(p) {
			n++
		}
	}
	return n
}

// goesOn reports whether a stage that started is under way: one whose try was interrupted waits for its turn.
func (c *checker) goesOn(path string) bool {
	if n, _, _, _ := c.node(path); n.Body != nil {
		return true
	}
	for _, p := range c.open {
		if p == path {
			return true
		}
	}
	return false
}

// startedApproved holds a stage that starts against the approval that it needs.
func (c *checker) startedApproved(path string) {
	s := c.stage(path)
	if !s.approved || (s.on != "" && s.on != c.tree()) {
		c.breaks("an approval holds for the tree that it was given for", "%s (approved: %v, on %q) starts on %q", path, s.approved, s.on, c.tree())
	}
	s.on = ""
}

// dropped holds a stage that does not run against its needs: one of them must have failed, or be a review whose
// findings can't be routed. Parts of a composite that does not run go with it.
func (c *checker) dropped(path string) {
	n, g, prefix, item := c.node(path)
	if item != "" || (prefix != "" && c.stage(strings.TrimSuffix(prefix, "/")).status == step.NotRun) {
		return
	}
	if !slices.ContainsFunc(n.Needs, func(need int) bool { return !c.met(prefix + g.Nodes[need].ID) }) {
		c.breaks("what can run is not dropped", "%s", path)
	}
}

// clearBelow makes the parts of a composite that starts pending.
func (c *checker) clearBelow(path string) {
	for owner := range c.had {
		if owner == path || strings.HasPrefix(owner, path+"[") || strings.HasPrefix(owner, path+"/") {
			delete(c.had, owner)
		}
	}
	for p, s := range c.stages {
		if strings.HasPrefix(p, path+"[") || strings.HasPrefix(p, path+"/") {
			*s = modelStage{status: step.Pending}
			if c.verified(p) != "" {
				c.countAnew(p)
			}
		}
	}
}

func (c *checker) routed(r step.FeedbackRouted) {
	pair := feedback.Pair{Source: r.Source, Target: r.Target}
	n, _, prefix, item := c.node(r.Source)
	owner := strings.TrimSuffix(prefix, "/")
	if item != "" {
		owner = prefix + n.ID
	}
	if owner != "" && r.Action != feedback.Escalate && c.stage(owner).status != step.Running {
		c.breaks("only a review that ended is routed", "%s in %s, which is %s", r.Source, owner, c.stage(owner).status)
	}
	c.ruled(r, n)
	open := 0
	for _, id := range c.order {
		item := c.items[id]
		if item.IsOpen() && item.Severity == feedback.Blocking && slices.Contains(item.Sources, r.Source) {
			open++
		}
	}
	if s := c.stage(r.Source); s.status != step.Succeeded && !(s.status == step.Rejected && r.Action == feedback.ReImplement) && r.Action != feedback.Escalate &&
		!(n.Refine != nil && c.stage(r.Target).status == step.Failed && r.Action == feedback.ReImplement) {
		c.breaks("only a review that ended is routed", "%s, which is %s", r.Source, s.status)
	}
	switch r.Action {
	case feedback.Accept:
		c.stage(r.Source).accepted = true
		if open > 0 {
			c.breaks("only what has no open blocking item is accepted", "%s with %d", r.Source, open)
		}
	case feedback.ReImplement:
		c.rounds[pair]++
	case feedback.Escalate:
		c.escalated = append(c.escalated, pair)
	}
	c.checkRounds(pair, n)
}

// closedBy holds an item that is closed against who may close it: its own reviews, a person, or the stage that takes it
// over or does not have it any more.
func (c *checker) closedBy(was, item feedback.Item) {
	may := true
	switch {
	case !was.IsOpen() || item.IsOpen():
	case item.Status == feedback.Fixed, item.Status == feedback.Withdrawn && item.By != "":
		may = slices.Contains(item.Sources, item.By)
	case item.Status == feedback.Waived:
		may = item.By == "maria"
	case item.Status == feedback.Withdrawn:
		may = strings.HasPrefix(item.Reason, "taken over by ") || strings.HasSuffix(item.Reason, "has no such item any more")
	}
	if !may {
		c.breaks("no open item is lost", "%s is %s by %q: %s", item.ID, item.Status, item.By, item.Reason)
	}
}

// counted follows what the rules about items count.
func (c *checker) counted(was, item feedback.Item) {
	if c.looked[item.ID] == nil {
		c.looked[item.ID] = map[int]bool{}
	}
	switch item.Status {
	case feedback.NotFixed:
		c.looked[item.ID][item.LastRound] = true
	case feedback.Disputed:
		c.disputes[item.ID]++
	case feedback.Escalated:
		if was.Status != feedback.Waived {
			delete(c.looked, item.ID)
			delete(c.disputes, item.ID)
		}
	}
}

// ruled holds a routing by a rule about items against what was counted, and any against what the review said.
func (c *checker) ruled(r step.FeedbackRouted, n *plan.Node) {
	if !c.gave[r.Source] && r.Rule != feedback.ReasonNoChange && n.Kind != "approval" && !n.Loop.OnReject { // an approval that was given says nothing
		c.breaks("no round for a review that did not take place", "%s said nothing and is routed: %s", r.Source, r.Action)
	}
	c.gave[r.Source] = false
	stuck := r.Rule == ""
	for _, id := range c.order {
		item := c.items[id]
		if !slices.Contains(r.Items, c.head(id)) || !slices.Contains(item.Sources, r.Source) {
			continue
		}
		rules := n.Loop.Convergence
		stuck = stuck || r.Rule == feedback.ReasonSameItem && rules.SameItem > 0 && len(c.looked[id]) >= rules.SameItem ||
			r.Rule == feedback.ReasonDisputed && rules.Disputed > 0 && c.disputes[id] >= rules.Disputed
	}
	c.stuck = c.stuck || stuck
}

func (c *checker) checkRounds(pair feedback.Pair, n *plan.Node) {
	if most := n.Loop.MaxIterations + c.granted[pair]; c.rounds[pair]+1 > most {
		c.breaks("rounds stay within the cap and what was granted", "%v: iteration %d of %d", pair, c.rounds[pair]+1, most)
	}
}

func (c *checker) raisedOne(e feedback.Escalation) {
	if (e.Reason == feedback.ReasonSameItem || e.Reason == feedback.ReasonDisputed) && e.Again == "" && !c.stuck {
		c.breaks("a rule fires on what was counted", "%s for %v", e.Reason, e.Sources)
	}
	c.nobody("escalates")
	if nothing := slices.ContainsFunc(e.Sources, func(source string) bool {
		n, _, _, _ := c.node(source)
		return e.Target != "" && n.Refine != nil && c.stage(c.targetOf(source)).status == step.Failed && !c.met(c.targetOf(source))
	}); nothing != (e.NothingToAccept != "") {
		c.breaks("what is offered is taken", "%v, nothing to accept: %v, but it says %q", e.Sources, nothing, e.NothingToAccept)
	}
	for path := e.Sources[0]; strings.Contains(path, "/"); {
		path = path[:strings.LastIndexByte(path, '/')]
		if n, _, _, _ := c.node(path); n.OnEscalation != plan.UnknownOnEscalation {
			c.breaks("a pipeline inside the run keeps its escalations to itself", "%v in %s", e.Sources, path)
		}
	}
	c.raised[e.ID] = e
	if e.Again != "" { // what was decided is void
		for _, source := range e.Sources {
			c.stage(source).accepted = false
		}
	}
	if e.Target != "" && e.Reason == feedback.ReasonNoChange {
		c.stage(e.Target).blocked = true
	}
	for _, id := range c.order {
		item := c.items[id]
		if !item.IsOpen() || item.Severity != feedback.Blocking || !slices.ContainsFunc(item.Sources, func(s string) bool { return slices.Contains(e.Sources, s) }) {
			continue
		}
		if !slices.ContainsFunc(e.Blocking, func(b feedback.Item) bool { return b.ID == c.head(id) }) && e.Target != "" {
			c.breaks("no open blocking item is lost", "%s is not in escalation %s", id, e.ID)
		}
	}
}

// head gives the id of the item that an entry is one with.
func (c *checker) head(id string) string {
	if same := c.items[id].SameAs; same != "" {
		return same
	}
	return id
}

func (c *checker) decided(r step.EscalationDecided) {
	c.person = true
	e := c.raised[r.ID]
	c.retried = r.Decision == "retry" && !slices.ContainsFunc(e.Sources, func(source string) bool {
		n, _, _, _ := c.node(source)
		return n.Refine != nil // one more attempt is made
	})
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
		if r.Decision == "retry" && n.Refine != nil {
			c.attempts = append(c.attempts, pair) // unless what was made by hand is validated
		}
		if r.Decision == "refer-back" {
			c.rounds[pair]++
			c.checkRounds(pair, n)
		}
		if s := c.stage(source); r.Decision == "override" && r.Closed {
			switch s.status {
			case step.Succeeded:
				s.accepted = true
			case step.Rejected:
				*s = modelStage{status: step.Pending, approved: true, on: r.Tree.Tracked}
			}
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
		return prefix + t.ID + item
	}
	return prefix + t.ID
}

func (c *checker) finished(r step.RunFinished) {
	for _, id := range c.order {
		item := c.items[id]
		if !item.IsOpen() {
			continue
		}
		if !slices.ContainsFunc(r.OpenItems, func(o feedback.Item) bool { return o.ID == c.head(id) }) {
			c.breaks("no open item is lost", "%s is not in the last record", id)
		}
		if item.Severity != feedback.Blocking {
			continue
		}
		if r.Status == step.RunSucceeded && !slices.ContainsFunc(item.Sources, c.mayFail) {
			c.breaks("no run succeeds over an open blocking item", "%s of %v", id, item.Sources)
		}
	}
	if c.plan.Graph.Finally != nil && !c.had[""] && !c.stopped {
		c.breaks("finally runs once", "the run ended without it")
	}
	c.bounds("", &c.plan.Graph, check.Bounds(&c.plan.Graph))
	failed := false
	for path, s := range c.stages {
		n, _, _, _ := c.node(path)
		failed = failed || (s.status == step.Failed && !n.ContinueOnError)
		switch s.status {
		case step.Running, step.Waiting:
			c.breaks("a finished run runs nothing", "%s is %s", path, s.status)
		}
	}
	if r.Status == step.RunFailed && !failed {
		c.breaks("a run fails only if a stage does", "%s", r.Reason)
	}
}

// mostItems is how many items a for_each of a random plan has at the most.
const mostItems = 3

// bounds holds how often stages ran against what was said before the run.
func (c *checker) bounds(prefix string, g *plan.Graph, bounds []check.Bound) {
	if c.person {
		return
	}
	for i := range g.Nodes {
		// A for_each reviews item by item what has the same items.
		if l := g.Nodes[i].Loop; l != nil && g.Nodes[i].ForEach != nil && g.Nodes[l.Target].ForEach != nil &&
			g.Nodes[i].ForEach.Items.Parts[0].Expr.Source != g.Nodes[l.Target].ForEach.Items.Parts[0].Expr.Source {
			return
		}
	}
	for i := range g.Nodes {
		paths := []string{prefix + g.Nodes[i].ID}
		if g.Nodes[i].ForEach != nil {
			for k := range mostItems {
				paths = append(paths, fmt.Sprintf("%s[%d]", paths[0], k))
			}
		}
		for _, path := range paths {
			if most := bounds[i].Runs + mostItems*bounds[i].Items; len(c.runs[path]) > most {
				c.breaks("no stage runs more often than its bound", "%s ran %d times, bound %d", path, len(c.runs[path]), most)
			}
			if g.Nodes[i].Body != nil {
				c.bounds(path+"/", g.Nodes[i].Body, bounds[i].Body)
			}
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
