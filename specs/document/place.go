package document

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
)

// Offset returns where a node starts in the text, its anchor and tag included.
func (doc *Document) Offset(n *yaml.Node) int {
	return doc.Text.Offset(source.Pos{Line: n.Line, Col: n.Column})
}

// contentOffset returns where a node's content starts: behind its anchor and tag.
func (doc *Document) contentOffset(n *yaml.Node) int {
	text, i := doc.Text.Text(), doc.Offset(n)
	if IsPlain(n) && n.Value == "" {
		return i // there is no content, and what follows is another node
	}
	for i < len(text) && (text[i] == '&' || text[i] == '!') {
		anchor := text[i] == '&'
		for i++; i < len(text) && !IsBlank(text[i]) && !IsBreak(text[i]); i++ {
			if anchor && !isWord(text[i]) {
				break // "&a:b" is the anchor "a" of the text ":b"
			}
		}
		i = SkipSpace(text, i)
	}
	return i
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// SkipSpace steps over blanks, line ends and comments.
func SkipSpace(text string, i int) int {
	for i < len(text) {
		switch {
		case IsBlank(text[i]), IsBreak(text[i]):
			i++
		case text[i] == '#' && (i == 0 || IsBlank(text[i-1]) || IsBreak(text[i-1])):
			if end := strings.IndexAny(text[i:], "\r\n"); end >= 0 {
				i += end
			} else {
				i = len(text)
			}
		default:
			return i
		}
	}
	return i
}

// Scalar decodes a scalar node with its span and marks.
func (doc *Document) Scalar(n *yaml.Node) source.Scalar {
	f := doc.Text
	off := doc.contentOffset(n)
	start := f.Pos(off)
	span := source.Span{File: doc.File.Name, Start: start}
	at, end, ok := Trace(f.Text(), off, n.Style, n.Value)
	if !ok { // not explained: the whole scalar is the place of all of it
		span.End = source.Pos{Line: start.Line, Col: start.Col + 1}
		return source.NewScalar(n.Value, span, nil)
	}
	if len(at) <= 1 && end-off <= 256 && !strings.ContainsAny(f.Text()[off:end], "\r\n") {
		span.End = source.Pos{Line: start.Line, Col: start.Col + utf8.RuneCountInString(f.Text()[off:end])}
		if len(at) == 0 || at[0].Src == off {
			return source.NewScalar(n.Value, span, nil)
		}
	} else {
		span.End = f.Pos(end)
	}
	return source.NewScalar(n.Value, span, Marks(f, at))
}

// Span returns the span of a node: of a scalar or alias the whole, of a mapping or list its first line.
func (doc *Document) Span(n *yaml.Node) source.Span {
	switch n.Kind {
	case yaml.ScalarNode:
		return doc.Scalar(n).Span
	case yaml.AliasNode:
		off := doc.Offset(n)
		return doc.Between(off, off+1+len(n.Value))
	}
	off := doc.contentOffset(n)
	line := doc.Text.Pos(off).Line
	stop := doc.Text.LineStart(line) + len(doc.Text.Line(line))
	return doc.Between(off, min(doc.End(n), stop))
}

// Whole returns the span of a node from its first to its last character.
func (doc *Document) Whole(n *yaml.Node) source.Span {
	return doc.Between(doc.contentOffset(n), doc.End(n))
}

// Between returns the span from one offset up to another.
func (doc *Document) Between(from, to int) source.Span {
	s := doc.Text.Span(from, to)
	s.File = doc.File.Name
	return s
}

// End returns the offset just behind a node: behind its last child, and behind the bracket that closes it.
func (doc *Document) End(n *yaml.Node) int {
	var closers []byte
	for n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		closer := byte(0)
		if n.Style&yaml.FlowStyle != 0 {
			closer = ']'
			if n.Kind == yaml.MappingNode {
				closer = '}'
			}
		}
		if len(n.Content) == 0 {
			return closed(doc.Text.Text(), doc.contentOffset(n)+1, append(closers, closer))
		}
		closers = append(closers, closer)
		n = n.Content[len(n.Content)-1]
	}
	end := 0
	if n.Kind == yaml.AliasNode {
		end = doc.Offset(n) + 1 + len(n.Value)
	} else {
		off := doc.contentOffset(n)
		_, end, _ = Trace(doc.Text.Text(), off, n.Style, n.Value)
	}
	return closed(doc.Text.Text(), end, closers)
}

// closed steps over the closing brackets behind end, the innermost last in closers; 0 is a block
// collection, which has none.
func closed(text string, end int, closers []byte) int {
	for i := len(closers) - 1; i >= 0; i-- {
		if closers[i] == 0 {
			continue
		}
		at := SkipSpace(text, end)
		if at < len(text) && text[at] == ',' {
			at = SkipSpace(text, at+1)
		}
		if at >= len(text) || text[at] != closers[i] {
			return end
		}
		end = at + 1
	}
	return end
}

// IsPlain reports whether a node is a scalar without quotes, "|" or ">".
func IsPlain(n *yaml.Node) bool {
	const styled = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Style&styled == 0
}

// InFlow reports whether the line up to off leaves a "{" open: the value stands inside { }.
func (doc *Document) InFlow(off int) bool {
	text := doc.Text.Text()
	line := text[max(doc.Text.LineStart(doc.Text.Pos(off).Line), off-MaxLook):off]
	return strings.Count(line, "{") > strings.Count(line, "}")
}

// RestOfLine returns the text from off to the end of its line.
func (doc *Document) RestOfLine(off int) string {
	rest := doc.Text.Text()[off:]
	rest = rest[:min(len(rest), MaxLook)]
	if i := strings.IndexAny(rest, "\r\n"); i >= 0 {
		return rest[:i]
	}
	return rest
}

// HasTag reports whether a node has a tag that is none of YAML's own kinds. A lone "!" is one too: it is
// more likely a part of the text than meant.
func (doc *Document) HasTag(n *yaml.Node) bool {
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!timestamp", "!!merge":
	default:
		return true
	}
	text, off := doc.Text.Text(), doc.Offset(n)
	if n.Anchor != "" { // "&name ! text"
		off = SkipSpace(text, min(off+1+len(n.Anchor), len(text)))
	}
	return off < len(text) && text[off] == '!' && (off+1 == len(text) || IsBlank(text[off+1]) || IsBreak(text[off+1]))
}
