package feedback

import (
	"fmt"
	"strconv"
	"strings"
)

// Action is what to do after a review.
type Action uint8

// The actions. ReImplement sends the work back, Escalate asks a person.
const (
	UnknownAction Action = iota
	Accept
	ReImplement
	Escalate
)

// words gives an enumeration its text: the word of value n stands at n; that of the zero value is empty.
type words []string

func (w words) text(n uint8) string {
	if n == 0 || int(n) >= len(w) {
		return "unknown"
	}
	return w[n]
}

// marshal gives the word; the zero value is the empty text, so that an absent field stays absent.
func (w words) marshal(kind string, n uint8) ([]byte, error) {
	if int(n) >= len(w) {
		return nil, fmt.Errorf("%s %d has no word", kind, n)
	}
	return []byte(w[n]), nil
}

func (w words) read(kind, s string) (uint8, error) {
	for n, word := range w {
		if word == s {
			return uint8(n), nil
		}
	}
	return 0, fmt.Errorf("%s %s is not known, expected %s", kind, strconv.Quote(clip(s, 40)), w.list())
}

// list names the words for a message: "a", "b" or "c".
func (w words) list() string {
	var b strings.Builder
	for i, word := range w[1:] {
		switch {
		case i == 0:
		case i == len(w)-2:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(word))
	}
	return b.String()
}

var (
	severityWords = words{"", "blocking", "advisory", "informational"}
	statusWords   = words{"", "open", "fixed", "not_fixed", "withdrawn", "waived", "disputed", "escalated"}
	actionWords   = words{"", "accept", "re_implement", "escalate"}
)

// String is the word of the documents; "unknown" for the zero value.
func (s Severity) String() string { return severityWords.text(uint8(s)) }

// MarshalText gives the word, empty for the zero value.
func (s Severity) MarshalText() ([]byte, error) { return severityWords.marshal("severity", uint8(s)) }

// UnmarshalText reads the word; the empty text is the zero value, any other word an error.
func (s *Severity) UnmarshalText(text []byte) error {
	n, err := severityWords.read("severity", string(text))
	if err == nil {
		*s = Severity(n)
	}
	return err
}

// String is the word of the documents; "unknown" for the zero value.
func (s Status) String() string { return statusWords.text(uint8(s)) }

// MarshalText gives the word, empty for the zero value.
func (s Status) MarshalText() ([]byte, error) { return statusWords.marshal("status", uint8(s)) }

// UnmarshalText reads the word; the empty text is the zero value, any other word an error.
func (s *Status) UnmarshalText(text []byte) error {
	n, err := statusWords.read("status", string(text))
	if err == nil {
		*s = Status(n)
	}
	return err
}

// String is the word of the documents; "unknown" for the zero value.
func (a Action) String() string { return actionWords.text(uint8(a)) }

// MarshalText gives the word, empty for the zero value.
func (a Action) MarshalText() ([]byte, error) { return actionWords.marshal("action", uint8(a)) }

// UnmarshalText reads the word; the empty text is the zero value, any other word an error.
func (a *Action) UnmarshalText(text []byte) error {
	n, err := actionWords.read("action", string(text))
	if err == nil {
		*a = Action(n)
	}
	return err
}
