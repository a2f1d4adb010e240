package expr

import (
	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr/cel"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// parseCEL reads an expression in CEL; the tree is nil if nothing of it can be checked.
func parseCEL(src source.Scalar) (tree *cel.Tree, diags []diag.Diagnostic) {
	defer func() {
		if r := recover(); r != nil { // the parser is not ours: a text that upsets it is a mistake of the author
			tree, diags = nil, []diag.Diagnostic{problem(src, wholeOf(src), CodeSyntax, "the expression can't be read: write it in a simpler way")}
		}
	}()
	if d, bad := wrongSize(src); bad {
		return nil, []diag.Diagnostic{d}
	}
	tree, p := cel.Read(src.Text, cel.Limits{Nodes: MaxNodes, Nesting: MaxNesting})
	if p != nil {
		return nil, []diag.Diagnostic{celProblem(src, *p)}
	}
	for _, p := range tree.Problems {
		diags = append(diags, celProblem(src, p))
	}
	return tree, diags
}

func celProblem(src source.Scalar, p cel.Problem) diag.Diagnostic {
	code := map[cel.Kind]diag.Code{
		cel.Syntax:     CodeSyntax,
		cel.Sentence:   CodeNotExpression,
		cel.TooLarge:   CodeTooLarge,
		cel.NotOffered: CodeNotOffered,
		cel.BadCall:    CodeType,
		cel.NoFunction: CodeUnknownFunction,
	}[p.Kind]
	d := problem(src, p.At, code, "%s", p.Message)
	d.Help = p.Help
	return d
}

// CompileCEL is Compile for an expression that is written in CEL.
func CompileCEL(src source.Scalar, env value.Type, want value.Type) (*Program, []diag.Diagnostic) {
	return NewEnv(env).CompileCEL(src, want)
}

// PlainCEL returns a text in CEL for those who look for names in it: of the same length, with strings,
// quoted names and optional members as the other language writes them, and blanks for comments.
func PlainCEL(text string) string { return cel.Plain(text) }

// CutCEL cuts a text in CEL that joins texts with "+" into what is joined: the texts that stand there as they
// are, and expressions. It is for who treats what comes from elsewhere apart. What is no such text, or no CEL,
// is one piece.
func CutCEL(src source.Scalar) []Piece {
	whole := []Piece{{Expr: src, IsExpr: true}}
	tree, diags := parseCEL(src)
	if tree == nil || len(diags) > 0 {
		return whole
	}
	var pieces []Piece
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BinaryNode:
			if n.Operator == "+" {
				walk(n.Left)
				walk(n.Right)
				return
			}
		case *ast.StringNode:
			pieces = append(pieces, Piece{Text: n.Value})
			return
		}
		at := tree.Places[n].Extent
		pieces = append(pieces, Piece{Expr: cut(src, at.From, at.To), IsExpr: true})
	}
	walk(tree.Root)
	if len(pieces) == 1 {
		return whole
	}
	return pieces
}
