package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// repository is the repository's folder, seen from this package.
var repository = filepath.Join("..", "..")

// docFiles lists the documents for people.
func docFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents in docs: %v", err)
	}
	return append(files, filepath.Join(repository, "README.md"))
}

func readDoc(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDocTables holds what documents say of keys, functions, kinds and exit statuses to what the program declares.
// With -update the tables are written anew.
func TestDocTables(t *testing.T) {
	type table struct{ file, mark, text string }
	tables := []table{
		{"language.md", "functions", functionTable()},
		{"language.md", "kinds", kindTables()},
		{"feedback.md", "formats", formatTable()},
		{"running.md", "exit-codes", "```text\n" + exitCodesText + "```\n"},
	}
	for _, s := range specs.Reference() {
		tables = append(tables, table{"language.md", "keys of " + s.Name, keyTable(s)})
	}
	for _, table := range tables {
		file := filepath.Join(repository, "docs", table.file)
		text := readDoc(t, file)
		begin := regexp.MustCompile(`<!-- ` + table.mark + `: [^>]*-->\n`).FindStringIndex(text)
		if begin == nil {
			t.Errorf("%s has no place for the table of %s", table.file, table.mark)
			continue
		}
		end := strings.Index(text[begin[1]:], "<!-- end -->")
		if end < 0 {
			t.Fatalf("%s: the table of %s has no end", table.file, table.mark)
		}
		if text[begin[1]:begin[1]+end] == table.text {
			continue
		}
		if !*update {
			t.Errorf("%s: the table of %s differs from what the program declares; run this test with -update", table.file, table.mark)
			continue
		}
		text = text[:begin[1]] + table.text + text[begin[1]+end:]
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func functionTable() string {
	var b strings.Builder
	b.WriteString("| function | | example | in CEL | gives |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range expr.Functions() {
		cel := "the same"
		if f.CEL != f.Example {
			cel = "`" + cell(f.CEL) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | `%s` |\n", cell(f.Signature), cell(f.Doc), cell(f.Example), cel, cell(f.Result))
	}
	return b.String()
}

func kindTables() string {
	var b strings.Builder
	for _, k := range kinds(nil) {
		fmt.Fprintf(&b, "**%s.** %s\n\n| config | type | meaning | example |\n| --- | --- | --- | --- |\n", k.Name, k.Doc)
		for _, f := range k.Config {
			typ := f.Type.String()
			if len(f.Type.Enum) > 0 {
				typ = strings.Join(f.Type.Enum, " or ")
			}
			if f.Required {
				typ += ", required"
			}
			doc := f.Doc
			if f.Default != nil {
				doc += "; default " + value.Describe(f.Default)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", f.Name, cell(typ), cell(doc), cell(f.Example))
		}
		b.WriteByte('\n')
		for _, f := range k.Outputs {
			fmt.Fprintf(&b, "It gives the output `%s`, %s: %s.\n\n", f.Name, f.Type, f.Doc)
		}
	}
	return b.String()
}

// formatTable is what is declared of the formats of reports, and what becomes of their tools' words.
func formatTable() string {
	var b strings.Builder
	b.WriteString("| format | what it is | read from | exit statuses | severity |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range convert.Formats() {
		from := "stdout, or `path`"
		switch {
		case f == convert.Items:
			from = "`PIPE_FEEDBACK`, or `path`"
		case convert.NeedsFile(f):
			from = "`path`, which is required"
		case f == convert.GoVet, f == convert.Lines:
			from = "stdout and stderr, or `path`"
		}
		var statuses, words []string
		codes, _ := convert.Defaults(f)
		for _, c := range codes {
			statuses = append(statuses, strconv.Itoa(c))
		}
		if codes == nil {
			statuses = []string{"any"}
		}
		mapping, open := convert.Mapping(f)
		for _, w := range mapping {
			becomes := w.Severity.String()
			if w.Severity == feedback.UnknownSeverity {
				becomes = "no item"
			}
			words = append(words, "`"+w.Word+"` "+becomes)
		}
		if open {
			words = append(words, "others as `"+convert.OtherWord(f)+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f, cell(convert.Doc(f)), from, strings.Join(statuses, ", "), strings.Join(words, ", "))
	}
	return b.String()
}

// keyTable is what is declared of the keys of one mapping. Each leads to a document that shows its use.
func keyTable(s specs.Section) string {
	var b strings.Builder
	b.WriteString("| key | value | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, k := range s.Keys {
		shown := "../testdata/conformance/" + caseFile("good", s.Name, k.Name)
		fmt.Fprintf(&b, "| [`%s`](%s) | %s | %s | %s |\n", k.Name, shown, cell(valueText(k.Value)), cell(k.Default), cell(k.Doc))
	}
	return b.String()
}

// valueText says what a key may be: words that are written as they stand are code.
func valueText(v specs.Value) string {
	text := v.Form
	if len(v.Words) > 0 {
		text = strings.TrimPrefix(text+": `"+strings.Join(v.Words, "`, `")+"`", ": ")
		if v.Form == "" && v.Keys != "" {
			text += ", mapping"
		}
	}
	return strings.NewReplacer("true", "`true`", "false", "`false`").Replace(text)
}

// cell is a text in a cell of a Markdown table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func literal(t *testing.T, e ast.Expr) string {
	t.Helper()
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("want a literal, got %T", e)
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDocClasses asks for a row of language.md for each failure class that anything can fail with.
func TestDocClasses(t *testing.T) {
	_, text, _ := strings.Cut(readDoc(t, filepath.Join(repository, "docs", "language.md")), "\n## Failure classes")
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, "engine", "stage", "stage.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Class" {
			return true
		}
		class := literal(t, spec.Values[0])
		n++
		switch class {
		case "", "usage_limit", "auth": // success, and what no kind says
		default:
			if !strings.Contains(text, "\n| `"+class+"` |") {
				t.Errorf("language.md does not tell of the failure class %q", class)
			}
		}
		return true
	})
	if n < 10 {
		t.Errorf("found only %d classes", n)
	}
}

// example is a fenced block of a document: a file, whose first line "# path" names it, or a console.
type example struct {
	language, text string
	from, to       int // of the text in the document
}

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

func examples(text string) []example {
	var out []example
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, example{text[m[2]:m[3]], text[m[4]:m[5]], m[4], m[5]})
	}
	return out
}

// TestDocExamples puts the files of each document into a project, checks them, and runs the commands of its
// consoles: what they print must be what the document shows, but for times and ids. With -update what
// differs is written anew.
func TestDocExamples(t *testing.T) {
	for _, file := range docFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text := readDoc(t, file)
			dir := t.TempDir()
			pipelines := 0
			for _, e := range examples(text) {
				if !slices.Contains([]string{"yaml", "bash", "python"}, e.language) {
					continue
				}
				first, _, _ := strings.Cut(e.text, "\n")
				name, ok := strings.CutPrefix(first, "# ")
				if !ok || !filepath.IsLocal(name) {
					t.Fatalf("the first line of an example does not name its file:\n%s", e.text)
				}
				writeInto(t, filepath.Join(dir, name), e.text)
				if strings.HasPrefix(name, "pipelines/") {
					pipelines++
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "pipe.yaml")); err != nil {
				writeInto(t, filepath.Join(dir, "pipe.yaml"), "")
			}
			if pipelines > 0 {
				out, err := pipeCmd(dir, "check").CombinedOutput()
				if err != nil || !strings.Contains(string(out), "nothing found") {
					t.Errorf("check: %v\n%s", err, out)
				}
			}
			runConsoles(t, file, text, dir)
		})
	}
}

func writeInto(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runConsoles runs the commands of a document's consoles, in order, in one folder.
func runConsoles(t *testing.T, file, text, dir string) {
	t.Helper()
	got := text
	shift := 0 // of what follows what was written anew
	for _, e := range examples(text) {
		if e.language != "console" {
			continue
		}
		if !strings.HasPrefix(e.text, "$ ") {
			t.Fatalf("a console does not begin with a command:\n%s", e.text)
		}
		out := console(t, dir, e.text)
		if masked(out) == masked(e.text) {
			continue
		}
		if !*update {
			t.Errorf("the console shows\n%s\nand the program says\n%s", e.text, out)
			continue
		}
		got = got[:e.from+shift] + out + got[e.to+shift:]
		shift += len(out) - len(e.text)
	}
	if got != text {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// console runs the commands of a console and returns it with what they print.
func console(t *testing.T, dir, text string) string {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		out.WriteString(line)
		cmd := exec.Command("bash", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "USER=anna", "HOSTNAME=laptop", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		b, err := cmd.CombinedOutput()
		if err != nil && exitStatus(err) == 0 {
			t.Fatalf("%s: %v", command, err)
		}
		out.Write(bytes.ReplaceAll(b, []byte(dir), []byte("/home/anna/project")))
	}
	return out.String()
}

func masked(text string) string {
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.with)
	}
	return text
}

// TestDocCommands holds the commands that documents only name to the options that there are, and to the
// Makefile.
func TestDocCommands(t *testing.T) {
	makefile := readDoc(t, filepath.Join(repository, "Makefile"))
	n := 0
	for _, file := range docFiles(t) {
		for _, e := range examples(readDoc(t, file)) {
			if e.language != "sh" {
				continue
			}
			for line := range strings.Lines(e.text) {
				command, _, _ := strings.Cut(strings.TrimSpace(line), "#")
				if target, ok := strings.CutPrefix(command, "make "); ok {
					if !strings.Contains(makefile, "\n"+strings.TrimSpace(target)+":") {
						t.Errorf("%s: the Makefile has no target for %q", file, command)
					}
					continue
				}
				out, err := exec.Command("bash", "-c", strings.TrimSpace(command)+" --help").CombinedOutput()
				if err != nil {
					t.Errorf("%s: %s: %v\n%s", file, command, err, out)
				}
				n++
			}
		}
	}
	if n == 0 {
		t.Error("no document names a command")
	}
}

// TestDocLinks follows the links between documents.
func TestDocLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]*)(#[a-z-]+)?\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	n := 0
	for _, file := range docFiles(t) {
		for _, m := range link.FindAllStringSubmatch(readDoc(t, file), -1) {
			if strings.HasPrefix(m[1], "https://") {
				continue
			}
			n++
			to := file
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(file), m[1])
			}
			found := m[2] == ""
			for _, h := range heading.FindAllStringSubmatch(readDoc(t, to), -1) {
				found = found || "#"+strings.ReplaceAll(strings.ToLower(h[1]), " ", "-") == m[2]
			}
			if !found {
				t.Errorf("%s: %s has no heading for %q", file, to, m[2])
			}
		}
	}
	if n == 0 {
		t.Error("no document has a link")
	}
}
