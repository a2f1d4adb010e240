package expr

import (
	"strings"
	"testing"

	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// scalarIn builds the scalar of a decoded text whose bytes stand at the given places of a file: each mark
// says where a piece of the text begins.
func scalarIn(pieces []piece) source.Scalar {
	var text strings.Builder
	var marks []source.Mark
	for _, p := range pieces {
		marks = append(marks, source.Mark{Offset: text.Len(), Pos: source.Pos{Line: p.line, Col: p.col}})
		text.WriteString(p.text)
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	return source.NewScalar(text.String(), source.Span{File: "pipelines/p.yaml",
		Start: source.Pos{Line: first.line, Col: first.col - 1},
		End:   source.Pos{Line: last.line, Col: last.col + len(last.text) + 1}}, marks)
}

type piece struct {
	line, col int
	text      string
}

type place struct{ line, from, to int } // columns, to is behind

func TestPositionsInsideScalars(t *testing.T) {
	tests := []struct {
		name   string
		pieces []piece
		want   []place
	}{
		{"plain", []piece{{7, 11, "inputs.fats && inputs.n > 1"}}, []place{{7, 18, 22}}},
		// when: |
		//   inputs.n > 3 &&
		//     inputs.fats || inputs.complexity == 3
		{"literal block", []piece{{8, 7, "inputs.n > 3 &&\n"}, {9, 7, "  inputs.fats || inputs.complexity == 3\n"}},
			[]place{{9, 16, 20}, {9, 24, 46}}},
		// when: >
		//   inputs.n > 3 &&
		//   inputs.s
		{"folded block", []piece{{8, 7, "inputs.n > 3 && "}, {9, 7, "inputs.s\n"}}, []place{{9, 7, 15}}},
		// when: "inputs.s == \"a\" && inputs.fats"
		{"double quoted with escapes", []piece{{4, 12, "inputs.s == "}, {4, 24, `"`}, {4, 26, "a"}, {4, 27, `"`}, {4, 29, " && inputs.fats"}},
			[]place{{4, 40, 44}}},
		// when: 'inputs.s == ''a'' && inputs.fats'
		{"single quoted with doubled quotes", []piece{{4, 12, "inputs.s == '"}, {4, 26, "a'"}, {4, 29, " && inputs.fats"}},
			[]place{{4, 40, 44}}},
		{"characters of several bytes", []piece{{2, 9, `inputs.s == "äöü→" && inputs.fats`}}, []place{{2, 38, 42}}},
		{"syntax error on the second line", []piece{{3, 5, "inputs.fast &&\n"}, {4, 5, "inputs.n = 3"}}, []place{{4, 14, 15}}},
		{"syntax error behind characters of several bytes", []piece{{3, 5, `inputs.s == "ü" = 3`}}, []place{{3, 21, 22}}},
		{"dash in a name on the second line", []piece{{3, 5, "inputs.fast &&\n"}, {4, 5, `stages.a-b.status == "x"`}}, []place{{4, 12, 15}}},
		{"missing value over two lines", []piece{{3, 5, "1 +\n"}, {4, 5, "stages.plan.outputs.n"}}, []place{{4, 5, 26}}},
	}
	env := NewEnv(sampleScope())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ds := env.Compile(scalarIn(tt.pieces), boolType)
			if p != nil || len(ds) != len(tt.want) {
				t.Fatalf("got %d diagnostics (%s), want %d", len(ds), messages(ds), len(tt.want))
			}
			for i, d := range ds {
				got := place{d.Span.Start.Line, d.Span.Start.Col, d.Span.End.Col}
				if got != tt.want[i] || d.Span.End.Line != got.line || d.Span.File != "pipelines/p.yaml" {
					t.Errorf("%q stands at %+v, want %+v", d.Message, d.Span, tt.want[i])
				}
			}
		})
	}
}

func TestPositionOfRunTimeError(t *testing.T) {
	sc := scalarIn([]piece{{8, 7, "1 < 2 &&\n"}, {9, 7, "  10 / inputs.n > 1"}})
	p, ds := Compile(sc, value.Of(value.Any), boolType)
	if p == nil {
		t.Fatal(messages(ds))
	}
	_, err := p.Eval(value.NewObject(value.Field{Name: "inputs", Value: value.NewObject(value.Field{Name: "n", Value: int64(0)})}))
	const want = "pipelines/p.yaml:9:14: /: the divisor is 0"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestRefSpans(t *testing.T) {
	sc := scalarIn([]piece{{8, 7, "inputs.fast &&\n"}, {9, 7, "(stages.plan.outputs.n ?? inputs.n) > 1"}})
	p, ds := Compile(sc, sampleScope(), boolType)
	if p == nil {
		t.Fatal(messages(ds))
	}
	var got []string
	for _, r := range p.Refs() {
		got = append(got, strings.Join(r.Path, "."))
		if r.Path[0] == "stages" && (r.Span.Start != source.Pos{Line: 9, Col: 8} || r.Span.End != source.Pos{Line: 9, Col: 29} || !r.Guarded) {
			t.Errorf("%v stands at %+v, guarded %t", r.Path, r.Span, r.Guarded)
		}
	}
	if want := "inputs.fast stages.plan.outputs.n inputs.n"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestWantedType(t *testing.T) {
	tests := []struct {
		src  string
		want value.Type
		says string // empty: it compiles
	}{
		{"inputs.fast", boolType, ""},
		{"inputs.n", boolType, "want boolean, got integer"},
		{"inputs.n", numberType, ""},
		{"inputs.x", intType, "want integer, got number"},
		{"inputs.any", boolType, ""},
		{"stages.plan.outputs.n", intType, "may be missing"},
		{"stages.plan.outputs.n", intType.OrNull(), ""},
		{"stages.plan.outputs.n ?? 1", intType, ""},
		{"nil", boolType, "got null"},
		{"inputs.files", value.ListOf(intType), "want integer[], got string[]"},
		{`"x"`, value.OneOf("a", "b"), `want one of "a", "b", got "x"`},
		{`"a"`, value.OneOf("a", "b"), ""},
		{"inputs.s", value.OneOf("a", "b"), ""},
		{"inputs.complexity", value.OneOf("a", "b"), `want one of "a", "b"`},
	}
	for _, tt := range tests {
		p, ds := Compile(plain(tt.src), sampleScope(), tt.want)
		if tt.says == "" && p == nil || tt.says != "" && (p != nil || !strings.Contains(messages(ds), tt.says)) {
			t.Errorf("%s as %s: compiles %t, says %q, want %q", tt.src, tt.want, p != nil, messages(ds), tt.says)
		}
	}
}

// What is not known when it is compiled is looked at when it is there.
func TestResultIsCheckedAtRunTime(t *testing.T) {
	p, ds := Compile(plain("inputs.any"), sampleScope(), boolType)
	if p == nil {
		t.Fatal(messages(ds))
	}
	_, err := p.Eval(value.NewObject(value.Field{Name: "inputs", Value: value.NewObject(value.Field{Name: "any", Value: "yes"})}))
	if err == nil || !strings.Contains(err.Error(), `want boolean, got string "yes"`) {
		t.Errorf("got %v", err)
	}
}
