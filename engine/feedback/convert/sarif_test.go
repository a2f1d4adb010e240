package convert_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
)

const noReview = "error (no review: true): the review did not take place: "

// lineOf gives the lines of files that a test has.
func lineOf(files map[string]string) func(string, int) string {
	return func(file string, line int) string {
		if text := strings.Split(files[file], "\n"); line >= 1 && line <= len(text) {
			return text[line-1]
		}
		return ""
	}
}

func from(format, report string, exit int) string {
	in := convert.Input{Stdout: strings.NewReader(report), ExitCode: exit, Dir: "api", Root: "/repo",
		LineText: lineOf(map[string]string{"api/a.go": "a", "lib/b.go": "b", "api/lib/b c.go": "c"})}
	r, err := convert.Convert(format, in)
	if err == nil {
		r, err = feedback.Normalise(r, feedback.Context{Root: in.Root, Dir: in.Dir, Agent: "tool"})
	}
	return dump(r, err)
}

// log is a SARIF log of one run; members are those of the run.
func log(members string) string {
	return `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "T", "rules": [
		{"id": "E", "shortDescription": {"text": "about E"}, "defaultConfiguration": {"level": "error"}, "messageStrings": {"m": {"text": "{0} is {{{1}}}"}}},
		{"id": "N", "defaultConfiguration": {"level": "note"}, "properties": {"tags": ["x", "Security"]}},
		{"id": "O", "defaultConfiguration": {"level": "none"}}],
		"globalMessageStrings": {"g": {"text": "global {0}"}}},
		"extensions": [{"name": "X", "rules": [{"id": "XE", "defaultConfiguration": {"level": "error"}}]}]}, ` + members + `}]}`
}

func results(r ...string) string { return log(`"results": [` + strings.Join(r, ",") + `]`) }

func at(uri string) string {
	return `{"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": ` + uri + `, "region": {"startLine": 3}}}]}`
}

func TestSARIF(t *testing.T) {
	for _, tc := range []struct {
		name, report string
		exit         int
		want         string
	}{
		{"nothing found", results(), 0, "summary: 0 findings\n"},
		{"nothing found, failing", results(), 1, noReview + "exit status 1, but the report holds no finding\n"},
		{"another status", results(), 2, noReview + "exit status 2, expected one of 0, 1 ("},
		{"only suppressed, failing", results(`{"level": "error", "message": {"text": "m"}, "suppressions": [{"kind": "inSource"}]}`), 1, "summary: 0 findings, 1 suppressed\n"},
		{"no suppression", results(`{"level": "error", "message": {"text": "m"}, "suppressions": []}`), 1, "summary: 1 findings\nblocking :0 (T) \"m\"\n"},
		{"levels", results(`{"level": "error", "message": {"text": "a"}}`, `{"level": "warning", "message": {"text": "b"}}`, `{"level": "note", "message": {"text": "c"}}`,
			`{"level": "none", "message": {"text": "d"}}`, `{"message": {"text": "e"}}`), 1,
			"summary: 4 findings, 1 without a level\nblocking :0 (T) \"a\"\nadvisory :0 (T) \"b\"\ninformational :0 (T) \"c\"\nadvisory :0 (T) \"e\"\n"},
		{"levels of rules", results(`{"ruleId": "E", "message": {"text": "a"}}`, `{"ruleIndex": 1, "message": {"text": "b"}}`, `{"rule": {"id": "O"}, "message": {"text": "c"}}`,
			`{"ruleId": "E/part", "message": {"text": "d"}}`, `{"rule": {"index": 0, "toolComponent": {"index": 0}}, "message": {"text": "e"}}`,
			`{"rule": {"id": "XE", "toolComponent": {"name": "X"}}, "message": {"text": "f"}}`, `{"level": "note", "ruleId": "E", "message": {"text": "g"}}`), 1,
			"summary: 6 findings, 1 without a level\nblocking :0 (T) \"a (E)\"\ninformational :0 (T) \"b (N)\"\nblocking :0 (T) \"d (E/part)\"\n" +
				"blocking :0 (T) \"e (XE)\"\nblocking :0 (T) \"f (XE)\"\ninformational :0 (T) \"g (E)\"\n"},
		{"what an invocation makes of a rule", log(`"results": [{"ruleId": "N", "message": {"text": "a"}, "provenance": {"invocationIndex": 0}}, {"ruleId": "N", "message": {"text": "b"}}],
			"invocations": [{"executionSuccessful": true, "ruleConfigurationOverrides": [{"descriptor": {"id": "N"}, "configuration": {"level": "error"}}]}]`), 1,
			"summary: 2 findings\nblocking :0 (T) \"a (N)\"\ninformational :0 (T) \"b (N)\"\n"},
		{"kinds", results(`{"kind": "pass", "message": {"text": "a"}}`, `{"kind": "fail", "message": {"text": "b"}}`, `{"kind": "open", "ruleId": "E", "message": {"text": "c"}}`), 1,
			"summary: 1 findings, 2 without a level\nadvisory :0 (T) \"b\"\n"},
		{"a level that is not known", results(`{"level": "none", "message": {"text": "m"}}`, `{"level": "fatal", "message": {"text": "m"}}`), 1,
			noReview + `result 2 of run 1, at byte `},
		{"messages", results(`{"ruleId": "E", "message": {"id": "m", "arguments": ["x{1}", "y"]}}`, `{"message": {"id": "g", "arguments": ["z"]}}`,
			`{"ruleId": "E"}`, `{"message": {"markdown": "**b**"}}`, `{"message": {"text": "see [the call](1) {0} {7}", "arguments": ["here"]}}`, `{"message": {"text": "plain {{}}"}}`), 1,
			"summary: 6 findings\nadvisory :0 (T) \"**b**\"\nblocking :0 (T) \"about E\"\nadvisory :0 (T) \"global z\"\n" +
				"advisory :0 (T) \"plain {{}}\"\nadvisory :0 (T) \"see the call here {7}\"\nblocking :0 (T) \"x{1} is {y} (E)\"\n"},
		{"no message", results(`{}`), 1, noReview + "result 1 of run 1 has no message\n"},
		{"null for a result", results(`null`), 1, noReview + "result 1 of run 1 has no message\n"},
		{"places", log(`"results": [` + strings.Join([]string{at(`{"uri": "a.go"}`), at(`{"uri": "lib/b.go"}`), at(`{"uri": "lib/b%20c.go"}`),
			at(`{"uri": "../../x.go"}`), at(`{"uri": "file:///repo/web/c.js"}`), at(`{"uri": "file:///etc/passwd"}`), at(`{"uri": "https://host.example/x.go"}`),
			at(`{"uri": "file://host/repo/x.go"}`), at(`{"index": 0}`), at(`{"uri": "d.go", "uriBaseId": "S"}`), at(`{"uri": "e.go", "uriBaseId": "C"}`),
			at(`{"uri": "f.go", "uriBaseId": "%SRCROOT%"}`), at(`{"uri": "C:\\g.go"}`), at(`{"uri": "%zz.go"}`), at(`{"uri": "file:///repo/"}`), at(`{"index": 9}`)}, ",") + `],
			"originalUriBaseIds": {"S": {"uri": "src/", "uriBaseId": "R"}, "R": {"uri": "file:///repo/top/"}, "C": {"uri": "c", "uriBaseId": "D"}, "D": {"uriBaseId": "C"}},
			"artifacts": [{"location": {"uri": "art.go", "uriBaseId": "R"}}]`), 1,
			"*api/a.go:3 |*lib/b.go:3 |*api/lib/b c.go:3 |*\"/x.go\" dropped: it leaves|* web/c.js:3 |*file \"/etc/passwd\" dropped: it leaves|*\"https://host.example/x.go\" dropped|*\"/file://host/repo/x.go\" dropped" +
				"|* top/art.go:3 |* top/src/d.go:3 |* api/e.go:3 |* api/f.go:3 |*\"/C:/g.go\" dropped|*api/%zz.go:3 |*advisory :3 (T) "},
		{"a base that lies elsewhere", log(`"results": [` + strings.Join([]string{at(`{"uri": "lib/b.go", "uriBaseId": "W"}`), at(`{"uri": "a.go", "uriBaseId": "W"}`), at(`{"uri": "nosuch.go", "uriBaseId": "W"}`), at(`{"index": 0}`)}, ",") + `],
			"originalUriBaseIds": {"W": {"uri": "file:///elsewhere/src/"}}, "artifacts": [{"location": {"uri": "lib/b%20c.go", "uriBaseId": "W"}}]`), 1,
			"* lib/b.go:3 |* api/a.go:3 |*\"/elsewhere/src/nosuch.go\" dropped|* api/lib/b c.go:3 "},
		{"the text that a fix replaces", results(`{"message": {"text": "m"}, "fixes": [{"artifactChanges": [{"artifactLocation": {"uri": "a.go"}, "replacements": [{"deletedRegion": {"startLine": 2, "startColumn": 1, "endColumn": 3, "snippet": {"text": "if", "rendered": {}}}, "insertedContent": {"text": "while"}}]}]}]}`), 1,
			"*  fix: replace \"if\" at 2:1-2:3 of a.go with \"while\"\n"},
		{"a place without a file", results(`{"message": {"text": "m"}, "locations": [{"logicalLocations": [{"name": "f", "fullyQualifiedName": "p.f"}]}]}`, `{"message": {"text": "n"}, "analysisTarget": {"uri": "a.go"}}`), 1,
			"summary: 2 findings\nadvisory :0 (T) \"m in p.f\"\nadvisory api/a.go:0 (T) \"n\"\n"},
		{"a fix", results(`{"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.go"}, "region": {"startLine": 3, "startColumn": 5}}}], "fixes": [
			{"description": {"text": "Use x."}, "artifactChanges": [
				{"artifactLocation": {"uri": "a.go"}, "replacements": [{"deletedRegion": {"startLine": 3, "startColumn": 5, "endColumn": 7}, "insertedContent": {"text": "x"}}, {"deletedRegion": {"startLine": 4, "startColumn": 2}}]},
				{"artifactLocation": {"uri": "b.go"}, "replacements": [{"deletedRegion": {"startLine": 9, "endLine": 10}, "insertedContent": {"text": "y\n"}}]}]},
			{"description": {"text": "Another way."}}]}`), 1,
			"summary: 1 findings\nadvisory api/a.go:3 (T) \"m\"\n  fix: Use x.; replace 3:5-3:7 with \"x\"; delete 4:2 to the end of line 4; replace lines 9-10 of b.go with \"y\\n\"\n"},
		{"a run that failed", log(`"results": [], "invocations": [{"executionSuccessful": true}, {"executionSuccessful": false, "toolExecutionNotifications": [
			{"level": "warning", "message": {"text": "w"}}, {"level": "error", "message": {"text": "out of memory"}}]}]`), 0,
			noReview + "the report says of run 1 that the tool did not succeed (it says \"out of memory\")\n"},
		{"a run that failed, with a status", log(`"invocations": [{"executionSuccessful": false, "exitCodeDescription": "bad options"}], "results": []`), 0,
			noReview + "the report says of run 1 that the tool did not succeed (it says \"bad options\")\n"},
		{"no results", log(`"artifacts": []`), 0, noReview + "run 1 holds no list of results: its scan was not done\n"},
		{"null results", log(`"results": null`), 0, noReview + "run 1 holds no list of results: its scan was not done\n"},
		{"results elsewhere", log(`"externalPropertyFileReferences": {"results": [{"location": {"uri": "r.json"}}]}`), 0, noReview + "the results of run 1 lie in other files, which are not read; have the tool write them into the report\n"},
		{"no run", `{"version": "2.1.0", "runs": []}`, 0, noReview + "the report holds no run of a tool\n"},
		{"another version", `{"version": "2.0.0", "runs": []}`, 0, noReview + "the report has version \"2.0.0\", before byte 19, expected SARIF 2.1.0\n"},
		{"no version", `{"runs": []}`, 0, noReview + "the report names no version, expected SARIF 2.1.0\n"},
		{"a number for the version", `{"version": 2.1}`, 0, noReview + "the report can't be read at byte 12 at or after \"version\": expected a text, found \"2\"\n"},
		{"another root", `[]`, 0, noReview + "the report can't be read at byte 0: expected an object, found \"[\"\n"},
		{"empty", "", 0, noReview + "the report is empty, expected JSON\n"},
		{"blank", " \n", 0, noReview + "the report is empty, expected JSON\n"},
		{"text", "sh: semgrep: not found", 0, noReview + "the report can't be read at byte 0: expected an object, found \"s\"\n"},
		{"XML", "<testsuites/>", 0, noReview + "the report can't be read at byte 0: expected an object, found \"<\"\n"},
		{"more after it", results() + " {}", 0, noReview + "the report can't be read at byte "},
		{"a byte order mark", "\uFEFF" + results(), 0, "summary: 0 findings\n"},
		{"UTF-16", "\xff\xfe{\x00}\x00", 0, noReview + "the report is not encoded in UTF-8, at byte 0: it looks like UTF-16 or UTF-32; have the tool write UTF-8\n"},
		{"UTF-16 without a mark", "{\x00}\x00", 0, noReview + "the report is not encoded in UTF-8, at byte 0: "},
		{"Latin-1", `{"version": "2.1.0", "x": "` + "\xe9" + `"}`, 0, noReview + "the report is not encoded in UTF-8, at byte 27\n"},
		{"cut off in a character", "{\"x\": \"\xe2\x82", 0, noReview + "the report ends in the middle, at byte 9\n"},
		{"a control character", "{\"x\": \"\n\"}", 0, noReview + "the report can't be read at byte 7 at or after \"x\": expected a text without control characters, found \"\\n\"\n"},
		{"a comma too much", `{"x": [1,]}`, 0, noReview + "the report can't be read at byte 9 at or after \"x\": expected another entry, found \"]\"\n"},
		{"a comma too few", `{"x": [1 2]}`, 0, noReview + "the report can't be read at byte 9 at or after \"x\": expected \",\" or \"]\", found \"2\"\n"},
		{"no number", `{"x": 01}`, 0, noReview + "the report can't be read at byte 6: \"01\" is no number\n"},
		{"no word", `{"x": nul}`, 0, noReview + "the report can't be read at byte 9 at or after \"x\": expected null, found \"}\"\n"},
		{"no escape", `{"x": "\q"}`, 0, noReview + "the report can't be read at byte 8 at or after \"x\": expected an escape such as \\n, found \"q\"\n"},
		{"too deep", strings.Repeat(`{"x":[`, 100_000), 0, noReview + "the report holds more than 200 lists and objects in each other, at byte "},
		{"escapes", results(`{"message": {"text": "\u00e9\ud83d\ude00 \ud83d \ude00 \"\\\/\t"}}`), 1, "summary: 1 findings\nadvisory :0 (T) \"é😀 \uFFFD \uFFFD \\\"\\\\/\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) { compare(t, from(convert.SARIF, tc.report, tc.exit), tc.want) })
	}
}

// compare holds a dump to what is wanted: all of it; its beginning, without a newline at the end; or parts
// of it, which follow "*" and "|".
func compare(t *testing.T, got, want string) {
	t.Helper()
	if strings.HasPrefix(want, "*") {
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(got, part[1:]) {
				t.Errorf("%q is not in\n%s", part[1:], got)
			}
		}
		return
	}
	if got != want && (strings.HasSuffix(want, "\n") || !strings.HasPrefix(got, want)) {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// TestSARIFInAnyOrder turns the members of a run around: rules, bases and artifacts behind the results.
func TestSARIFInAnyOrder(t *testing.T) {
	tool := `"tool": {"driver": {"rules": [{"id": "E", "defaultConfiguration": {"level": "error"}, "messageStrings": {"m": {"text": "text for {0}"}}}], "name": "T"}}`
	rest := `"originalUriBaseIds": {"S": {"uri": "src/"}}, "artifacts": [{"location": {"uri": "x.go", "uriBaseId": "S"}}]`
	list := `"results": [{"ruleId": "E", "message": {"arguments": ["y"], "id": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"index": 0}}}]}]`
	want := "summary: 1 findings\nblocking api/src/x.go:0 (T) \"text for y (E)\"\n"
	for _, members := range [][]string{{tool, rest, list}, {list, tool, rest}, {rest, list, tool}, {list, rest, tool}} {
		compare(t, from(convert.SARIF, `{"runs": [{`+strings.Join(members, ", ")+`}], "version": "2.1.0"}`, 1), want)
	}
}

func TestSARIFFingerprints(t *testing.T) {
	of := func(members, uri string, line int) string {
		t.Helper()
		r, err := convert.Convert(convert.SARIF, convert.Input{Root: "/repo", LineText: lineOf(map[string]string{"a.go": "x\ny\nx"}), Stdout: strings.NewReader(results(fmt.Sprintf(
			`{"ruleId": "E", "message": {"text": "m"}, %s "locations": [{"physicalLocation": {"artifactLocation": {"uri": %q}, "region": {"startLine": %d}}}]}`, members, uri, line)))})
		if err != nil || len(r.Items) != 1 {
			t.Fatal(r, err)
		}
		return r.Items[0].Fingerprint
	}
	const a, b = `"partialFingerprints": {"h/v1": "1", "g/v1": "2"},`, `"partialFingerprints": {"g/v1": "2", "h/v1": "1"},`
	if of(a, "a.go", 1) != of(b, "a.go", 2) {
		t.Error("the same fingerprints in another order, of another line, differ")
	}
	if of("", "a.go", 1) != of("", "a.go", 3) {
		t.Error("a line that moved has another fingerprint")
	}
	for _, other := range []string{of(`"partialFingerprints": {"h/v1": "1", "g/v1": "3"},`, "a.go", 1), of(a, "b.go", 1), of("", "a.go", 1), of(`"fingerprints": {"x": "1"}, `+a, "a.go", 1)} {
		if other == of(a, "a.go", 1) {
			t.Error("another finding has the same fingerprint")
		}
	}
}

func TestSARIFSecurity(t *testing.T) {
	r, err := convert.Convert(convert.SARIF, convert.Input{Stdout: strings.NewReader(results(
		`{"ruleId": "N", "message": {"text": "a"}}`, `{"ruleId": "E", "message": {"text": "b"}}`, `{"message": {"text": "c"}, "properties": {"tags": ["security"]}}`, `{"message": {"text": "d"}, "properties": {"tags": "security"}}`))})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, i := range r.Items {
		got += i.Description[:1] + "=" + i.Category + " "
	}
	if got != "a=security b= c=security d= " {
		t.Error(got)
	}
}

// TestBlockingIsKept puts what blocks behind more findings than are kept.
func TestBlockingIsKept(t *testing.T) {
	var warnings []string
	for i := range convert.MaxItems + 200 {
		warnings = append(warnings, fmt.Sprintf(`{"level": "warning", "message": {"text": "w%d"}}`, i))
	}
	for name, report := range map[string]struct{ format, text string }{
		"one run":  {convert.SARIF, results(append(warnings, `{"ruleId": "E", "message": {"text": "e"}}`)...)},
		"two runs": {convert.SARIF, strings.TrimSuffix(results(warnings...), "]}") + `, {"results": [{"level": "error", "message": {"text": "e"}}]}]}`},
		"rdjsonl": {convert.RDJSONL, strings.NewReplacer(`"level": "warning"`, `"severity": "WARNING"`, `{"text": `, "", `}}`, `}`).Replace(strings.Join(warnings, "\n")) +
			`{"message": "e", "severity": "ERROR"}`},
	} {
		r, err := convert.Convert(report.format, convert.Input{Stdout: strings.NewReader(report.text), ExitCode: 1})
		if err != nil || len(r.Items) != convert.MaxItems || !strings.HasPrefix(r.Summary, "1201 findings") {
			t.Errorf("%s: %d items, %q, %v", name, len(r.Items), r.Summary, err)
			continue
		}
		blocking := 0
		for _, i := range r.Items {
			if i.Severity == feedback.Blocking {
				blocking++
			}
		}
		if blocking != 1 {
			t.Errorf("%s: %d blocking items, expected 1", name, blocking)
		}
	}
}

// TestJSONCutOffAnywhere cuts real reports at every byte, and reads them in the smallest pieces.
func TestJSONCutOffAnywhere(t *testing.T) {
	for name, format := range map[string]string{"sarif-base-ids": convert.SARIF, "sarif-suppressions": convert.SARIF, "rdjson-custom": convert.RDJSON} {
		a, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.TrimSpace(getFile(a, "stdout"))
		for n := range len(whole) {
			_, err := convert.Convert(format, convert.Input{Stdout: strings.NewReader(whole[:n])})
			if want := fmt.Sprintf("ends in the middle, at byte %d", n); !errors.Is(err, convert.ErrNoReview) || n > 0 && !strings.HasSuffix(err.Error(), want) {
				t.Fatalf("%s, %d bytes: error %v", name, n, err)
			}
		}
		pieces, err := convert.Convert(format, convert.Input{Stdout: iotest.OneByteReader(strings.NewReader("\uFEFF" + strings.Replace(whole, "test", "tést", 1)))})
		if err != nil || len(pieces.Items) == 0 {
			t.Errorf("%s, byte by byte: %d items, %v", name, len(pieces.Items), err)
		}
	}
}

// TestJSONMemory reads reports of 24 MB, and looks at what is alive meanwhile.
func TestJSONMemory(t *testing.T) {
	const size = 24 << 20
	open := `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "T"}}, "results": [`
	result := `{"level": "warning", "ruleId": "R", "message": {"text": "` + strings.Repeat("x", 3000) + `"}},`
	block := strings.Repeat("x", 4096)
	for name, r := range map[string]struct {
		format, want string
		report       io.Reader
	}{
		"one text":          {convert.SARIF, "ends in the middle", io.MultiReader(strings.NewReader(`{"version": "`), repeat(block, size))},
		"one name":          {convert.SARIF, "ends in the middle", io.MultiReader(strings.NewReader(`{"`), repeat(block, size))},
		"spaces":            {convert.RDJSON, "is empty", repeat(strings.Repeat(" ", 4096), size)},
		"a number":          {convert.SARIF, "is no number", io.MultiReader(strings.NewReader(`{"x": `), repeat(strings.Repeat("1", 4096), size))},
		"results":           {convert.SARIF, "ends in the middle", io.MultiReader(strings.NewReader(open), repeat(result, size))},
		"what is not known": {convert.SARIF, "ends in the middle", io.MultiReader(strings.NewReader(`{"x": [`), repeat(result, size))},
		"arguments":         {convert.SARIF, "ends in the middle", io.MultiReader(strings.NewReader(open+`{"message": {"arguments": [`), repeat(strings.Repeat(`"x",`, 1024), size))},
		"diagnostics":       {convert.RDJSONL, "", repeat(`{"message": "m", "severity": "INFO", "suggestions": [{"text": "x"}]}`+"\n", size/69*69)},
	} {
		t.Run(name, func(t *testing.T) {
			var peak uint64
			probe := &probed{in: r.report, every: size / 4, each: func() { peak = max(peak, alive()) }}
			before := alive()
			_, err := convert.Convert(r.format, convert.Input{Stdout: probe})
			if r.want == "" && err != nil || r.want != "" && (!errors.Is(err, convert.ErrNoReview) || !strings.Contains(err.Error(), r.want)) {
				t.Errorf("error %v, want %q in it", err, r.want)
			}
			if grew := int64(peak) - int64(before); peak > 0 && grew > 12<<20 {
				t.Errorf("%d MB are held while a report is read", grew>>20)
			}
		})
	}
	rules := io.MultiReader(strings.NewReader(`{"runs": [{"tool": {"driver": {"rules": [`), repeat(`{"id": "R", "name": "x"},`, 200<<20))
	if _, err := convert.Convert(convert.SARIF, convert.Input{Stdout: rules}); err == nil || !strings.Contains(err.Error(), "holds too much that results refer to") {
		t.Errorf("rules without an end: error %v", err)
	}
}

func TestJSONThatCannotBeRead(t *testing.T) {
	for _, format := range []string{convert.SARIF, convert.RDJSON, convert.RDJSONL} {
		for _, begin := range []string{"", `{"runs`, ` {"message": "m"}`} {
			in := io.MultiReader(strings.NewReader(begin), iotest.ErrReader(errors.New("disk on fire")))
			if _, err := convert.Convert(format, convert.Input{Stdout: in}); !errors.Is(err, convert.ErrNoReview) || !strings.Contains(err.Error(), "disk on fire") {
				t.Errorf("%s, after %q: error %v", format, begin, err)
			}
		}
		if _, err := convert.Convert(format, convert.Input{}); !errors.Is(err, convert.ErrNoReview) {
			t.Errorf("%s, no report: error %v", format, err)
		}
	}
}

func FuzzSARIF(f *testing.F) {
	seed(f, "sarif")
	f.Add(log(`"results": [`+at(`{"uri": "a%20b.go", "uriBaseId": "S"}`)+`], "originalUriBaseIds": {"S": {"uri": "../", "uriBaseId": "S"}}`), "", uint8(1))
	f.Add(results(`{"ruleId": "E", "message": {"id": "m", "arguments": ["\ud83d", "b"]}}`), "", uint8(0))
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit uint8) {
		checkJSON(t, convert.SARIF, stdout, stderr, exit)
	})
}

// checkJSON checks what holds of every report, and that what is read is JSON.
func checkJSON(t *testing.T, format, stdout, stderr string, exit uint8) {
	t.Helper()
	checkReport(t, format, convert.Input{Stdout: strings.NewReader(stdout), Stderr: strings.NewReader(stderr), ExitCode: int(exit % 2)})
	_, err := convert.Convert(format, convert.Input{Stdout: strings.NewReader(stdout)})
	if err == nil && format != convert.RDJSONL && !json.Valid(bytes.TrimPrefix([]byte(stdout), []byte("\uFEFF"))) {
		t.Fatalf("what is no JSON was read")
	}
}

// bigSARIF is a log of so many MB as tools write it.
func bigSARIF(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "T", "rules": [{"id": "R1"}]}}, "results": [`)
	for i := 0; b.Len() < size<<20; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `
        {
          "ruleId": "R%d",
          "level": "warning",
          "message": {"text": "Value number %d is never used, and \"quoted\" here."},
          "locations": [{"physicalLocation": {"artifactLocation": {"uri": "src/dir%d/file.go", "uriBaseId": "%%SRCROOT%%"}, "region": {"startLine": %d, "startColumn": 5, "endColumn": 9}}}],
          "partialFingerprints": {"primaryLocationLineHash": "%032x:1"},
          "properties": {"rank": 0.5, "seen": true}
        }`, i%50, i, i%100, i%1000+1, i)
	}
	b.WriteString("]}]}")
	return b.Bytes()
}

// TestSARIFTime holds the converter to three times what encoding/json takes to decode the same report.
func TestSARIFTime(t *testing.T) {
	report := bigSARIF(10)
	best := func(run func()) time.Duration {
		least := time.Duration(1 << 62)
		for range 2 {
			start := time.Now()
			run()
			least = min(least, time.Since(start))
		}
		return least
	}
	ours := best(func() {
		if r, err := convert.Convert(convert.SARIF, convert.Input{Stdout: bytes.NewReader(report)}); err != nil || len(r.Items) != convert.MaxItems {
			t.Fatal(len(r.Items), err)
		}
	})
	theirs := best(func() {
		var v any
		if err := json.Unmarshal(report, &v); err != nil {
			t.Fatal(err)
		}
	})
	if ours > 3*theirs {
		t.Errorf("a report of 10 MB took %v, and decoding it %v", ours, theirs)
	}
}

func BenchmarkSARIF(b *testing.B) {
	report := bigSARIF(50)
	b.Run("convert", func(b *testing.B) {
		b.SetBytes(int64(len(report)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := convert.Convert(convert.SARIF, convert.Input{Stdout: bytes.NewReader(report)}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(report)))
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(report, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
