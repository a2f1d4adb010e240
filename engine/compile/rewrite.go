package compile

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/source"
)

// templateInRun reports ${{ }} in a script, once for each script; help says how else it gets its values.
func templateInRun(run *source.Scalar, diags *diag.List, help func() string) {
	if !expr.HasExpr(run.Text) {
		return
	}
	from := strings.Index(run.Text, "${{")
	to := from + len("${{")
	if end := strings.Index(run.Text[from:], "}}"); end >= 0 {
		to = from + end + len("}}")
	}
	d := diags.Errorf(CodeTemplateInRun, run.At(from, to), "${{ }} is not evaluated in run, so that no value can become a piece of a script")
	d.Help = help()
}

// rewriteRun gives the lines that hand a stage's script its values through the environment.
func rewriteRun(s *stageInfo) string {
	run := *s.syn.Run
	pieces, _ := expr.SplitTemplate(run)
	names := make(map[string]string) // by expression
	taken := make(map[string]bool)
	for _, e := range s.syn.Env {
		taken[e.Name.Value] = true
	}
	var env, script strings.Builder
	var quote byte
	for k, p := range pieces {
		if !p.IsExpr {
			quote = quoteAfter(quote, p.Text)
			script.WriteString(p.Text)
			continue
		}
		src := strings.TrimSpace(p.Expr.Text)
		name, ok := names[src]
		if !ok {
			name = envNameFor(src, taken)
			names[src], taken[name] = name, true
			fmt.Fprintf(&env, "\n  %s: %s", name, quoteYAML("${{ "+src+" }}"))
		}
		after := ""
		if k+1 < len(pieces) {
			after = pieces[k+1].Text
		}
		script.WriteString(variable(name, quote, after))
	}
	if env.Len() == 0 {
		return "give the script its values through env"
	}
	text := strings.ReplaceAll(script.String(), `''"$`, `"$`) // '${{ x }}' leaves empty quotes
	text = strings.ReplaceAll(text, `"''`, `"`)
	return "give the script its values through env:\nenv:" + env.String() + "\nrun: |" + indent(text)
}

// quoteAfter gives the quote of the shell that is open behind text, which begins inside of the given one.
func quoteAfter(open byte, text string) byte {
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '\\' && open != '\'':
			i++
		case open == 0 && (ch == '"' || ch == '\''):
			open = ch
		case ch == open:
			open = 0
		}
	}
	return open
}

// isWord reports whether a byte behind a variable's name would be taken for a part of it.
func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// variable reads a variable of the shell inside of the given quote, so that its value stays one word.
func variable(name string, quote byte, after string) string {
	switch {
	case quote == '\'':
		return `'"$` + name + `"'`
	case quote == 0:
		return `"$` + name + `"`
	case after != "" && (isWord(after[0]) || after[0] == '['):
		return "${" + name + "}"
	}
	return "$" + name
}

// envNameFor makes an environment variable's name of the last word of an expression.
func envNameFor(src string, taken map[string]bool) string {
	words := strings.FieldsFunc(src, func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
	name := "VALUE"
	for i := len(words) - 1; i >= 0; i-- {
		if w := strings.ToUpper(words[i]); (w[0] < '0' || w[0] > '9') && !strings.HasPrefix(w, "PIPE_") {
			name = w
			break
		}
	}
	switch name {
	case "PATH", "HOME", "USER", "SHELL", "TERM", "LANG", "TMPDIR", "PWD", "IFS", "ENV":
		name = "INPUT_" + name // the shell has its own of that name
	}
	out := name
	for n := 2; taken[out]; n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	return out
}

// quoteYAML writes a text as a quoted YAML scalar.
func quoteYAML(s string) string {
	if strings.ContainsAny(s, "\"\\\n") {
		if !strings.Contains(s, "\n") {
			return "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
		s = strings.Join(strings.Fields(s), " ")
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return `"` + s + `"`
}

// indent puts a script under its key, cut after a few lines.
func indent(script string) string {
	const most = 8
	lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
	var b strings.Builder
	for i, l := range lines {
		if i == most {
			b.WriteString("\n  …")
			break
		}
		b.WriteString("\n  " + l)
	}
	return b.String()
}
