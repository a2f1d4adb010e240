package document

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// drawn is a scalar as rendered: the source, the text that it stands for, and for each character of the
// text the offset in the source where it came from.
type drawn struct {
	src, text strings.Builder
	at        []int // by character of text
	eol       string
}

// put renders one character of the text as src.
func (d *drawn) put(c, src string) {
	d.at = append(d.at, d.src.Len())
	d.text.WriteString(c)
	d.src.WriteString(src)
}

// fold renders n line feeds, or with n = 0 a space, as line breaks of a flow scalar.
func (d *drawn) fold(t *rapid.T, n int, indent string, blanks *rapid.Generator[string]) {
	d.src.WriteString(blanks.Draw(t, "blanks before the break"))
	if n == 0 {
		d.put(" ", d.eol)
	} else {
		d.src.WriteString(d.eol)
	}
	for range n {
		d.src.WriteString(blanks.Draw(t, "blank line"))
		d.put("\n", d.eol)
	}
	d.src.WriteString(indent)
}

var (
	spaces    = rapid.SampledFrom([]string{"", "", " ", "   "})
	blanks    = rapid.SampledFrom([]string{"", "", " ", "\t", "  "})
	plainWord = rapid.StringMatching(`[a-zäß世-丗😀-😂]{1,5}`)
	anyWord   = rapid.StringMatching(`[a-z:#'"{}\[\]\\,&*!%@äß世-丗😀-😂-]{1,6}`)
)

// flow renders words of a flow scalar; blanks are what may stand on its empty lines.
func flow(t *rapid.T, d *drawn, indent string, blanks *rapid.Generator[string], word func()) {
	for i := range rapid.IntRange(1, 6).Draw(t, "words") {
		if i > 0 {
			switch k := rapid.IntRange(0, 3).Draw(t, "gap"); {
			case k > 0:
				d.fold(t, k-1, indent, blanks)
			default:
				d.put(" ", " ")
			}
		}
		word()
	}
}

func (d *drawn) word(t *rapid.T, g *rapid.Generator[string]) {
	for _, r := range g.Draw(t, "word") {
		d.put(string(r), string(r))
	}
}

func drawPlain(t *rapid.T, d *drawn, indent string) {
	flow(t, d, indent, spaces, func() { d.word(t, plainWord) })
}

func drawSingle(t *rapid.T, d *drawn, indent string) {
	d.src.WriteString("'")
	flow(t, d, indent, blanks, func() {
		for _, r := range anyWord.Draw(t, "word") {
			src := string(r)
			if r == '\'' {
				src = "''"
			}
			d.put(string(r), src)
		}
	})
	d.src.WriteString("'")
}

func drawDouble(t *rapid.T, d *drawn, indent string) {
	d.src.WriteString(`"`)
	flow(t, d, indent, blanks, func() {
		word := anyWord.Draw(t, "word")
		for i, r := range word {
			switch k := rapid.IntRange(0, 9).Draw(t, "escape"); {
			case r == '"' || r == '\\':
				d.put(string(r), `\`+string(r))
			case k == 0 && r <= 0xffff:
				d.put(string(r), fmt.Sprintf(`\u%04x`, r))
			case k == 1:
				d.put(string(r), fmt.Sprintf(`\U%08X`, r))
			case k == 2:
				d.put("\n", `\n`)
				d.put(string(r), string(r))
			case k == 3 && i+utf8.RuneLen(r) < len(word): // blanks behind it would be lost
				d.put(string(r), string(r))
				d.src.WriteString(`\` + d.eol + indent)
			default:
				d.put(string(r), string(r))
			}
		}
	})
	d.src.WriteString(`"`)
}

// drawBlock renders a block scalar; indent is the indentation of its parent.
func drawBlock(t *rapid.T, d *drawn, parent int, folded bool) {
	more := rapid.IntRange(1, 4).Draw(t, "indent")
	lines := rapid.SliceOfN(rapid.StringMatching(`|[ \t]{0,2}[a-z:#'"äß世-丗😀]{1,5}( [a-z#]{1,4}){0,2}`), 1, 6).Draw(t, "lines")
	lines[len(lines)-1] += "z"
	tail := rapid.IntRange(0, 3).Draw(t, "line feeds at the end")
	header := map[bool]string{false: "|", true: ">"}[folded]
	chomp := "+"
	if tail == 0 {
		chomp = "-"
	}
	if tail == 1 {
		chomp = rapid.SampledFrom([]string{"", "+"}).Draw(t, "chomp")
	}
	first := strings.TrimLeft(strings.Join(lines, "\n"), "\n")
	given := first[0] == ' ' || first[0] == '\t' || rapid.Bool().Draw(t, "given")
	if given {
		header += fmt.Sprint(more)
	}
	d.src.WriteString(header + chomp + rapid.SampledFrom([]string{"", " ", " # a note"}).Draw(t, "note") + d.eol)
	indent := strings.Repeat(" ", parent+more)
	foldable := func(s string) bool { return s != "" && s[0] != ' ' && s[0] != '\t' }
	for i, line := range lines {
		if line != "" {
			d.src.WriteString(indent)
			d.word(t, rapid.Just(line))
		}
		last := i == len(lines)-1
		if last && tail == 0 {
			d.src.WriteString(d.eol)
			continue
		}
		switch {
		case !folded, last, line == "", !foldable(line), !foldableNext(lines, i):
			d.put("\n", d.eol)
		case lines[i+1] != "":
			d.put(" ", d.eol)
		default:
			d.src.WriteString(d.eol) // folded away: the empty lines that follow are the line feeds
		}
	}
	for i := 1; i < tail; i++ {
		d.put("\n", d.eol)
	}
}

// foldableNext reports whether the next line with content may be joined to this one.
func foldableNext(lines []string, i int) bool {
	for _, l := range lines[i+1:] {
		if l != "" {
			return l[0] != ' ' && l[0] != '\t'
		}
	}
	return true
}

func TestScalarPlacesAreExact(t *testing.T) {
	for _, style := range []string{"plain", "single", "double", "literal", "folded"} {
		t.Run(style, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := &drawn{eol: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")}
				depth := rapid.IntRange(0, 2).Draw(t, "depth")
				for i := range depth {
					d.src.WriteString(strings.Repeat("  ", i) + "kä:" + d.eol)
				}
				d.src.WriteString(strings.Repeat("  ", depth) + "key: " +
					rapid.SampledFrom([]string{"", "", "&anchor ", "!!str ", "!!str &a "}).Draw(t, "properties"))
				indent := strings.Repeat(" ", 2*depth+rapid.IntRange(1, 3).Draw(t, "indent"))
				start := d.src.Len()
				switch style {
				case "plain":
					drawPlain(t, d, indent)
				case "single":
					drawSingle(t, d, indent)
				case "double":
					drawDouble(t, d, indent)
				default:
					drawBlock(t, d, 2*depth, style == "folded")
				}
				end := d.src.Len()
				if style != "literal" && style != "folded" {
					d.src.WriteString(d.eol)
				}
				d.src.WriteString(strings.Repeat("  ", depth) + "next: 1" + d.eol)
				checkPlaces(t, d, start, end, style)
			})
		})
	}
}

func checkPlaces(t *rapid.T, d *drawn, start, end int, style string) {
	f := source.NewFile("x.yaml", d.src.String())
	var diags diag.List
	doc := Load(f, &diags)
	if len(diags) > 0 {
		t.Fatalf("%q: %s", d.src.String(), diags.Short())
	}
	n := doc.Content()
	for n.Content[0].Value != "key" {
		n = n.Content[1]
	}
	s := doc.Scalar(n.Content[1])
	if want := d.text.String(); s.Text != want {
		t.Fatalf("the parser decodes %q to %q, drawn was %q", d.src.String(), s.Text, want)
	}
	if s.Span.Start != f.Pos(start) {
		t.Fatalf("%q starts at %v, want %v", d.src.String(), s.Span.Start, f.Pos(start))
	}
	if style == "plain" || style == "single" || style == "double" {
		if s.Span.End != f.Pos(end) {
			t.Fatalf("%q ends at %v, want %v", d.src.String(), s.Span.End, f.Pos(end))
		}
	}
	i := 0
	for off, r := range s.Text {
		want := f.Pos(d.at[i])
		if got := s.Pos(off); got != want {
			t.Fatalf("%q: character %q at %d of %q is at %v, want %v", d.src.String(), r, off, s.Text, got, want)
		}
		if sp := s.At(off, off+utf8.RuneLen(r)); sp.Start != want || sp.End.Line != want.Line || sp.End.Col <= want.Col {
			t.Fatalf("%q: At(%d) is %v, want it to start at %v", d.src.String(), off, sp, want)
		}
		i++
	}
}

// Every scalar that the parser decodes can be explained.
func FuzzTraceScalar(f *testing.F) {
	for _, s := range []string{
		"a: b", "- 'x''y'\n- \"a\\tb\\\n   c\"\n", "a: |2-\n    x\n\n   y\n\n", "a: >+\n\n  x\n   y\n  z\n\n", "a: {b: c d, e: [f,\n g]}",
		"? a\n: - b\n", "a: !!str &x b # c\n", "\"\\x41\\U0001F600\": 'a\n\n b'", "a: b\n  c\n\n  d\n", "a: |\n \tx\n", "k: >\n  a\n\n\n   b\n  c\n",
		"a: \"b \\\n\n  c\"", "a:\r\n  b\r\n  c\r\n", "- |+\n\n\n- x", "--- |\nfoo\n", "--- >\n  a\n b\n", "x: \"\\\n \\  a\"", "&J:J", "|1\n  ", "|+1\n\n", "a: |1\n   \n  x\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var diags diag.List
		file := source.NewFile("x.yaml", text)
		if len(text) > 4096 {
			return
		}
		doc := Load(file, &diags)
		if len(diags) > 0 || doc.Root == nil {
			return
		}
		var walk func(n *yaml.Node)
		walk = func(n *yaml.Node) {
			if n.Kind == yaml.ScalarNode {
				off := doc.contentOffset(n)
				if n.Value == "" {
					return
				}
				if _, _, ok := Trace(file.Text(), off, n.Style, n.Value); !ok {
					t.Errorf("the scalar %q at %d:%d of %q is not explained", n.Value, n.Line, n.Column, text)
				}
			}
			for _, c := range n.Content {
				walk(c)
			}
		}
		walk(doc.Root)
	})
}
