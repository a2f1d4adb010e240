package feedback

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.com/pipe/engine/value"
)

// ReadResult reads what a stage gave on its result channel, already decoded from JSON or YAML: a list of
// items (which is what JSON lines are handed over as), {summary, feedback_items, replies, prior}, or
// {outputs: {<stage id>: {summary, feedback_items}}} for the stage with this path. Fields that are not
// known are left alone. Anything else is an error that names the entry and field; so is a document without
// feedback_items, replies and prior: a clean review says so with an empty list.
func ReadResult(v value.Value, stage string) (Result, error) {
	switch doc := v.(type) {
	case value.List:
		items, err := readItems(doc)
		return Result{Items: items}, err
	case *value.Object:
		if inner, ok := doc.Get("outputs"); ok && !hasAny(doc, itemsList, repliesList, "prior") {
			found, err := outputsOf(inner, stage)
			if err != nil {
				return Result{}, err
			}
			doc = found
		}
		return readDocument(doc)
	}
	return Result{}, fmt.Errorf("expected a list of items or an object with feedback_items, found %s; "+
		"a clean review says []", value.Describe(v))
}

// outputsOf finds the stage's part of {outputs: {<id>: …}}.
func outputsOf(outputs value.Value, stage string) (*value.Object, error) {
	all, ok := outputs.(*value.Object)
	if !ok {
		return nil, fmt.Errorf("outputs: expected an object by stage id, found %s", value.Describe(outputs))
	}
	for _, id := range []string{stage, baseID(stage)} {
		part, ok := all.Get(id)
		if !ok {
			continue
		}
		doc, ok := part.(*value.Object)
		if !ok {
			return nil, fmt.Errorf("outputs.%s: expected an object with feedback_items, found %s", id, value.Describe(part))
		}
		return doc, nil
	}
	return nil, fmt.Errorf("outputs: no entry for this stage, expected one under %q", baseID(stage))
}

// baseID is the id of a stage as its pipeline has it: "review" for the path "parent/review[0]".
func baseID(stage string) string {
	if at := strings.LastIndexByte(stage, '/'); at >= 0 {
		stage = stage[at+1:]
	}
	id, _, _ := strings.Cut(stage, "[")
	return id
}

func hasAny(o *value.Object, names ...string) bool {
	for _, name := range names {
		if _, ok := o.Get(name); ok {
			return true
		}
	}
	return false
}

func readDocument(doc *value.Object) (Result, error) {
	if !hasAny(doc, itemsList, repliesList, "prior") && hasAny(doc, "severity") && hasAny(doc, "description") {
		items, err := readItems(value.List{doc}) // JSON lines with a single line
		return Result{Items: items}, err
	}
	summary, err := textField(doc, "summary")
	if err != nil {
		return Result{}, err
	}
	prior, err := textField(doc, "prior")
	if err != nil {
		return Result{}, err
	}
	if prior != "" && prior != PriorAllFixed {
		return Result{}, fmt.Errorf("prior: %q is not known, expected %q", clip(prior, 40), PriorAllFixed)
	}
	out := Result{Summary: summary, Prior: prior, Items: []Item{}}
	if out.Replies, err = readReplies(doc); err != nil {
		return Result{}, err
	}
	list, ok := doc.Get(itemsList)
	if !ok {
		if len(out.Replies) == 0 && prior == "" {
			return Result{}, errors.New("feedback_items is missing; a clean review says feedback_items: []")
		}
		return out, nil
	}
	items, ok := list.(value.List)
	if !ok {
		return Result{}, fmt.Errorf("feedback_items: expected a list, found %s; a clean review says []", value.Describe(list))
	}
	out.Items, err = readItems(items)
	return out, err
}

func readItems(list value.List) ([]Item, error) {
	out := make([]Item, 0, len(list))
	for i, entry := range list {
		o, ok := entry.(*value.Object)
		if !ok {
			return nil, itemError(i, "", "expected an object with severity and description, found %s", value.Describe(entry))
		}
		item, err := readItem(i, o)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

func readItem(index int, o *value.Object) (Item, error) {
	var item Item
	for _, f := range []struct {
		name string
		into *string
	}{
		{"file", &item.File}, {"description", &item.Description}, {"suggested_fix", &item.SuggestedFix},
		{"source_agent", &item.SourceAgent}, {"gate_id", &item.GateID}, {"category", &item.Category},
		{"fingerprint", &item.Fingerprint}, {"id", &item.ID},
	} {
		s, err := textField(o, f.name)
		if err != nil {
			return Item{}, itemError(index, f.name, "%s", strings.TrimPrefix(err.Error(), f.name+": "))
		}
		*f.into = s
	}
	word, err := textField(o, "severity")
	switch {
	case err != nil || word == "":
		found := "missing"
		if v, ok := o.Get("severity"); ok && v != "" {
			found = value.Describe(v)
		}
		return Item{}, itemError(index, "severity", "%s, expected %s", found, severityWords.list())
	default:
		if err := item.Severity.UnmarshalText([]byte(word)); err != nil {
			return Item{}, itemError(index, "severity", "%s", strings.TrimPrefix(err.Error(), "severity "))
		}
	}
	if strings.TrimSpace(item.Description) == "" {
		return Item{}, itemError(index, "description", "missing or empty, expected what is wrong")
	}
	v, _ := o.Get("line")
	line, ok := readLine(v)
	if !ok {
		return Item{}, itemError(index, "line", "expected a whole number or null, found %s", value.Describe(v))
	}
	item.Line = line
	return item, nil
}

// readLine reads a line number: a whole number, its digits as text, the first of a range ("42-45"), or
// null for none.
func readLine(v value.Value) (int, bool) {
	switch n := v.(type) {
	case nil:
		return 0, true
	case int64:
		return int(n), n >= math.MinInt32 && n <= math.MaxInt32
	case float64:
		return int(n), n == math.Trunc(n) && math.Abs(n) <= math.MaxInt32
	case string:
		n = strings.TrimSpace(n)
		if line, err := strconv.ParseInt(n, 10, 32); err == nil {
			return int(line), true // also a negative one, which is dropped with a flag
		}
		first, last, isRange := strings.Cut(n, "-")
		if first == "" && !isRange {
			return 0, true
		}
		line, err := strconv.ParseUint(first, 10, 31)
		if err != nil {
			return 0, false
		}
		if isRange {
			_, err = strconv.ParseUint(last, 10, 31)
		}
		return int(line), err == nil
	}
	return 0, false
}

// textField reads a text that may be missing or null.
func textField(o *value.Object, name string) (string, error) {
	v, _ := o.Get(name)
	switch s := v.(type) {
	case nil:
		return "", nil
	case string:
		return s, nil
	}
	return "", fmt.Errorf("%s: expected text, found %s", name, value.Describe(v))
}

func readReplies(doc *value.Object) ([]Reply, error) {
	v, _ := doc.Get(repliesList)
	if v == nil {
		return nil, nil
	}
	list, ok := v.(value.List)
	if !ok {
		return nil, fmt.Errorf("replies: expected a list, found %s", value.Describe(v))
	}
	var out []Reply
	for i, entry := range list {
		reply, err := readReply(i, entry)
		if err != nil {
			return nil, err
		}
		out = append(out, reply)
	}
	return out, nil
}

func readReply(index int, entry value.Value) (Reply, error) {
	fail := func(field, why string, args ...any) (Reply, error) {
		return Reply{}, &ItemError{repliesList, index, field, fmt.Sprintf(why, args...)}
	}
	o, ok := entry.(*value.Object)
	if !ok {
		return fail("", "expected an object with id and status, found %s", value.Describe(entry))
	}
	var texts [3]string
	for i, name := range []string{"id", "status", "reason"} {
		s, err := textField(o, name)
		if err != nil {
			return fail(name, "%s", strings.TrimPrefix(err.Error(), name+": "))
		}
		texts[i] = strings.TrimSpace(s)
	}
	reply := Reply{ID: texts[0], Reason: texts[2]}
	if reply.ID == "" {
		return fail("id", "missing, expected the id of an item")
	}
	switch texts[1] {
	case "fixed", "not_fixed", "withdrawn", "disputed":
		if err := reply.Status.UnmarshalText([]byte(texts[1])); err != nil {
			return fail("status", "%s", err)
		}
	default:
		return fail("status", "%q is no answer, expected \"fixed\", \"not_fixed\", \"withdrawn\" or \"disputed\"", clip(texts[1], 40))
	}
	if reply.Status == Disputed && reply.Reason == "" {
		return fail("reason", "missing, expected why the item is disputed")
	}
	return reply, nil
}
