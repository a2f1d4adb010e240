package convert_test

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
)

func issues(list ...string) string {
	return `{"Issues": [` + strings.Join(list, ",") + `], "Report": {"Linters": [{"Name": "govet", "Enabled": true}]}}` + "\n"
}

func TestGolangCI(t *testing.T) {
	const source = `"SourceLines": ["\tif x == true {", "\t\treturn", "\t}"], "Pos": {"Filename": "a.go", "Offset": 101, "Line": 7, "Column": 2}`
	for _, tc := range []struct {
		name, report string
		exit         int
		want         string
	}{
		{"nothing found", issues(), 0, "summary: 0 findings\n"},
		{"nothing found, failing", `{"Issues": [], "Report": {"Warnings": [{"Tag": "runner", "Text": "a linter is not there"}]}}`, 1,
			noReview + "exit status 1, but the report holds no finding (it says \"a linter is not there\")\n"},
		{"another status", issues(), 3, noReview + "exit status 3, expected one of 0, 1 ("},
		{"severities", issues(`{"Text": "a", "Severity": "error"}`, `{"Text": "b", "Severity": "Warning"}`, `{"Text": "c", "Severity": "info"}`, `{"Text": "d", "Severity": ""}`, `{"Text": "e"}`), 1,
			"summary: 5 findings\nblocking :0 (golangci-lint) \"a\"\nadvisory :0 (golangci-lint) \"b\"\nadvisory :0 (golangci-lint) \"c\"\n" +
				"blocking :0 (golangci-lint) \"d\"\nblocking :0 (golangci-lint) \"e\"\n"},
		{"a run that failed", `{"Issues": [{"FromLinter": "typecheck", "Text": "a"}], "Report": {"Error": "no go files to analyze"}}`, 0,
			noReview + "the report says that golangci-lint did not succeed (it says \"no go files to analyze\")\n"},
		{"null for the list", `{"Issues": null, "Report": null}`, 0, noReview + "the report holds no list \"Issues\""},
		{"no list", `{"Report": {}}`, 0, noReview + "the report holds no list \"Issues\", which is there and empty when golangci-lint has found nothing\n"},
		{"a part of a line, version 1", issues(`{"FromLinter": "misspell", "Text": "m", "SourceLines": ["// it's becouse"], "Pos": {"Filename": "a.go", "Line": 6, "Column": 9},
			"Replacement": {"NeedOnlyDelete": false, "NewLines": null, "Inline": {"StartCol": 8, "Length": 7, "NewString": "because"}}}`), 1,
			"summary: 1 findings\nblocking api/a.go:6 (golangci-lint) \"m (misspell)\"\n  fix: replace \"becouse\" at 6:9-6:16 with \"because\"\n"},
		{"lines, version 1", issues(`{"Text": "m", "LineRange": {"From": 3, "To": 5}, "Pos": {"Line": 3}, "Replacement": {"NewLines": ["a", "b"]}}`,
			`{"Text": "n", "Pos": {"Line": 8}, "Replacement": {"NeedOnlyDelete": true, "NewLines": null}}`, `{"Text": "o", "Replacement": null}`), 1,
			"summary: 3 findings\nblocking :0 (golangci-lint) \"o\"\nblocking :3 (golangci-lint) \"m\"\n  fix: replace lines 3-5 with \"a\\nb\"\nblocking :8 (golangci-lint) \"n\"\n  fix: delete line 8\n"},
		{"version 2", issues(`{"Text": "m", ` + source + `, "SuggestedFixes": [{"Message": "simplify", "TextEdits": [{"Pos": 105, "End": 112, "NewText": null}, {"Pos": 104, "End": 104, "NewText": "IQ=="}]}, {"Message": "another way"}]}`), 1,
			"summary: 1 findings\nblocking api/a.go:7 (golangci-lint) \"m\"\n  fix: simplify; delete \" == tru\" at 7:6-7:13; insert \"!\" at 7:5\n"},
		{"version 2, over lines", issues(`{"Text": "m", ` + source + `, "SuggestedFixes": [{"Message": "", "TextEdits": [{"Pos": 101, "End": 127, "NewText": "cmV0dXJu"}]}]}`), 1,
			"summary: 1 findings\nblocking api/a.go:7 (golangci-lint) \"m\"\n  fix: replace \"if x == true {\\n\\t\\treturn\\n\\t}\" at 7:2-9:3 with \"return\"\n"},
		{"version 2, out of the lines", issues(`{"Text": "m", ` + source + `, "SuggestedFixes": [{"TextEdits": [{"Pos": 90, "End": 91, "NewText": "%%%"}, {"Pos": 105, "End": 1050, "NewText": "YQ=="}]}]}`), 1,
			"summary: 1 findings\nblocking api/a.go:7 (golangci-lint) \"m\"\n  fix: delete the part named in the report or replace the part named in the report with \"a\"\n"},
		{"what version 2 prints behind it", issues(`{"Text": "m"}`) + "1 issues:\n* gocritic: 1\n", 1, "summary: 1 findings\nblocking :0 (golangci-lint) \"m\"\n"},
		{"and if there is none", issues() + "0 issues.\n", 0, "summary: 0 findings\n"},
		{"something else behind it", issues() + "{}", 0, noReview + "there is more after the report, at byte 76: \"{}\"\n"},
		{"no text", issues(`{"Text": "a"}`, `{"FromLinter": "x"}`), 1, noReview + "issue 2 has no text, at byte 26\n"},
		{"gosec", issues(`{"FromLinter": "gosec", "Text": "G101"}`), 1, "summary: 1 findings\nblocking :0 (golangci-lint) \"G101 (gosec)\"\n"},
		{"text", "level=error msg=\"can't load config\"\n", 1, noReview + "the report can't be read at byte 0: expected an object, found \"l\"\n"},
		{"ESLint's", "[]", 0, noReview + "the report can't be read at byte 0: expected an object, found \"[\"\n"},
		{"SARIF", results(), 0, noReview + "the report holds no list \"Issues\""},
		{"empty", "", 0, noReview + "the report is empty, expected JSON\n"},
		{"cut off", `{"Issues": [`, 0, noReview + "the report ends in the middle, at byte 12\n"},
	} {
		t.Run(tc.name, func(t *testing.T) { compare(t, from(convert.GolangCI, tc.report, tc.exit), tc.want) })
	}
}

func messages(list ...string) string {
	return `[{"filePath": "/repo/web/a.js", "messages": [` + strings.Join(list, ",") + `], "source": "` + `\ufeffif (x) {\r\n  \ud83d\ude00 = 1\u2028}` + `"}]`
}

func TestESLint(t *testing.T) {
	for _, tc := range []struct {
		name, report string
		exit         int
		want         string
	}{
		{"no file", "[]", 0, "summary: 0 findings\n"},
		{"nothing found", messages(), 0, "summary: 0 findings\n"},
		{"nothing found, failing", messages(), 1, noReview + "exit status 1, but the report holds no finding\n"},
		{"another status", "Oops! Something went wrong!", 2, noReview + "exit status 2, expected one of 0, 1 (it says \"Oops! Something went wrong!\")\n"},
		{"severities", messages(`{"ruleId": "r", "severity": 2, "message": "a", "line": 3}`, `{"ruleId": "r", "severity": 1, "message": "b"}`, `{"severity": 1, "fatal": true, "ruleId": null, "message": "Parsing error: x", "line": 4}`), 1,
			"summary: 3 findings\nadvisory web/a.js:0 (eslint) \"b (r)\"\nblocking web/a.js:3 (eslint) \"a (r)\"\nblocking web/a.js:4 (eslint) \"Parsing error: x\"\n"},
		{"a severity that is none", messages(`{"severity": 3, "message": "a"}`), 1, noReview + "message 1 has the severity 3, at byte 58, expected 1 (warning) or 2 (error)\n"},
		{"suppressed", `[{"filePath": "a.js", "messages": [], "suppressedMessages": [{"ruleId": "r", "severity": 2, "message": "m", "suppressions": [{"kind": "directive", "justification": ""}]}], "errorCount": 0}]`, 0,
			"summary: 0 findings, 1 suppressed\n"},
		{"places", `[{"filePath": "a.go", "messages": [{"severity": 2, "message": "m"}]}, {"filePath": "<text>", "messages": [{"severity": 2, "message": "n"}]}, {"filePath": "/etc/x.js", "messages": [{"severity": 2, "message": "o"}]}, {"filePath": "C:\\web\\y.js", "messages": [{"severity": 2, "message": "p"}]}]`, 1,
			"*file \"/C:/web/y.js\" dropped|*blocking api/a.go:0 (eslint) \"m\"\n|*blocking :0 (eslint) \"n\"\n|*file \"/etc/x.js\" dropped"},
		{"fixes", messages(`{"severity": 1, "message": "a", "fix": {"range": [0, 2], "text": "while"}, "suggestions": [{"desc": "x", "fix": {"range": [0, 0], "text": "y"}}]}`,
			`{"severity": 1, "message": "b", "fix": {"range": [12, 14], "text": "y"}}`, `{"severity": 1, "message": "c", "fix": {"range": [18, 19], "text": ""}}`,
			`{"severity": 1, "message": "d", "fix": {"range": [20, 20], "text": ";"}}`, `{"severity": 1, "message": "e", "fix": {"range": [19, 21], "text": ";"}}`), 1,
			"summary: 5 findings\nadvisory web/a.js:0 (eslint) \"a\"\n  fix: replace \"if\" at 1:1-1:3 with \"while\"\nadvisory web/a.js:0 (eslint) \"b\"\n  fix: replace \"😀\" at 2:3-2:5 with \"y\"\n" +
				"advisory web/a.js:0 (eslint) \"c\"\n  fix: delete \"\\u2028\" at 2:9-3:1\nadvisory web/a.js:0 (eslint) \"d\"\n  fix: insert \";\" at 3:2\n" +
				"advisory web/a.js:0 (eslint) \"e\"\n  fix: replace the part named in the report with \";\"\n"},
		{"a fix without the text of the file", `[{"filePath": "a.go", "messages": [{"severity": 1, "message": "a", "fix": {"range": [1, 2], "text": "x"}}]}]`, 1,
			"summary: 1 findings\nadvisory api/a.go:0 (eslint) \"a\"\n  fix: replace the part named in the report with \"x\"\n"},
		{"ways to choose from", messages(`{"severity": 1, "message": "a", "suggestions": [{"desc": "Say y.", "fix": {"range": [4, 5], "text": "y"}}, {"desc": "No fix"}, {"desc": "Say z", "fix": {"range": [4, 5], "text": "z"}}]}`), 1,
			"summary: 1 findings\nadvisory web/a.js:0 (eslint) \"a\"\n  fix: Say y (replace \"x\" at 1:5-1:6 with \"y\") or Say z (replace \"x\" at 1:5-1:6 with \"z\")\n"},
		{"with metadata", `{"results": ` + messages(`{"severity": 2, "message": "m"}`) + `, "metadata": {"cwd": "/repo"}}`, 1, "summary: 1 findings\nblocking web/a.js:0 (eslint) \"m\"\n"},
		{"metadata alone", `{"metadata": {}}`, 0, noReview + "the report holds no list of files, which is what ESLint writes with --format json\n"},
		{"no messages", `[{"filePath": "a.js"}]`, 0, noReview + "file 1 of the report holds no list \"messages\", at byte 1, which is there and empty when ESLint has found nothing\n"},
		{"null for a file", `[null]`, 0, noReview + "file 1 of the report holds no list \"messages\""},
		{"messages that are not there", `[{"filePath": "a.js", "messages": [], "errorCount": 2, "warningCount": 1}]`, 0, noReview + "the report is not whole: file 1 counts 3 messages and holds none\n"},
		{"a text for the severity", messages(`{"severity": "error", "message": "a"}`), 1, noReview + "the report can't be read at byte 58 at or after \"severity\": expected a number, found \"\\\"\"\n"},
		{"more after it", "[]\n[]", 0, noReview + "the report can't be read at byte 3: expected the end of the report, found \"[\"\n"},
		{"text", "\n> lint\n", 0, noReview + "the report can't be read at byte 1: expected a list, found \">\"\n"},
		{"empty", "", 0, noReview + "the report is empty, expected JSON\n"},
		{"SARIF", results(), 0, noReview + "the report holds no list of files"},
	} {
		t.Run(tc.name, func(t *testing.T) { compare(t, from(convert.ESLint, tc.report, tc.exit), tc.want) })
	}
}

// TestLintersSaySoOnStderr puts what the tool says of a failure into the error.
func TestLintersSaySoOnStderr(t *testing.T) {
	for _, format := range []string{convert.GolangCI, convert.ESLint} {
		_, err := convert.Convert(format, convert.Input{Stdout: strings.NewReader(""), Stderr: strings.NewReader("cannot read the configuration\n"), ExitCode: 1})
		if !errors.Is(err, convert.ErrNoReview) || !strings.HasSuffix(err.Error(), `the report is empty, expected JSON (it says "cannot read the configuration")`) {
			t.Errorf("%s: error %v", format, err)
		}
	}
}

var linesPattern = regexp.MustCompile(`^(?P<severity>\w*): (?P<description>.*)$`)

// worded is a report of each format in which a word for severity stands once.
var worded = map[string]func(word string) string{
	convert.GoTest: func(string) string { return failing("p", "TestA", "    a_test.go:3: x") + event("fail", "p", "", "") },
	convert.GoVet:  func(string) string { return "a.go:1:1: x\n" },
	convert.Lines:  func(word string) string { return word + ": x\n" },
	convert.GolangCI: func(word string) string {
		return issues(fmt.Sprintf(`{"Text": "x", "Severity": %q}`, word))
	},
	convert.ESLint: func(word string) string {
		return messages(fmt.Sprintf(`{"message": "x", "severity": %s}`, map[string]string{"error": "2", "warning": "1"}[word]))
	},
	convert.JUnit: func(word string) string {
		return `<testsuite><testcase name="x"><` + word + `/></testcase></testsuite>`
	},
	convert.SARIF: func(word string) string { return results(fmt.Sprintf(`{"message": {"text": "x"}, "level": %q}`, word)) },
	convert.RDJSON: func(word string) string {
		return fmt.Sprintf(`{"diagnostics": [{"message": "x", "severity": %q}]}`, strings.ToUpper(word))
	},
	convert.RDJSONL: func(word string) string {
		return fmt.Sprintf(`{"message": "x", "severity": %q}`, strings.ToUpper(word))
	},
}

// TestSeverities holds every word of every format to what Mapping says of it, and to what the input says instead.
func TestSeverities(t *testing.T) {
	n := 0
	for _, format := range convert.Formats() {
		report := worded[format]
		if report == nil {
			continue // what a document of our own says is read elsewhere
		}
		words, open := convert.Mapping(format)
		if len(words) == 0 {
			t.Errorf("%s has no words for severity", format)
		}
		if open {
			other, _ := convert.Mapping(format)
			for _, w := range other {
				if w.Word == convert.OtherWord(format) {
					words = append(words, convert.Word{Word: "fatal", Severity: w.Severity})
				}
			}
		} else if convert.OtherWord(format) != "" {
			t.Errorf("%s takes no other words and has one for them", format)
		}
		for _, w := range words {
			for _, instead := range []feedback.Severity{feedback.UnknownSeverity, feedback.Blocking, feedback.Advisory, feedback.Informational} {
				in := convert.Input{Stdout: strings.NewReader(report(w.Word)), Pattern: linesPattern}
				want := w.Severity
				if instead != feedback.UnknownSeverity {
					in.Severity, want = map[string]feedback.Severity{w.Word: instead}, instead
				}
				n++
				r, err := convert.Convert(format, in)
				switch {
				case err != nil:
					t.Errorf("%s, %s: %v", format, w.Word, err)
				case want == feedback.UnknownSeverity && len(r.Items) > 0, want != feedback.UnknownSeverity && (len(r.Items) != 1 || r.Items[0].Severity != want):
					t.Errorf("%s, %s as %s: %+v, want %s", format, w.Word, instead, r.Items, want)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d cases", n)
	}
}

// TestSeverityOfOthers gives the word that stands for others another meaning, and holds words of their own apart.
func TestSeverityOfOthers(t *testing.T) {
	r, err := convert.Convert(convert.Lines, convert.Input{Pattern: linesPattern, Stdout: strings.NewReader("fatal: a\nstyle: b\n: c\nw: d\nnote: e\n"),
		Severity: map[string]feedback.Severity{"error": feedback.Advisory, "style": feedback.Informational, "w": feedback.Blocking}})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, i := range r.Items {
		got += i.Description + " " + i.Severity.String() + "\n"
	}
	if d := cmp.Diff("a advisory\nb informational\nc advisory\nd blocking\ne informational\n", got); d != "" {
		t.Error(d)
	}
	items := []feedback.Item{{Severity: feedback.Blocking}, {Severity: feedback.Advisory}}
	convert.Override(items, map[string]feedback.Severity{"advisory": feedback.Blocking, "blocking": feedback.Informational})
	if items[0].Severity != feedback.Informational || items[1].Severity != feedback.Blocking {
		t.Errorf("%+v", items)
	}
}

// TestSARIFPassesAreNoFindings keeps results of a rule that holds from becoming findings, whatever "none" means.
func TestSARIFPassesAreNoFindings(t *testing.T) {
	r, err := convert.Convert(convert.SARIF, convert.Input{Severity: map[string]feedback.Severity{"none": feedback.Advisory}, Stdout: strings.NewReader(results(
		`{"kind": "pass", "message": {"text": "a"}}`, `{"kind": "notApplicable", "level": "none", "message": {"text": "b"}}`, `{"kind": "review", "message": {"text": "c"}}`, `{"ruleId": "O", "message": {"text": "d"}}`))})
	if err != nil || r.Summary != "2 findings, 2 without a level" || len(r.Items) != 2 || r.Items[0].Description != "c" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestLintersCutOffAnywhere cuts reports of linters at every byte: none becomes a review.
func TestLintersCutOffAnywhere(t *testing.T) {
	for format, report := range map[string]string{
		convert.GolangCI: strings.TrimSpace(issues(`{"Text": "m", "Severity": "warning", "SuggestedFixes": [{"TextEdits": [{"Pos": 1, "End": 2, "NewText": "YQ=="}]}]}`)),
		convert.ESLint:   messages(`{"severity": 1, "message": "a", "fix": {"range": [0, 2], "text": "while"}}`),
	} {
		for n := range len(report) {
			if _, err := convert.Convert(format, convert.Input{Stdout: strings.NewReader(report[:n])}); !errors.Is(err, convert.ErrNoReview) {
				t.Fatalf("%s, %d bytes: error %v", format, n, err)
			}
		}
	}
}

// TestLintersMemory reads reports of 24 MB, and one file of many messages.
func TestLintersMemory(t *testing.T) {
	const size = 24 << 20
	long := strings.Repeat("x", 4000)
	for name, r := range map[string]struct {
		format, want string
		report       io.Reader
	}{
		"issues":             {convert.GolangCI, "ends in the middle", io.MultiReader(strings.NewReader(`{"Issues": [`), repeat(`{"Text": "`+long+`", "SourceLines": ["`+long+`"]},`, size))},
		"lines of one issue": {convert.GolangCI, "ends in the middle", io.MultiReader(strings.NewReader(`{"Issues": [{"SourceLines": [`), repeat(`"`+long+`",`, size))},
		"behind it":          {convert.GolangCI, "there is more", io.MultiReader(strings.NewReader(`{"Issues": []}`), repeat(long+"\n", size))},
		"messages":           {convert.ESLint, "ends in the middle", io.MultiReader(strings.NewReader(`[{"messages": [`), repeat(`{"severity": 1, "message": "`+long+`"},`, size))},
		"the text of a file": {convert.ESLint, "ends in the middle", io.MultiReader(strings.NewReader(`[{"messages": [], "source": "`), repeat(long, size))},
		"files":              {convert.ESLint, "ends in the middle", io.MultiReader(strings.NewReader(`[`), repeat(`{"filePath": "a.js", "messages": [{"severity": 2, "message": "`+long+`"}], "source": "`+long+`"},`, size))},
	} {
		t.Run(name, func(t *testing.T) {
			var peak uint64
			probe := &probed{in: r.report, every: size / 4, each: func() { peak = max(peak, alive()) }}
			before := alive()
			if _, err := convert.Convert(r.format, convert.Input{Stdout: probe}); !errors.Is(err, convert.ErrNoReview) || !strings.Contains(err.Error(), r.want) {
				t.Errorf("error %v, want %q in it", err, r.want)
			}
			if grew := int64(peak) - int64(before); peak == 0 || grew > 16<<20 {
				t.Errorf("%d MB are held while a report is read", grew>>20)
			}
		})
	}
}

// TestFixesOfALongFile places fixes in a file of one long line in less than a blink each.
func TestFixesOfALongFile(t *testing.T) {
	var list []string
	for i := range 3 * convert.MaxItems {
		list = append(list, fmt.Sprintf(`{"severity": %d, "message": "m%d", "fix": {"range": [%d, %d], "text": "y"}}`, 1+i%2, i, 3_000_000+i, 3_000_001+i))
	}
	report := `[{"filePath": "a.js", "messages": [` + strings.Join(list, ",") + `], "source": "` + strings.Repeat("x", 4_100_000) + `"}]`
	r, err := convert.Convert(convert.ESLint, convert.Input{Stdout: strings.NewReader(report)})
	if err != nil || len(r.Items) != convert.MaxItems || r.Items[0].SuggestedFix != `replace "x" at 1:3000002-1:3000003 with "y"` {
		t.Error(len(r.Items), err, r.Items[0].SuggestedFix)
	}
}

func FuzzGolangCI(f *testing.F) {
	seed(f, "golangci")
	f.Add(issues(`{"Text": "m", "SourceLines": ["a", "b"], "Pos": {"Offset": 3, "Line": 1, "Column": 2}, "SuggestedFixes": [{"TextEdits": [{"Pos": 2, "End": 5, "NewText": "YQ=="}]}]}`)+"1 issues:\n* x: 1\n", "", uint8(1))
	f.Add(issues(`{"Text": "m", "SourceLines": ["ab"], "Pos": {"Line": 1}, "Replacement": {"Inline": {"StartCol": 1, "Length": 1, "NewString": "x"}}}`), "", uint8(0))
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit uint8) {
		checkReport(t, convert.GolangCI, convert.Input{Stdout: strings.NewReader(stdout), Stderr: strings.NewReader(stderr), ExitCode: int(exit % 2)})
	})
}

func FuzzESLint(f *testing.F) {
	seed(f, "eslint")
	f.Add(messages(`{"severity": 1, "message": "a", "suggestions": [{"desc": "Say y.", "fix": {"range": [13, 14], "text": "y"}}]}`), "", uint8(1))
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit uint8) {
		checkJSON(t, convert.ESLint, stdout, stderr, exit)
	})
}
