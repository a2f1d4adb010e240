package specs

import (
	"slices"
	"strings"
	"testing"
)

// Each key is told of whole, and what it may hold is told of too.
func TestReference(t *testing.T) {
	sections := Reference()
	var names, held []string
	for _, s := range sections {
		names = append(names, s.Name)
	}
	for _, s := range sections {
		var keys []string
		for _, k := range s.Keys {
			if k.Value.Form == "" && len(k.Value.Words) == 0 || k.Doc == "" {
				t.Errorf("the key %q of a %s does not say what it may be, or what it means", k.Name, s.Name)
			}
			if strings.HasSuffix(k.Doc, ".") || strings.TrimSpace(k.Doc) != k.Doc {
				t.Errorf("the key %q of a %s: %q ends in a full stop or a blank", k.Name, s.Name, k.Doc)
			}
			if k.Value.Keys != "" && !slices.Contains(names, k.Value.Keys) {
				t.Errorf("the key %q of a %s holds a %q, which is no section", k.Name, s.Name, k.Value.Keys)
			}
			if slices.Contains(keys, k.Name) {
				t.Errorf("a %s has the key %q twice", s.Name, k.Name)
			}
			keys, held = append(keys, k.Name), append(held, k.Value.Keys)
		}
	}
	slices.Sort(names)
	for i, n := range names {
		if i > 0 && names[i-1] == n {
			t.Errorf("two sections are called %q", n)
		}
		if !slices.Contains(held, n) && !slices.Contains([]string{"pipeline", "contract", "project"}, n) {
			t.Errorf("no key holds a %q", n)
		}
	}
}
