// Package source holds the text that authors wrote and says where in it a thing stands.
//
// Words: a File is a named text with an index of its lines; a Pos is a line and a column; a Span is a
// stretch of a file; a Scalar is a decoded YAML scalar that still knows, for each of its characters, where
// in the file that character came from. Lines and columns are 1-based, and columns count characters, as
// the diagnostics of package diag print them.
//
// It reads nothing from disk and knows nothing of YAML: package specs builds its values.
package source

// Pos is a place in a file. The zero Pos is "no place".
type Pos struct {
	Line int `json:"line"` // 1-based
	Col  int `json:"col"`  // 1-based, in characters
}

// IsValid reports whether p names a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

// Before reports whether p stands before q.
func (p Pos) Before(q Pos) bool {
	if p.Line != q.Line {
		return p.Line < q.Line
	}
	return p.Col < q.Col
}

// Span is a stretch of one file: from Start up to, not including, End.
type Span struct {
	File  string `json:"file,omitempty"`
	Start Pos    `json:"start"`
	End   Pos    `json:"end"`
}

// IsValid reports whether s names a place.
func (s Span) IsValid() bool { return s.Start.IsValid() }
