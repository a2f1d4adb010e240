package document

import (
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// codeFrontMatter is the code of a Markdown document whose front matter can't be told from its text.
const codeFrontMatter diag.Code = "front-matter"

// fenceLine is the line that front matter begins and ends with. Blanks may follow.
const fenceLine = "---"

// IsFence reports whether a line begins or ends front matter.
func IsFence(line string) bool { return strings.TrimRight(line, " \t") == fenceLine }

// FrontMatter gives the YAML with which a Markdown document begins, as a file of its own whose places are
// those of the whole. What follows is for people and not looked at. Nil: there is none, which was reported.
func FrontMatter(f *source.File, diags *diag.List) *source.File {
	if !IsFence(f.Line(1)) {
		noFrontMatter(f, diags)
		return nil
	}
	for n := 2; n <= f.Lines(); n++ {
		if IsFence(f.Line(n)) {
			return source.NewFile(f.Name, f.Text()[:f.LineStart(n)])
		}
	}
	d := diags.Errorf(codeFrontMatter, LineSpan(f, 1), "the front matter that begins here has no end")
	d.Help = "close it with a line --- behind its last key; the text for people follows there"
	for n := 2; n <= f.Lines(); n++ {
		line := strings.TrimSpace(f.Line(n))
		if line == "..." || strings.Trim(line, "-") == "" && len(line) > 1 {
			d.Related = []diag.Related{{Span: LineSpan(f, n), Message: "this line is not a --- that stands alone at its beginning"}}
			break
		}
	}
	return nil
}

// noFrontMatter says what a document begins with instead.
func noFrontMatter(f *source.File, diags *diag.List) {
	const help = "begin the file with a line ---, the keys of the contract, and a line ---; the text for people follows"
	for n := 1; n <= f.Lines(); n++ {
		line := f.Line(n)
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case IsFence(strings.TrimSpace(line)):
			diags.Errorf(codeFrontMatter, LineSpan(f, n), "front matter begins on the first line of the file, without blanks before it").
				Help = "take out what stands before the line ---"
		default:
			diags.Errorf(codeFrontMatter, LineSpan(f, n), "a contract in Markdown begins with front matter, and this file with text").Help = help
		}
		return
	}
	diags.Errorf(CodeEmpty, Point(f, 0), "the file is empty").Help = help
}
