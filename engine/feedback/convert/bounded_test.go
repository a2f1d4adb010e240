package convert_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/pipe/engine/feedback/convert"
)

// TestEvidenceIsBounded asks for the text of lines of the findings that are kept, not of all that a report holds.
func TestEvidenceIsBounded(t *testing.T) {
	const many = 20 * convert.MaxItems
	var lines, build strings.Builder
	for n := range many {
		fmt.Fprintf(&lines, "f%d.go:%d: wrong\n", n%2, n+1)
	}
	for n := range convert.MaxItems {
		fmt.Fprintf(&build, "./f%d.go:%d:1: wrong\n", n%2, n+1)
	}
	for n := range many {
		fmt.Fprintf(&build, `{"Action":"fail","Package":"example.com/p%d","FailedBuild":"b%d"}`+"\n", n, n)
	}
	for format, c := range map[string]struct{ report, summary string }{
		convert.GoVet:  {lines.String(), fmt.Sprintf("%d findings; only the first %d are kept", many, convert.MaxItems)},
		convert.GoTest: {build.String(), fmt.Sprintf("0 failed, 0 passed, 0 skipped, %d packages not built", many)},
	} {
		asked := 0
		r, err := convert.Convert(format, convert.Input{
			Root: "/repo", ExitCode: 1, Stdout: strings.NewReader(c.report),
			LineText: func(string, int) string { asked++; return "text" },
		})
		if err != nil || len(r.Items) != convert.MaxItems || r.Summary != c.summary {
			t.Errorf("%s: %d items, %q, %v", format, len(r.Items), r.Summary, err)
		}
		if asked > convert.MaxItems {
			t.Errorf("%s: %d lines were asked for, of %d items", format, asked, len(r.Items))
		}
	}
}

// TestSARIFIsReadInItsLength reads logs of many results that name one of many things in time that grows with their
// length: extensions, rules by the parts of their ids, overrides.
func TestSARIFIsReadInItsLength(t *testing.T) {
	const many = 30_000
	repeat := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	for name, c := range map[string]struct{ tool, invocations, result, want string }{
		"overrides": {tool: `"rules":[{"id":"a"}]`, result: `{"ruleId":"a","provenance":{"invocationIndex":0},"message":{"text":"m"}}`,
			invocations: `{"executionSuccessful":true,"ruleConfigurationOverrides":[` + repeat(`{"descriptor":{"id":"b"},"configuration":{"level":"error"}}`, many) + `]}`},
		"parts": {result: `{"ruleId":"` + strings.Repeat("/", 1000) + `","message":{"text":"m"}}`},
		"extensions": {tool: `"x":1},"extensions":[` + repeat("{}", many) + `],"y":{`, result: `{"ruleId":"a/b","message":{"text":"m"}}`,
			want: "has more than 999 extensions"},
	} {
		tool := `{"driver":{"name":"x"` + strings.TrimSuffix(","+c.tool, ",") + `}}`
		var results strings.Builder
		for n := range many { // each another one: repeats are one
			results.WriteString(strings.ReplaceAll(c.result, `"m"`, fmt.Sprintf(`"m%d"`, n)) + ",")
		}
		report := `{"version":"2.1.0","runs":[{"tool":` + tool + `,"invocations":[` + c.invocations + `],"results":[` + strings.TrimSuffix(results.String(), ",") + `]}]}`
		began := time.Now()
		_, err := convert.Convert(convert.SARIF, convert.Input{Root: "/repo", Stdout: strings.NewReader(report)})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > 20*time.Second { // a twentieth of that is enough
			t.Errorf("%s: it took %v", name, took)
		}
	}
}
