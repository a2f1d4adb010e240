package merge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/stages/repository"
)

func trialOf(t *testing.T, starter *proc.Starter, call *stage.Call) *trial {
	t.Helper()
	tr, err := newTrial(context.Background(), repository.Open(starter, call), call, "main")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func parts(fix string, branches ...string) []value.Field {
	list := value.List{}
	for _, b := range branches {
		list = append(list, b)
	}
	out := []value.Field{{Name: "branches", Value: list}, {Name: "into", Value: "main"}}
	if fix != "" {
		out = append(out, value.Field{Name: "fix", Value: fix})
	}
	return out
}

// fitting makes three branches, of which the third conflicts with the first.
func fitting(t *testing.T) *repo {
	r := newRepo(t)
	r.branch("cart", "cart.txt", "one\ncart\nthree\n")
	r.branch("till", "new.txt", "new\n")
	r.branch("odd", "cart.txt", "one\nodd\nthree\n", "odd.txt", "odd\n")
	return r
}

func TestAssemble(t *testing.T) {
	kind := start(t, NewAssemble)
	r := fitting(t)
	out := r.run(context.Background(), kind, r.call(parts("", "cart", "till")...))
	if out.Class != stage.OK || len(out.Result.Items) != 0 || commitOf(out) != r.git("rev-parse", "main") || r.git("status", "--porcelain") != "" {
		t.Errorf("%+v", out)
	}
	if got := r.git("log", "--format=%s", "main"); got != "Merge branch 'till' into main\nMerge branch 'cart' into main\nfirst" {
		t.Errorf("the commits are %q", got)
	}
}

func TestAssembleRefersBack(t *testing.T) {
	kind := start(t, NewAssemble)
	const answer = `{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"file": "cart.txt", "line": 2, "comment": "use the \u001b[1mcart"}, {"comment": "too large"}]},
		{"kind": "refer_back_child", "child": "cart", "concerns": [{"file": "", "line": null, "comment": "too large"}]}]}`
	for _, c := range []struct {
		fix  string
		want []string
	}{
		{"", []string{`odd|cart.txt|0|branch "odd": it conflicts with main, which other branches changed too`}},
		{"cp $PIPE_CONFLICT $STAGE_DIR/seen; cmp - $PIPE_CONFLICT; grep -q '<<<<<<<' cart.txt; echo thinking >&2; echo '" + answer + "'", []string{
			`odd|cart.txt|2|branch "odd": use the cart`, `odd||0|branch "odd": too large`, `cart||0|branch "cart": too large`,
		}},
	} {
		r := fitting(t)
		head := r.git("rev-parse", "main")
		call := r.call(parts(strings.ReplaceAll(c.fix, "'"+answer+"'", "'"+answer+"'"), "cart", "till", "odd")...)
		out := r.run(context.Background(), kind, call)
		if out.Class != stage.OK || out.Diagnosis == nil || len(out.Diagnosis.Assembly) != len(c.want) || commitOf(out) != "" || r.git("rev-parse", "main") != head {
			t.Fatalf("%q: %+v", c.fix, out)
		}
		checkItems(t, out, c.want...)
		e := envelope.New(out.Diagnosis.Source(), envelope.Issue{}, nil, []envelope.PriorDefect{{Cycle: 1}}, envelope.Contents{Items: out.Result.Items, Diagnosis: out.Diagnosis})
		if err := e.Validate(); err != nil || e.Source != envelope.SourceAssemblyFixer || len(e.ReviewerConcerns) != 0 {
			t.Errorf("its envelope: %v, %+v", err, e)
		}
		if c.fix == "" {
			continue
		}
		seen, err := os.ReadFile(filepath.Join(call.StageDir, "seen"))
		if err != nil || !strings.HasPrefix(string(seen), `{"branch":"odd","into":"main","branches":["cart","till","odd"],"merged":["cart","till"],"conflicting_paths":["cart.txt"],"conflict_signature":"`) ||
			!strings.HasSuffix(string(seen), `","repo_slug":"shop","attempt_number":1}`+"\n") {
			t.Errorf("the fixer sees %s, %v", seen, err)
		}
	}
}

func TestAssembleCannotUseTheAnswer(t *testing.T) {
	kind := start(t, NewAssemble)
	r := fitting(t)
	head := r.git("rev-parse", "main")
	for said, want := range map[string]string{
		``:                       "the fixer wrote nothing to stdout",
		`I merged it`:            "the fixer's stdout is not one JSON object",
		`{}`:                     "actions: expected a list with at least one action",
		`{"actions": []}`:        "actions: expected a list with at least one action",
		`{"action": []}`:         `unknown field "action"`,
		`{"actions": ["retry"]}`: "actions[0]: expected an object",
		`{"actions": [{"kind": "merge_anyway", "child": "odd"}]}`:                                                                   `actions[0].kind: expected "refer_back_child"`,
		`{"actions": [{"kind": "refer_back_child", "child": "main", "concerns": [{"comment": "x"}]}]}`:                              "actions[0].child: expected one of the branches cart, odd",
		`{"actions": [{"kind": "refer_back_child", "concerns": [{"comment": "x"}]}]}`:                                               "actions[0].child",
		`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": []}]}`:                                               "actions[0].concerns: expected a list",
		`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"comment": " "}]}]}`:                               "actions[0].concerns[0].comment: missing",
		`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"comment": "x"}, {"comment": "x", "line": -1}]}]}`: "actions[0].concerns[1].line: expected a whole number",
		`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"comment": "x", "file": 1}]}]}`:                    "actions[0].concerns[0].file: expected text",
		`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"coment": "x"}]}]}`:                                `unknown field "coment"`,
		`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"comment": "x", "file": "../x"}]}]}`:               "actions[0].concerns[0].file: it leads out of the repository",
		`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"comment": "x", "file": "/etc/passwd"}]}]}`:        "actions[0].concerns[0].file: it leads out of the repository",
	} {
		out := r.run(context.Background(), kind, r.call(parts("echo '"+said+"'", "cart", "odd")...))
		if out.Class != stage.ReviewUnavailable || !strings.Contains(out.Message, want) || out.Result != nil || r.git("rev-parse", "main") != head {
			t.Errorf("%q: %+v, want %q", said, out, want)
		}
	}
	for fix, class := range map[string]stage.Class{"exit 3": stage.ReviewUnavailable, "kill -KILL $$": stage.Signal} {
		out := r.run(context.Background(), kind, r.call(parts(fix, "cart", "odd")...))
		if out.Class != class || !strings.HasPrefix(out.Message, "the fixer could not do its work: ") {
			t.Errorf("%q: %+v", fix, out)
		}
	}
	for want, branches := range map[string][]string{
		`"branches": the repository has no branch "nosuch"`: {"cart", "nosuch"}, `"branches" is empty`: {}, `"branches" names "cart" twice`: {"cart", "cart"},
	} {
		out := r.run(context.Background(), kind, r.call(parts("", branches...)...))
		if out.Class != stage.ReviewUnavailable || !strings.Contains(out.Message, want) || r.git("rev-parse", "main") != head {
			t.Errorf("%v: %+v, want %q", branches, out, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, c := range map[string]struct {
		kind   stage.Kind
		fields []value.Field
	}{
		"":                  {New(nil), config("a", "b", "true")},
		"script-syntax":     {New(nil), config("a", "b", "if")},
		"merge-same-branch": {New(nil), config("a", "a", "true")},
		"script-empty":      {NewAssemble(nil), append(parts("", "a"), value.Field{Name: "fix", Value: " "})},
		"assemble-branches": {NewAssemble(nil), parts("true", "a", "b", "a")},
	} {
		got := ""
		c.kind.Check(&stage.CheckPass{
			Config: value.NewObject(c.fields...), Scalars: map[string]source.Scalar{}, Report: func(d diag.Diagnostic) { got += string(d.Code) },
		})
		if got != want {
			t.Errorf("%v: %q, want %q", c.fields, got, want)
		}
	}
}

// TestManyFiles: without a fixer, not every file of a large conflict is a finding of its own.
func TestManyFiles(t *testing.T) {
	c := &conflict{}
	for i := range 50 {
		c.paths = append(c.paths, fmt.Sprintf("%02d.txt", i))
	}
	got := ownConcerns(c, "main", "odd")
	if len(got) != filesShown+1 || got[filesShown].Comment != "it conflicts with main in 30 more files" || got[filesShown].File != "" {
		t.Errorf("%d concerns: %+v", len(got), got[len(got)-1])
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"file": "/trial/a//b", "line": 2, "comment": "x"}]}]}`)
	f.Add(`{"actions": [{"kind": "refer_back_child", "child": "odd", "concerns": [{"file": "..", "line": 0, "comment": "\u0000"}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.DecodeJSON([]byte(text))
		said, ok := v.(*value.Object)
		if err != nil || !ok {
			return
		}
		concerns, why := answer{[]string{"cart", "odd"}, "/trial"}.actions(said)
		if (why == "") != (len(concerns) > 0) {
			t.Fatalf("%d concerns, and %q", len(concerns), why)
		}
		for _, c := range concerns {
			if c.Comment == "" || c.Line < 0 || c.File != "" && !filepath.IsLocal(c.File) || c.child != "cart" && c.child != "odd" {
				t.Errorf("%+v", c)
			}
		}
	})
}
