package expr

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"example.com/pipe/engine/source"
)

func TestSplitTemplate(t *testing.T) {
	tests := []struct{ text, want string }{ // pieces: text as it is, expressions in <>
		{"", ""},
		{"plain", "plain"},
		{"${{ a.b }}", "< a.b >"},
		{"a ${{ b }} c ${{d}}", "a |< b >| c |<d>"},
		{"${{a}}${{b}}", "<a>|<b>"},
		{"cost: $5 and {{ x }} and ${x}", "cost: $5 and {{ x }} and ${x}"},
		{"$${{ a }}", "${{ a }}"},
		{"x$${{ a }} ${{ b }}", "x${{ a }} |< b >"},
		{"$$${{ a }}", "$${{ a }}"},
		{`${{ "}}" }}`, `< "}}" >`},
		{`${{ 'it\'s }}' }}.`, `< 'it\'s }}' >|.`},
		{"${{ {a: {b: 1}}.a }}", "< {a: {b: 1}}.a >"},
		{"${{ {a: {b: 1}}}}", "< {a: {b: 1}}>"},
		{"}} ${{ a }} }}", "}} |< a >| }}"},
		{"don't ${{ a }}", "don't |< a >"},
		{"${{ a\n + b }}", "< a\n + b >"},
		{"${{ it's }}", "< it's >"},
		{"${{ }}", "< >"},
		{"ü${{ ö }}ä", "ü|< ö >|ä"},
		{"${{ {a: 1 }}", "< {a: 1 >"},
	}
	for _, tt := range tests {
		pieces, ds := SplitTemplate(plain(tt.text))
		var got []string
		for _, p := range pieces {
			if p.IsExpr {
				got = append(got, "<"+p.Expr.Text+">")
			} else {
				got = append(got, p.Text)
			}
		}
		if s := strings.Join(got, "|"); s != tt.want || len(ds) > 0 {
			t.Errorf("%q: got %q (%s), want %q", tt.text, s, messages(ds), tt.want)
		}
	}
}

func TestTemplateNotClosed(t *testing.T) {
	tests := []struct {
		text string
		col  int
	}{
		{"a ${{ b", 3},
		{"a ${{ b } ${{ c }}", 3},
		{"${{ a }} ${{ b", 10},
		{`${{ "a }`, 1},
	}
	for _, tt := range tests {
		_, ds := SplitTemplate(plain(tt.text))
		if len(ds) != 1 || ds[0].Code != CodeTemplate || ds[0].Span.Start != (source.Pos{Line: 1, Col: tt.col}) {
			t.Errorf("%q: got %+v, want one diagnostic at column %d", tt.text, ds, tt.col)
		}
	}
}

func TestHasExpr(t *testing.T) {
	for text, want := range map[string]bool{"": false, "a": false, "${{ a }}": true, "$${{ a }}": false, "$${{ ${{ b }}": true, "${{": true, "{{ a }}": false} {
		if got := HasExpr(text); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}

// A mistake inside a template inside a block scalar points at its very characters.
func TestTemplatePositions(t *testing.T) {
	sc := scalarIn([]piece{{20, 9, "Look at ${{ inputs.fast }}\n"}, {21, 9, "and ä ${{ inputs.fats ||\n"}, {22, 9, "  inputs.s }} here\n"}})
	pieces, ds := SplitTemplate(sc)
	if len(ds) > 0 || len(pieces) != 5 {
		t.Fatalf("got %d pieces (%s), want 5", len(pieces), messages(ds))
	}
	env := NewEnv(sampleScope())
	if p, ds := env.Compile(pieces[1].Expr, boolType); p == nil {
		t.Errorf("first: %s", messages(ds))
	}
	_, ds = env.Compile(pieces[3].Expr, boolType)
	var got []place
	for _, d := range ds {
		got = append(got, place{d.Span.Start.Line, d.Span.Start.Col, d.Span.End.Col})
	}
	if len(got) != 2 || got[0] != (place{21, 26, 30}) || got[1] != (place{22, 11, 19}) {
		t.Errorf("got %v (%s)", got, messages(ds))
	}
}

// A text in CEL falls into what "+" joins, each piece with its place.
func TestCutCEL(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`"a" + b.c + "d"`, `"a" <b.c@7> "d"`},
		{`"a" + ("b" + c) + (x ? "y" : z)`, `"a" "b" <c@14> <x ? "y" : z@20>`},
		{"\"ä\" + // why\n b.upper()", `"ä" <b.upper()@15>`},
		{`brief`, `<brief@1>`},
		{` "a" `, `< "a" @1>`},
		{`"a" + b - c`, `<"a" + b - c@1>`},
		{`"a" + `, `<"a" + @1>`},
		{`"a" + 1u`, `<"a" + 1u@1>`},
	} {
		var got []string
		for _, p := range CutCEL(plain(tt.in)) {
			if p.IsExpr {
				got = append(got, fmt.Sprintf("<%s@%d>", p.Expr.Text, p.Expr.Pos(0).Col))
			} else {
				got = append(got, strconv.Quote(p.Text))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.in, strings.Join(got, " "), tt.want)
		}
	}
}
