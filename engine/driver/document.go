package driver

import (
	"bytes"
	"errors"

	"example.com/pipe/engine/value"
	"example.com/pipe/specs/data"
)

// DecodeItems reads a document of items: JSON, JSON lines, or YAML. What begins like JSON and is none is
// read as YAML too, whose flow form is more lenient; if that fails as well, the error is JSON's.
func DecodeItems(b []byte) (value.Value, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	if len(text) == 0 {
		return nil, errors.New("the document is empty; a clean review writes []")
	}
	if text[0] != '{' && text[0] != '[' {
		return data.ReadYAML(b)
	}
	v, err := data.ReadJSON(b)
	if err == nil {
		return v, nil
	}
	if isJSONLines(text) {
		list, err := data.ReadJSONLines(b)
		if err != nil {
			return nil, err
		}
		return list, nil
	}
	if len(b) <= data.MaxYAML {
		if v, yamlErr := data.ReadYAML(b); yamlErr == nil {
			return v, nil
		}
	}
	return nil, err
}

// isJSONLines reports whether a text looks like an object a line: more than one line, each an object from
// its first to its last character.
func isJSONLines(text []byte) bool {
	if text[0] != '{' {
		return false
	}
	n := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] != '{' {
			return false
		}
		n++
	}
	return n > 1
}
