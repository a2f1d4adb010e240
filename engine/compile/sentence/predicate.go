package sentence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/pipe/engine/value"
)

// measures are the words that compare with a number, the longer ones first, and their operators.
var measures = [...]struct{ phrase, op string }{
	{"greater than or equal to", ">="}, {"less than or equal to", "<="}, {"equal to or greater than", ">="},
	{"no more than", "<="}, {"not more than", "<="}, {"no greater than", "<="}, {"no larger than", "<="}, {"no longer than", "<="},
	{"no less than", ">="}, {"not less than", ">="}, {"no fewer than", ">="}, {"no smaller than", ">="}, {"no shorter than", ">="},
	{"more than", ">"}, {"greater than", ">"}, {"larger than", ">"}, {"bigger than", ">"}, {"higher than", ">"}, {"longer than", ">"},
	{"less than", "<"}, {"fewer than", "<"}, {"smaller than", "<"}, {"lower than", "<"}, {"shorter than", "<"},
	{"at least", ">="}, {"at most", "<="}, {"up to", "<="}, {"above", ">"}, {"over", ">"}, {"below", "<"}, {"under", "<"},
	{"exactly", "=="}, {">=", ">="}, {"<=", "<="}, {"≥", ">="}, {"≤", "<="}, {">", ">"}, {"<", "<"},
}

// predicate reads what is said of the subject.
func (s *sentence) predicate(ws []string) (Meaning, bool) {
	not := false
	ws, modal, _ := take(ws, "must not", "should not", "shall not", "may not", "can not", "cannot", "does not", "do not", "doesn't", "must never", "is never",
		"must", "should", "shall", "has to", "have to", "needs to", "need to", "will")
	not = strings.Contains(modal, "no") || strings.HasSuffix(modal, "'t") || strings.Contains(modal, "never")
	if rest, verb, ok := take(ws, "starts with", "start with", "begins with", "begin with", "ends with", "end with", "ends in", "ending with", "contains", "contain", "includes", "include", "matches", "match"); ok {
		return s.textVerb(rest, verb, not)
	}
	if rest, _, ok := take(ws, "exceeds", "exceed"); ok {
		return s.compare(rest, ">", not)
	}
	if rest, _, ok := take(ws, "equals", "equal", "=", "=="); ok {
		return s.equal(rest, not)
	}
	if rest, _, ok := take(ws, "exists", "exist"); ok && len(rest) == 0 {
		return s.there(not)
	}
	if rest, _, ok := take(ws, "has", "have"); ok {
		return s.measured(rest, not)
	}
	rest, _, is := take(ws, "is", "are", "be", "was", "has been", "isn't", "aren't")
	if is && strings.HasSuffix(ws[0], "n't") {
		not = !not
	}
	if more, _, ok := take(rest, "not"); ok {
		if _, _, number := take(rest, "not more than", "not less than"); !number {
			rest, not = more, !not
		}
	}
	if !is && modal == "" {
		if _, _, in := take(rest, "in"); !in {
			return s.measured(ws, not)
		}
	}
	return s.state(rest, not)
}

// state reads what stands behind "is".
func (s *sentence) state(ws []string, not bool) (Meaning, bool) {
	bare, _, _ := take(ws, "a", "an")
	all := strings.ToLower(strings.Join(bare, " "))
	one := func(phrases ...string) bool { return slices.Contains(phrases, all) }
	switch {
	case one("empty", "blank"):
		return s.empty(!not)
	case one("non-empty", "nonempty", "filled", "non-empty string", "nonempty string", "non-empty list", "non-empty array", "non-empty text", "non-blank"):
		return s.empty(not)
	case one("provided", "present", "set", "given", "specified", "defined", "supplied", "available", "there", "required", "known"):
		return s.there(not)
	case one("missing", "absent", "undefined", "null", "nil", "unset", "none"):
		return s.there(!not)
	case one("true", "enabled", "false", "disabled") && s.subject.typ.Kind == value.Bool:
		if (strings.EqualFold(bare[0], "false") || strings.EqualFold(bare[0], "disabled")) != not {
			return s.guarded("not " + s.subject.text)
		}
		return s.guarded(s.subject.text)
	case one("positive", "positive integer", "positive number", "positive whole number"):
		return s.compare([]string{"0"}, ">", not)
	case one("non-negative", "non-negative integer", "non-negative number", "nonnegative"):
		return s.compare([]string{"0"}, ">=", not)
	case one("negative", "negative number", "negative integer"):
		return s.compare([]string{"0"}, "<", not)
	}
	if r, ok := s.ofType(bare); ok && !not {
		return r, true
	}
	if rest, _, ok := take(ws, "one of the", "one of", "any of", "either", "in the list", "in the", "in", "among"); ok {
		return s.oneOf(rest, not)
	}
	if rest, _, ok := take(ws, "equal to", "equals", "the same as"); ok {
		return s.equal(rest, not)
	}
	if r, ok := s.measured(ws, not); ok {
		return r, true
	}
	return s.equal(ws, not)
}

// ofType answers "X is an array": the schema holds what is declared to its type.
func (s *sentence) ofType(ws []string) (Meaning, bool) {
	if len(ws) == 0 || len(ws) > 2 || s.subject.text == "#" || s.subject.typ.IsAny() {
		return Meaning{}, false
	}
	ws, _, _ = take(ws, "valid", "whole")
	rest, word, ok := take(ws, "string", "text", "integer", "number", "int", "boolean", "bool", "array", "list", "object", "mapping", "map")
	if !ok || len(rest) > 0 {
		return Meaning{}, false
	}
	kind := map[string]value.Kind{"string": value.String, "text": value.String, "integer": value.Int, "int": value.Int, "number": value.Number,
		"boolean": value.Bool, "bool": value.Bool, "array": value.ListKind, "list": value.ListKind, "object": value.ObjectKind,
		"mapping": value.ObjectKind, "map": value.ObjectKind}[word]
	own := s.subject.typ.Kind
	if own != kind && (own != value.Int || kind != value.Number) && (own != value.Number || word != "number" && kind != value.Int) {
		return Meaning{}, false
	}
	return Meaning{Always: fmt.Sprintf("the schema declares %s as %s, so that is always so", s.subject.text, s.subject.typ.NotNull())}, true
}

// guarded gives a condition that only holds where the subject is there.
func (s *sentence) guarded(cond string) (Meaning, bool) {
	if s.subject.typ.Optional {
		cond = "(" + s.subject.text + " != nil and " + cond + ")"
	}
	return Meaning{Expr: cond}, true
}

// there says that the subject was given. A text that is required always is; then it must say something.
func (s *sentence) there(not bool) (Meaning, bool) {
	op := "!="
	if not {
		op = "=="
	}
	switch t := s.subject.typ; {
	case t.Optional, t.IsAny():
		return Meaning{Expr: s.subject.text + " " + op + " nil"}, true
	case t.Kind == value.String && len(t.Enum) == 0:
		return Meaning{Expr: s.subject.text + " " + op + ` ""`}, true
	case not:
		return Meaning{}, false
	}
	return Meaning{Always: fmt.Sprintf("the schema sees to it that %s is there", s.subject.text)}, true
}

func (s *sentence) empty(empty bool) (Meaning, bool) {
	op, text := "> 0", s.subject.text
	if empty {
		op = "== 0"
	}
	switch t := s.subject.typ; {
	case t.Kind != value.String && t.Kind != value.ListKind && t.Kind != value.ObjectKind:
		return Meaning{}, false
	case t.Optional:
		text += map[value.Kind]string{value.String: ` ?? ""`, value.ListKind: " ?? []", value.ObjectKind: " ?? {}"}[t.Kind]
	}
	return Meaning{Expr: "len(" + text + ") " + op}, true
}

// measured reads a comparison with a number: "at most 5 items", "between 1 and 3".
func (s *sentence) measured(ws []string, not bool) (Meaning, bool) {
	ws, _, _ = take(ws, "a length of", "length of", "length")
	if rest, _, ok := take(ws, "between"); ok {
		if len(rest) < 3 || !strings.EqualFold(rest[1], "and") && rest[1] != "to" {
			return Meaning{}, false
		}
		of := s.size()
		low, lok := s.operand(rest[0])
		high, hok := s.operand(rest[2])
		if !lok || !hok || not {
			return Meaning{}, false
		}
		return s.guarded(fmt.Sprintf("%s >= %s and %s <= %s", of, low, of, high))
	}
	for _, m := range measures {
		if rest, _, ok := take(ws, m.phrase); ok {
			return s.compare(rest, m.op, not)
		}
	}
	return Meaning{}, false
}

// size is what of the subject is compared with a number.
func (s *sentence) size() string {
	switch s.subject.typ.Kind {
	case value.String, value.ListKind, value.ObjectKind:
		return "len(" + s.subject.text + ")"
	}
	return s.subject.text
}

var opposites = map[string]string{">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!="}

// compare compares the subject, or its length, with the number that the words begin with. What it counts may
// follow: "3 items".
func (s *sentence) compare(ws []string, op string, not bool) (Meaning, bool) {
	if len(ws) == 0 || len(ws) > 3 {
		return Meaning{}, false
	}
	n, ok := s.operand(ws[0])
	if !ok {
		return Meaning{}, false
	}
	if not {
		op = opposites[op]
	}
	return s.guarded(s.size() + " " + op + " " + n)
}

// operand reads a number, or a name of the scope.
func (s *sentence) operand(word string) (string, bool) {
	if _, err := strconv.ParseFloat(word, 64); err == nil {
		return word, true
	}
	for i, n := range [...]string{"zero", "one", "two", "three", "four", "five"} {
		if strings.EqualFold(word, n) {
			return strconv.Itoa(i), true
		}
	}
	t, _, ok := s.name([]string{word})
	return t.text, ok
}

// oneOf reads a list of words: "a, b or c", "[a, b]".
func (s *sentence) oneOf(ws []string, not bool) (Meaning, bool) {
	var out []string
	for _, w := range ws {
		switch strings.ToLower(w) {
		case ",", "or", "and", "[", "]", "(", ")", "{", "}", "values", ":":
			continue
		}
		out = append(out, s.literal(w))
	}
	if len(out) == 0 {
		return Meaning{}, false
	}
	op := " in ["
	if not {
		op = " not in ["
	}
	return s.guarded(s.subject.text + op + strings.Join(out, ", ") + "]")
}

// literal is a word as an expression has it: numbers and quoted texts as they stand, others in quotes.
func (s *sentence) literal(w string) string {
	if _, err := strconv.ParseFloat(w, 64); err == nil && s.subject.typ.Kind != value.String {
		return w
	}
	return strconv.Quote(strings.Trim(w, `"'`))
}

// equal reads "is done", "equals 3", "is either a or b": values joined by or.
func (s *sentence) equal(ws []string, not bool) (Meaning, bool) {
	if len(ws) > 1 {
		for i := 1; i < len(ws); i += 2 {
			if !strings.EqualFold(ws[i], "or") && ws[i] != "," {
				return Meaning{}, false
			}
		}
		return s.oneOf(ws, not)
	}
	if len(ws) == 0 {
		return Meaning{}, false
	}
	op, other := " == ", s.literal(ws[0])
	if not {
		op = " != "
	}
	if t, _, ok := s.name(ws); ok {
		other = t.text
	}
	return s.guarded(s.subject.text + op + other)
}

// textVerb reads "ends with a or b", "contains x", "matches y".
func (s *sentence) textVerb(ws []string, verb string, not bool) (Meaning, bool) {
	op := map[byte]string{'s': "startsWith", 'b': "startsWith", 'e': "endsWith", 'c': "contains", 'i': "contains", 'm': "matches"}[verb[0]]
	if s.subject.typ.Kind == value.ListKind && op == "contains" {
		if r, ok := s.measured(ws, not); ok {
			return r, true
		}
	}
	var out []string
	for i, w := range ws {
		if i%2 == 1 {
			if !strings.EqualFold(w, "or") && w != "," {
				return Meaning{}, false
			}
			continue
		}
		cond := s.subject.text + " " + op + " " + strconv.Quote(strings.Trim(w, `"'`))
		if s.subject.typ.Kind == value.ListKind {
			cond = strconv.Quote(strings.Trim(w, `"'`)) + " in " + s.subject.text
		}
		out = append(out, cond)
	}
	if len(out) == 0 {
		return Meaning{}, false
	}
	s.verb = strings.Fields(verb)
	cond := strings.Join(out, " or ")
	switch {
	case not:
		cond = "not (" + cond + ")"
	case len(out) > 1 && s.subject.typ.Optional:
		cond = "(" + cond + ")"
	}
	return s.guarded(cond)
}
