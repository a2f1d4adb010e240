package script

import (
	"fmt"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// block is a block scalar whose text starts on line 10 in column 7.
func block(text string) source.Scalar {
	var marks []source.Mark
	for at, line := 0, 10; at < len(text); line++ {
		marks = append(marks, source.Mark{Offset: at, Pos: source.Pos{Line: line, Col: 7}})
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return source.NewScalar(text, source.Span{Start: source.Pos{Line: 9, Col: 10}, End: source.Pos{Line: 99, Col: 1}}, marks)
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct{ script, shell, want string }{
		{"go test ./...\n", "", ""},
		{"if [[ -f x && y = z* ]]; then a=(1 2); fi\n", "", ""},
		{"echo one\nif true; then\n  echo\n", "", "11:7-11:9 error script-syntax the script of \"run\" does not parse as bash: `if` statement must end with `fi`"},
		{"echo one\necho )\n", "", "11:12-11:13 error script-syntax the script of \"run\" does not parse as bash: a command can only contain words and redirects; encountered `)`"},
		{"echo 'é'; echo \"two\n", "", "10:22-10:23 error script-syntax the script of \"run\" does not parse as bash: reached EOF without closing quote `\"`"},
		{"echo one &&\n", "", "10:16-10:17 error script-syntax the script of \"run\" does not parse as bash: `&&` must be followed by a statement"},
		{"a=(1 2)\n", "sh -eu", "10:9-10:10 warning script-language the script of \"run\" uses arrays, which sh may not know"},
		{"a=(1 2)\n", "/bin/bash -e", ""},
		{"print(\"hello\"\n", "python3", ""},
		{"if\n", "zsh", ""},
		{"  \n", "", `9:10-99:1 error script-empty "run" is empty, expected a shell script`},
		{"echo a\x00b\n", "", `10:13-10:14 error script-nul "run" holds a NUL character, which no shell takes`},
		{"echo ${{ inputs.x }}\nfi\n", "", "11:7-11:9 error script-syntax the script of \"run\" does not parse as bash: `fi` can only be used to end an `if`"},
		{"echo ${{ inputs.x\n", "", ""},
		{strings.Repeat("(", 1_000_000), "", "10:7-10:8 note script-unchecked the script of \"run\" is too long or nests too deeply to be checked"},
		{"echo '" + strings.Repeat("()", 2*maxNesting) + "'\n", "", ""},
		{strings.Repeat("echo $a\n", maxParsed), "", "10:7-10:8 note script-unchecked the script of \"run\" is too long or nests too deeply to be checked"},
		{strings.Repeat("(", 1_000_000), "python3", ""},
	} {
		var got []string
		NewChecker().Check(Written{"run", tc.script, tc.shell, block(tc.script)}, func(d diag.Diagnostic) {
			s, e := d.Span.Start, d.Span.End
			got = append(got, fmt.Sprintf("%d:%d-%d:%d %v %s %s", s.Line, s.Col, e.Line, e.Col, d.Severity, d.Code, d.Message))
		})
		if text := strings.Join(got, "\n"); text != tc.want {
			t.Errorf("%q: got\n%s\nwant\n%s", tc.script, text, tc.want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("if ${{ x", "")
	f.Add("é'", "sh")
	f.Fuzz(func(t *testing.T, script, shell string) {
		NewChecker().Check(Written{"run", script, shell, block(script)}, func(d diag.Diagnostic) {
			if d.Message == "" || d.Code == "" {
				t.Errorf("an empty diagnostic: %+v", d)
			}
		})
	})
}

// TestPlainScripts holds what is taken for plain against the parser: it has to parse.
func TestPlainScripts(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{
		"true": true, "go test ./...": true, "go build ./a\n\tgo vet ./a\n": true, "": true, "make -j2 all,docs": true,
		"if": false, "  done": false, "a=b": false, "echo $x": false, "a | b": false, "(a)": false, "x &": false,
		"time\tgo test": false, "a\nfi": false, "a\rb": false, "é": false, "# a": false, "!": false, "ls *": false,
	} {
		if got := isPlain(script); got != want {
			t.Errorf("isPlain(%q) = %t, want %t", script, got, want)
		}
	}
	words := append([]string{"a", "true", "./x", "-e", "1", "%", "@", ":", "..", ",", "[", "{", "}", "!", "#", "$x", "=", "&", ";"}, reserved[:]...)
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 6).Draw(rt, "words") {
			b.WriteString(rapid.SampledFrom(words).Draw(rt, "word"))
			b.WriteString(rapid.SampledFrom([]string{" ", "\n", "\t", "", "  "}).Draw(rt, "blank"))
		}
		script := b.String()
		for _, v := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX} {
			if err := NewChecker().parse(v, script); err != nil && isPlain(script) {
				rt.Fatalf("%q is taken for plain, and %v says: %v", script, v, err)
			}
		}
	})
}
