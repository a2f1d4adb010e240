package convert_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/feedback/convert"
)

func fromJUnit(report string, exit int, lines map[string]string) string {
	in := convert.Input{Stdout: strings.NewReader(report), ExitCode: exit, Dir: "api", Root: "/repo"}
	if lines != nil {
		in.LineText = func(file string, line int) string {
			if text := strings.Split(lines[file], "\n"); line <= len(text) {
				return text[line-1]
			}
			return ""
		}
	}
	return dump(convert.Convert(convert.JUnit, in))
}

func TestJUnit(t *testing.T) {
	const none = "error (no review: true): the review did not take place: "
	suite := func(tests string) string { return `<testsuite name="s">` + tests + `</testsuite>` }
	for _, tc := range []struct {
		name, report string
		exit         int
		want         string
	}{
		{"no test, and it says so", `<testsuites tests="0"/>`, 0, "summary: 0 failed, 0 passed, 0 skipped\n"},
		{"no test, failing", `<testsuites tests="0"/>`, 5, none + "exit status 5, but the report holds no finding\n"},
		{"all pass, yet it failed", suite(`<testcase name="a"/>`), 1, none + "exit status 1, but the report holds no finding\n"},
		{"it fails with success", suite(`<testcase name="a"><failure message="m"/></testcase>`), 0,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"a (s) failed: m\"\n"},
		{"any exit status", suite(`<testcase name="a"><failure type="T"/></testcase>`), 101,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"a (s) failed: T\"\n"},
		{"empty", "", 0, none + "the report is empty, expected JUnit XML\n"},
		{"blank", " \n<?xml version='1.0'?>\n", 0, none + "the report is empty, expected JUnit XML\n"},
		{"only a comment", "<!-- nothing -->", 0, none + "the report is empty, expected JUnit XML\n"},
		{"text", "sh: pytest: not found", 0, none + "the report is no JUnit XML, there is text outside of it, at byte 21\n"},
		{"JSON", "{}", 0, none + "the report is no JUnit XML, there is text outside of it, at byte 2\n"},
		{"two documents", "<testsuites/><testsuites/>", 0, none + "the report holds more than one document, at byte 26\n"},
		{"two documents, one declared", "<testsuites/><?xml version=\"1.0\"?><testsuite/>", 0, none},
		{"another root", "<html><body/></html>", 0, none + `the report is no JUnit XML: its root is "html", expected "testsuites" or "testsuite"` + "\n"},
		{"cut off", `<testsuites><testcase name="a">`, 1, none + "the report ends in the middle, at byte 31\n"},
		{"wrong end", `<testsuites></testsuite>`, 1, none + "the report is no well-formed XML, at byte 24: element <testsuites> closed by </testsuite>\n"},
		{"a control character", suite("<testcase name='a'><failure>\x1b[31m</failure></testcase>"), 1, none + "the report is no well-formed XML, at byte 54: illegal character code U+001B\n"},
		{"not UTF-8", suite("<testcase name='\xff'/>"), 0, none + "the report is no well-formed XML, at byte 38: invalid UTF-8\n"},
		{"another encoding", `<?xml version="1.0" encoding="UTF-16"?><testsuites/>`, 0, none + "the report is encoded in \"UTF-16\", expected UTF-8\n"},
		{"an encoding that is a part of UTF-8", `<?xml version="1.0" encoding="US-ASCII"?><testsuites/>`, 0, "summary: 0 failed, 0 passed, 0 skipped\n"},
		{"an entity bomb", `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites name="&b;"/>`, 0,
			none + "the report declares entities of its own, which are not read\n"},
		{"an entity of a file", `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuites name="&a;"/>`, 0, none + "the report declares entities of its own"},
		{"an entity that is not there", `<testsuites name="&a;"/>`, 0, none + "the report is no well-formed XML, at byte 21: invalid character entity &a;\n"},
		{"a document type", "<!DOCTYPE testsuites><testsuites/>", 0, "summary: 0 failed, 0 passed, 0 skipped\n"},
		{"a byte order mark", "\uFEFF<?xml version='1.0' encoding='UTF-8'?><testsuites/>", 0, "summary: 0 failed, 0 passed, 0 skipped\n"},
		{"counts failures and holds none", `<testsuites failures="2"><testcase name="a"/></testsuites>`, 0,
			none + "the report is not whole: a suite counts 2 failed tests and holds none\n"},
		{"counts tests and holds none", `<testsuites>` + `<testsuite name="s" tests="3" errors="0"/></testsuites>`, 0,
			none + "the report is not whole: suite \"s\" counts 3 tests and holds none\n"},
		{"an error of a suite", `<testsuites errors="1"><testsuite name="s" errors="1"><error message="no database">refused</error></testsuite></testsuites>`, 1,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"suite \\\"s\\\" failed: no database\\nrefused\"\n"},
		{"a class that says nothing", suite(`<testcase name="a" classname="test"><failure/></testcase>`), 1,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"a (s) failed\"\n"},
		{"CDATA", suite(`<testcase name="a" classname="c"><failure><![CDATA[x < y & <b>]]> and <![CDATA[z]]></failure></testcase>`), 1,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"a (c) failed: x < y & <b> and z\"\n"},
		{"a failure and an error of one test", suite(`<testcase name="a"><failure message="m"/><error message="teardown"/></testcase>`), 1,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"a (s) failed: m\"\nblocking :0 () \"a (s) failed: teardown\"\n"},
		{"what ran again", suite(`<testcase name="a"><flakyFailure message="m"><stackTrace>x</stackTrace></flakyFailure></testcase>`), 0,
			"summary: 0 failed, 1 passed, 0 skipped\n"},
		{"a namespace, an unknown element", `<j:testsuites xmlns:j="urn:x"><j:group><j:testcase name="a"><j:failure>f</j:failure></j:testcase></j:group></j:testsuites>`, 1,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"a failed: f\"\n"},
		{"what it printed looks like a failure", suite(`<testcase name="a"><system-out>&lt;failure/&gt; <![CDATA[<failure>]]></system-out></testcase>`), 0,
			"summary: 0 failed, 1 passed, 0 skipped\n"},
		{"without names", "<testsuite><testcase><failure/></testcase></testsuite>", 1,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"a test without a name failed\"\n"},
		{"a test in a test", suite(`<testcase name="a"><testcase name="b"/></testcase>`), 0, none + "the report is no JUnit XML: a testcase stands in a testcase"},
		{"too deep", strings.Repeat("<testsuite>", 100_000), 0, none + "the report holds more than 200 elements in each other\n"},
		{"a long tag", "<testsuites " + strings.Repeat(`a="b" `, 1<<20), 0, none + "the report is not read beyond byte 4194305: a tag has more than 4 MiB\n"},
		{"numbers that are none", `<testsuites tests="many" failures="-1"><testcase name="a" line="x"/></testsuites>`, 0, "summary: 0 failed, 1 passed, 0 skipped\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := fromJUnit(tc.report, tc.exit, nil)
			if got != tc.want && (strings.HasSuffix(tc.want, "\n") || !strings.HasPrefix(got, tc.want)) {
				t.Errorf("got:\n%swant:\n%s", got, tc.want)
			}
		})
	}
}

// TestJUnitPlaces finds where a test failed, from what runners of several languages write.
func TestJUnitPlaces(t *testing.T) {
	there := map[string]string{
		"api/tests/test_cart.py":           strings.Repeat("code\n", 40),
		"api/cart.py":                      strings.Repeat("code\n", 40),
		"api/node_modules/assert/a.js":     strings.Repeat("code\n", 40),
		"api/test/sum.test.js":             strings.Repeat("code\n", 40),
		"api/lib/sum.js":                   strings.Repeat("code\n", 40),
		"web/test_top.py":                  strings.Repeat("code\n", 40),
		"api/.venv/lib/site-packages/x.py": "code",
	}
	for _, tc := range []struct{ name, test, text, want string }{
		{"pytest, the last line of the trace", ``, "tests/test_cart.py:7: in test_total\n    total(1)\ncart.py:12: AssertionError", "/repo/api/cart.py:12"},
		{"pytest, in the file of the test", `file="tests/test_cart.py" line="4"`, "tests/test_cart.py:7: in test_total\n    total(1)\ncart.py:12: AssertionError", "/repo/api/tests/test_cart.py:7"},
		{"unittest", ``, "Traceback (most recent call last):\n  File \"/repo/api/tests/test_cart.py\", line 9, in test_total\nAssertionError: 1 != 2", "/repo/api/tests/test_cart.py:9"},
		{"node, the first line", ``, "AssertionError: 1 == 2\n    at sum (file:///repo/api/lib/sum.js:3:7)\n    at TestContext.<anonymous> (/repo/api/test/sum.test.js:6:10)\n    at node:internal/test:1:2", "/repo/api/lib/sum.js:3"},
		{"node, in the file of the test", `file="/repo/api/test/sum.test.js"`, "    at sum (file:///repo/api/lib/sum.js:3:7)\n    at TestContext.<anonymous> (/repo/api/test/sum.test.js:6:10)", "/repo/api/test/sum.test.js:6"},
		{"not in what was installed", ``, "    at ok (/repo/api/node_modules/assert/a.js:1:1)\n    at t (/repo/api/test/sum.test.js:6:10)\n.venv/lib/site-packages/x.py:1: x", "/repo/api/test/sum.test.js:6"},
		{"from the top", ``, "web/test_top.py:3: AssertionError", "/repo/web/test_top.py:3"},
		{"a line that is not there", ``, "tests/test_cart.py:99: AssertionError", ":0"},
		{"a file that is not there", ``, "other.py:9: AssertionError http://host.example:80 got.it:3", ":0"},
		{"the file of the test alone", `file="tests/test_cart.py" line="4"`, "no trace", "/repo/api/tests/test_cart.py:4"},
		{"a file that is a test", `name="/repo/api/lib/sum.js" `, "exit code 1", "/repo/api/lib/sum.js:0"},
		{"elsewhere", `file="/usr/lib/x.py" line="4"`, "/usr/lib/x.py:4: x", "/usr/lib/x.py:4"},
	} {
		report := `<testsuite name="s"><testcase ` + tc.test + ` name="a"><failure><![CDATA[` + tc.text + `]]></failure></testcase></testsuite>`
		_, got, _ := strings.Cut(fromJUnit(report, 1, there), "\nblocking ")
		got, _, _ = strings.Cut(got, " ")
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestJUnitLongTexts reads texts far beyond the bounds: what stands behind them is still read.
func TestJUnitLongTexts(t *testing.T) {
	const size = 5 << 18
	for name, long := range map[string]string{
		"a text": "<system-out>%</system-out>", "a section": "<system-out><![CDATA[%]]></system-out>",
		"a comment": "<!-- % -->", "an attribute": `<property value="%"/>`, "a message": `<testcase name="b"><failure message='%'/></testcase>`,
	} {
		for _, fill := range []string{"x", "é", "\u65e5", "&lt;", "]]x", "- x"} {
			if strings.HasPrefix(fill, "]") && name == "a text" {
				continue
			}
			report := "<testsuite>" + strings.Replace(long, "%", strings.Repeat(fill, size/len(fill)), 1) +
				`<testcase name="a"><failure message="m"/></testcase></testsuite>`
			got := fromJUnit(report, 1, nil)
			if !strings.Contains(got, `blocking :0 () "a failed: m"`) {
				t.Errorf("%s of %q: %.300s", name, fill, got)
			}
		}
	}
}

func TestJUnitMemory(t *testing.T) {
	const size = 12 << 20
	start := "<testsuite><testcase name='a'><failure>f</failure></testcase>"
	for name, tc := range map[string]struct {
		before, fill, after string
	}{
		"a text":    {"<system-out>", "x", "</system-out>"},
		"a section": {"<system-out><![CDATA[", "]] >", "]]></system-out>"},
		"a value":   {"<property value='", "&amp;", "'/>"},
		"tests":     {"", "<testcase name='b'><system-out>much</system-out></testcase>", ""},
		"failures":  {"", "<testcase name='b'><failure>the same</failure></testcase>", ""},
	} {
		var peak uint64
		fill := int64(size / len(tc.fill) * len(tc.fill))
		report := io.MultiReader(strings.NewReader(start+tc.before), repeat(tc.fill, fill), strings.NewReader(tc.after+"</testsuite>"))
		probe := &probed{in: report, every: size / 4, each: func() { peak = max(peak, alive()) }}
		before := alive()
		r, err := convert.Convert(convert.JUnit, convert.Input{Stdout: probe, ExitCode: 1})
		if err != nil || len(r.Items) == 0 {
			t.Errorf("%s: %d items, %v", name, len(r.Items), err)
		}
		if grew := int64(peak) - int64(before); peak == 0 || grew > 8<<20 {
			t.Errorf("%s: %d MB are held while a report of %d MB is read", name, grew>>20, size>>20)
		}
	}
}

func TestJUnitThatCannotBeRead(t *testing.T) {
	in := convert.Input{Stdout: io.MultiReader(strings.NewReader("<testsuites>"), iotest.ErrReader(errors.New("disk on fire")))}
	if _, err := convert.Convert(convert.JUnit, in); !errors.Is(err, convert.ErrNoReview) || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("error %v", err)
	}
	if _, err := convert.Convert(convert.JUnit, convert.Input{}); !errors.Is(err, convert.ErrNoReview) {
		t.Errorf("no report at all: error %v", err)
	}
	in = convert.Input{Stdout: strings.NewReader("<testsuites/>"), ExitCode: 3, OKExitCodes: []int{0, 1}}
	if _, err := convert.Convert(convert.JUnit, in); !errors.Is(err, convert.ErrNoReview) || !strings.Contains(err.Error(), "exit status 3, expected one of 0, 1") {
		t.Errorf("an exit status that is not allowed: error %v", err)
	}
}

// TestJUnitCutOffAnywhere cuts a report at every byte: none becomes a review.
func TestJUnitCutOffAnywhere(t *testing.T) {
	a, err := txtar.ParseFile("testdata/junit-pytest-fail.txtar")
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.TrimSpace(getFile(a, "stdout"))
	for n := range len(whole) {
		if _, err := convert.Convert(convert.JUnit, convert.Input{Stdout: strings.NewReader(whole[:n])}); !errors.Is(err, convert.ErrNoReview) {
			t.Fatalf("%d bytes: error %v", n, err)
		}
	}
}

func FuzzJUnit(f *testing.F) {
	seed(f, "junit")
	f.Add("<testsuite><testcase name='a'><failure><![CDATA[a.py:3: x]]></failure></testcase></testsuite>", "", uint8(1))
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit uint8) {
		checkReport(t, convert.JUnit, convert.Input{Stdout: strings.NewReader(stdout), Stderr: strings.NewReader(stderr), ExitCode: int(exit)})
	})
}
