package convert_test

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback/convert"
)

// wrong is what is no report, or one to choke on.
func wrong() map[string]string {
	deep := func(begin string) string { return begin + strings.Repeat(`{"a":[`, 5_000) }
	return map[string]string{
		"nothing":                  "",
		"zeros":                    strings.Repeat("\x00", 4096),
		"a packed file":            "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
		"a page":                   "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
		"a message":                "sh: 1: lint: not found\n",
		"null":                     "null",
		"a text":                   `"findings"`,
		"an object":                "{}",
		"JSON in itself":           deep(""),
		"SARIF in itself":          deep(`{"version": "2.1.0", "runs": [{"results": [{"properties": `),
		"ESLint's in itself":       deep(`[{"messages": [{"severity": 2, "message": "x", "data": `),
		"golangci-lint's":          deep(`{"Issues": [{"Text": "x", "Pkg": `),
		"diagnostics in itself":    deep(`{"diagnostics": [{"message": "x", "y": `),
		"a diagnostic in itself":   deep(`{"message": "x", "original_output": `),
		"suites in suites":         strings.Repeat("<testsuite>", 10_000),
		"elements in a test":       "<testsuite><testcase>" + strings.Repeat("<a>", 10_000),
		"entities of entities":     `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><testsuite name="&c;"/>`,
		"an entity from elsewhere": `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&a;"><failure>&a;</failure></testcase></testsuite>`,
	}
}

var never = regexp.MustCompile(`^never: (?P<description>.*)`)

// TestWhatIsNoReport gives each format what is no report of it, those of the others among it: none is a review.
func TestWhatIsNoReport(t *testing.T) {
	reports := wrong()
	for format, report := range worded {
		words, _ := convert.Mapping(format)
		reports["a report of "+format] = report(words[0].Word)
	}
	for _, format := range convert.Formats()[1:] {
		for name, report := range reports {
			if name == "a report of "+format {
				continue
			}
			_, err := convert.Convert(format, convert.Input{Stdout: strings.NewReader(report), ExitCode: 1, Pattern: never, Root: "/repo"})
			if !errors.Is(err, convert.ErrNoReview) {
				t.Errorf("%s, %s: error %v", format, name, err)
			}
			if err != nil && (len(err.Error()) > 4000 || strings.ContainsAny(err.Error(), "\x00\x1b\n")) {
				t.Errorf("%s, %s: %q", format, name, clip(err))
			}
		}
	}
}

// overAndOver is what a report of each format may hold over and over.
var overAndOver = map[string]struct{ begin, over string }{
	convert.GoTest:   {"", event("output", "p", "TestA", strings.Repeat("x", 4000)+"\n") + "# " + strings.Repeat("x", 12_000) + "\n"},
	convert.GoVet:    {"a.go:1:1: m\n", "# " + strings.Repeat("x", 4000) + "\n"},
	convert.Lines:    {"never: m\n", "# " + strings.Repeat("x", 4000) + "\n"},
	convert.GolangCI: {`{"Issues": [`, `{"FromLinter": "l", "Text": "t", "SourceLines": ["` + strings.Repeat("x", 4000) + `"]},`},
	convert.ESLint:   {`[`, `{"filePath": "a.js", "messages": [{"severity": 2, "message": "m"}], "source": "` + strings.Repeat("x", 4000) + `"},`},
	convert.JUnit:    {`<testsuite><testcase name="a"><failure>f</failure><system-out>`, strings.Repeat("x", 4000)},
	convert.SARIF:    {`{"version": "2.1.0", "runs": [{"results": [`, `{"level": "error", "message": {"text": "m"}, "properties": {"log": "` + strings.Repeat("x", 4000) + `"}},`},
	convert.RDJSON:   {`{"diagnostics": [`, `{"message": "m", "original_output": "` + strings.Repeat("x", 4000) + `"},`},
	convert.RDJSONL:  {"", `{"message": "m", "original_output": "` + strings.Repeat("x", 4000) + `"}` + "\n"},
	"markdown":       {"", strings.Repeat("x", 4000) + "\n"},
}

// TestReportsOf200MB reads more than anybody would keep in memory, of every format.
func TestReportsOf200MB(t *testing.T) {
	const size = 200 << 20
	for _, format := range convert.Formats()[1:] {
		t.Run(format, func(t *testing.T) {
			r, ok := overAndOver[format]
			if !ok {
				t.Fatal("there is no such report")
			}
			var peak uint64
			probe := &probed{in: io.MultiReader(strings.NewReader(r.begin), repeat(r.over, size)), every: size / 4, each: func() { peak = max(peak, alive()) }}
			before := alive()
			got, err := convert.Convert(format, convert.Input{Stdout: probe, ExitCode: 1, Pattern: never})
			if err != nil && !errors.Is(err, convert.ErrNoReview) || err == nil && len(got.Items) == 0 {
				t.Errorf("%d items, error %v", len(got.Items), err)
			}
			if grew := int64(max(peak, alive())) - int64(before); grew > 12<<20 {
				t.Errorf("%d MB are held", grew>>20)
			}
		})
	}
}
