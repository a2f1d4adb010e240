package eval

import (
	"math"
	"math/bits"
	"strings"

	"example.com/pipe/engine/value"
)

// Binary is an operator whose sides are both evaluated first.
type Binary struct {
	Span
	Op          string
	Left, Right Node
	Lists       bool // "+" joins lists too
	Whole       bool // "/" takes two integers and drops the fraction
}

func (n *Binary) eval(r *run) (value.Value, error) {
	a, err := r.eval(n.Left)
	if err != nil {
		return nil, err
	}
	b, err := r.eval(n.Right)
	if err != nil {
		return nil, err
	}
	switch n.Op {
	case "==", "!=":
		same, err := r.equal(n.Span, a, b)
		return same == (n.Op == "=="), err
	case "in":
		return n.contains(r, a, b)
	case "<", "<=", ">", ">=":
		return n.compare(r, a, b)
	case "+":
		if x, ok := a.(string); ok {
			if y, ok := b.(string); ok {
				return x + y, r.alloc(n.Span, len(x)+len(y))
			}
		}
		if x, ok := a.(value.List); ok && n.Lists {
			if y, ok := b.(value.List); ok {
				return evalConcat(r, n.Span, []value.Value{x, y})
			}
		}
	}
	return n.arithmetic(a, b)
}

func (n *Binary) contains(r *run, a, b value.Value) (value.Value, error) {
	switch in := b.(type) {
	case value.List:
		for _, e := range in {
			if same, err := r.equal(n.Span, a, e); err != nil || same {
				return same, err
			}
		}
		return false, nil
	case *value.Object:
		name, ok := a.(string)
		if !ok {
			return nil, faultf(n.Left.Place(), "in: the fields of an object have names: want string, got %s", value.Describe(a))
		}
		_, has := in.Get(name)
		return has, nil
	default:
		return nil, faultf(n.Right.Place(), "in: want a list or an object, got %s", value.Describe(b))
	}
}

func (n *Binary) compare(r *run, a, b value.Value) (value.Value, error) {
	var c int
	x, isText := a.(string)
	y, bothText := b.(string)
	switch {
	case isText && bothText:
		if err := r.read(n.Span, x); err != nil {
			return nil, err
		}
		c = strings.Compare(x, y)
	case isNumber(a) && isNumber(b):
		c = value.CompareNumbers(a, b)
	default:
		return nil, faultf(n.Span, "%s: want two numbers or two strings, got %s and %s", n.Op, value.Describe(a), value.Describe(b))
	}
	switch n.Op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	default:
		return c >= 0, nil
	}
}

func isNumber(v value.Value) bool {
	switch v.(type) {
	case int64, float64:
		return true
	default:
		return false
	}
}

func (n *Binary) arithmetic(a, b value.Value) (value.Value, error) {
	if !isNumber(a) || !isNumber(b) {
		want := "two numbers"
		if n.Op == "+" {
			want = "two numbers or two strings"
		}
		return nil, faultf(n.Span, "%s: want %s, got %s and %s", n.Op, want, value.Describe(a), value.Describe(b))
	}
	x, xInt := asInt(a)
	y, yInt := asInt(b)
	if n.Op == "%" {
		return n.remainder(a, b, x, y, xInt && yInt)
	}
	if n.Op == "/" {
		return n.quotient(a, b, x, y, xInt && yInt)
	}
	if xInt && yInt {
		v, ok := intOp(n.Op, x, y)
		if !ok {
			return nil, faultf(n.Span, "%s: %d and %d give a number that does not fit 64 bits", n.Op, x, y)
		}
		return v, nil
	}
	return floatOp(n.Span, n.Op, toFloat(a), toFloat(b))
}

func (n *Binary) remainder(a, b value.Value, x, y int64, whole bool) (value.Value, error) {
	switch {
	case !whole:
		return nil, faultf(n.Span, "%%: want two integers, got %s and %s", value.Describe(a), value.Describe(b))
	case y == 0:
		return nil, faultf(n.Right.Place(), "%%: the divisor is 0")
	case y == -1: // the processor traps on the smallest integer
		return int64(0), nil
	default:
		return x % y, nil
	}
}

// quotient is exact: 4 / 2 is the integer 2, 5 / 2 is 2.5.
func (n *Binary) quotient(a, b value.Value, x, y int64, whole bool) (value.Value, error) {
	if toFloat(b) == 0 {
		return nil, faultf(n.Right.Place(), "/: the divisor is 0")
	}
	if n.Whole {
		return n.wholeQuotient(a, b, x, y, whole)
	}
	if whole && y != -1 && x%y == 0 {
		return x / y, nil
	}
	return floatOp(n.Span, "/", toFloat(a), toFloat(b))
}

func (n *Binary) wholeQuotient(a, b value.Value, x, y int64, whole bool) (value.Value, error) {
	switch {
	case !whole:
		return nil, faultf(n.Span, "/: want two integers, got %s and %s", value.Describe(a), value.Describe(b))
	case x == math.MinInt64 && y == -1:
		return nil, faultf(n.Span, "/: %d and %d give a number that does not fit 64 bits", x, y)
	default:
		return x / y, nil
	}
}

func toFloat(v value.Value) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}

func intOp(op string, x, y int64) (int64, bool) {
	switch op {
	case "+":
		z := x + y
		return z, (z > x) == (y > 0)
	case "-":
		z := x - y
		return z, (z < x) == (y > 0)
	default: // *
		hi, lo := bits.Mul64(magnitude(x), magnitude(y))
		negative := (x < 0) != (y < 0)
		switch {
		case hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative:
			return 0, false
		case negative:
			return -int64(lo), true
		default:
			return int64(lo), true
		}
	}
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func floatOp(at Span, op string, x, y float64) (value.Value, error) {
	var z float64
	switch op {
	case "+":
		z = x + y
	case "-":
		z = x - y
	case "*":
		z = x * y
	default:
		z = x / y
	}
	if math.IsInf(z, 0) || math.IsNaN(z) {
		return nil, faultf(at, "%s: %v and %v give a number that is out of range", op, x, y)
	}
	return value.FromFloat(z), nil
}

// Negate is -x.
type Negate struct {
	Span
	X Node
}

func (n *Negate) eval(r *run) (value.Value, error) {
	v, err := r.eval(n.X)
	if err != nil {
		return nil, err
	}
	if i, ok := asInt(v); ok {
		if i == math.MinInt64 {
			return nil, faultf(n.Span, "-: %d has no counterpart that fits 64 bits", i)
		}
		return -i, nil
	}
	f, ok := v.(float64)
	if !ok {
		return nil, faultf(n.X.Place(), "-: want number, got %s", value.Describe(v))
	}
	return -f, nil
}
