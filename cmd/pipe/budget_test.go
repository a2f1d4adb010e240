package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// limit is a budget: what is over soft needs a row with a reason in testdata/budgets.txt; what is over hard
// is too much, and a reason that lets it pass all the same begins with "hard: ".
type limit struct{ soft, hard int }

const noLimit = 1 << 30

// The budgets of the house style.
var limits = map[string]limit{
	"file":     {400, 700},
	"function": {60, 100},
	"struct":   {15, noLimit},
	"methods":  {20, noLimit},
	"package":  {1500, 3000},
}

// measure is the size of one thing.
type measure struct {
	kind, name string
	size       int
	flat       bool // a function that is little more than one switch: it has no limit
	at         string
}

func TestBudgets(t *testing.T) {
	reasons := readBudgets(t, filepath.Join("testdata", "budgets.txt"))
	used := map[string]bool{}
	for _, p := range listPackages(t) {
		for _, m := range measurePackage(parsePackage(t, p)) {
			key := m.kind + " " + m.name
			l := limits[m.kind]
			switch {
			case m.size <= l.soft || m.flat:
			case m.size > l.hard && !strings.HasPrefix(reasons[key], "hard: "):
				t.Errorf("%s: %s has a size of %d, at most %d is allowed", m.at, key, m.size, l.hard)
			case reasons[key] == "":
				t.Errorf("%s: %s has a size of %d, over %d; make it smaller, or say why not in testdata/budgets.txt",
					m.at, key, m.size, l.soft)
			}
			if m.size > l.soft && !m.flat {
				used[key] = true
			}
		}
	}
	for key := range reasons {
		if !used[key] {
			t.Errorf("testdata/budgets.txt: %q is within its budget, or gone; remove the row", key)
		}
	}
}

func readBudgets(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, why, ok := strings.Cut(line, ": ")
		if !ok || strings.TrimSpace(why) == "" {
			t.Fatalf("%s:%d: expected \"kind name: why\", got %q", name, i+1, line)
		}
		reasons[key] = why
	}
	return reasons
}

func measurePackage(s *sourceFiles) []measure {
	total := 0
	methods := map[string]int{}
	first := map[string]string{}
	var order []string
	var out []measure
	for _, f := range s.files {
		name := filepath.Base(s.fset.Position(f.Pos()).Filename)
		lines := s.fset.Position(f.End()).Line
		total += lines
		out = append(out, measure{"file", s.path() + "/" + name, lines, false, s.at(f.Pos())})
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				recv := receiver(d)
				if recv != "" {
					if methods[recv] == 0 {
						order = append(order, recv)
						first[recv] = s.at(d.Pos())
					}
					methods[recv]++
					recv += "."
				}
				lines := s.fset.Position(d.End()).Line - s.fset.Position(d.Pos()).Line + 1
				out = append(out, measure{"function", s.path() + "." + recv + d.Name.Name, lines, isFlat(s.fset, d), s.at(d.Pos())})
			case *ast.GenDecl:
				out = append(out, measureStructs(s, d)...)
			}
		}
	}
	for _, recv := range order {
		out = append(out, measure{"methods", s.path() + "." + recv, methods[recv], false, first[recv]})
	}
	return append(out, measure{"package", s.path(), total, false, s.path()})
}

func measureStructs(s *sourceFiles, d *ast.GenDecl) []measure {
	var out []measure
	for _, spec := range d.Specs {
		ts, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		st, ok := ts.Type.(*ast.StructType)
		if !ok {
			continue
		}
		n := 0
		for _, field := range st.Fields.List {
			n += max(len(field.Names), 1)
		}
		out = append(out, measure{"struct", s.path() + "." + ts.Name.Name, n, false, s.at(ts.Pos())})
	}
	return out
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return fmt.Sprintf("%T", e)
		}
	}
}

// isFlat reports whether a function is a table: nine tenths of it are one switch or one literal.
func isFlat(fset *token.FileSet, d *ast.FuncDecl) bool {
	if d.Body == nil {
		return false
	}
	lines := func(n ast.Node) int { return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1 }
	for _, stmt := range d.Body.List {
		switch stmt.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.ReturnStmt:
			if lines(stmt)*10 >= lines(d)*9 {
				return true
			}
		}
	}
	return false
}

func TestMeasures(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		if p.path() != "cmd/pipe" {
			continue
		}
		ms := measurePackage(parsePackage(t, p))
		if len(ms) < 10 {
			t.Errorf("measured %s things in cmd/pipe, expected its files, functions and structs", strconv.Itoa(len(ms)))
		}
	}
}
