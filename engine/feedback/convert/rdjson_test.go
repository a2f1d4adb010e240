package convert_test

import (
	"strings"
	"testing"

	"example.com/pipe/engine/feedback/convert"
)

func TestRDJSON(t *testing.T) {
	list := func(d ...string) string { return `{"diagnostics": [` + strings.Join(d, ",") + `]}` }
	for _, tc := range []struct {
		name, report string
		exit         int
		want         string
	}{
		{"nothing found", list(), 0, "summary: 0 findings\n"},
		{"nothing found, failing", list(), 1, noReview + "exit status 1, but the report holds no finding\n"},
		{"another status", list(), 3, noReview + "exit status 3, expected one of 0, 1 ("},
		{"severities", list(`{"message": "a", "severity": "ERROR"}`, `{"message": "b", "severity": "WARNING"}`, `{"message": "c", "severity": "INFO"}`,
			`{"message": "d", "severity": 1}`, `{"message": "e", "severity": 3}`, `{"message": "f", "severity": "UNKNOWN_SEVERITY"}`, `{"message": "g"}`, `{"message": "h", "severity": null}`), 1,
			"summary: 8 findings\nblocking :0 (tool) \"a\"\nadvisory :0 (tool) \"b\"\ninformational :0 (tool) \"c\"\nblocking :0 (tool) \"d\"\n" +
				"informational :0 (tool) \"e\"\nblocking :0 (tool) \"f\"\nblocking :0 (tool) \"g\"\nblocking :0 (tool) \"h\"\n"},
		{"severity and source of all, behind them", `{"diagnostics": [{"message": "a"}, {"message": "b", "severity": "ERROR", "source": {"name": "own"}}], "source": {"name": "lint", "url": "u"}, "severity": "WARNING"}`, 1,
			"summary: 2 findings\nadvisory :0 (lint) \"a\"\nblocking :0 (own) \"b\"\n"},
		{"a severity that is not known", list(`{"message": "a", "severity": "FATAL"}`), 1, noReview + "severity \"FATAL\" at byte 45 is not known, expected ERROR, WARNING or INFO\n"},
		{"a number that is none", list(`{"message": "a", "severity": 4}`), 1, noReview + "severity \"4\" at byte 45 is not known, expected ERROR, WARNING or INFO\n"},
		{"code and place", list(`{"message": "a", "code": {"value": "E14", "url": "u"}, "location": {"path": "a.go", "range": {"start": {"line": 3, "column": 5}, "end": {"line": 3, "column": 9}}}}`), 1,
			"summary: 1 findings\nblocking api/a.go:3 (tool) \"a (E14)\"\n"},
		{"a code that the message names", list(`{"message": "E14: a", "code": {"value": "E14"}}`), 1, "summary: 1 findings\nblocking :0 (tool) \"E14: a\"\n"},
		{"a file from the root", list(`{"message": "a", "location": {"path": "lib/b.go"}}`), 1, "summary: 1 findings\nblocking lib/b.go:0 (tool) \"a\"\n"},
		{"an absolute file", list(`{"message": "a", "location": {"path": "/repo/c.go"}}`), 1, "summary: 1 findings\nblocking c.go:0 (tool) \"a\"\n"},
		{"a file elsewhere", list(`{"message": "a", "location": {"path": "/etc/x", "range": {"start": {"line": 4}}}}`, `{"message": "b", "location": {"path": "../../x"}}`), 1,
			"*\"a\"\n  file \"/etc/x\" dropped: it leaves the repository\n|*\"b\"\n  file \"/x\" dropped: it leaves"},
		{"ways to fix it", list(`{"message": "a", "suggestions": [{"text": "x", "range": {"start": {"line": 3}}}, {"text": "y", "range": {"start": {"line": 3}}}, {"text": "", "range": {"start": {"line": 4}, "end": {"line": 5}}}, {"text": "z"}]}`), 1,
			"summary: 1 findings\nblocking :0 (tool) \"a\"\n  fix: replace line 3 with \"x\" or replace line 3 with \"y\"; delete lines 4-5; replace the part named in the report with \"z\"\n"},
		{"what is not known", list(`{"message": "a", "original_output": {"x": [1, -2.5e3, true, false, null, "y"]}}`), 1, "summary: 1 findings\nblocking :0 (tool) \"a\"\n"},
		{"no message", list(`{"message": "a"}`, `{"message": " "}`), 1, noReview + "diagnostic 2 has no message, before byte 50\n"},
		{"null for a diagnostic", list(`null`), 1, noReview + "diagnostic 1 has no message, before byte 21\n"},
		{"no list", `{"source": {"name": "x"}}`, 0, noReview + "the report holds no list \"diagnostics\", which is there and empty when a tool has found nothing\n"},
		{"null for the list", `{"diagnostics": null}`, 0, noReview + "the report holds no list \"diagnostics\""},
		{"SARIF", results(), 0, noReview + "the report holds no list \"diagnostics\""},
		{"a list", `[{"message": "a"}]`, 1, noReview + "the report can't be read at byte 0: expected an object, found \"[\"\n"},
		{"a diagnostic a line", "{\"message\": \"a\"}\n{\"message\": \"b\"}\n", 1, noReview + "there is more after the report, at byte 17; a report with a diagnostic a line has the format \"rdjsonl\"\n"},
		{"a text for a line", list(`{"message": "a", "location": {"range": {"start": {"line": "3"}}}}`), 1, noReview + "the report can't be read at byte 75 at or after \"line\": expected a number, found \"\\\"\"\n"},
		{"empty", "", 0, noReview + "the report is empty, expected JSON\n"},
		{"cut off", `{"diagnostics": [`, 0, noReview + "the report ends in the middle, at byte 17\n"},
		{"not UTF-8", "{\"\xff\": 1}", 0, noReview + "the report is not encoded in UTF-8, at byte 2\n"},
	} {
		t.Run(tc.name, func(t *testing.T) { compare(t, from(convert.RDJSON, tc.report, tc.exit), tc.want) })
	}
}

func TestRDJSONL(t *testing.T) {
	for _, tc := range []struct {
		name, report string
		exit         int
		want         string
	}{
		{"nothing found", "", 0, "summary: 0 findings\n"},
		{"blank lines", "\n \r\n", 0, "summary: 0 findings\n"},
		{"nothing found, failing", "", 1, noReview + "exit status 1, but the report holds no finding\n"},
		{"lines", "{\"message\": \"a\", \"severity\": \"INFO\"}\r\n\n{\"message\": \"b\"}", 1, "summary: 2 findings\ninformational :0 (tool) \"a\"\nblocking :0 (tool) \"b\"\n"},
		{"the last line is cut off", "{\"message\": \"a\"}\n{\"message\": \"", 1, noReview + "the report ends in the middle, at byte 30\n"},
		{"a line that is none", "{\"message\": \"a\"}\noops\n", 1, noReview + "the report can't be read at byte 17 at or after \"message\": expected an object, which is one diagnostic, found \"o\"\n"},
		{"a NUL", "{\"message\": \"a\"}\n\x00", 1, noReview + "the report can't be read at byte 17 at or after \"message\": expected an object, which is one diagnostic, found \"\\x00\"\n"},
		{"text", "sh: lint: not found", 0, noReview + "the report can't be read at byte 0: expected an object, which is one diagnostic, found \"s\"\n"},
		{"a report that is one object", `{"diagnostics": []}`, 0, noReview + "entry 1 holds a list \"diagnostics\", at byte 15: such a report has the format \"rdjson\"\n"},
		{"no message", "{\"message\": \"a\"}\n{}\n", 1, noReview + "diagnostic 2 has no message, before byte 19\n"},
	} {
		t.Run(tc.name, func(t *testing.T) { compare(t, from(convert.RDJSONL, tc.report, tc.exit), tc.want) })
	}
}

func FuzzRDJSON(f *testing.F) {
	seed(f, "rdjson")
	f.Add(`{"diagnostics": [], "severity": 2}`, "", uint8(0))
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit uint8) {
		checkJSON(t, convert.RDJSON, stdout, stderr, exit)
	})
}

func FuzzRDJSONL(f *testing.F) {
	seed(f, "rdjsonl")
	f.Add("", "x", uint8(0))
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit uint8) {
		checkJSON(t, convert.RDJSONL, stdout, stderr, exit)
	})
}
