package machine

import (
	"maps"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/step"
)

// maxSummary is the most characters of what the history says of one time that work was sent back.
const maxSummary = 200

// maxHistory is how many of the last times the history of a stage tells of, so that a run of many rounds does not keep
// each of them with each round.
const maxHistory = 50

// sentBack is what a run knows of the work that was sent to its stages: of earlier runs of the same task too.
type sentBack struct {
	issue    envelope.Issue
	criteria []string
	defects  map[string][]envelope.PriorDefect // by path of the stage
}

func newSentBack(r step.RunStarted) sentBack {
	b := sentBack{issue: envelope.Issue{Key: r.Run.TaskID}, defects: map[string][]envelope.PriorDefect{}}
	if r.Task != nil {
		b.issue = *r.Task
		b.criteria = envelope.AcceptanceCriteria(r.Task.Body)
	}
	for _, h := range r.Prior {
		b.defects[h.Target] = append(b.defects[h.Target], h.Defects...)
	}
	return b
}

// add notes that work was sent back to a stage once more.
func (b *sentBack) add(target string, source envelope.Source, summary string) {
	before := b.defects[target]
	cycle := 1
	if n := len(before); n > 0 {
		cycle = before[n-1].Cycle + 1
	}
	b.defects[target] = append(slices.Clone(before[max(0, len(before)-maxHistory+1):]), envelope.PriorDefect{
		Cycle: cycle, Source: source, Summary: feedback.OneLine(summary, maxSummary),
	})
}

// SentBack gives how often work was sent back to each stage, and why, in order of their paths.
func (m *Machine) SentBack() []step.History {
	var out []step.History
	for _, target := range slices.Sorted(maps.Keys(m.s.sent.defects)) {
		out = append(out, step.History{Target: target, Defects: m.s.sent.defects[target]})
	}
	return out
}

// sends notes that a loop sends work back.
func (s *state) sends(l *loop, open []feedback.Item) {
	summary := l.summary
	if strings.TrimSpace(summary) == "" && len(open) > 0 {
		summary = open[0].Description
	}
	s.sent.add(l.counter.Target, l.source(), summary)
}

// source says who sends work back through a loop.
func (l *loop) source() envelope.Source {
	if s := l.learnt.Source(); s != "" {
		return s
	}
	return envelope.SourceReviewerVerdict
}

// envelope is what is handed to a stage with the work that is sent to it: what its reviews gave and it was not handed
// yet, with what they learnt beside it, and a person's note; at its first start what earlier runs sent back. Nil: nothing
// is.
func (p *preparation) envelope() *envelope.Envelope {
	s, i := p.d.s, p.i
	if p.attempt > 1 { // what the try before was handed
		return i.started.Envelope
	}
	in := envelope.Contents{Note: i.note}
	source := envelope.Source("")
	for _, l := range inOrder(s, s.loopsTo[i.path]) {
		if s.isUnrouted(l) {
			continue
		}
		n := len(in.Items)
		for _, id := range l.pending {
			if item, ok := s.ledger.Said(l.counter.Source, id); ok && item.IsOpen() {
				in.Items = withItems(in.Items, []feedback.Item{item})
			}
		}
		if len(in.Items) == n {
			continue
		}
		in.Diagnosis = envelope.Join(in.Diagnosis, l.learnt)
		if source == "" {
			source = l.source()
		}
	}
	history := s.sent.defects[i.path]
	switch {
	case strings.TrimSpace(i.note) != "":
		source = envelope.SourceOperatorReferBack
	case source == "" && !i.dispatched && len(history) > 0:
		source = envelope.SourcePriorDefect
	case source == "":
		return nil
	}
	e := envelope.New(source, s.sent.issue, s.sent.criteria, history, in)
	return &e
}

// discovery is what a stage is given that only looks around.
func (s *state) discovery() *envelope.DiscoveryInput {
	return &envelope.DiscoveryInput{
		IssueKey: s.sent.issue.Key, IssueBody: s.sent.issue.Body, AcceptanceCriteria: s.sent.criteria,
	}
}
