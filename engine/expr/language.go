package expr

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/expr/cel"
	"example.com/pipe/engine/expr/eval"
)

// language says what an expression is written in. The check is the same for both; it speaks to the author in
// the words of the one that stands there.
type language uint8

const (
	unknownLanguage language = iota
	ownLanguage              // that of package expr
	celLanguage
)

// String gives the name of the language.
func (l language) String() string {
	return [...]string{"unknown", "expr", "cel"}[min(l, celLanguage)]
}

// pick returns the words of the language.
func (l language) pick(own, cel string) string {
	if l == celLanguage {
		return cel
	}
	return own
}

func (l language) null() string { return l.pick("nil", "null") }

func (l language) giveDefault() string { return "give it a default with " + l.defaultWord() }

func (l language) defaultWord() string { return l.pick(`"??"`, ".orValue(…)") }

func (l language) optionalDot() string { return l.pick("?.", ".?") }

// testOf returns a test that the value with a text is there.
func (l language) testOf(n ast.Node, text string) string {
	if m, ok := n.(*ast.MemberNode); ok && l == celLanguage {
		if _, named := m.Property.(*ast.StringNode); named && text != "" && text[len(text)-1] != ']' {
			return "has(" + text + ")"
		}
	}
	return text + " != " + l.null()
}

// mapOf returns what looks at a field of the elements of a list.
func (l language) mapOf(list, field string) string {
	return l.pick(fmt.Sprintf("map(%s, .%s)", list, field), fmt.Sprintf("%s.map(x, x.%s)", list, field))
}

// text returns an operator on texts.
func (l language) text(left, op, right string) string {
	return l.pick(left+" "+op+" "+right, left+"."+op+"("+right+")")
}

// negated returns the contrary of an operator.
func (l language) negated(left, op, right string) string {
	if l == celLanguage {
		return "!(" + left + " " + op + " " + right + ")"
	}
	return left + " not " + op + " " + right
}

// guard returns how to guard against a value that is not there, as the end of a message.
func (l language) guard(g eval.Guard) string {
	switch g {
	case eval.GuardName:
		return l.pick(`: guard it with "??"`, ": guard it with .orValue(…)")
	case eval.GuardMember:
		return l.pick(`: guard it with "??" or "?."`, `: guard it with ".?" and .orValue(…), or with has(…)`)
	case eval.GuardElement:
		return l.pick(`: guard it with "??"`, ": guard it with [?…] and .orValue(…)")
	case eval.GuardText:
		return l.pick(`: give it one with "??"`, ": give it one with .orValue(…)")
	}
	return ""
}

// functionHint says what to write for a function that there is not.
func (l language) functionHint(name string) string {
	if hint, ok := insteadCEL[name]; ok && l == celLanguage {
		return ": " + hint
	}
	if hint, ok := instead[name]; ok && l != celLanguage {
		return ": " + hint
	}
	var names []string
	for _, f := range Functions() {
		names = append(names, f.Name)
	}
	if l == celLanguage {
		names = append(names, cel.Names()...)
	}
	return didYouMean(name, names)
}

// instead says what to write for functions that expr's library has, or that authors look for.
var instead = map[string]string{
	"now":           "the language has no clock: give the time as an input",
	"date":          "the language has no clock: give the time as an input",
	"duration":      "the language has no clock: give the time as an input",
	"random":        "the language has no chance: give the number as an input",
	"env":           "the environment is not in reach: give the value as an input",
	"uniq":          "write unique",
	"distinct":      "write unique",
	"toJSON":        "write string",
	"str":           "write string",
	"size":          "write len",
	"length":        "write len",
	"count_of":      "write len",
	"toLower":       "write lower",
	"toUpper":       "write upper",
	"exists":        "write any(list, predicate), or x != nil",
	"sortBy":        "write sort for numbers and strings",
	"reduce":        "write sum, count, min or max",
	"findIndex":     "write find",
	"findLast":      "write last(filter(list, predicate))",
	"findLastIndex": "write find",
	"groupBy":       "write filter for one group",
	"get":           "write object[name] ?? other",
	"has":           "write x != nil, or name in object",
	"empty":         "write len(x) == 0",
	"isEmpty":       "write len(x) == 0",
	"contains":      "write text contains part, or element in list",
	"startsWith":    "write text startsWith part",
	"endsWith":      "write text endsWith part",
	"matches":       `write text matches "pattern"`,
	"toPairs":       "write keys or values",
	"success":       `write stages.ID.status == "succeeded"`,
	"failure":       `write stages.ID.status == "failed"`,
}

// insteadCEL says what to write for functions that CEL has elsewhere, or that authors look for.
var insteadCEL = map[string]string{
	"date":              "the language has no clock: give the time as an input",
	"now":               "the language has no clock: give the time as an input",
	"timestamp":         "the language has no clock: give the time as an input",
	"duration":          "the language has no clock: give the time as an input",
	"random":            "the language has no chance: give the number as an input",
	"env":               "the environment is not in reach: give the value as an input",
	"dyn":               "leave it out: what is not known is looked at when it is there",
	"type":              "types are checked before anything runs: leave it out",
	"uint":              "write int",
	"bytes":             "write a text",
	"bool":              `write text == "true"`,
	"length":            "write size",
	"count_of":          "write size",
	"str":               "write string",
	"toJSON":            "write string",
	"format":            `write "…" + string(x)`,
	"lowerAscii":        "write lower",
	"upperAscii":        "write upper",
	"toLower":           "write lower",
	"toUpper":           "write upper",
	"distinct":          "write unique",
	"uniq":              "write unique",
	"flatten":           "write concat",
	"sortBy":            "write sort for numbers and strings",
	"reduce":            "write sum, count, min or max",
	"greatest":          "write max",
	"least":             "write min",
	"charAt":            `write split(text, "")[i]`,
	"indexOf":           "write text.contains(part)",
	"substring":         "write split, replace or matches",
	"empty":             "write size(x) == 0",
	"isEmpty":           "write size(x) == 0",
	"contains":          "write text.contains(part), or element in list",
	"startsWith":        "write text.startsWith(part)",
	"endsWith":          "write text.endsWith(part)",
	"matches":           `write text.matches("pattern")`,
	"get":               "write object[?name].orValue(other)",
	"transformMap":      "write map, or the object itself",
	"transformMapEntry": "write map, or the object itself",
	"success":           `write stages.ID.status == "succeeded"`,
	"failure":           `write stages.ID.status == "failed"`,
}
