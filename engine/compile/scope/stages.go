package scope

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// The codes of this package's diagnostics, beside those of package expr.
const (
	CodeUnknownStage diag.Code = "unknown-stage"
	CodeNotBefore    diag.Code = "stage-not-before"
	CodeStagesValue  diag.Code = "stages-value"
	CodeTemplateHere diag.Code = "template-not-here"
)

// Stage is what is known of a stage where others read it.
type Stage struct {
	ID   string      // as the document gives it; "" where it gives none that can be used
	Span source.Span // where to point for the stage as a whole

	Outputs   value.Type      // as other stages see them: of a for_each, lists in the order of its items
	Own       value.Type      // what a successful try gives
	Each      value.Type      // of each, in a stage with for_each; the zero Type elsewhere
	Final     bool            // it stands in finally
	NoProcess bool            // it runs no process whose exit status could be read
	MayMiss   string          // why outputs may not be there, "can be skipped"; "" if they always are
	MayMissAt source.Span     // the key that says so
	Sure      map[string]bool // ids of the stages that have succeeded if its when holds
	Target    int             // of its loop; -1: none
	Owner     *Stage          // of a part of a stage, which nobody can name; nil: it is a stage
	Part      string          // what the part is called in messages, such as "verifiers"

	known, maybe value.Type // of its entry in a scope: where it has succeeded, and where that is not known
}

// Stages holds the stages of a document in their order.
type Stages struct {
	List []*Stage

	diags      *diag.List
	incomplete bool
	index      map[string]int // by id; of two with one id the first
	ids        []string       // of all stages that have one, in order
}

// NewStages gives an empty list that reports into diags. Of a document that is incomplete it does not say
// that a stage is unknown: the stage may stand in what is missing.
func NewStages(diags *diag.List, incomplete bool) *Stages {
	return &Stages{diags: diags, incomplete: incomplete, index: make(map[string]int)}
}

// Add adds the next stage. If its id is taken, first is the stage that has it, and the new one can't be
// named.
func (ss *Stages) Add(s *Stage) (first *Stage) {
	ss.List = append(ss.List, s)
	if s.ID == "" {
		return nil
	}
	if i, taken := ss.index[s.ID]; taken {
		return ss.List[i]
	}
	ss.index[s.ID] = len(ss.List) - 1
	ss.ids = append(ss.ids, s.ID)
	return nil
}

// Lookup gives the index of the stage with an id, or reports that there is none; where says in which key
// the id stands, " in needs".
func (ss *Stages) Lookup(id string, at source.Span, where string) (int, bool) {
	if i, ok := ss.index[id]; ok {
		return i, true
	}
	if ss.incomplete {
		return 0, false
	}
	d := ss.diags.Errorf(CodeUnknownStage, at, "unknown stage %q%s", id, where)
	if own, _, ok := strings.Cut(id, "/"); ok && where == "" {
		if _, there := ss.index[own]; there {
			d.Help = fmt.Sprintf("what stands inside of a stage can't be named; what it found is in the feedback of %q", own)
			return 0, false
		}
	}
	ids := ss.ids
	if where != "" { // a key, which can't name a stage of finally
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return ss.List[ss.index[id]].Final })
	}
	d.Help = suggest(id, ids)
	return 0, false
}

// suggest gives the help for a stage that is not among those that there are.
func suggest(id string, ids []string) string {
	if s := diag.Suggest(id, ids); s != "" {
		return s
	}
	const most = 12
	switch {
	case len(ids) == 0:
		return ""
	case len(ids) > most:
		return fmt.Sprintf("the pipeline has %d stages, among them %s", len(ids), quoteAll(ids[:most]))
	}
	return "the stages are " + quoteAll(ids)
}

// Label names a stage in a message.
func (ss *Stages) Label(i int) string {
	if id := ss.List[i].ID; id != "" {
		return fmt.Sprintf("stage %q", id)
	}
	if s := ss.List[i]; s.Owner != nil {
		return s.Part + " of " + ss.Label(slices.Index(ss.List, s.Owner))
	}
	n := 0 // of the document
	for _, s := range ss.List[:i+1] {
		if s.Owner == nil {
			n++
		}
	}
	return fmt.Sprintf("stage %d of the list", n)
}

// meant gives the id of the stage that a mention means: stages.a-b is read as a subtraction by the
// language, but means "a-b" where that is a stage and "a" is none.
func (ss *Stages) meant(m mention) string {
	if _, ok := ss.index[m.id]; ok || !m.dotted || m.text == m.id {
		return m.id
	}
	for long := m.text; len(long) > len(m.id); {
		if _, ok := ss.index[long]; ok {
			return long
		}
		cut := strings.LastIndexByte(long, '-')
		if cut < 0 {
			break
		}
		long = long[:cut]
	}
	return m.id
}

func quoteAll(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(q, ", ")
}

// StateFile gives the name of the state file of a loop between two stages, with TASK for the task.
func StateFile(sourceID, targetID string) string {
	return feedback.StateFileName("TASK", feedback.Pair{Source: sourceID, Target: targetID})
}
