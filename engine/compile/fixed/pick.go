package fixed

import "example.com/pipe/specs"

// Pick gives the value of the last of the leaves that is there, else the default.
func Pick[T any](def T, leaves ...*specs.Leaf[T]) T {
	for _, l := range leaves {
		if l != nil {
			def = l.Value
		}
	}
	return def
}

// wordPtr is a pointer to an enumeration that reads its words.
type wordPtr[E any] interface {
	*E
	UnmarshalText([]byte) error
}

// PickWord is Pick for the words of an enumeration. Words that specs reported as wrong count as absent.
func PickWord[E any, P wordPtr[E]](def E, leaves ...*specs.Leaf[string]) E {
	for _, l := range leaves {
		if l == nil || l.Value == "" {
			continue
		}
		var e E
		if P(&e).UnmarshalText([]byte(l.Value)) == nil {
			def = e
		}
	}
	return def
}
