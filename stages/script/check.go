package script

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// The codes of the diagnostics about scripts.
const (
	CodeEmpty     diag.Code = "script-empty"
	CodeNUL       diag.Code = "script-nul"
	CodeSyntax    diag.Code = "script-syntax"
	CodeLanguage  diag.Code = "script-language"
	CodeUnchecked diag.Code = "script-unchecked"
)

// Checker checks scripts. It keeps parsers: each has buffers that cost more than most scripts. It may be used by
// several goroutines.
type Checker struct{ bash, sh sync.Pool }

// NewChecker returns a checker.
func NewChecker() *Checker { return new(Checker) }

// Written is a script in a document.
type Written struct {
	Key   string // the key that holds it, for messages
	Text  string
	Shell string // the words of the shell; "": the default
	At    source.Scalar
}

// Check reports a script that is empty, or holds what no shell takes, and one for bash or sh that does not parse.
func (c *Checker) Check(w Written, to func(diag.Diagnostic)) {
	report := func(sev diag.Severity, code diag.Code, span source.Span, message, help string) {
		to(diag.Diagnostic{Severity: sev, Code: code, Span: span, Message: message, Help: help})
	}
	script, at, key := w.Text, w.At, strconv.Quote(w.Key)
	if strings.TrimSpace(script) == "" {
		report(diag.Error, CodeEmpty, at.Span, key+" is empty, expected a shell script", `write "true" for a stage that does nothing`)
		return
	}
	if i := strings.IndexByte(script, 0); i >= 0 {
		report(diag.Error, CodeNUL, at.At(i, i+1), key+" holds a NUL character, which no shell takes", "")
		return
	}
	variant, name, ok := variantOf(w.Shell)
	if !ok || isPlain(script) {
		return
	}
	if isVast(script) {
		report(diag.Note, CodeUnchecked, at.At(0, 1), "the script of "+key+" is too long or nests too deeply to be checked",
			"keep long scripts in files of the workspace")
		return
	}
	err := c.parse(variant, blank(script))
	var parse syntax.ParseError
	var lang syntax.LangError
	switch {
	case errors.As(err, &parse):
		report(diag.Error, CodeSyntax, place(at, script, int(parse.Pos.Offset())),
			"the script of "+key+" does not parse as "+name+": "+diag.Escape(parse.Text), "")
	case errors.As(err, &lang):
		// The shell of this machine may know the feature nevertheless.
		report(diag.Warning, CodeLanguage, place(at, script, int(lang.Pos.Offset())),
			"the script of "+key+" uses "+diag.Escape(lang.Feature)+", which "+name+" may not know",
			`name a shell that does, such as "shell: `+DefaultShell+`"`)
	case err != nil:
		report(diag.Error, CodeSyntax, at.Span, "the script of "+key+" does not parse as "+name+": "+diag.Escape(err.Error()), "")
	}
}

func (c *Checker) parse(variant syntax.LangVariant, script string) error {
	pool := &c.bash
	if variant == syntax.LangPOSIX {
		pool = &c.sh
	}
	parser, ok := pool.Get().(*syntax.Parser)
	if !ok {
		parser = syntax.NewParser(syntax.Variant(variant))
	}
	defer pool.Put(parser)
	_, err := parser.Parse(strings.NewReader(script), "")
	return err
}

// reserved are the words that make more than a simple command of a line that begins with them.
var reserved = [...]string{"case", "coproc", "declare", "do", "done", "elif", "else", "esac", "export", "fi", "for",
	"function", "if", "in", "let", "local", "nameref", "readonly", "select", "then", "time", "typeset", "until", "while"}

// isPlain reports whether a script is nothing but lines of simple commands, of words in which no character
// means anything to a shell: it parses, and needs no parser to say so. Most scripts of large pipelines are
// such lines.
func isPlain(script string) bool {
	for line := range strings.Lines(script) {
		for i := range len(line) {
			if c := line[i]; !isWord(c) && strings.IndexByte(" \t\n./:,@%-", c) < 0 {
				return false
			}
		}
		first, _, _ := strings.Cut(strings.Trim(line, " \t\n"), " ")
		first, _, _ = strings.Cut(first, "\t")
		if slices.Contains(reserved[:], first) {
			return false
		}
	}
	return true
}

// The bounds of a script that is parsed. The parser goes as deep into the stack as a script nests, and a stack
// that is full can't be recovered from.
const (
	maxParsed  = 128 << 10 // bytes
	maxNesting = 1000      // brackets that are open
)

// isVast reports whether a script is too long or nests too deeply to be parsed here; the shell will see. The
// brackets of quoted text count too.
func isVast(script string) bool {
	open := 0
	for i := range len(script) {
		switch script[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(open-1, 0)
		}
		if open > maxNesting {
			return true
		}
	}
	return len(script) > maxParsed
}

// variantOf returns the shell language that is checked: false if the shell isn't one that we can parse.
func variantOf(shell string) (v syntax.LangVariant, name string, ok bool) {
	words := strings.Fields(shell)
	if len(words) == 0 {
		words = strings.Fields(DefaultShell)
	}
	switch path.Base(words[0]) {
	case "bash":
		return syntax.LangBash, "bash", true
	case "sh", "dash":
		return syntax.LangPOSIX, "sh", true
	}
	return 0, "", false
}

// blank writes underscores over ${{ }}, which has a diagnostic of its own, so that the rest of the script is
// still looked at. Lengths and lines stay.
func blank(script string) string {
	if !strings.Contains(script, "${{") {
		return script
	}
	b := []byte(script)
	for from := 0; ; {
		open := strings.Index(script[from:], "${{")
		if open < 0 {
			return string(b)
		}
		start := from + open
		end := len(script)
		if n := strings.Index(script[start:], "}}"); n >= 0 {
			end = start + n + len("}}")
		}
		for i := start; i < end; i++ {
			if b[i] != '\n' {
				b[i] = '_'
			}
		}
		from = end
	}
}

// place returns the span of the word, or else the character, at an offset of the script. At its end, where
// something is missing, that is the last character that isn't blank.
func place(at source.Scalar, script string, offset int) source.Span {
	if offset >= len(script) {
		offset = max(len(strings.TrimRight(script, " \t\n"))-1, 0)
		for offset > 0 && !utf8.RuneStart(script[offset]) {
			offset--
		}
	}
	end := offset
	for end < len(script) && isWord(script[end]) {
		end++
	}
	if end == offset {
		_, size := utf8.DecodeRuneInString(script[offset:])
		end += size
	}
	return at.At(offset, end)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
