package expr

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// compiler compiles an expression of one of the languages.
type compiler func(*Env, source.Scalar, value.Type) (*Program, []diag.Diagnostic)

var compilers = [...]compiler{ownLanguage: (*Env).Compile, celLanguage: (*Env).CompileCEL}

// conformanceCase is a case of testdata/conformance.txt, in one language.
type conformanceCase struct {
	line   int
	lang   language
	scope  *value.Object
	src    string
	result string // canonical JSON
	refuse string // part of the message; refused if not empty
}

// conformanceReader gathers the cases: what is written for one language holds for CEL too, until its own
// lines say otherwise.
type conformanceReader struct {
	cases []conformanceCase
	scope *value.Object
	own   string // the expression; "" if only CEL has it
	cel   string // "-": it has none
	has   bool   // an expression stands before the line
}

func (r *conformanceReader) outcome(line int, key, rest string) {
	c := conformanceCase{line: line, scope: r.scope}
	if key == "=" {
		c.result = rest
	} else {
		c.refuse = rest
	}
	if r.own != "" {
		c.lang, c.src = ownLanguage, r.own
		r.cases = append(r.cases, c)
	}
	if r.cel != "-" {
		c.lang, c.src = celLanguage, r.cel
		r.cases = append(r.cases, c)
	}
	r.has = false
}

func readConformance(t *testing.T) []conformanceCase {
	t.Helper()
	data, err := os.ReadFile("testdata/conformance.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := &conformanceReader{}
	for i, line := range strings.Split(string(data), "\n") {
		key, rest, _ := strings.Cut(line, " ")
		switch key {
		case "scope":
			v, err := value.DecodeJSON([]byte(rest))
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			r.scope = v.(*value.Object)
		case ">":
			r.own, r.cel, r.has = rest, rest, true
		case "cel>":
			if !r.has {
				r.own = ""
			}
			r.cel, r.has = rest, true
		case "=", "!":
			if !r.has || rest == "" {
				t.Fatalf("line %d: want an expression before its result, and a result", i+1)
			}
			r.outcome(i+1, key, rest)
		case "cel=", "cel!":
			last := &r.cases[len(r.cases)-1]
			if last.lang != celLanguage || rest == "" {
				t.Fatalf("line %d: want a case of CEL before its own result, and a result", i+1)
			}
			last.result, last.refuse = "", ""
			if key == "cel=" {
				last.result = rest
			} else {
				last.refuse = rest
			}
		case "", "#":
		default:
			t.Fatalf("line %d: unknown mark %q", i+1, key)
		}
	}
	if len(r.cases) < 500 {
		t.Fatalf("read %d cases, expected the whole file", len(r.cases))
	}
	return r.cases
}

// outcome compiles and evaluates, and gives the result as canonical JSON or "refused: " and the message.
func outcome(lang language, src string, env *Env, scope *value.Object) string {
	p, ds := compilers[lang](env, plain(src), value.Type{})
	if p == nil {
		return "refused: " + messages(ds)
	}
	v, err := p.Eval(scope)
	if err != nil {
		return "refused: " + err.Error()
	}
	b, err := value.Canonical(v)
	if err != nil {
		return "refused: " + err.Error()
	}
	return string(b)
}

// plain is a scalar that stands in a file as it is, at line 1, column 1.
func plain(src string) source.Scalar {
	at := source.Pos{Line: 1, Col: 1}
	return source.NewScalar(src, source.Span{File: "p.yaml", Start: at, End: source.Pos{Line: 1, Col: 1 + len(src)}}, nil)
}

func messages(ds []diag.Diagnostic) string {
	var parts []string
	for _, d := range ds {
		parts = append(parts, d.Message)
	}
	return strings.Join(parts, " / ")
}

func TestConformance(t *testing.T) {
	for _, c := range readConformance(t) {
		t.Run(fmt.Sprintf("line_%d_%s", c.line, c.lang), func(t *testing.T) {
			got := outcome(c.lang, c.src, NewEnv(value.Of(value.Any)), c.scope)
			if c.refuse == "" && got != c.result {
				t.Errorf("%s\n got %s\nwant %s", c.src, got, c.result)
			}
			if c.refuse != "" && !(strings.HasPrefix(got, "refused: ") && strings.Contains(got, c.refuse)) {
				t.Errorf("%s\n got %s\nwant it refused with %q", c.src, got, c.refuse)
			}
		})
	}
}

// What the check knows of types never changes a result: it refuses, or the result is the same. But where CEL
// asks whether numbers are integers, it refuses what it does not know.
func TestTypesDoNotChangeResults(t *testing.T) {
	for _, c := range readConformance(t) {
		loose := outcome(c.lang, c.src, NewEnv(value.Of(value.Any)), c.scope)
		typed := outcome(c.lang, c.src, NewEnv(value.TypeOf(c.scope)), c.scope)
		if strings.Contains(loose, "not known whether") {
			continue
		}
		if !strings.HasPrefix(typed, "refused: ") && typed != loose {
			t.Errorf("line %d: %s\n typed %s\n loose %s", c.line, c.src, typed, loose)
		}
	}
}

// A program's scope, cut down to what it reads, compiles to the same result.
func TestScopeOfProgramCompilesToTheSame(t *testing.T) {
	for _, c := range readConformance(t) {
		env := NewEnv(value.TypeOf(c.scope))
		p, _ := compilers[c.lang](env, plain(c.src), value.Type{})
		if p == nil {
			continue
		}
		if got, want := outcome(c.lang, c.src, NewEnv(p.Scope()), c.scope), outcome(c.lang, c.src, env, c.scope); got != want {
			t.Errorf("line %d: %s\n got %s\nwant %s", c.line, c.src, got, want)
		}
	}
}

func TestFunctionExamples(t *testing.T) {
	last := ""
	for _, f := range Functions() {
		if f.Name <= last {
			t.Errorf("function %q stands behind %q: want them sorted, without repeats", f.Name, last)
		}
		last = f.Name
		if !strings.HasPrefix(f.Signature, f.Name+"(") || f.Doc == "" {
			t.Errorf("function %q has signature %q and doc %q", f.Name, f.Signature, f.Doc)
		}
		if got := outcome(ownLanguage, f.Example, NewEnv(value.ObjectOf()), nil); got != f.Result {
			t.Errorf("%s: example %s gives %s, documented is %s", f.Name, f.Example, got, f.Result)
		}
		if got := outcome(celLanguage, f.CEL, NewEnv(value.ObjectOf()), nil); got != f.Result {
			t.Errorf("%s: example %s in CEL gives %s, documented is %s", f.Name, f.CEL, got, f.Result)
		}
	}
}
