package document

import "testing"

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"a": "'a'", `"a"`: `'"a"'`, "it's": `"it's"`, `'a' == "b"`: `'''a'' == "b"'`, `'a\'`: `'''a\'''`,
	} {
		if got := Quote(s); got != want {
			t.Errorf("Quote(%s) = %s, want %s", s, got, want)
		}
	}
}
