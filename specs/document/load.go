package document

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// maxWork bounds how many bytes are parsed again while a broken document is repaired value by value. Beyond
// it the text is cut at the next syntax error.
const maxWork = 4 << 20

// maxCuts bounds how often the text is cut.
const maxCuts = 12

// Document is a parsed file.
type Document struct {
	File  *source.File // as written
	Text  *source.File // as parsed: places are the same, some values blanked
	Root  *yaml.Node   // nil: nothing could be read
	Blank map[int]bool // lines whose value was reported and blanked
	Cut   bool         // the text behind a syntax error was left out
	cuts  int          // how often
}

// Load parses a file. Where YAML refuses it, the mistake is reported and the file is read without it: a
// value that YAML took for something else is blanked, and where that is not the matter, the text is cut
// before the line in question. So the other mistakes of the file are found in the same go.
func Load(f *source.File, diags *diag.List) *Document {
	doc := &Document{File: f, Text: f, Blank: map[int]bool{}}
	if len(f.Text()) > MaxSize {
		diags.Errorf(CodeSize, Point(f, 0), "the file has %d bytes, more than the %d that a document may have", len(f.Text()), MaxSize)
		return doc
	}
	if n := structure(f.Text()); n > MaxStructure {
		diags.Errorf(CodeSize, Point(f, 0), "the file has about %d lines and values, more than the %d that a document may have", n, MaxStructure)
		return doc
	}
	if text := clean(f, diags); text != f.Text() {
		doc.Text = source.NewFile(f.Name, text)
	}
	for work := 0; ; work += len(doc.Text.Text()) + 1 {
		root, second, err := parse(doc.Text.Text())
		if err == nil {
			doc.Root = root
			doc.extra(second, diags)
			return doc
		}
		if !doc.repair(err, work < maxWork, diags) {
			return doc
		}
	}
}

// Content returns the document's one node, nil if there is none.
func (doc *Document) Content() *yaml.Node {
	if doc.Root == nil || len(doc.Root.Content) == 0 {
		return nil
	}
	return doc.Root.Content[0]
}

// extra reports what follows the first document; an empty one is none.
func (doc *Document) extra(second *yaml.Node, diags *diag.List) {
	if second != nil {
		at := source.Pos{Line: second.Line, Col: second.Column}
		diags.Errorf(CodeMany, doc.Text.Span(doc.Text.Offset(at), doc.Text.Offset(at)+3), "a second document starts here; a file holds one").
			Help = "move it to a file of its own, or take the line \"---\" out"
	}
	if isEmpty(doc.Root) {
		doc.Root = nil
	}
}

func isEmpty(root *yaml.Node) bool {
	if root == nil || len(root.Content) == 0 {
		return true
	}
	n := root.Content[0]
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == "" && n.Anchor == ""
}

// parse reads the first document of a text, and the second if there is one. The root is nil if the text
// holds none.
func parse(text string) (root, second *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some of its own inconsistencies
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(text))
	root = new(yaml.Node)
	if err := dec.Decode(root); errors.Is(err, io.EOF) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	second = new(yaml.Node)
	if err := dec.Decode(second); errors.Is(err, io.EOF) {
		return root, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	return root, second, nil
}

// fault is where the parser gave up.
type fault struct {
	message string // its own words
	opened  int    // line on which what it was reading starts; 0: not known
	line    int    // line that it had reached
}

// repair reports why the text cannot be parsed and takes that out of it: one value if it may, else all that
// follows. It reports whether parsing again is of use.
func (doc *Document) repair(err error, may bool, diags *diag.List) bool {
	at := doc.locate(err)
	if may {
		if e, ok := doc.findEaten(at); ok {
			doc.Report(e, diags)
			return doc.blankOut(e)
		}
	}
	line := at.line
	if at.opened > 0 && at.opened <= line && (isUnclosed(at.message) || line > doc.Text.Lines()) {
		line = at.opened // nothing is wrong where the text ends, but where the open thing starts
	}
	for line > 1 && strings.TrimSpace(doc.Text.Line(line)) == "" {
		line--
	}
	span := LineSpan(doc.File, line)
	if !doc.Cut { // what a cut leaves open is no mistake of the author's
		diags.Errorf(CodeSyntax, span, "%s", words(at.message)).Help = syntaxHelp(at.message, doc.Text.Line(line))
	}
	return doc.cutBefore(line)
}

// locate finds out how far the parser came: it is given the text byte by byte, so that what it has asked
// for is where it stands.
func (doc *Document) locate(err error) fault {
	text := doc.Text.Text()
	r := &meter{text: text}
	func() {
		defer func() { _ = recover() }()
		dec := yaml.NewDecoder(r)
		for {
			if err := dec.Decode(new(yaml.Node)); err != nil {
				return
			}
		}
	}()
	// The scanner looks up to four characters ahead, and over blanks and line ends.
	reached := text[:r.given]
	if r.given < len(text) {
		reached = text[:max(0, r.given-4)]
	}
	reached = strings.TrimRight(reached, " \t\r\n")
	at := fault{message: strings.TrimPrefix(err.Error(), "yaml: "), line: doc.Text.Pos(len(reached)).Line}
	switch {
	case strings.Contains(at.message, "a tab character"): // a blank itself
		at.line = tabLine(doc.Text, at.line)
	case strings.Contains(at.message, "cannot start any token"):
		// What the parser stands before is a tab if blanks are all that follows up to one.
		rest := text[len(reached):]
		if blanks := rest[:len(rest)-len(strings.TrimLeft(rest, " \t\r\n"))]; strings.Contains(blanks, "\t") {
			at.message, at.line = tabMessage, tabLine(doc.Text, at.line)
		}
	}
	if number, rest, ok := strings.Cut(strings.TrimPrefix(at.message, "line "), ": "); ok && strings.HasPrefix(at.message, "line ") {
		if n, err := strconv.Atoi(number); err == nil {
			at.message, at.opened = rest, n
		}
	}
	if isParserMessage(at.message) {
		at.opened++ // these count lines from zero
	}
	return at
}

// tabMessage is what the parser says of some of the tabs that indent a line.
const tabMessage = "found a tab character"

// tabLine returns the first line from the given one on that is indented with a tab.
func tabLine(f *source.File, line int) int {
	for l := line; l <= f.Lines(); l++ {
		text := f.Line(l)
		if strings.Contains(text[:len(text)-len(strings.TrimLeft(text, " \t"))], "\t") {
			return l
		}
	}
	return line
}

// isParserMessage tells the parser's messages, whose line is one too low, from the scanner's.
func isParserMessage(m string) bool {
	return strings.HasPrefix(m, "did not find expected key") || strings.HasPrefix(m, "did not find expected node") ||
		strings.HasPrefix(m, "did not find expected '") || strings.HasPrefix(m, "did not find expected ',") ||
		strings.HasPrefix(m, "did not find expected <")
}

// isUnclosed reports whether the message speaks of a quote or bracket that is open: what is wrong stands
// where that opens.
func isUnclosed(m string) bool {
	return strings.Contains(m, "unexpected end of stream") || strings.Contains(m, "document indicator") ||
		strings.Contains(m, "or ']'") || strings.Contains(m, "or '}'")
}

// meter is a reader that gives single bytes and counts them.
type meter struct {
	text  string
	given int
}

// Read gives the next byte.
func (m *meter) Read(p []byte) (int, error) {
	if m.given == len(m.text) {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	p[0] = m.text[m.given]
	m.given++
	return 1, nil
}

// cutBefore leaves out the given line and all that follows. Where some cuts did not help, half of what is
// left goes, so that this ends.
func (doc *Document) cutBefore(line int) bool {
	if doc.cuts++; doc.cuts > 5 {
		line = min(line, (doc.Text.Lines()+1)/2+1)
	}
	line = min(line, doc.Text.Lines())
	doc.Cut = true
	if line <= 1 || doc.cuts > maxCuts {
		return false
	}
	doc.Text = source.NewFile(doc.File.Name, doc.Text.Text()[:doc.Text.LineStart(line)])
	return true
}

// blankOut replaces an Eaten value by blanks, so that all places stay as they are.
func (doc *Document) blankOut(e Eaten) bool {
	text := doc.Text.Text()
	var b strings.Builder
	b.WriteString(text[:e.From])
	for _, r := range text[e.From:e.To] {
		if r != '\n' && r != '\r' {
			r = ' '
		}
		b.WriteRune(r)
	}
	b.WriteString(text[e.To:])
	if b.String() == text {
		return false
	}
	for l := doc.Text.Pos(e.From).Line; l <= doc.Text.Pos(e.To).Line; l++ {
		doc.Blank[l] = true
	}
	doc.Text = source.NewFile(doc.File.Name, b.String())
	return true
}

// LineSpan returns the span of a line's text, without the blanks around it.
func LineSpan(f *source.File, line int) source.Span {
	text := f.Line(line)
	start := f.LineStart(line) + len(text) - len(strings.TrimLeft(text, " \t"))
	return f.Span(start, start+len(strings.TrimSpace(text)))
}

// Point returns the empty span at an offset.
func Point(f *source.File, offset int) source.Span { return f.Span(offset, offset) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
