package compile

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
)

// wantComment is what a line that is wrong says of itself: # want "part of the diagnostic" "of another".
var wantComment = regexp.MustCompile(`# want((?: "(?:[^"\\]|\\.)*")+)\s*$`)

var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// TestWants compiles the files of testdata/wants. Each diagnostic must be wanted by the line on which it
// stands, and the other way round. A text to want is a part of "severity: message [code]; help".
func TestWants(t *testing.T) {
	files, err := filepath.Glob("testdata/wants/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, ds := parse(t, filepath.Base(file), string(text))
			ds = slices.DeleteFunc(ds, func(d diag.Diagnostic) bool { return d.Span.File != filepath.Base(file) })
			checkWants(t, string(text), ds)
		})
	}
}

func checkWants(t *testing.T, text string, ds diag.List) {
	t.Helper()
	wants := make(map[int][]string)
	for i, line := range strings.Split(text, "\n") {
		m := wantComment.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, q := range quotedText.FindAllString(m[1], -1) {
			w, err := strconv.Unquote(q)
			if err != nil {
				t.Fatalf("line %d: %s: %v", i+1, q, err)
			}
			wants[i+1] = append(wants[i+1], w)
		}
	}
next:
	for _, d := range ds {
		full := d.Severity.String() + ": " + d.Message + " [" + string(d.Code) + "]; " + d.Help
		line := d.Span.Start.Line
		for k, w := range wants[line] {
			if strings.Contains(full, w) {
				wants[line] = append(wants[line][:k:k], wants[line][k+1:]...)
				continue next
			}
		}
		t.Errorf("%d:%d: nobody wants %s", line, d.Span.Start.Col, full)
	}
	for line, left := range wants { // the order of a test's complaints is of no matter
		for _, w := range left {
			t.Errorf("line %d wants %q, which is not reported", line, w)
		}
	}
}
