package taskfile

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	// placeLast is " - src/auth.go:42" at the end of an entry: a range or a column may follow the line.
	placeLast = regexp.MustCompile(`^(.*\S)\s+[-–—]\s+\(?(\S+?):(\d{1,9})(?:[-:–]\d{1,9})*\)?[.;,]?$`)
	pathLast  = regexp.MustCompile(`^(.*\S)\s+[-–—]\s+([\pL\pN_.@+-]*/[\pL\pN_./@+-]*\.[\pL][\pL\pN]{0,9})$`)
	dashLast  = regexp.MustCompile(`^(.*\S)\s+[-–—]\s+$`)
	lineLast  = regexp.MustCompile(`^(.*?):(\d{1,9})(?:[-:–]\d{1,9})*$`)
	plainPath = regexp.MustCompile(`^[\pL\pN_./@+-]+$`)
)

// splitPlace takes the place off the end of an entry, in Markdown: "text - file:line", also with the place in
// backticks, which may then hold anything; without a line, what stands there must look like a path.
func splitPlace(raw string) (text, file string, line int) {
	if m := placeLast.FindStringSubmatch(raw); m != nil && !strings.HasSuffix(m[2], `\`) {
		if text, file, line = splitPlain(raw); file != "" {
			return text, trimDot(unescape(file)), line
		}
	}
	if m := pathLast.FindStringSubmatch(raw); m != nil {
		return m[1], trimDot(m[2]), 0
	}
	before, code := codeLast(raw)
	m := dashLast.FindStringSubmatch(before)
	if m == nil || code == "" {
		return raw, "", 0
	}
	if at := lineLast.FindStringSubmatch(code); at != nil && (isFileName(at[1]) || isDotted(at[1])) {
		return m[1], trimDot(at[1]), lineNumber(at[2])
	}
	if isDotted(code) || !strings.ContainsFunc(code, unicode.IsSpace) && strings.ContainsAny(code, "./") && isFileName(code) {
		return m[1], trimDot(code), 0
	}
	return raw, "", 0
}

// splitPlain is splitPlace of a text that is no Markdown.
func splitPlain(raw string) (text, file string, line int) {
	if m := placeLast.FindStringSubmatch(raw); m != nil && isFileName(m[2]) {
		return m[1], trimDot(m[2]), lineNumber(m[3])
	}
	return raw, "", 0
}

// isFileName tells files from times ("10:30") and addresses.
func isFileName(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && !strings.Contains(s, "://")
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
	if line > 0 && plainPath.MatchString(file) && isFileName(file) {
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
