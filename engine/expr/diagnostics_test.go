package expr

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func field(name string, t value.Type) value.FieldType { return value.FieldType{Name: name, Type: t} }

// sampleScope is the type of a scope as a pipeline has it.
func sampleScope() value.Type {
	item := value.ObjectOf(field("severity", value.OneOf("blocking", "advisory")), field("line", intType.OrNull()))
	return value.ObjectOf(
		field("inputs", value.ObjectOf(
			field("fast", boolType), field("n", intType), field("x", numberType), field("s", stringType),
			field("complexity", value.OneOf("low", "medium", "high")),
			field("files", value.ListOf(stringType)), field("any", anyType))),
		field("stages", value.ObjectOf(
			field("build-all-v2", value.OpenObjectOf(field("c-d", intType))),
			field("a-b", value.ObjectOf(field("status", value.OneOf("succeeded", "failed", "skipped")))),
			field("plan", value.ObjectOf(
				field("status", value.OneOf("succeeded", "skipped")),
				field("outputs", value.ObjectOf(
					field("n", intType.OrNull()),
					field("o", value.ObjectOf(field("z", stringType)).OrNull()))))))),
		field("my-name", stringType),
		field("open_items", value.ListOf(item)),
	)
}

// TestDiagnostics compares what is wrong with each expression of the file, with the very text that each
// diagnostic points at.
func TestDiagnostics(t *testing.T) {
	compareDiagnostics(t, "testdata/diagnostics.txt", ownLanguage, 150)
}

func TestDiagnosticsOfCEL(t *testing.T) {
	compareDiagnostics(t, "testdata/diagnostics_cel.txt", celLanguage, 100)
}

func compareDiagnostics(t *testing.T, golden string, lang language, least int) {
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	env := NewEnv(sampleScope())
	var out strings.Builder
	exprs := 0
	for _, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, "#") {
			fmt.Fprintln(&out, line)
		}
		src, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		exprs++
		fmt.Fprintln(&out, line)
		writeOutcome(&out, lang, env, src)
	}
	if exprs < least {
		t.Fatalf("read %d expressions, expected the whole file", exprs)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if out.String() != string(data) {
		t.Errorf("%s is not what is said now; run with -update and look at the difference\n%s", golden, firstDifference(string(data), out.String()))
	}
}

func writeOutcome(out *strings.Builder, lang language, env *Env, src string) {
	sc := plain(src)
	p, ds := compilers[lang](env, sc, value.Type{})
	for _, d := range ds {
		word := "error"
		if d.Severity == diag.Warning {
			word = "warning"
		}
		fmt.Fprintf(out, "  at `%s` %s: %s [%s]\n", pointedAt(src, d.Span), word, d.Message, d.Code)
		if d.Help != "" {
			fmt.Fprintf(out, "    help: %s\n", d.Help)
		}
	}
	if p == nil {
		return
	}
	fmt.Fprintf(out, "  %s", p.Type())
	for _, r := range p.Refs() {
		guarded := ""
		if r.Guarded {
			guarded = "?"
		}
		fmt.Fprintf(out, " <%s%s>", strings.Join(r.Path, "."), guarded)
	}
	fmt.Fprintln(out)
}

// pointedAt returns the text of a span on the first line.
func pointedAt(src string, sp source.Span) string {
	runes := []rune(src)
	from, to := min(sp.Start.Col-1, len(runes)), min(sp.End.Col-1, len(runes))
	return string(runes[from:to])
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n was %s\n now %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, now %d", len(x), len(y))
}
