package specs

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
)

// offset returns where a node starts in the text, its anchor and tag included.
func (r *reader) offset(n *yaml.Node) int {
	return r.doc.Text.Offset(source.Pos{Line: n.Line, Col: n.Column})
}

// contentOffset returns where a node's content starts: behind its anchor and tag.
func (r *reader) contentOffset(n *yaml.Node) int {
	text, i := r.doc.Text.Text(), r.offset(n)
	if plainStyle(n) && n.Value == "" {
		return i // there is no content, and what follows is another node
	}
	for i < len(text) && (text[i] == '&' || text[i] == '!') {
		anchor := text[i] == '&'
		for i++; i < len(text) && !document.IsBlank(text[i]) && !document.IsBreak(text[i]); i++ {
			if anchor && !isWord(text[i]) {
				break // "&a:b" is the anchor "a" of the text ":b"
			}
		}
		i = skipSpace(text, i)
	}
	return i
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// skipSpace steps over blanks, line ends and comments.
func skipSpace(text string, i int) int {
	for i < len(text) {
		switch {
		case document.IsBlank(text[i]), document.IsBreak(text[i]):
			i++
		case text[i] == '#' && (i == 0 || document.IsBlank(text[i-1]) || document.IsBreak(text[i-1])):
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

// scalar decodes a scalar node with its span and marks.
func (r *reader) scalar(n *yaml.Node) source.Scalar {
	f := r.doc.Text
	off := r.contentOffset(n)
	start := f.Pos(off)
	span := source.Span{File: r.doc.File.Name, Start: start}
	at, end, ok := document.Trace(f.Text(), off, n.Style, n.Value)
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
	return source.NewScalar(n.Value, span, document.Marks(f, at))
}

// nodeSpan returns the span of a node: of a scalar or alias the whole, of a mapping or list its first line.
func (r *reader) nodeSpan(n *yaml.Node) source.Span {
	switch n.Kind {
	case yaml.ScalarNode:
		return r.scalar(n).Span
	case yaml.AliasNode:
		off := r.offset(n)
		return r.span(off, off+1+len(n.Value))
	}
	off := r.contentOffset(n)
	line := r.doc.Text.Pos(off).Line
	stop := r.doc.Text.LineStart(line) + len(r.doc.Text.Line(line))
	return r.span(off, min(r.end(n), stop))
}

// wholeSpan returns the span of a node from its first to its last character.
func (r *reader) wholeSpan(n *yaml.Node) source.Span {
	return r.span(r.contentOffset(n), r.end(n))
}

func (r *reader) span(from, to int) source.Span {
	s := r.doc.Text.Span(from, to)
	s.File = r.doc.File.Name
	return s
}

// end returns the offset just behind a node: behind its last child, and behind the bracket that closes it.
func (r *reader) end(n *yaml.Node) int {
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
			return r.closed(r.contentOffset(n)+1, append(closers, closer))
		}
		closers = append(closers, closer)
		n = n.Content[len(n.Content)-1]
	}
	end := 0
	if n.Kind == yaml.AliasNode {
		end = r.offset(n) + 1 + len(n.Value)
	} else {
		off := r.contentOffset(n)
		_, end, _ = document.Trace(r.doc.Text.Text(), off, n.Style, n.Value)
	}
	return r.closed(end, closers)
}

// closed steps over the closing brackets behind end, the innermost last in closers; 0 is a block
// collection, which has none.
func (r *reader) closed(end int, closers []byte) int {
	text := r.doc.Text.Text()
	for i := len(closers) - 1; i >= 0; i-- {
		if closers[i] == 0 {
			continue
		}
		at := skipSpace(text, end)
		if at < len(text) && text[at] == ',' {
			at = skipSpace(text, at+1)
		}
		if at >= len(text) || text[at] != closers[i] {
			return end
		}
		end = at + 1
	}
	return end
}
