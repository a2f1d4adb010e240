package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/specs/data"
)

// maxInputs is how large a file of inputs may be.
const maxInputs = 16 << 20

// readInputs makes the inputs of a run from `--inputs FILE` and `--input k=v`; the latter win. Every value
// is of its declared type, no name is unknown and no required one is missing: the error names all that is
// wrong.
func readInputs(params []plan.Param, file string, pairs []string, read func(string) ([]byte, error)) (*value.Object, error) {
	given := value.NewObject()
	var wrong []string
	if file != "" {
		from, err := readInputsFile(file, read)
		if err != nil {
			return nil, err
		}
		for name, v := range from.All() {
			given.Set(name, v)
		}
	}
	declared := make(map[string]plan.Param, len(params))
	names := make([]string, len(params))
	for i, p := range params {
		declared[p.Name], names[i] = p, p.Name
	}
	seen := make(map[string]bool, len(pairs))
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			return nil, usagef("--input %q: expected NAME=VALUE", pair)
		case !utf8.ValidString(pair):
			return nil, usagef("--input %q: expected text in UTF-8", pair)
		case seen[name]:
			return nil, usagef("--input %s is given twice, expected one value for each input", name)
		}
		seen[name] = true
		p, known := declared[name]
		if !known {
			given.Set(name, text) // reported below, with those of the file
			continue
		}
		v, err := p.Type.ReadString(text)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("input %q: %v%s", name, err, inputForm(&p, text)))
			continue
		}
		given.Set(name, v)
	}
	where := func(name string) string {
		if file == "" || file == "-" || seen[name] {
			return ""
		}
		return fmt.Sprintf(" in %q", file)
	}
	wrong = append(wrong, checkInputs(params, declared, names, given, where, len(wrong) > 0)...)
	if len(wrong) > 0 {
		return nil, usagef("%s", strings.Join(wrong, "\n      "))
	}
	return given, nil
}

// inputForm shows how a list or an object is given, "" for what is no such.
func inputForm(p *plan.Param, text string) string {
	form := ""
	switch p.Type.Kind {
	case value.ListKind:
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		if elem := p.Type.ElemType().Kind; elem == value.String || elem == value.Any {
			for i, w := range words {
				words[i] = strconv.Quote(w)
			}
		}
		if form = "[" + strings.Join(words, ",") + "]"; strings.ContainsAny(text, "[]{}\"'\\") || len(words) == 0 {
			form = "[…]"
		}
		if v, err := p.Type.ReadString(form); err != nil || v == nil {
			form = "[…]"
		}
	case value.ObjectKind:
		form = `{"key":"value"}`
	}
	if form == "" {
		return ""
	}
	return fmt.Sprintf("; give it as JSON: --input '%s=%s'", p.Name, form)
}

// checkInputs says what is wrong with the inputs as a whole. What could not be read is missing in given and
// was reported before.
func checkInputs(params []plan.Param, declared map[string]plan.Param, names []string, given *value.Object, where func(string) string, unread bool) []string {
	var wrong []string
	for name, v := range given.All() {
		p, ok := declared[name]
		switch {
		case !ok:
			wrong = append(wrong, unknownInput(name, where(name), names))
		case v == nil && !p.Required:
		default:
			if err := p.Type.Check(v); err != nil {
				wrong = append(wrong, fmt.Sprintf("input %q%s: %v", name, where(name), err))
			}
		}
	}
	if unread {
		return wrong
	}
	for _, p := range params {
		if _, ok := given.Get(p.Name); ok || !p.Required {
			continue
		}
		text := fmt.Sprintf("input %q (%s) is required: give it with --input %s=…", p.Name, plan.TypeText(p.Type), p.Name)
		if p.Description != "" {
			text += "\n        " + p.Description
		}
		wrong = append(wrong, text)
	}
	return wrong
}

func unknownInput(name, where string, names []string) string {
	switch hint := diag.Suggest(name, names); {
	case hint != "":
		return fmt.Sprintf("unknown input %q%s, %s", name, where, hint)
	case len(names) == 0:
		return fmt.Sprintf("unknown input %q%s: the pipeline has no inputs", name, where)
	default:
		return fmt.Sprintf("unknown input %q%s: the inputs are %s", name, where, strings.Join(names, ", "))
	}
}

// readInputsFile reads an object from a YAML or JSON file.
func readInputsFile(file string, read func(string) ([]byte, error)) (*value.Object, error) {
	b, err := read(file)
	if err != nil {
		return nil, usagef("--inputs: %w", err)
	}
	parse := data.ReadYAML
	if strings.EqualFold(filepath.Ext(file), ".json") {
		parse = data.ReadJSON
	}
	v, err := parse(b)
	if err != nil {
		if at, ok := errors.AsType[*data.Error](err); ok && at.Pos.IsValid() {
			return nil, usagef("--inputs %s:%w", file, err)
		}
		return nil, usagef("--inputs %s: %w", file, err)
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, usagef("--inputs %s: expected names and values, got %s", file, value.Describe(v))
	}
	return o, nil
}

// readFile reads a file of the current folder, "-" is stdin.
func (a *app) readFile(name string) ([]byte, error) {
	if name == "-" {
		return readAtMost(a.in, "stdin")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(a.dir, name)
	}
	if isOpen(name) {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", name, errors.Unwrap(err))
		}
		defer f.Close()
		return readAtMost(f, name)
	}
	b, err := workspace.ReadRegular(name, maxInputs)
	if errors.Is(err, workspace.ErrNotRegular) {
		return nil, fmt.Errorf("read %q: %w; \"-\" reads stdin", name, err)
	} else if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	return b, nil
}

// isOpen reports whether a name stands for a file that the shell has opened for us, as <(command) does. That
// may be a pipe: somebody writes to it.
func isOpen(name string) bool {
	return name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/")
}

func readAtMost(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInputs+1))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	if len(b) > maxInputs {
		return nil, fmt.Errorf("read %q: it is over %d MiB", name, maxInputs>>20)
	}
	return b, nil
}
