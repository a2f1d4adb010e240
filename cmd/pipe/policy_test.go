package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "example.com/pipe"

// pure packages, with all that lies below them, decide or describe: no file, process, clock, chance, goroutine or lock may reach them.
var pure = []string{"engine/source", "engine/diag", "engine/value", "engine/expr", "engine/plan", "engine/compile",
	"engine/check", "engine/explain", "engine/feedback", "engine/step", "engine/machine", "engine/toolchain", "engine/view"}

// impureImports are what a pure package must not import, with all that lies below.
var impureImports = []string{"os", "net", "os/exec", "context", "sync", "log", "math/rand", "crypto/rand", "testing", "unsafe"}

// withGoroutines may start goroutines: each has one owner that waits for them.
var withGoroutines = []string{"engine/driver", "engine/proc", "cmd/pipe", "cmd/pipe/live"}

// goPackage is what `go list -json` says about a package.
type goPackage struct {
	ImportPath     string
	Dir            string
	GoFiles        []string
	IgnoredGoFiles []string
	Imports        []string
	Standard       bool
}

func (p *goPackage) path() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// listPackages gives the packages of the module.
func listPackages(t *testing.T) []*goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,IgnoredGoFiles,Imports,Standard", "./...")
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var list []*goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(goPackage)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles)+len(p.IgnoredGoFiles) > 0 {
			list = append(list, p)
		}
	}
	if len(list) < 5 {
		t.Fatalf("go list found %d packages, expected the whole module", len(list))
	}
	return list
}

// sourceFiles is a package's files as a syntax tree.
type sourceFiles struct {
	*goPackage
	fset  *token.FileSet
	files []*ast.File
}

func parsePackage(t *testing.T, p *goPackage) *sourceFiles {
	t.Helper()
	s := &sourceFiles{goPackage: p, fset: token.NewFileSet()}
	names := slices.Clone(p.GoFiles)
	for _, name := range p.IgnoredGoFiles { // files for another system
		if !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
	}
	for _, name := range names {
		f, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	return s
}

func (s *sourceFiles) at(pos token.Pos) string {
	p := s.fset.Position(pos)
	return fmt.Sprintf("%s/%s:%d", s.path(), filepath.Base(p.Filename), p.Line)
}

// row is what the table allows a package.
type row struct {
	inside, modules []string
	used            map[string]bool
	why             string
}

func readTable(t *testing.T, name string) map[string]*row {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	table, last := map[string]*row{}, (*row)(nil)
	for i, line := range strings.Split(string(data), "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case line[0] == ' ' && last != nil:
			last.why += text
		default:
			path, rest, ok := strings.Cut(text, ":")
			inside, modules, ok2 := strings.Cut(rest, ";")
			if !ok || !ok2 {
				t.Fatalf("%s:%d: expected \"package : ours ; others\", got %q", name, i+1, text)
			}
			last = &row{inside: words(inside), modules: words(modules), used: map[string]bool{}}
			path = strings.TrimSpace(path)
			if table[path] != nil {
				t.Errorf("%s:%d: package %q stands here twice", name, i+1, path)
			}
			table[path] = last
		}
	}
	return table
}

func words(s string) []string {
	list := strings.Fields(s)
	return slices.DeleteFunc(list, func(w string) bool { return w == "-" })
}

// isBelow reports whether path is root or lies below it.
func isBelow(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func TestImportPolicy(t *testing.T) {
	table := readTable(t, filepath.Join("testdata", "imports.txt"))
	for _, p := range listPackages(t) {
		r := table[p.path()]
		if r == nil {
			t.Errorf("package %q has no row in testdata/imports.txt; add one with a reason", p.path())
			continue
		}
		r.used[""] = true
		for _, imp := range p.Imports {
			checkImport(t, p.path(), r, imp)
		}
	}
	for path, r := range table {
		if !r.used[""] {
			t.Errorf("testdata/imports.txt: package %q does not exist; remove its row", path)
			continue
		}
		if r.why == "" {
			t.Errorf("testdata/imports.txt: the row of %q gives no reason", path)
		}
		for _, allowed := range append(slices.Clone(r.inside), r.modules...) {
			if !r.used[allowed] {
				t.Errorf("testdata/imports.txt: %q imports nothing of %q any more; remove it from the row", path, allowed)
			}
		}
	}
}

func checkImport(t *testing.T, path string, r *row, imp string) {
	t.Helper()
	allowed := r.modules
	switch first, _, _ := strings.Cut(imp, "/"); {
	case isBelow(imp, module):
		imp, allowed = strings.TrimPrefix(imp, module+"/"), r.inside
		if slices.Contains(allowed, imp) {
			r.used[imp] = true
			return
		}
	case !strings.Contains(first, "."): // the standard library
		return
	default:
		for _, a := range allowed { // a module stands for all that lies below it
			if isBelow(imp, a) {
				r.used[a] = true
				return
			}
		}
	}
	t.Errorf("package %q imports %q, which testdata/imports.txt does not allow it", path, imp)
}

func TestPurePackages(t *testing.T) {
	for _, p := range listPackages(t) {
		if !slices.ContainsFunc(pure, func(root string) bool { return isBelow(p.path(), root) }) {
			continue
		}
		s := parsePackage(t, p)
		for _, f := range s.files {
			for _, spec := range f.Imports {
				imp, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(impureImports, func(root string) bool { return isBelow(imp, root) }) {
					t.Errorf("%s: a pure package imports %q; take it as an argument instead", s.at(spec.Pos()), imp)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if name, ok := clockUse(n); ok {
					t.Errorf("%s: a pure package uses %q; take the time as an argument instead", s.at(n.Pos()), name)
				}
				return true
			})
		}
	}
}

// clockUse recognises what reads the clock or waits for it.
func clockUse(n ast.Node) (string, bool) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok || id.Name != "time" {
		return "", false
	}
	name := sel.Sel.Name
	switch {
	case strings.HasPrefix(name, "New"), strings.HasPrefix(name, "After"):
	case slices.Contains([]string{"Now", "Since", "Until", "Sleep", "Tick"}, name):
	default:
		return "", false
	}
	return "time." + name, true
}

func TestGoroutines(t *testing.T) {
	for _, p := range listPackages(t) {
		if slices.Contains(withGoroutines, p.path()) {
			continue
		}
		s := parsePackage(t, p)
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if g, ok := n.(*ast.GoStmt); ok {
					t.Errorf("%s: package %q starts a goroutine; only %s do", s.at(g.Pos()), p.path(), strings.Join(withGoroutines, ", "))
				}
				if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
					if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
						t.Errorf("%s: package %q starts a goroutine; only %s do", s.at(call.Pos()), p.path(), strings.Join(withGoroutines, ", "))
					}
				}
				return true
			})
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range listPackages(t) {
		s := parsePackage(t, p)
		doc := ""
		for _, f := range s.files {
			if f.Doc != nil {
				doc += f.Doc.Text()
			}
		}
		lead := "Package " + s.files[0].Name.Name + " "
		if s.files[0].Name.Name == "main" {
			lead = "Command " + filepath.Base(p.Dir) + " "
		}
		if !strings.HasPrefix(doc, lead) {
			t.Errorf("package %q has no package comment that begins with %q", p.path(), lead)
		}
		if len(doc) < 150 {
			t.Errorf("package %q has a comment of %d characters; it states purpose, words, contract, and what it does not do", p.path(), len(doc))
		}
	}
}

// TestNoHiddenState finds init functions and package variables that change, below engine/.
func TestNoHiddenState(t *testing.T) {
	for _, p := range listPackages(t) {
		if !isBelow(p.path(), "engine") {
			continue
		}
		s := parsePackage(t, p)
		scope, uses := resolve(s)
		for _, f := range s.files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s: no init function below engine/", s.at(fn.Pos()))
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				for _, target := range changed(n) {
					if id := root(target); id != nil && isPackageVar(scope, uses[id]) {
						t.Errorf("%s: package variable %q changes; below engine/ none does", s.at(n.Pos()), id.Name)
					}
				}
				return true
			})
		}
	}
}

// resolve says what each identifier of a package stands for. What is imported stays unknown: only names of
// the package itself matter here.
func resolve(s *sourceFiles) (*types.Scope, map[*ast.Ident]types.Object) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check(s.ImportPath, s.fset, s.files, info) // its errors are those of the missing imports
	return pkg.Scope(), info.Uses
}

type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("import %q is not looked at", path)
}

// changed gives the expressions that a statement assigns to.
func changed(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// root gives the variable that an expression such as x.f[i] or *x belongs to.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func isPackageVar(scope *types.Scope, obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && v.Parent() == scope
}
