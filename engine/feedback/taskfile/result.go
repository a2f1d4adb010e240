package taskfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/value"
)

// Fields by which an answer is told from a document of items, and the other way round.
var (
	verdictFields = [...]string{"status", "critical", "warnings", "suggestions"}
	itemFields    = [...]string{"feedback_items", "replies", "prior"}
)

// ReadResult reads what a validator gave on its result channel: an answer as FromAnswer takes it, which must say in
// itself whether the work passes (Check), or a document of items as every review gives. Both in one are refused, since
// they could contradict each other. Stage is the path of the validator.
func ReadResult(v value.Value, stage string) (feedback.Result, error) {
	o, ok := v.(*value.Object)
	if !ok || !hasAny(o, verdictFields[:]) {
		return feedback.ReadResult(v, stage)
	}
	if hasAny(o, itemFields[:]) {
		return feedback.Result{}, errors.New("it has fields of an answer (status, critical, warnings, suggestions) and of a document of items (feedback_items, replies, prior), expected one of the two")
	}
	f, err := FromAnswer(o)
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		return feedback.Result{}, err
	}
	out := feedback.Result{Summary: f.Summary, Items: f.Items()}
	return out, addFixes(out.Items, o)
}

// IsAnswerField reports whether an answer may have a field of this name.
func IsAnswerField(name string) bool { return slices.Contains(answerFields, name) }

func hasAny(o *value.Object, names []string) bool {
	for _, name := range names {
		if _, ok := o.Get(name); ok {
			return true
		}
	}
	return false
}

// addFixes adds what a feedback file has no place for: how findings can be fixed. The items are those of the answer,
// in its order, maybe with one before them that stands for its summary.
func addFixes(items []feedback.Item, answer *value.Object) error {
	var fixes []string
	for _, name := range verdictFields[1:] {
		v, _ := answer.Get(name)
		if text, ok := v.(string); ok && strings.TrimSpace(text) != "" {
			fixes = append(fixes, "")
		}
		list, _ := v.(value.List)
		for n, entry := range list {
			fix := ""
			if o, ok := entry.(*value.Object); ok {
				v, _ := o.Get("suggested_fix")
				var err error
				if fix, err = readText(fmt.Sprintf("%s[%d].suggested_fix", name, n), v); err != nil {
					return err
				}
			}
			fixes = append(fixes, fix)
		}
	}
	first := len(items) - len(fixes)
	for n, fix := range fixes {
		if first+n >= 0 && first+n < len(items) {
			items[first+n].SuggestedFix = fix
		}
	}
	return nil
}
