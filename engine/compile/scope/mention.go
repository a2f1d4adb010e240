package scope

import "strings"

// mention is a place where an expression speaks of a stage.
type mention struct {
	id         string // "" where no id can be read: stages alone, or with a computed index
	field      string // what is read of the stage: "status", "outputs", …; "" if nothing is
	start, end int    // of the id in the text, or of the word "stages"
	word       int    // where "stages" stands
	after      int    // behind all that was read
	dotted     bool   // stages.ID, in CEL also stages.`ID`; else stages["ID"]
	text       string // stages.ID with the dashes and letters that follow: what the author meant
}

// scanMentions finds what an expression, or a text with expressions, says of other stages. It needs no
// parser: a stage can only be named behind the word "stages", and words in strings, in comments and behind
// a dot are not that word. So the scope of an expression can be made small before it is compiled.
func scanMentions(text string) []mention {
	if !strings.Contains(text, "stages") {
		return nil
	}
	var out []mention
	for i := 0; i < len(text); {
		switch ch := text[i]; {
		case ch == '"' || ch == '\'' || ch == '`':
			i = skipString(text, i)
		case ch == '/' && strings.HasPrefix(text[i:], "//"):
			i = skipTo(text, i, "\n")
		case ch == '/' && strings.HasPrefix(text[i:], "/*"):
			i = skipTo(text, i+2, "*/")
		case isWordByte(ch):
			end := i
			for end < len(text) && isWordByte(text[end]) {
				end++
			}
			if text[i:end] == "stages" && !behindDot(text, i) {
				if m, ok := readMention(text, i, end); ok {
					out = append(out, m)
				}
			}
			i = end
		default:
			i++
		}
	}
	return out
}

// everyMention finds whatever may be a mention, also where it stands in a string or a comment: outside of its
// expressions a prompt is prose, in which an apostrophe or a // begins neither. It is for questions that may
// be asked without need.
func everyMention(text string) []mention {
	const word = "stages"
	var out []mention
	for i := 0; ; {
		at := strings.Index(text[i:], word)
		if at < 0 {
			return out
		}
		at += i
		i = at + len(word)
		if at > 0 && isWordByte(text[at-1]) || i < len(text) && isWordByte(text[i]) {
			continue
		}
		if m, ok := readMention(text, at, i); ok {
			out = append(out, m)
		}
	}
}

// readMention reads what follows the word "stages" at start..end. A key of a map literal is no mention.
func readMention(text string, start, end int) (mention, bool) {
	m := mention{word: start, start: start, end: end, after: end}
	i := skipSpace(text, end)
	switch {
	case strings.HasPrefix(text[i:], "?.") || strings.HasPrefix(text[i:], "."):
		i = skipSpace(text, i+strings.IndexByte(text[i:], '.')+1)
		if strings.HasPrefix(text[i:], "[") {
			break // stages?.["id"]
		}
		if strings.HasPrefix(text[i:], "`") {
			return quotedMention(text, start, i), true
		}
		from := i
		for i < len(text) && isWordByte(text[i]) {
			i++
		}
		if i == from {
			return m, true
		}
		long := i
		for long < len(text) && (isWordByte(text[long]) || text[long] == '-' && long+1 < len(text) && isWordByte(text[long+1])) {
			long++
		}
		m = mention{id: text[from:i], word: start, start: from, end: i, dotted: true, text: text[from:long]}
		m.field, m.after = readField(text, i)
		return m, true
	case strings.HasPrefix(text[i:], ":"):
		return m, false
	}
	if !strings.HasPrefix(text[i:], "[") {
		return m, true
	}
	i = skipSpace(text, i+1)
	if i == len(text) || strings.IndexByte("\"'`", text[i]) < 0 {
		return m, true
	}
	stop := skipString(text, i)
	close := skipSpace(text, stop)
	if stop < i+2 || !strings.HasPrefix(text[close:], "]") {
		return m, true
	}
	id := text[i+1 : stop-1]
	m = mention{id: id, word: start, start: i + 1, end: stop - 1, text: id}
	m.field, m.after = readField(text, close+1)
	return m, true
}

// quotedMention reads stages.`a-b`, which CEL has: the id stands in backquotes at i.
func quotedMention(text string, start, i int) mention {
	stop := skipString(text, i)
	id := strings.Trim(text[i:stop], "`")
	m := mention{id: id, word: start, start: i + 1, end: i + 1 + len(id), dotted: true, text: id}
	m.field, m.after = readField(text, stop)
	return m
}

// readField reads the name behind a dot, or in brackets and quotes, at i, and where it ends; "" if there is
// none.
func readField(text string, i int) (string, int) {
	i = skipSpace(text, i)
	if strings.HasPrefix(text[i:], "?.") {
		i++
	}
	switch {
	case strings.HasPrefix(text[i:], "."):
		i = skipSpace(text, i+1)
		from := i
		for i < len(text) && isWordByte(text[i]) {
			i++
		}
		return text[from:i], i
	case strings.HasPrefix(text[i:], "["):
		from := skipSpace(text, i+1)
		if from < len(text) && strings.IndexByte("\"'`", text[from]) >= 0 {
			if stop := skipString(text, from); stop >= from+2 {
				return text[from+1 : stop-1], min(skipSpace(text, stop)+1, len(text))
			}
		}
	}
	return "", i
}

// SucceededIn gives the ids of the stages that have succeeded wherever a condition holds. It sees only tests
// that are joined by "and" at the top: a condition with brackets, alternatives or negations tells nothing.
func SucceededIn(text string) map[string]bool {
	ms := scanMentions(text)
	if len(ms) == 0 || strings.ContainsAny(strings.ReplaceAll(text, "!=", ""), "!?|{(") {
		return nil
	}
	for _, word := range []string{"or", "not", "let", "if"} {
		if mentionsName(text, word) {
			return nil
		}
	}
	brackets := strings.Count(text, "[")
	for _, m := range ms {
		if !m.dotted {
			brackets--
		}
	}
	if brackets != 0 {
		return nil
	}
	out := make(map[string]bool)
	for _, m := range ms {
		if m.field == "status" && endsConjunct(text[:m.word]) && isSuccessTest(text[m.after:]) {
			out[m.id] = true
		}
	}
	return out
}

// isSuccessTest reports whether text begins with == "succeeded" and the next test, if any, is joined by
// "and".
func isSuccessTest(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "==")
	if !ok {
		return false
	}
	rest = strings.TrimSpace(rest)
	for _, quote := range []string{`"`, `'`, "`"} {
		if after, ok := strings.CutPrefix(rest, quote+"succeeded"+quote); ok {
			after = strings.TrimSpace(after)
			return after == "" || strings.HasPrefix(after, "&&") || strings.HasPrefix(after, "and")
		}
	}
	return false
}

// endsConjunct reports whether a test can begin behind text.
func endsConjunct(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || strings.HasSuffix(text, "&&") || strings.HasSuffix(text, " and")
}

// mentionsName reports whether the text has a word that is no field, and in no string.
func mentionsName(text, name string) bool {
	for i := 0; i < len(text); {
		switch ch := text[i]; {
		case ch == '"' || ch == '\'' || ch == '`':
			i = skipString(text, i)
		case isWordByte(ch):
			end := i
			for end < len(text) && isWordByte(text[end]) {
				end++
			}
			if text[i:end] == name && !behindDot(text, i) {
				return true
			}
			i = end
		default:
			i++
		}
	}
	return false
}

// skipString gives the offset behind the string that starts at i.
func skipString(text string, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote != '`':
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

// skipTo gives the offset behind the next mark from i on.
func skipTo(text string, i int, mark string) int {
	if k := strings.Index(text[min(i, len(text)):], mark); k >= 0 {
		return i + k + len(mark)
	}
	return len(text)
}

func skipSpace(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	return min(i, len(text))
}

// behindDot reports whether the word at i is a field of what stands before it. The dots of a range (a..b)
// are none.
func behindDot(text string, i int) bool {
	for i > 0 && strings.IndexByte(" \t\r\n", text[i-1]) >= 0 {
		i--
	}
	return i > 0 && text[i-1] == '.' && (i < 2 || text[i-2] != '.')
}

func isWordByte(ch byte) bool {
	return ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z' || ch >= '0' && ch <= '9' || ch == '_' || ch == '$'
}
