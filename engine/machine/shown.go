package machine

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
)

// shownItem is an open item as a person was shown it.
type shownItem struct{ id, text string }

func shownOf(items []feedback.Item) []shownItem {
	var out []shownItem
	for k := range items {
		i := &items[k]
		out = append(out, shownItem{i.ID, strings.Join([]string{i.Severity.String(), i.File, i.Description}, "\x00")})
	}
	return out
}

// shownBefore gives what a person is shown before the start of a stage: all open items, but for those of a gate itself,
// which its answer settles.
func (s *state) shownBefore(i *instance) []shownItem {
	return shownOf(slices.DeleteFunc(openItems(&s.ledger), func(item feedback.Item) bool {
		return i.returns() && slices.Contains(item.Sources, i.path)
	}))
}

// Shown gives the hash of the tree that a person was shown before an answer; "": none that is known.
func (m *Machine) Shown(a step.Answer) string {
	switch a.Kind {
	case step.Approve:
		d := &decider{m: m, s: &m.s}
		if i, _ := d.asked(a.Stage); i != nil {
			return i.approval.tree.Hash
		}
	case step.DecideOverride:
		if m.s.isShown {
			return m.s.shown.Hash
		}
	}
	return ""
}

// LastTree gives the hash of the tree that the run left last, where it is known what it left; a resume is compared with
// it. At the end of the run nothing is known: rollbacks change it, and no stage runs again.
func (m *Machine) LastTree() (hash string, known bool) {
	return m.s.workTree.Hash, !m.s.worked && m.s.workTree.Hash != "" && !m.s.atItsEnd()
}

// treeDiffers says how the workspace differs from what a person was shown: by what voids the answer, which is a tracked
// file or one of those named; and by what is only worth a warning.
func treeDiffers(was, now step.Tree, named []string) (void, warning string) {
	switch {
	case was.Hash == now.Hash:
		return "", ""
	case was.Tracked != now.Tracked:
		tracked := slices.DeleteFunc(slices.Clone(now.Changed), func(name string) bool {
			return slices.Contains(now.Untracked, name) && !slices.Contains(named, name)
		})
		return "the tree changed" + listed(tracked), ""
	}
	var hit []string
	for _, name := range now.Changed {
		if slices.Contains(named, name) {
			hit = append(hit, name)
		}
	}
	if len(hit) > 0 {
		return "what the items or the work on them name changed" + listed(hit), ""
	}
	return "", "untracked files changed" + listed(now.Changed)
}

// maxListed is how many files a message names.
const maxListed = 5

func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	if n := len(names); n > maxListed {
		return fmt.Sprintf(" (%s and %d more)", strings.Join(names[:maxListed], ", "), n-maxListed)
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// itemsDiffer says how items differ from those that a person was shown; "" if they do not. What is closed since counts
// where a person answers for all that was open.
func itemsDiffer(was, now []shownItem, closed bool) string {
	var parts []string
	find := func(list []shownItem, id string) int {
		return slices.IndexFunc(list, func(s shownItem) bool { return s.id == id })
	}
	for _, item := range now {
		switch k := find(was, item.id); {
		case k < 0:
			parts = append(parts, item.id+" is new")
		case was[k].text != item.text:
			parts = append(parts, item.id+" says something else")
		}
	}
	for _, item := range was {
		if closed && find(now, item.id) < 0 {
			parts = append(parts, item.id+" is not open any more")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "the open items changed" + listed(parts)
}

// named gives the files that open items name, and those that the targets of loops changed.
func (d *decider) named() []string {
	var out []string
	for _, item := range openItems(&d.s.ledger) {
		out = append(out, item.File)
	}
	for _, i := range d.s.all {
		if i.isTarget() {
			out = append(out, i.changes...)
		}
	}
	return out
}

// approvalDiffers says how things differ from what a person was shown before an approval.
func (d *decider) approvalDiffers(i *instance, now step.Tree) (void, warning string) {
	if why := itemsDiffer(i.approval.items, d.s.shownBefore(i), true); why != "" {
		return why, ""
	}
	return treeDiffers(i.approval.tree, now, d.named())
}

// override is one on which nothing has started yet.
type override struct {
	feedback.Escalation
	items []string
	tree  step.Tree
}

// overrideDiffers says how things differ from what a person was shown at an escalation.
func (d *decider) overrideDiffers(e feedback.Escalation, was, now step.Tree) (void, warning string) {
	var open []feedback.Item
	for _, path := range e.Sources {
		open = withItems(open, d.s.ledger.OpenBlocking(path))
	}
	if why := itemsDiffer(shownOf(e.Blocking), shownOf(open), false); why != "" {
		return why, ""
	}
	named := d.s.at(e.Target).changes
	for _, item := range slices.Concat(e.Blocking, e.NotReviewedSince) {
		named = append(slices.Clip(named), item.File)
	}
	return treeDiffers(was, now, named)
}

// checksOverrides asks for the tree before anything starts on an override that was taken while nothing went on. It
// reports whether there is one to be checked.
func (d *decider) checksOverrides() bool {
	if len(d.s.overrides) == 0 {
		return false
	}
	for _, e := range d.s.effects {
		if e.kind == treeEffect && e.purpose == step.ForOverride {
			return true
		}
	}
	d.emit(step.TreeAsked{Effect: d.newEffect(), Purpose: step.ForOverride, Since: d.s.overrides[0].tree.Hash, At: d.at})
	return true
}

// checkOverrides holds overrides against the tree that the run goes on with. Where it changed, they are void, and the
// person is asked again.
func (d *decider) checkOverrides(overrides []override, now step.Tree) {
	for _, o := range overrides {
		void, _ := d.overrideDiffers(o.Escalation, o.tree, now)
		stand := slices.DeleteFunc(slices.Clone(o.Sources), func(path string) bool {
			i := d.s.at(path)
			return i.status != step.Succeeded || !i.accepted // it reviews again anyway
		})
		if void == "" || len(stand) == 0 {
			continue
		}
		d.change(d.s.ledger.Unwaive(o.items, "the override is void: "+void))
		e := o.Escalation
		e.Sources, e.Blocking, e.Again = stand, nil, void+" after the override"
		for _, path := range stand {
			e.Blocking = withItems(e.Blocking, d.s.ledger.OpenBlocking(path))
		}
		d.raise(e)
	}
}

// workedByHand makes run again what stood on a tree that is no longer there: all that has ended downstream of a loop's
// target, but no target. It reports whether anything does.
func (d *decider) workedByHand(now step.Tree) bool {
	last, known := d.m.LastTree()
	if !known || now.Hash == "" || now.Hash == last {
		return false
	}
	before := len(d.ready.Records)
	for _, f := range d.s.liveFrames() {
		d.staleBehindTargets(f)
	}
	return len(d.ready.Records) > before
}

// liveFrames gives the frames whose stages may still run, the outer before the inner.
func (s *state) liveFrames() []*frame {
	out := []*frame{s.root}
	for _, i := range s.all {
		if i.body != nil && i.body.live && i.status == step.Running && slices.Contains(out, i.frame) {
			out = append(out, i.body)
		}
	}
	return slices.DeleteFunc(out, (*frame).isClosing)
}

// isClosing reports whether what stands in a frame's finally has begun: the rest of it has ended for good.
func (f *frame) isClosing() bool { return f.final != nil && f.final.outcome != step.UnknownRunStatus }

// loops reports whether a graph, or one inside it, has a loop.
func (g *graph) loops() bool {
	if len(g.sources) > 0 {
		return true
	}
	for i := range g.Nodes {
		if body := g.bodies[i]; body != nil && body.loops() {
			return true
		}
	}
	return false
}
