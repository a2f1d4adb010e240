// Package sentence gives the expression for a condition that is written in plain English, as contracts were
// before their checks were evaluated: "X is not empty", "X is one of a, b", "each item of X has Y", "X is at
// most 5", and such conditions joined by and, or. X is a name of the scope that the expression will read.
//
// It reads words and guesses; what it gives is shown to the author as help, once the caller has compiled it.
package sentence

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/value"
)

// maxWords bounds the sentences that are looked at: nobody joins more conditions in one.
const maxWords = 100

// Meaning is what a sentence means.
type Meaning struct {
	Expr   string // the condition
	Always string // why it need not be written, where the scope's types see to it; Expr is empty then
}

// Rewrite gives the meaning of a sentence about names of the scope, an object type. The expression need not
// compile. False: the sentence is of no form that is known.
func Rewrite(text string, scope value.Type) (Meaning, bool) {
	s := &sentence{scope: scope}
	ws := words(text)
	if len(ws) > maxWords {
		return Meaning{}, false
	}
	if m, ok := s.clause(ws); ok {
		return m, true
	}
	s.subject, s.verb = term{}, nil
	var out []string
	parts, joints := clauses(ws)
	if len(parts) < 2 {
		return Meaning{}, false
	}
	for i, p := range parts {
		r, ok := s.clause(p)
		if !ok || r.Always != "" {
			return Meaning{}, false
		}
		if i > 0 {
			out = append(out, joints[i-1])
		}
		out = append(out, r.Expr)
	}
	return Meaning{Expr: strings.Join(out, " ")}, true
}

// sentence reads clauses one after another: one without a subject or a verb has those of the clause before.
type sentence struct {
	scope   value.Type
	subject term
	verb    []string
}

// term is something that a clause speaks of.
type term struct {
	text string
	typ  value.Type
}

// words splits a sentence into words in lower case where they are no names, quoted texts and marks.
func words(text string) []string {
	var out []string
	text = strings.TrimRight(strings.TrimSpace(text), ".!;")
	for i := 0; i < len(text); {
		switch ch := text[i]; {
		case strings.IndexByte(" \t\r\n`", ch) >= 0:
			i++
		case ch == '"' || ch == '\'':
			end := strings.IndexByte(text[i+1:], ch)
			if end < 0 {
				return append(out, text[i:])
			}
			out = append(out, text[i:i+end+2])
			i += end + 2
		case strings.IndexByte("[](){},", ch) >= 0:
			out = append(out, string(ch))
			i++
		default:
			end := strings.IndexAny(text[i:], " \t\r\n[](){},`")
			if end < 0 {
				end = len(text) - i
			}
			out = append(out, text[i:i+end])
			i += end
		}
	}
	return out
}

// clauses splits words at the "and" and "or" that stand outside of brackets.
func clauses(ws []string) (parts [][]string, joints []string) {
	depth, from := 0, 0
	for i, w := range ws {
		switch strings.ToLower(w) {
		case "[", "(", "{":
			depth++
		case "]", ")", "}":
			depth--
		case "and", "or":
			if depth == 0 {
				part := ws[from:i]
				if n := len(part); n > 0 && part[n-1] == "," {
					part = part[:n-1]
				}
				parts, joints, from = append(parts, part), append(joints, strings.ToLower(w)), i+1
			}
		}
	}
	return append(parts, ws[from:]), joints
}

// take takes one of the phrases off the beginning of words; the longest must stand first.
func take(ws []string, phrases ...string) (rest []string, phrase string, ok bool) {
next:
	for _, p := range phrases {
		want := strings.Fields(p)
		if len(want) > len(ws) {
			continue
		}
		for i, w := range want {
			if !strings.EqualFold(ws[i], w) {
				continue next
			}
		}
		return ws[len(want):], p, true
	}
	return ws, "", false
}

// clause reads one condition.
func (s *sentence) clause(ws []string) (Meaning, bool) {
	ws, _, _ = take(ws, "make sure that", "make sure", "ensure that", "ensure", "verify that", "verify", "check that", "check", "assert that", "assert")
	if rest, _, ok := take(ws, "each", "every", "all"); ok {
		return s.quantified(rest)
	}
	ws, _, _ = take(ws, "the", "a", "an", "that")
	if subject, rest, ok := s.name(ws); ok {
		s.subject, s.verb = subject, nil
		ws = rest
	} else if s.subject.text == "" {
		return Meaning{}, false
	}
	r, ok := s.predicate(ws)
	if !ok && s.verb != nil { // "ends with a or b": the verb goes on
		r, ok = s.predicate(append(slices.Clone(s.verb), ws...))
	}
	return r, ok
}

// name reads a name of the scope, or the words that it is made of: "iteration count".
func (s *sentence) name(ws []string) (term, []string, bool) {
	for n := min(4, len(ws)); n > 0; n-- {
		joined := strings.Join(ws[:n], "_")
		for _, f := range s.scope.Fields {
			if joined == f.Name || strings.EqualFold(joined, f.Name) || strings.EqualFold(joined+"s", f.Name) {
				return term{f.Name, f.Type}, ws[n:], true
			}
		}
	}
	return term{}, ws, false
}

// quantified reads what each item of a list is or has.
func (s *sentence) quantified(ws []string) (Meaning, bool) {
	ws, _, _ = take(ws, "the", "of the")
	if rest, _, ok := take(ws, "items", "item", "entries", "entry", "elements", "element", "values", "value", "objects", "object", "ones", "one"); ok {
		if rest, _, of := take(rest, "of the", "of", "in the", "in", "from the", "from"); of {
			ws = rest
		}
	}
	list, ws, ok := s.name(ws)
	if !ok || list.typ.Kind != value.ListKind {
		return Meaning{}, false
	}
	var cond string
	if rest, _, has := take(ws, "must have", "should have", "has", "have", "contains", "contain", "includes", "include"); has {
		if cond, ok = fieldsThere(rest); !ok {
			return Meaning{}, false
		}
	} else {
		item := &sentence{scope: s.scope, subject: term{"#", list.typ.ElemType()}}
		r, ok := item.predicate(ws)
		if !ok || r.Always != "" {
			return r, ok
		}
		cond = r.Expr
	}
	of := list.text
	if list.typ.Optional {
		of += " ?? []"
	}
	return Meaning{Expr: fmt.Sprintf("all(%s, %s)", of, cond)}, true
}

// fieldsThere gives the condition that an element has each of the fields named.
func fieldsThere(ws []string) (string, bool) {
	var out []string
	for _, w := range ws {
		switch strings.ToLower(w) {
		case ",", "and", "a", "an", "the", "its", "own", "both", "non-empty", "field", "fields", "set":
			continue
		}
		name := strings.Trim(w, `"'`)
		if !value.IsIdentifier(name) {
			return "", false
		}
		out = append(out, "."+name+" != nil")
	}
	return strings.Join(out, " and "), len(out) > 0
}
