package specs

import (
	"fmt"
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

const frame = "name: x\nversion: 1\nstages: [{id: a, run: x}]\n"

// bomb returns an anchor for each level, each with ten aliases of the one before.
func bomb(levels int, last string) string {
	var b strings.Builder
	b.WriteString("inputs:\n  l0: &l0 {default: [x]}\n")
	for i := 1; i <= levels; i++ {
		alias := fmt.Sprintf("*l%d,", i-1)
		fmt.Fprintf(&b, "  l%d: {default: &l%d [%s]}\n", i, i, strings.TrimSuffix(strings.Repeat(alias, 10), ","))
	}
	return b.String() + last
}

// mergeBomb returns mappings that each merge the one before ten times.
func mergeBomb(levels int) string {
	var b strings.Builder
	b.WriteString("inputs:\n  l0: &l0 {type: string}\n")
	for i := 1; i <= levels; i++ {
		alias := strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 10)
		fmt.Fprintf(&b, "  l%d: &l%d {<<: [%s]}\n", i, i, strings.TrimSuffix(alias, ", "))
	}
	return b.String()
}

// hostileDocument is a text, and the code of what is said of it.
type hostileDocument struct {
	text string
	code diag.Code
}

func hostileDocuments() map[string]hostileDocument {
	stages := func(body string, n int) string {
		return "name: x\nversion: 1\nstages: [" + strings.Repeat(body, n) + "]\n"
	}
	return map[string]hostileDocument{
		"alias bomb":           {frame + bomb(12, ""), document.CodeAlias},
		"merge bomb":           {frame + mergeBomb(8), document.CodeAlias},
		"anchor in itself":     {frame + "inputs: {a: {default: &a [*a]}}\n", document.CodeAlias},
		"anchors in a ring":    {frame + "inputs: {a: {default: &a {x: &b {y: [*a, *b]}}}}\n", document.CodeAlias},
		"merge of itself":      {"&a\n" + frame + "<<: *a\n", document.CodeAlias},
		"deep value":           {frame + "inputs: {a: {default: " + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}}\n", document.CodeDepth},
		"deep, not closed":     {frame + "inputs: {a: {default: " + strings.Repeat("[", 50_000), document.CodeSyntax},
		"deep mappings":        {frame + "inputs: " + strings.Repeat("{a: ", 3_000) + strings.Repeat("}", 3_000), read.CodeUnknownKey},
		"deep lists":           {frame + "inputs:\n" + strings.Repeat("- ", 9_000) + "x\n", read.CodeKind},
		"too deep for YAML":    {frame + "inputs: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), document.CodeSyntax},
		"too large":            {frame + "description: " + strings.Repeat("x", document.MaxSize), document.CodeSize},
		"too many values":      {frame + "description: [" + strings.Repeat("a,", document.MaxStructure) + "]", document.CodeSize},
		"too many lines":       {frame + "stages:\n" + strings.Repeat("-\n", document.MaxStructure), document.CodeSize},
		"one long line":        {stages("{id: ä, run: x, when: a ==, x: [}", 1), document.CodeSyntax},
		"a long line of bad":   {stages("{id: ä, run: x, when: a == }, ", 3_000), read.CodeValue},
		"many unknown keys":    {"name: x\nversion: 1\n" + numbered("k%d: 1\n", 3_000) + "stages: [{id: a, run: x}]\n", read.CodeUnknownKey},
		"many equal keys":      {"name: x\nversion: 1\n" + strings.Repeat("name: x\n", 3_000) + "stages: [{id: a, run: x}]\n", read.CodeDuplicateKey},
		"many needs":           {"name: x\nversion: 1\nstages: [{id: a, run: x, needs: [" + numbered("s%d, ", 30_000) + "s1]}]\n", read.CodeDuplicateKey},
		"many eaten":           {"name: x\nversion: 1\nstages:\n" + strings.Repeat("  - id: a\n    run: x\n    when: \"a\" == b\n", 300), document.CodeAfterQuote},
		"many tabs":            {frame + "inputs:\n" + strings.Repeat("\t\n", 100_000) + "\ta: 1\n", document.CodeSyntax},
		"a megabyte of quotes": {frame + "description: \"" + strings.Repeat("'", 1<<20), document.CodeSyntax},
		"only quotes":          {strings.Repeat(`"`, 100_001), document.CodeSyntax},
		"only colons":          {strings.Repeat(": ", 4_000), document.CodeSyntax},
		"only question marks":  {strings.Repeat("? ", 4_000), read.CodeKind},
		"long comment":         {"name: x\n" + strings.Repeat("# x\n", 200_000), read.CodeMissingKey},
		"long block":           {frame + "description: |1\n" + strings.Repeat("    \n", 100_000) + " x\nx: y\n", read.CodeUnknownKey},
		"control characters":   {frame + "description: " + strings.Repeat("\x1b[31m\x07", 10_000), document.CodeEncoding},
		"anchor of megabytes":  {frame + "inputs: &" + strings.Repeat("a", 1<<20) + " *b\n", document.CodeSyntax},
	}
}

// Whatever a file holds, reading it ends with a diagnostic at a place.
func TestHostileDocuments(t *testing.T) {
	for name, c := range hostileDocuments() {
		t.Run(name, func(t *testing.T) {
			f := source.NewFile("x.yaml", c.text)
			p, diags := ParsePipeline(f)
			if p == nil {
				t.Fatal("no tree")
			}
			found := false
			for _, d := range diags {
				if !d.Span.IsValid() {
					t.Errorf("no place: %+v", d)
				}
				if len(d.Message) > 1000 || len(d.Help) > 20_000 {
					t.Errorf("a message of %d and a help of %d bytes", len(d.Message), len(d.Help))
				}
				found = found || d.Code == c.code
			}
			if !found {
				t.Errorf("no %q among:\n%.2000s", c.code, diags.Short())
			}
			if text := diags.Text(f); strings.ContainsAny(text, "\x1b\x07\x00") {
				t.Error("a control character reached the text")
			}
		})
	}
}

// A text that is no document, such as a prompt, must be UTF-8 without NUL bytes.
func TestCheckText(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"any \x1b[1m text\n\t": "",
		"\ufeffäöü \ufffd":     "",
		"a\nb\x00\xff":         "x.md:2:2: error: a NUL byte cannot stand in a text [document-encoding]\n",
		"a\nä\xff\x00":         "x.md:2:2: error: a byte that is not UTF-8 cannot stand in a text [document-encoding]\n",
		"\xff\xfea\x00b\x00":   "x.md:1:1: error: the file is UTF-16 text, expected UTF-8 [document-encoding]\n",
		"\xfe\xff\x00a\x00b":   "x.md:1:1: error: the file is UTF-16 text, expected UTF-8 [document-encoding]\n",
		strings.Repeat("ä", 9): "",
	} {
		if got := CheckText(source.NewFile("x.md", text)).Short(); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if _, diags := ParsePipeline(source.NewFile("x.yaml", "\xff\xfen\x00")); !strings.HasPrefix(diags.Short(), "x.yaml:1:1: error: the file is UTF-16") {
		t.Errorf("a pipeline in UTF-16 gives %s", diags.Short())
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
