package cel

import (
	"os/exec"
	"strings"
	"testing"
)

// Who looks for names sees the same names at the same places, and none in strings and comments.
func TestPlain(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`stages.a.?outputs.x`, `stages.a .outputs.x`},
		{`stages[?"a-b"].x`, `stages[ "a-b"].x`},
		{"stages.`a-b`.x", "stages.`a-b`.x"},
		{`r"stages" + x`, ` "stages" + x`},
		{`"""stages.a""".size()`, `  "stages.a"  .size()`},
		{`'''a "stages" b''' + stages.c`, `  "a _stages_ b"   + stages.c`},
		{`r'\' + stages.a`, ` "_" + stages.a`},
		{`x ? stages.a : stages.b`, `x ? stages.a : stages.b`},
		{`x // stages.a`, `x            `},
		{`x ?? stages.a`, `x ?? stages.a`},
		{`"open`, `"open`},
		{`"ä" == stages.a`, `"ä" == stages.a`},
	} {
		if got := Plain(tt.in); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: "a", `'a'`: "a", `""`: "", `""""""`: "", `"""a"b"""`: `a"b`, `r"\n"`: `\n`, `R'\'`: `\`, `r"""a\"""`: `a\`,
		`"\n\t\\\"\'\?\` + "`" + `"`: "\n\t\\\"'?`", `"\x41\X41\101\u00e9\U0001F600"`: "AAAé😀", "'''a\r\nb'''": "a\nb", `"ä\u00e4"`: "ää",
	} {
		if got, ok := unquote(in); !ok || got != want {
			t.Errorf("%s: got %q, %t, want %q", in, got, ok, want)
		}
	}
	for _, bad := range []string{`"\ud800"`, `"\UFFFFFFFF"`} {
		if got, ok := unquote(bad); ok {
			t.Errorf("%s: got %q, want it refused", bad, got)
		}
	}
}

// Every node has a place within the text, and the place of a part lies within that of the whole.
func TestPlaces(t *testing.T) {
	const src = ` has(stages.plan.outputs.x) ? "ä" + inputs.files.filter(f, f.?a["b"].orValue(-1) == 2)[0] : {"a": [!x, -(y), 1.5, null]}.a `
	tree, p := Read(src, Limits{Nodes: 100, Nesting: 10})
	if p != nil {
		t.Fatal(p)
	}
	whole := Span{From: 1, To: len(src) - 1}
	if got := tree.Places[tree.Root].Extent; got != whole {
		t.Errorf("the whole is at %v, want %v", got, whole)
	}
	for n, at := range tree.Places {
		if at.Extent.From < whole.From || at.Extent.To > whole.To || at.Extent.From >= at.Extent.To {
			t.Errorf("%T is at %v", n, at.Extent)
		}
		if at.Token.From < at.Extent.From || at.Token.To > at.Extent.To {
			t.Errorf("%T %q has its token at %v", n, src[at.Extent.From:at.Extent.To], at.Token)
		}
	}
}

func TestLimits(t *testing.T) {
	for src, want := range map[string]string{
		strings.Repeat("!", 60) + "x":                           "at most 50 parts",
		strings.Repeat("(", 11) + "1" + strings.Repeat(")", 11): "deeper than 10",
		strings.Repeat("1 + ", 60) + "1":                        "at most 50 parts",
	} {
		if _, p := Read(src, Limits{Nodes: 50, Nesting: 10}); p == nil || p.Kind != TooLarge || !strings.Contains(p.Message, want) {
			t.Errorf("%s: got %+v, want %q", src, p, want)
		}
	}
}

// The tables of the language's own names are for names that there are.
func TestNames(t *testing.T) {
	for name := range spelled {
		if !isMacro(name) && ours(name) == name {
			t.Errorf("%q is spelled as itself", name)
		}
	}
	last := ""
	for _, n := range Names() {
		if n <= last {
			t.Errorf("%q stands behind %q: want them sorted", n, last)
		}
		last = n
	}
	if UnknownKind.String() != "unknown" || NoFunction.String() != "no function" || Kind(200).String() != "unknown" {
		t.Error("kinds have the names of their list")
	}
}

// Only the generated parser of cel-go is linked: the rest would cost each start of the program.
func TestLinksTheParserAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if strings.HasPrefix(dep, "google.golang.org/") || strings.HasPrefix(dep, "github.com/google/cel-go/") && dep != "github.com/google/cel-go/parser/gen" {
			t.Errorf("%s is linked", dep)
		}
	}
}
