package feedback

import "example.com/pipe/engine/value"

// Object is the item as a value, with the same fields for every item: line and gate_id are null where the
// item has none, other texts empty.
func (i *Item) Object() *value.Object {
	var line, gate value.Value
	if i.Line > 0 {
		line = int64(i.Line)
	}
	if i.GateID != "" {
		gate = i.GateID
	}
	return value.NewObject(
		value.Field{Name: "severity", Value: i.Severity.String()},
		value.Field{Name: "file", Value: i.File},
		value.Field{Name: "line", Value: line},
		value.Field{Name: "description", Value: i.Description},
		value.Field{Name: "suggested_fix", Value: i.SuggestedFix},
		value.Field{Name: "source_agent", Value: i.SourceAgent},
		value.Field{Name: "gate_id", Value: gate},
		value.Field{Name: "category", Value: i.Category},
		value.Field{Name: "id", Value: i.ID},
		value.Field{Name: "status", Value: i.Status.String()},
		value.Field{Name: "first_round", Value: int64(i.FirstRound)},
		value.Field{Name: "last_round", Value: int64(i.LastRound)},
		value.Field{Name: "reason", Value: i.Reason},
	)
}

// ItemList gives items as a value: a list of what Object gives.
func ItemList(items []Item) value.List {
	out := make(value.List, 0, len(items))
	for i := range items {
		out = append(out, items[i].Object())
	}
	return out
}

// ItemType is the type of what Object gives.
func ItemType() value.Type {
	text, number := value.Of(value.String), value.Of(value.Int)
	return value.ObjectOf(
		value.FieldType{Name: "severity", Type: value.OneOf(severityWords[1:]...)},
		value.FieldType{Name: "file", Type: text},
		value.FieldType{Name: "line", Type: number.OrNull()},
		value.FieldType{Name: "description", Type: text},
		value.FieldType{Name: "suggested_fix", Type: text},
		value.FieldType{Name: "source_agent", Type: text},
		value.FieldType{Name: "gate_id", Type: text.OrNull()},
		value.FieldType{Name: "category", Type: text},
		value.FieldType{Name: "id", Type: text},
		value.FieldType{Name: "status", Type: value.OneOf(statusWords[1:]...)},
		value.FieldType{Name: "first_round", Type: number},
		value.FieldType{Name: "last_round", Type: number},
		value.FieldType{Name: "reason", Type: text},
	)
}
