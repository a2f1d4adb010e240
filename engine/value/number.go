package value

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseNumber reads a number as JSON writes it: int64 if its value is whole ("3", "3.0", "3e2"), else
// float64. A whole number that does not fit 64 bits is an error rather than a rounded value.
func ParseNumber(s string) (Value, error) {
	if !isNumber(s) {
		return nil, fmt.Errorf("want a number, got %q", clip(s))
	}
	if !strings.ContainsAny(s, ".eE") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("number %q does not fit 64 bits: write it as a string", clip(s))
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("number %q is out of range", clip(s))
	}
	return FromFloat(f), nil
}

func isNumber(s string) bool {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	return json.Valid([]byte(s)) && s == strings.TrimSpace(s)
}

// FromFloat returns f as a Value: int64 where f is whole and fits 64 bits, else float64. Values that JSON
// can't write (NaN, infinities) stay float64; writing them is an error.
func FromFloat(f float64) Value {
	if f == math.Trunc(f) && f >= math.MinInt64 && f < math.MaxInt64 {
		return int64(f)
	}
	return f
}

// CompareNumbers orders two numbers (int64 or float64) by their exact values: -1, 0 or 1. NaN is equal to
// nothing and comes first.
func CompareNumbers(a, b Value) int {
	x, xInt := a.(int64)
	y, yInt := b.(int64)
	switch {
	case xInt && yInt:
		return compareOrdered(x, y)
	case xInt:
		return -compareFloatInt(b.(float64), x)
	case yInt:
		return compareFloatInt(a.(float64), y)
	default:
		return compareOrdered(a.(float64), b.(float64))
	}
}

func compareOrdered[T int64 | float64](x, y T) int {
	switch {
	case x == y:
		return 0
	case x > y:
		return 1
	default:
		return -1
	}
}

// compareFloatInt compares without rounding n to a float64.
func compareFloatInt(f float64, n int64) int {
	switch {
	case f >= math.MaxInt64: // 2^63 as a float64
		return 1
	case f < math.MinInt64 || f != f:
		return -1
	}
	whole := math.Trunc(f)
	if c := compareOrdered(int64(whole), n); c != 0 {
		return c
	}
	return compareOrdered(f, whole)
}
