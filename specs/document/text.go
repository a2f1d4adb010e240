package document

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// The bounds of a document. They keep the cost of a hostile one near that of a large honest one.
const (
	MaxSize      = 8 << 20 // bytes
	MaxStructure = 300_000 // lines, commas, brackets and dashes: no document has many more nodes than these
	MaxAliased   = 250_000 // nodes reached through aliases and merges
	MaxDepth     = 100     // of a value
)

// The codes of what keeps a document from being read.
const (
	CodeSize     diag.Code = "document-size"
	CodeEncoding diag.Code = "document-encoding"
	CodeSyntax   diag.Code = "yaml-syntax"
	CodeMany     diag.Code = "document-many"
	CodeEmpty    diag.Code = "document-empty"
	CodeAlias    diag.Code = "yaml-alias"
	CodeDepth    diag.Code = "yaml-depth"
)

// CheckText looks at a file that holds any text, such as a prompt: it must be UTF-8 without NUL bytes.
func CheckText(f *source.File) diag.List {
	var diags diag.List
	text := f.Text()
	if isUTF16(f, &diags) {
		return diags
	}
	at := strings.IndexByte(text, 0)
	what := "a NUL byte"
	if bad := firstInvalid(text); at < 0 || bad >= 0 && bad < at {
		at, what = bad, "a byte that is not UTF-8"
	}
	if at >= 0 {
		diags.Errorf(CodeEncoding, f.Span(at, at+1), "%s cannot stand in a text", what).Help = "save the file as UTF-8 text"
	}
	return diags
}

// firstInvalid returns the offset of the first byte that is not UTF-8; -1: there is none.
func firstInvalid(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// isUTF16 reports a text of another encoding than ours, by its byte order mark.
func isUTF16(f *source.File, diags *diag.List) bool {
	if !strings.HasPrefix(f.Text(), "\xff\xfe") && !strings.HasPrefix(f.Text(), "\xfe\xff") {
		return false
	}
	diags.Errorf(CodeEncoding, f.Span(0, 1), "the file is UTF-16 text, expected UTF-8").Help = "save the file as UTF-8 text"
	return true
}

// maxUnreadable is how many characters that have no place in YAML a text may have that is read all the same;
// what has more of them is no text with a slip in it.
const maxUnreadable = 100

// clean returns the text with each character that YAML has no place for replaced by U+FFFD, so that the
// rest can be read and columns stay as they are. It reports the first of them and how many there are. Of
// what is no text nothing is left.
func clean(f *source.File, diags *diag.List) string {
	text := f.Text()
	if isUTF16(f, diags) {
		return ""
	}
	first, n := -1, 0
	what := ""
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f || c == '\n' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if w := unreadable(r, size, text[i]); w != "" {
			if n++; first < 0 {
				first, what = i, w
			}
		}
		i += size
	}
	if n == 0 {
		return text
	}
	d := diags.Errorf(CodeEncoding, f.Span(first, first+1), "%s cannot stand in a YAML document", what)
	d.Span.End = source.Pos{Line: d.Span.Start.Line, Col: d.Span.Start.Col + 1}
	d.Help = "save the file as UTF-8 text; inside double quotes a character can be written as an escape such as \"\\u2028\""
	if n > 1 {
		d.Message += " (" + plural(n-1, "more such character") + " in this file)"
	}
	if n > maxUnreadable {
		return ""
	}
	return replace(text)
}

func replace(text string) string {
	var b bytes.Buffer
	b.Grow(len(text) + 64)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unreadable(r, size, text[i]) != "" {
			b.WriteRune(utf8.RuneError)
		} else {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// unreadable says what a character is that a document may not hold, or "".
func unreadable(r rune, size int, b byte) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "a byte that is not UTF-8"
	case r == 0:
		return "a NUL byte"
	case r == '\t', r == '\n', r == '\r', r >= ' ' && r < 0x7f:
		return ""
	case r < ' ', r >= 0x7f && r < 0xa0:
		return "a control character"
	case r == 0x2028, r == 0x2029:
		return "a Unicode line separator"
	case r == 0xfeff:
		return "a byte order mark inside the text"
	case r == 0xfffe, r == 0xffff:
		return "a character that is none"
	}
	return ""
}

// structure counts what nodes are made of, as an upper bound that costs one pass.
func structure(text string) int {
	return lines(text) + strings.Count(text, ",") + strings.Count(text, "[") +
		strings.Count(text, "{") + strings.Count(text, "- ")
}

// lines counts the ends of lines: LF, CR LF and the lone CR.
func lines(text string) int {
	return strings.Count(text, "\n") + strings.Count(text, "\r") - strings.Count(text, "\r\n")
}
