package convert

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert/jsonstream"
)

// golangci reads what golangci-lint prints as JSON: an object with the list "Issues" and a "Report" of the run.
// Both of its major versions have this form; what they differ in is how an issue says how to fix it.
func golangci(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	g := &golangciReport{f: f, in: jsonstream.New(f.in.Stdout)}
	listed := false
	g.in.Object(func(name string) {
		switch name {
		case "Issues":
			listed = g.in.Array(func(i int) { g.issue(i) }) || listed
		case "Report":
			g.report()
		default:
			g.in.Skip()
		}
	})
	if g.in.Err() == nil && !g.in.End() {
		g.statistics()
	}
	if g.in.Err() == nil && !listed {
		g.in.Fail(`the report holds no list "Issues", which is there and empty when golangci-lint has found nothing`)
	}
	if g.in.Err() != nil {
		return f.notRead(g.in.Err())
	}
	f.sort()
	return nil
}

// golangciReport is a report that is being read.
type golangciReport struct {
	f  *findings
	in *jsonstream.Reader
}

var (
	golangciCount  = regexp.MustCompile(`^\d+ issues?[.:]$`)
	golangciLinter = regexp.MustCompile(`^\* [\w.-]+: \d+$`)
)

// statistics reads what version 2 prints behind the report, unless it is called with --show-stats=false: how many
// issues there are, and how many of each linter.
func (g *golangciReport) statistics() {
	at := g.in.Offset()
	for line := range strings.Lines(g.in.Rest(64 << 10)) {
		if line = strings.TrimSpace(stripColours(line)); line != "" && !golangciCount.MatchString(line) && !golangciLinter.MatchString(line) {
			g.in.Fail("there is more after the report, at byte %d: %q", at, clip(line, 100))
			return
		}
	}
}

// report reads what golangci-lint says of its run: one that failed is no review.
func (g *golangciReport) report() {
	g.in.Object(func(name string) {
		switch name {
		case "Error":
			if why := strings.TrimSpace(stripColours(g.in.String(maxName))); why != "" {
				g.in.Fail("the report says that golangci-lint did not succeed (it says %q)", clip(why, 300))
			}
		case "Warnings":
			g.in.Array(func(int) {
				if g.in.Peek() != '{' {
					g.in.Skip()
					return
				}
				g.f.hear(g.member("Text", maxName))
			})
		default:
			g.in.Skip()
		}
	})
}

// member reads an object of which one text is wanted.
func (g *golangciReport) member(wanted string, limit int) (text string) {
	g.in.Object(func(name string) {
		if name == wanted {
			text = g.in.String(limit)
		} else {
			g.in.Skip()
		}
	})
	return text
}

// golangciIssue is an issue of which all is read.
type golangciIssue struct {
	linter, text, severity string
	file                   string
	line, column, offset   int
	from, to               int // lines, 0: not given
	source                 []string

	fix   string // words for it
	edits []edit
	spans [][2]int // of edits that are placed by their offsets in the file
}

const maxSourceLines, maxSourceLine = 50, 4 << 10

func (g *golangciReport) issue(index int) {
	var i golangciIssue
	start := g.in.Offset()
	g.in.Object(func(name string) {
		switch name {
		case "FromLinter":
			i.linter = strings.TrimSpace(g.in.String(200))
		case "Text":
			i.text = strings.TrimSpace(stripColours(g.in.String(maxText)))
		case "Severity":
			i.severity = strings.ToLower(strings.TrimSpace(g.in.String(100)))
		case "SourceLines":
			g.in.Array(func(int) {
				if line := g.in.String(maxSourceLine); len(i.source) < maxSourceLines {
					i.source = append(i.source, line)
				}
			})
		case "Pos":
			g.position(&i)
		case "LineRange":
			g.lineRange(&i)
		case "Replacement":
			g.replacement(&i)
		case "SuggestedFixes":
			g.in.Array(func(at int) {
				if at > 0 { // the others are other ways to do the same
					g.in.Skip()
					return
				}
				g.suggested(&i)
			})
		default:
			g.in.Skip()
		}
	})
	if g.in.Err() != nil {
		return
	}
	if i.text == "" {
		g.in.Fail("issue %d has no text, at byte %d", index+1, start)
		return
	}
	g.f.read++
	i.placeEdits()
	item := feedback.Item{
		// Without a severity of its own an issue is an error, as golangci-lint's other forms have it.
		Severity: g.f.severity(cmp.Or(i.severity, "error")), File: g.f.placeFile(i.file), Line: cmp.Or(i.line, i.from),
		Description: withRule(i.text, i.linter), SuggestedFix: suggestion(i.fix, i.edits), SourceAgent: "golangci-lint",
	}
	if i.linter == "gosec" {
		item.Category = "security"
	}
	g.f.add(item, cmpRule("golangci", i.linter, i.text))
}

func (g *golangciReport) position(i *golangciIssue) {
	g.in.Object(func(name string) {
		switch name {
		case "Filename":
			i.file = g.in.String(maxName)
		case "Line":
			i.line = max(g.in.Int(), 0)
		case "Column":
			i.column = max(g.in.Int(), 0)
		case "Offset":
			i.offset = max(g.in.Int(), 0)
		default:
			g.in.Skip()
		}
	})
}

func (g *golangciReport) lineRange(i *golangciIssue) {
	g.in.Object(func(name string) {
		switch name {
		case "From":
			i.from = max(g.in.Int(), 0)
		case "To":
			i.to = max(g.in.Int(), 0)
		default:
			g.in.Skip()
		}
	})
}

// replacement reads how version 1 says it: a part of the line, or lines for those of the issue.
func (g *golangciReport) replacement(i *golangciIssue) {
	e, there := edit{region: region{toEnd: true}}, false
	g.in.Object(func(name string) {
		switch name {
		case "NeedOnlyDelete":
			there = g.in.Bool(false) || there
		case "NewLines":
			var lines []string
			there = g.in.Array(func(int) {
				if line := g.in.String(maxEdit); len(lines) < maxSourceLines {
					lines = append(lines, line)
				}
			}) || there
			e.text = clip(strings.Join(lines, "\n"), maxEdit)
		case "Inline":
			g.in.Object(func(name string) {
				there = true
				switch name {
				case "StartCol": // from 0
					e.column = max(g.in.Int(), 0) + 1
				case "Length":
					e.endColumn = max(g.in.Int(), 0)
				case "NewString":
					e.text = g.in.String(maxEdit)
				default:
					g.in.Skip()
				}
			})
		default:
			g.in.Skip()
		}
	})
	if there {
		i.edits = []edit{e}
	}
}

// suggested reads how version 2 says it: texts for parts of the file, in base64.
func (g *golangciReport) suggested(i *golangciIssue) {
	g.in.Object(func(name string) {
		switch name {
		case "Message":
			i.fix = strings.TrimSpace(stripColours(g.in.String(maxEdit)))
		case "TextEdits":
			g.in.Array(func(int) {
				text, span := "", [2]int{}
				g.in.Object(func(name string) {
					switch name {
					case "Pos":
						span[0] = g.in.Int()
					case "End":
						span[1] = g.in.Int()
					case "NewText":
						text = fromBase64(g.in.String(2 * maxEdit))
					default:
						g.in.Skip()
					}
				})
				if len(i.edits) < maxEdits {
					i.edits, i.spans = append(i.edits, edit{text: text}), append(i.spans, span)
				}
			})
		default:
			g.in.Skip()
		}
	})
}

// fromBase64 gives the beginning of a text.
func fromBase64(s string) string {
	s = strings.TrimSuffix(s, "…")
	b, err := base64.StdEncoding.DecodeString(s[:len(s)/4*4])
	if err != nil {
		return ""
	}
	return clip(strings.ToValidUTF8(string(b), "\uFFFD"), maxEdit)
}

// placeEdits says of each edit which lines and columns it is about, and what stands there: of all but whole lines
// with the help of the source lines of the issue.
func (i *golangciIssue) placeEdits() {
	first, last := cmp.Or(i.from, i.line), max(i.to, i.from, i.line)
	source := strings.Join(i.source, "\n")
	for n := range i.edits {
		e := &i.edits[n]
		if n < len(i.spans) {
			// The offset of the issue is that of its column in its line, which is the first of the source lines.
			begin := i.offset - max(i.column-1, 0)
			from, to := i.spans[n][0]-begin, i.spans[n][1]-begin
			if i.column == 0 || begin < 0 || first != i.line || from < 0 || to < from || to > len(source) {
				continue
			}
			e.line, e.column = lineAndColumn(source[:from], first)
			e.endLine, e.endColumn = lineAndColumn(source[:to], first)
			e.old = clip(source[from:to], maxEdit)
			continue
		}
		if e.column == 0 {
			e.line, e.endLine = first, last
			continue
		}
		from, to := e.column-1, e.column-1+e.endColumn
		e.line, e.endLine, e.endColumn = i.line, i.line, to+1
		if len(i.source) > 0 && to <= len(i.source[0]) {
			e.old = clip(strings.ToValidUTF8(i.source[0][from:to], "\uFFFD"), maxEdit)
		}
	}
}

// lineAndColumn is where a text ends that begins with a line; columns count bytes from 1, as Go does.
func lineAndColumn(text string, line int) (int, int) {
	return line + strings.Count(text, "\n"), len(text) - strings.LastIndexByte(text, '\n')
}

// notRead says that what ended the reading of a report is why there is no review, with the tool's own words.
func (f *findings) notRead(err error) error {
	_ = eachLine(f.in.Stderr, func(line string) bool { // the error is there; this only adds words to it
		f.hear(line)
		return len(f.heard) < heardLines
	})
	return fmt.Errorf("%w%s", notRead(err), f.said())
}
