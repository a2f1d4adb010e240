package fixed

import (
	"strings"

	"example.com/pipe/engine/value"
)

// TypeName names a type in a message.
func TypeName(t value.Type) string {
	if len(t.Enum) > 0 {
		return "one of " + strings.Join(t.Enum, ", ")
	}
	if t.Optional {
		return t.NotNull().String() + " or missing"
	}
	return t.String()
}
