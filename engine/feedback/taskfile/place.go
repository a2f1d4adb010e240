package taskfile

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// placeToken is "src/auth.go:42": a range or a column may follow the line.
	placeToken = regexp.MustCompile(`^\(?(\S+?):(\d{1,9})(?:[-:–]\d{1,9})*\)?[.;,]?$`)
	pathToken  = regexp.MustCompile(`^[\pL\pN_.@+-]*/[\pL\pN_./@+-]*\.[\pL][\pL\pN]{0,9}$`)
	lineLast   = regexp.MustCompile(`^(.*?):(\d{1,9})(?:[-:–]\d{1,9})*$`)
	plainPath  = regexp.MustCompile(`^[\pL\pN_./@+-]+$`)
)

// splitPlace takes the place off the end of an entry, in Markdown: "text - file:line", also with the place in
// backticks, which may then hold anything; without a line, what stands there must look like a path.
func splitPlace(raw string) (text, file string, line int) {
	if text, file, line = splitPlain(raw); file != "" && !strings.HasSuffix(file, `\`) {
		return text, trimDot(unescape(file)), line
	}
	text, token := lastWord(raw)
	if text != "" && pathToken.MatchString(token) {
		return text, trimDot(token), 0
	}
	before, code := codeLast(raw)
	text = cutDash(before)
	switch at := lineLast.FindStringSubmatch(code); {
	case text == "" || code == "":
	case at != nil && (isFileName(at[1]) || isDotted(at[1])):
		return text, trimDot(at[1]), lineNumber(at[2])
	case isDotted(code), !strings.ContainsFunc(code, unicode.IsSpace) && strings.ContainsAny(code, "./") && isFileName(code):
		return text, trimDot(code), 0
	}
	return raw, "", 0
}

// splitPlain is splitPlace of a text that is no Markdown.
func splitPlain(raw string) (text, file string, line int) {
	text, token := lastWord(raw)
	if m := placeToken.FindStringSubmatch(token); text != "" && m != nil && looksLikeFile(m[1]) {
		return text, trimDot(m[1]), lineNumber(m[2])
	}
	return raw, "", 0
}

// lastWord gives the last word of an entry if a dash stands before it, with the text before that.
func lastWord(raw string) (text, word string) {
	at := strings.LastIndexFunc(raw, unicode.IsSpace)
	if at < 0 || len(raw)-at > maxPlace {
		return "", ""
	}
	_, n := utf8.DecodeRuneInString(raw[at:])
	return cutDash(raw[:at+n]), raw[at+n:]
}

// maxPlace is how long a place may be.
const maxPlace = 16 << 10

// cutDash gives the text before a dash that stands for itself at the end; empty if there is none.
func cutDash(s string) string {
	trimmed := strings.TrimRightFunc(s, unicode.IsSpace)
	if len(trimmed) == len(s) {
		return ""
	}
	for _, dash := range []string{"-", "–", "—"} {
		if before, ok := strings.CutSuffix(trimmed, dash); ok {
			if text := strings.TrimRightFunc(before, unicode.IsSpace); len(text) < len(before) {
				return text
			}
		}
	}
	return ""
}

// isFileName tells files from times ("10:30") and addresses.
func isFileName(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && !strings.Contains(s, "://")
}

// looksLikeFile tells files from other words before a number ("localhost:8080") where no backticks do.
func looksLikeFile(s string) bool {
	return isFileName(s) && (strings.ContainsAny(s, `./\`) || unicode.IsUpper([]rune(s)[0]))
}

// isDotted reports whether a path says by its beginning that it is one.
func isDotted(s string) bool { return strings.HasPrefix(s, "./") && trimDot(s) != "" }

func lineNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func trimDot(file string) string {
	for strings.HasPrefix(file, "./") {
		file = strings.TrimSpace(file[2:])
	}
	return file
}

// codeLast gives the code that an entry ends with, and what stands before it.
func codeLast(raw string) (before, code string) {
	if !strings.HasSuffix(raw, "`") {
		return raw, ""
	}
	spans := newCodeSpans(raw)
	for i := 0; i < len(raw); {
		switch {
		case raw[i] == '\\' && i+1 < len(raw) && isPunct(raw[i+1]):
			i += 2
		case raw[i] == '`':
			from, to, end, ok := spans.at(i)
			if ok && end == len(raw) {
				code = raw[from:to]
				if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' {
					code = code[1 : len(code)-1]
				}
				return raw[:i], code
			}
			i = end
		default:
			i++
		}
	}
	return raw, ""
}

// placeText writes a place so that splitPlace reads it; it is not empty.
func placeText(file string, line int) string {
	if line > 0 && plainPath.MatchString(file) && looksLikeFile(file) {
		return file + ":" + strconv.Itoa(line)
	}
	code := "./" + file
	if line > 0 && isFileName(file) {
		code = file
	}
	if line > 0 {
		code += ":" + strconv.Itoa(line)
	}
	longest := 0
	for i := 0; i < len(code); i++ {
		if n := run(code[i:]); n > 0 {
			longest = max(longest, n)
			i += n - 1
		}
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	return fence + code + fence
}
