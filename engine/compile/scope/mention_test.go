package scope

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/source"
)

func TestScanMentions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"stages.plan.outputs.x", "plan.outputs"},
		{`stages["a-b"].status == 'x'`, "a-b.status"},
		{"stages?.plan?.status", "plan.status"},
		{"stages . plan . status", "plan.status"},
		{`stages?.["a"]`, "a."},
		{`stages["a"]["status"]`, "a.status"},
		{"len(stages)", "?."},
		{"stages[x].status", "?."},
		{"stages[x] + stages.b.status", "?. b.status"},
		{"inputs.stages.a", ""},
		{"inputs?.stages.a", ""},
		{"1..stages.a.iteration", "a.iteration"},
		{`"stages.a" + 'stages.b' + ` + "`stages.c`", ""},
		{`"a\"stages.a" + stages.b.status`, "b.status"},
		{"stages.a.x // stages.b", "a.x"},
		{"stages.a.x /* stages.b */ + stages.c.y", "a.x c.y"},
		{"{stages: 1}", ""},
		{"mystages.a + stages2.b", ""},
		{"stages.", "?."},
		{"stages[", "?."},
		{`stages["a`, "?."},
		{`stages["`, "?."},
		{"stages.code-review.x", "code.(code-review)"},
		{"stages.`a-b`.status + stages.`c", "a-b.status c."},
	} {
		var got []string
		for _, m := range scanMentions(c.text) {
			s := m.id
			if s == "" {
				s = "?"
			}
			s += "." + m.field
			if m.dotted && m.text != m.id {
				s += "(" + m.text + ")"
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestEveryMention(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"stages.a.x", "a"},
		{"don't ${{ stages.a.x }} `or \" // ${{ stages[\"b-c\"].y }}", "a b-c"},
		{"'stages.a' /* stages.b", "a b"},
		{"mystages.a stages2.b", ""},
		{"upstages.a, stages.b", "b"},
		{"stages", ""},
		{"{stages: 1}", ""},
	} {
		var got []string
		for _, m := range everyMention(c.text) {
			got = append(got, m.id)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

// What CEL says of stages is found behind its own spellings, and not in its strings and comments.
func TestMentionsOfCEL(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"stages.?plan.?outputs.x", "plan.outputs"},
		{"stages[?'a-b'].status", "a-b.status"},
		{"has(stages.a.outputs.x) && stages.`b-c`.outputs.size() > 0", "a.outputs b-c.outputs"},
		{`r"stages.a" + """ "stages.b" """ + stages.c.status // stages.d`, "c.status"},
		{`r'\' + stages.a.x`, "a.x"},
		{`stages["a", stages.b`, "?. b."},
	} {
		var got []string
		for _, m := range scanMentions(text{source.Scalar{Text: c.text}, true}.plain()) {
			id := m.id
			if id == "" {
				id = "?"
			}
			got = append(got, id+"."+m.field)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestSucceededIn(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`stages.a.status == "succeeded"`, "map[a:true]"},
		{`stages.a.status == 'succeeded' && iteration > 1 and stages["b-c"].status=="succeeded"`, "map[a:true b-c:true]"},
		{`stages.a.status != "skipped" && stages.b.status == "succeeded"`, "map[b:true]"},
		{"stages.`a-b`.status == 'succeeded' && iteration > 1", "map[a-b:true]"},
		{`stages.a.status == "succeeded" || iteration > 1`, "map[]"},
		{`stages.a.status == "succeeded" or iteration > 1`, "map[]"},
		{`!(stages.a.status == "succeeded")`, "map[]"},
		{`not (stages.a.status == "succeeded")`, "map[]"},
		{`stages.a.status == "succeeded" ? false : true`, "map[]"},
		{`stages.a.status == "failed"`, "map[]"},
		{`stages.a.outputs.x == "succeeded"`, "map[]"},
		{`iteration > 1`, "map[]"},
		{`(stages.a.status == "succeeded") == false`, "map[]"},
		{`false == (iteration > 1 && stages.a.status == "succeeded")`, "map[]"},
		{`[iteration > 1 && stages.a.status == "succeeded" && true] == [false]`, "map[]"},
		{`stages.a.status == "succeeded" == false`, "map[]"},
		{`len(open_items) > 0 && stages.a.status == "succeeded"`, "map[]"}, // true, but not looked into
	} {
		if got := fmt.Sprint(SucceededIn(c.text)); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// FuzzScanMentions throws texts at the scanner: it ends, and what it finds lies in the text.
func FuzzScanMentions(f *testing.F) {
	for _, s := range []string{"stages.a.b", `stages["x"]`, "stages?.", "stages[`", `"\`, "/* stages", "stages.é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, m := range scanMentions(s) {
			if m.start < 0 || m.start > m.end || m.end > len(s) || m.after > len(s) {
				t.Fatalf("%q: mention %+v lies outside", s, m)
			}
			if m.id != "" && s[m.start:m.end] != m.id {
				t.Fatalf("%q: mention %+v is not where it says", s, m)
			}
		}
		SucceededIn(s)
	})
}
