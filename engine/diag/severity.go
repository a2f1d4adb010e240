package diag

import "fmt"

// String returns the word that a diagnostic's first line shows.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Note:
		return "note"
	case UnknownSeverity:
	}
	return "unknown"
}

// MarshalText returns the severity's word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the severity's word.
func (s *Severity) UnmarshalText(b []byte) error {
	for _, known := range []Severity{Error, Warning, Note} {
		if string(b) == known.String() {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q: expected error, warning or note", b)
}
