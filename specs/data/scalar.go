package data

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.com/pipe/engine/value"
)

// Scalar returns the value of a YAML scalar that is not a string, from its short tag ("!!int") and its
// text: null, a bool, an int64 or a float64. A whole number beyond 64 bits, and a number that is none or
// infinite, are errors.
func Scalar(tag, text string) (value.Value, error) {
	switch tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		switch strings.ToLower(text) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is not a bool: expected true or false", text)
	case "!!int":
		return wholeNumber(text)
	case "!!float":
		return number(text)
	}
	return nil, fmt.Errorf("a value with the tag %q has no form here: expected a string, number, bool or null", tag)
}

func wholeNumber(text string) (value.Value, error) {
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil, tooBig(text)
	case err != nil:
		return nil, fmt.Errorf("%q is not a whole number", text)
	}
	return n, nil
}

func tooBig(text string) error {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return fmt.Errorf("the number %s does not fit 64 bits: write it as a string", text)
}

// number reads a number that may have a fraction or an exponent. One that is whole comes out as int64.
func number(text string) (value.Value, error) {
	plain := strings.ReplaceAll(text, "_", "")
	if !strings.ContainsAny(plain, ".eEnNiI") {
		if _, err := strconv.ParseFloat(plain, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			if n, err := strconv.ParseInt(plain, 10, 64); err == nil {
				return n, nil
			}
			return nil, tooBig(text)
		}
	}
	f, err := strconv.ParseFloat(plain, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil, tooBig(text)
	case err != nil, math.IsInf(f, 0), math.IsNaN(f):
		return nil, fmt.Errorf("%q is not a finite number", text)
	}
	return value.FromFloat(f), nil
}
