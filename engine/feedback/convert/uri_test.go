package convert_test

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback/convert"
)

// TestFileURIComesBack writes names that a URI gives another meaning, and reads them as a report's.
func TestFileURIComesBack(t *testing.T) {
	for name, uri := range map[string]string{
		"src/a.go":              "src/a.go",
		"a b/c#d?e.go":          "a%20b/c%23d%3Fe.go",
		"javascript:alert(1).x": "javascript%3Aalert(1).x",
		"100%/été.go":           "100%25/%C3%A9t%C3%A9.go",
		"a\nb\x1b[31m.go":       "a%0Ab%1B%5B31m.go",
	} {
		if got := convert.FileURI(name); got != uri {
			t.Errorf("%q is written as %q, want %q", name, got, uri)
		}
		quoted, err := json.Marshal(uri)
		if err != nil {
			t.Fatal(err)
		}
		report := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":` +
			string(quoted) + `}}}]}]}]}`
		r, err := convert.Convert(convert.SARIF, convert.Input{Root: "/repo", Stdout: strings.NewReader(report)})
		if err != nil || len(r.Items) != 1 {
			t.Fatalf("%q: %+v, %v", uri, r, err)
		}
		if r.Items[0].File != "/repo/"+name {
			t.Errorf("%q is read as %q, want %q in /repo", uri, r.Items[0].File, name)
		}
	}
}
