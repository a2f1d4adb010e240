package findings_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view/findings"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (- want, + got):\n%s", name, diff)
	}
}

// records is a run with two reviews, an escalation that was overridden in part, one that is open, and an answer of
// the target; text stands wherever somebody writes something.
func records(text string) []step.Record {
	item := func(id string, severity feedback.Severity, status feedback.Status) feedback.Item {
		source, _, _ := strings.Cut(id, ".")
		return feedback.Item{ID: id, Severity: severity, Status: status, File: "src/a.go", Line: 3, Description: "the title is missing" + text,
			SuggestedFix: "begin with a heading" + text, SourceAgent: "staff-engineer" + text, FirstRound: 1, LastRound: 2, Sources: []string{source}}
	}
	waived := item("quality_review.2", feedback.Blocking, feedback.Waived)
	waived.By, waived.Reason, waived.StatusRound, waived.File, waived.Line = "anna"+text, "known"+text, 2, "", 0
	fixed := item("quality_review.3", feedback.Advisory, feedback.Fixed)
	fixed.By, fixed.StatusRound = "quality_review", 2
	disputed := item("security_verify.1", feedback.Blocking, feedback.Disputed)
	disputed.By, disputed.Reason, disputed.Disputes, disputed.LastRound, disputed.Flags = "implement", "no such path"+text, 1, 1, []string{"line -1 dropped" + text}
	open := item("quality_review.1", feedback.Blocking, feedback.Escalated)
	return []step.Record{
		step.RunStarted{Run: step.RunInfo{Run: "01JABCDEFGHJKMNPQRSTVWXYZ0", Pipeline: "page" + text, TaskID: "T-1" + text}},
		step.ItemOpened{Item: item("quality_review.1", feedback.Blocking, feedback.Open)},
		step.FeedbackReceived{Source: "quality_review", Target: "implement", Round: 1, Items: 3, Blocking: 2, Summary: "three things" + text},
		step.FeedbackReceived{Source: "security_verify", Target: "implement", Round: 1, Items: 1, Blocking: 1},
		step.FeedbackRouted{Source: "quality_review", Target: "implement", Action: feedback.ReImplement, Iteration: 2, MaxIterations: 2,
			Items: []string{"quality_review.1", "quality_review.2"}},
		step.FeedbackReceived{Source: "implement", Disputed: 1},
		step.FeedbackReceived{Source: "quality_review", Target: "implement", Round: 2, Items: 2, Blocking: 2},
		step.FeedbackRouted{Source: "quality_review", Target: "implement", Action: feedback.Escalate, Rule: feedback.ReasonIterationCap,
			Iteration: 2, MaxIterations: 2, Items: []string{"quality_review.1", "quality_review.2"}},
		step.FeedbackRouted{Source: "security_verify", Target: "implement", Action: feedback.Accept, Iteration: 1, MaxIterations: 1},
		step.ItemChanged{Item: open}, step.ItemChanged{Item: waived}, step.ItemChanged{Item: fixed}, step.ItemOpened{Item: disputed},
		step.EscalationRaised{Escalation: feedback.Escalation{ID: "x1", Sources: []string{"quality_review"}, Target: "implement",
			Reason: feedback.ReasonIterationCap, Iterations: 2, Max: 2, Blocking: []feedback.Item{open, waived}}},
		step.EscalationDecided{ID: "x1", At: 1767323100000, Answer: "a1", Decision: "override", By: "anna" + text, Reason: "known" + text, Items: []string{"quality_review.2"}},
		step.EscalationDecided{ID: "x1", At: 1767323200000, Answer: "a2", Decision: "refer-back", By: "ben", Note: "see the wiki" + text, To: "implement", Rounds: 1, Covered: []string{"implement"}, Closed: true},
		step.EscalationRaised{Escalation: feedback.Escalation{ID: "x2", Sources: []string{"publish"}, Reason: feedback.ReasonInterrupted}},
	}
}

func report(t interface{ Fatal(...any) }, text string, f findings.Filter) (string, []feedback.Item) {
	var r findings.Run
	var l feedback.Ledger
	at := step.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for _, rec := range records(text) {
		r.Apply(at, rec)
		switch rec := rec.(type) {
		case step.ItemOpened:
			l.Apply(feedback.Change{Item: rec.Item})
		case step.ItemChanged:
			l.Apply(feedback.Change{Item: rec.Item})
		}
	}
	var b strings.Builder
	if err := r.Markdown(&b, "paused"+text, []string{"implement", "security_verify", "quality_review"}, f); err != nil {
		t.Fatal(err)
	}
	return b.String(), l.Items()
}

func TestReport(t *testing.T) {
	got, items := report(t, "", findings.Filter{})
	golden(t, "report.md", got)
	golden(t, "items.txt", findings.Text(items, 80))
	got, _ = report(t, "", findings.Filter{Open: true, Severity: feedback.Blocking})
	for _, is := range []string{"quality\\_review.1", "security\\_verify.1", "2 blocking, 0 advisory, 0 informational open; 0 closed"} {
		if !strings.Contains(got, is) {
			t.Errorf("there is no %q in the open items:\n%s", is, got)
		}
	}
	for _, not := range []string{"### Waived", "### Fixed"} {
		if strings.Contains(got, not) {
			t.Errorf("there is %q in the open items:\n%s", not, got)
		}
	}
}

func TestFilter(t *testing.T) {
	_, items := report(t, "", findings.Filter{})
	for _, c := range []struct {
		filter findings.Filter
		want   string
	}{
		{findings.Filter{}, "quality_review.1 quality_review.2 quality_review.3 security_verify.1"},
		{findings.Filter{Open: true}, "quality_review.1 security_verify.1"},
		{findings.Filter{Severity: feedback.Advisory}, "quality_review.3"},
		{findings.Filter{Open: true, Severity: feedback.Advisory}, ""},
	} {
		var got []string
		for _, i := range c.filter.Of(items) {
			got = append(got, i.ID)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v gives %q, want %q", c.filter, s, c.want)
		}
	}
}

// TestNothingBecomesMarkdown puts any text where a stage or a person may write, and holds the report to the lines that
// it has without it: no heading, entry, link, HTML or control character more.
func TestNothingBecomesMarkdown(t *testing.T) {
	plain, _ := report(t, "", findings.Filter{})
	frame := strings.Split(plain, "\n")
	pieces := []string{"\n# x\n", "\n- y", "<script>", "<!--", "![a](http://x)", "[a]: b", "```\n", "|a|b|", "\x1b[2J", "\x00", "\u202e", "\u2028", "\xff",
		"**", "__", "&lt;", "$x$", "@all", "https://x.y", "\r\n---\r\n", "漢字", "👩‍💻"}
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(1, 8).Draw(t, "pieces") {
			text += rapid.SampledFrom(pieces).Draw(t, "piece")
		}
		if rapid.Bool().Draw(t, "random") {
			text += rapid.String().Draw(t, "text")
		}
		got, items := report(t, text, findings.Filter{})
		lines := strings.Split(got, "\n")
		if len(lines) != len(frame) {
			t.Fatalf("%d lines, want %d:\n%s", len(lines), len(frame), got)
		}
		for i, line := range lines {
			for _, mark := range []string{"#", "##", "###", "-", "  -"} {
				if strings.HasPrefix(frame[i], mark+" ") != strings.HasPrefix(line, mark+" ") {
					t.Fatalf("line %d is %q, and was %q", i+1, line, frame[i])
				}
			}
			if !strings.Contains(line, "`") && strings.Contains(strings.ReplaceAll(line, `\<`, ""), "<") { // code may hold it
				t.Fatalf("HTML in %q", line)
			}
		}
		all := got + findings.Text(items, 80)
		if !utf8.ValidString(all) || strings.ContainsFunc(all, func(r rune) bool { return unicode.IsControl(r) && r != '\n' || r == 0x202e }) {
			t.Fatalf("control characters in %q", all)
		}
	})
}

// failing is a writer that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestReportGivesTheWritersError(t *testing.T) {
	var r findings.Run
	if err := r.Markdown(failing{}, "", nil, findings.Filter{}); err == nil || !strings.Contains(err.Error(), "write report") {
		t.Errorf("the error is %v", err)
	}
}
