package document

import "strings"

// words says in an author's words what the parser's message means.
func words(message string) string {
	for _, m := range []struct{ has, say string }{
		{"mapping values are not allowed", "a second \": \" in this line; YAML takes it for a key and its value"},
		{"did not find expected key", "this line does not fit the keys above it: its indentation differs, or the value before it goes on"},
		{"did not find expected '-' indicator", "this line does not fit the lines above it: its indentation is neither that of their keys nor that of their \"- \""},
		{"did not find expected ',' or '}'", "this \"{\" is not closed, or a \",\" is missing in it"},
		{"did not find expected ',' or ']'", "this \"[\" is not closed, or a \",\" is missing in it"},
		{"did not find expected node content", "a value is missing here"},
		{"found unexpected end of stream", "this quoted text is not closed"},
		{"found unexpected document indicator", "this quoted text is not closed before the next document"},
		{"found character that cannot start any token", "no value can start with this character"},
		{tabMessage, "a tab can't indent a line; use spaces"},
		{"block sequence entries are not allowed", "a list cannot start here; put it on lines of its own below its key"},
		{"found unknown escape character", "a \"\\\" in double quotes starts an escape that YAML does not know"},
		{"could not find expected ':'", "a key needs \": \" and a value"},
		{"unknown anchor", ""},
		{"did not find expected comment or line break", "behind \"|\" or \">\" the line ends; the text starts on the next one"},
		{"exceeded max depth", "values are nested too deeply"},
	} {
		if strings.Contains(message, m.has) && m.say != "" {
			return m.say
		}
	}
	return strings.ReplaceAll(message, "'", "\"")
}

// syntaxHelp returns what to do about a syntax error, where the words do not say it.
func syntaxHelp(message, line string) string {
	switch {
	case strings.Contains(message, "unknown escape"):
		return `write "\\" for a backslash, or use single quotes`
	case strings.Contains(message, "unknown anchor"):
		return "an alias \"*name\" needs a value marked \"&name\" above it; text that starts with \"*\" must be quoted"
	case !strings.Contains(message, tabMessage) && strings.Contains(line, "\t") && strings.TrimLeft(line, " ") != "" && strings.TrimLeft(line, " ")[0] == '\t':
		return "indent with spaces"
	}
	return ""
}
