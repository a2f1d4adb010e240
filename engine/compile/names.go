package compile

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
)

// names gives each stage its id. Of stages with the same id the first keeps it.
func (c *compiler) names(nodes []plan.Node) {
	c.stages = make([]*stageInfo, len(c.doc.Stages))
	infos := make([]stageInfo, len(c.doc.Stages))
	for i, syn := range c.doc.Stages {
		s := &infos[i]
		s.syn, s.node = syn, &nodes[i]
		c.stages[i] = s
		s.node.At = syn.Span.Start
		if syn.ID == nil {
			continue
		}
		id := syn.ID.Value
		s.node.ID, s.node.At = id, syn.ID.Span.Start
		if first, ok := c.index[id]; ok {
			d := c.diags.Errorf(CodeDuplicateStage, syn.ID.Span, "stage %q is already there, ids are unique in a pipeline", id)
			d.Related = []diag.Related{{Span: c.stages[first].syn.ID.Span, Message: "the first one is here"}}
			continue
		}
		s.id = id
		c.index[id] = i
		c.ids = append(c.ids, id)
	}
}

// lookup gives the index of the stage with an id, or reports that there is none. Of a document that is cut
// off nothing is said: the stage may stand in what is missing.
func (c *compiler) lookup(id string, at source.Span, what string) (int, bool) {
	if i, ok := c.index[id]; ok {
		return i, true
	}
	if c.doc.Incomplete {
		return 0, false
	}
	d := c.diags.Errorf(CodeUnknownStage, at, "unknown stage %q%s", id, what)
	d.Help = c.suggestStage(id)
	return 0, false
}

// suggestStage gives the help for a stage that is not there.
func (c *compiler) suggestStage(id string) string {
	if s := diag.Suggest(id, c.ids); s != "" {
		return s
	}
	const most = 12
	switch {
	case len(c.ids) == 0:
		return ""
	case len(c.ids) > most:
		return fmt.Sprintf("the pipeline has %d stages, among them %s", len(c.ids), quoteAll(c.ids[:most]))
	}
	return "the stages are " + quoteAll(c.ids)
}

// label names a stage in a message.
func (c *compiler) label(i int) string {
	if id := c.stages[i].node.ID; id != "" {
		return fmt.Sprintf("stage %q", id)
	}
	return fmt.Sprintf("stage %d of the list", i+1)
}

// span is where to point for a stage as a whole.
func (s *stageInfo) span() source.Span {
	if s.syn.ID != nil {
		return s.syn.ID.Span
	}
	sp := s.syn.Span
	sp.End = sp.Start
	sp.End.Col++
	return sp
}

func quoteAll(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(q, ", ")
}
