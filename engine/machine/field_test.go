package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What broke in other people's tools, of loops and of gates, and the test that shows that it does not here. A script of
// this package stands in testdata/scripts, one of the command in cmd/pipe/testdata/script, and a test of Go is named with
// its file.
//
//	Loops
//	rounds without end because each failure's text differed      field_text_differs_each_round.txt
//	rounds with new findings each time                            field_new_findings_each_round.txt
//	findings that vanish between rounds, or change their id       field_findings_keep_their_ids.txt
//	                                                              engine/feedback/histories_test.go TestRewordedReview
//	a counter reset by a resume, or by a pipeline inside          field_counter_is_never_reset.txt
//	a system error read as "not yet"                              field_system_error_is_no_round.txt
//	a verdict word found in tool output                           field-verdict-in-output.txtar
//	a review that never ran counted as a round, or a clean one    field_review_that_never_ran.txt
//	a usage limit or an expired login retried for hours           field_usage_limit_is_not_retried.txt
//	trend rules that stopped healthy loops                        field_no_trend_rules.txt
//	open findings that were in no list at the cap                 field_open_findings_at_the_cap.txt
//
//	Gates
//	work redone at a gate and approved without its checks         hand_work_gate.txt
//	                                                              handwork.txtar
//	a resume that walked past an approval                         field_resume_stays_at_the_approval.txt
//	a step without its agent reported as passed                   field-no-agent.txtar
//	a gate closed by /dev/null on stdin                           field-gate-in-background.txtar
//	an approval that outlived the tree it was given for           approval.txt
//	                                                              approval_void.txt
//
// TestFieldTable holds this table to the tests that are there.
func TestFieldTable(t *testing.T) {
	self, err := os.ReadFile("field_test.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(self)) {
		text, isRow := strings.CutPrefix(line, "//\t")
		words := strings.Fields(text)
		if !isRow || len(words) == 1 && !strings.Contains(words[0], ".txt") { // a heading
			continue
		}
		rows++
		switch name := words[len(words)-1]; {
		case strings.HasSuffix(name, ".txtar"):
			mustExist(t, filepath.Join("../../cmd/pipe/testdata/script", name), "pipe ")
		case strings.HasSuffix(name, ".txt"):
			mustExist(t, filepath.Join("testdata/scripts", name), "----")
		default:
			mustExist(t, filepath.Join("../..", words[len(words)-2]), "func "+name+"(")
		}
	}
	if rows != 18 {
		t.Errorf("%d rows were read", rows)
	}
}

func mustExist(t *testing.T, file, holds string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), holds) {
		t.Errorf("%s holds no %q: %v", file, holds, err)
	}
}
