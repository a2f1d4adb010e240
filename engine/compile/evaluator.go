package compile

import (
	"errors"

	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// NewEvaluator gives the evaluator of a run's expressions. It compiles each when it first meets it, against
// the types that the plan keeps with it, so that a result does not depend on which program made the plan.
// It is not for concurrent use; evaluating is pure.
func NewEvaluator() plan.Evaluator {
	return &evaluator{programs: make(map[programKey]*expr.Program)}
}

type evaluator struct {
	programs map[programKey]*expr.Program
}

// programKey tells expressions apart: the same text elsewhere may read other types, and has another place.
type programKey struct {
	lang         plan.Language
	source, file string
	at           source.Pos
	types        string // of an expression without a place, which a document does not have
}

// Eval implements plan.Evaluator.
func (ev *evaluator) Eval(e plan.Expr, scope *value.Object) (value.Value, error) {
	key := programKey{lang: e.Language, source: e.Source, file: e.File, at: e.At}
	if !e.At.IsValid() {
		key.types = plan.TypeText(e.Type) + " " + plan.TypeText(e.Scope)
	}
	p, ok := ev.programs[key]
	if !ok {
		sc := source.NewScalar(e.Source, source.Span{File: e.File, Start: e.At, End: e.At}, nil)
		var errs []error
		compile := expr.Compile
		if e.Language == plan.CELLanguage {
			compile = expr.CompileCEL
		}
		prog, ds := compile(sc, e.Scope, e.Type)
		for _, d := range ds {
			errs = append(errs, errors.New(d.Message))
		}
		if prog == nil {
			return nil, &plan.EvalError{File: e.File, At: e.At, Err: errors.Join(errs...)}
		}
		p = prog
		ev.programs[key] = p
	}
	v, err := p.Eval(scope)
	if err != nil {
		return nil, located(e, err)
	}
	return v, nil
}

// located gives an evaluation's error with the expression's place. A place inside an expression of several
// lines is only known to the line where it begins, so the expression's own place stands for it.
func located(e plan.Expr, err error) error {
	out := &plan.EvalError{File: e.File, At: e.At, Err: err}
	if x, ok := errors.AsType[*expr.Error](err); ok {
		out.Err = errors.New(x.Message)
	}
	return out
}
