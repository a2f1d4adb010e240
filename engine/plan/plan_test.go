package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// sample is a plan with every field set.
func sample() *Plan {
	at := func(line, col int) source.Pos { return source.Pos{Line: line, Col: col} }
	str, num := value.Of(value.String), value.Of(value.Int)
	scope := value.ObjectOf(value.FieldType{Name: ScopeInputs, Type: value.ObjectOf(value.FieldType{Name: "task", Type: str})})
	read := &Expr{Source: "inputs.task", Type: value.Of(value.Any), Scope: scope, At: at(9, 4)}
	return &Plan{
		Format: Format, Name: "demo", Description: "two stages", Version: 1, File: "demo.yaml",
		Task: &Task{Key: Template{Value: "T-1"}, BodyFile: &Template{Parts: []Part{{Expr: read}}}, Repos: []Template{{Value: "app"}}},
		Inputs: []Param{
			{Name: "task", Type: str, Required: true, Description: "what", At: at(3, 3)},
			{Name: "level", Type: value.OneOf("low", "high"), Default: "low", At: at(4, 3)},
			{Name: "limits", Type: value.ListOf(value.Of(value.Number)), Default: value.List{int64(1), 2.5}},
		},
		Graph: Graph{
			Nodes: []Node{
				{
					ID: "implement", Description: "write it", Role: Implementation, Kind: "agent", At: at(8, 5),
					When:    &Expr{Source: `inputs.level == "high"`, Type: value.Of(value.Bool), At: at(8, 9)},
					Inputs:  []Binding{{Name: "n", Type: num, Value: Template{Value: int64(3)}}},
					Outputs: []Param{{Name: "summary", Type: str, Required: true}},
					PostChecks: []Check{{Description: "says something",
						Validation: Expr{Source: "len(outputs.summary) > 0", Type: value.Of(value.Bool)}}},
					Retry:       Retry{MaxAttempts: 3, Backoff: Linear, InitialDelay: Duration(time.Second), MaxDelay: Duration(time.Minute), On: []string{"exit"}},
					Timeout:     Duration(30 * time.Minute),
					Prompt:      &Template{File: "p.md", Parts: []Part{{Text: "Do "}, {Expr: read}}},
					PromptBrief: true, PromptOpenItems: true,
					Config: value.NewObject(
						value.Field{Name: "name", Value: "coder"},
						value.Field{Name: "command", Value: value.List{"./agent", "-x"}}),
					Writes:      true,
					Approval:    &Approval{Message: &Template{Value: "go on?"}},
					OnInterrupt: Ask, ContinueOnError: true,
				},
				{
					ID: "review", Role: Review, Kind: "command", Needs: []int{0}, At: at(20, 5),
					Feedback: &Feedback{Format: "lines", Path: "out.txt", Pattern: "x", OKExitCodes: []int{0, 1}, Severity: map[string]string{"note": "advisory", "error": "blocking"}},
					Loop: &Loop{Target: 0, MaxIterations: 2, OnExhausted: Escalate, Rerun: Path,
						Convergence: Convergence{SameItem: 3, Disputed: 2, NoChange: true, RatchetFrom: 4}},
					PreChecks: []Check{{Description: "p", Validation: Expr{Source: "true", Type: value.Of(value.Bool)}}},
					Retry:     Retry{MaxAttempts: 1, Backoff: Exponential},
					Env: []Binding{{Name: "T", Type: str, Value: Template{Fields: []Binding{
						{Name: "a", Value: Template{Items: []Template{{Value: "x"}, {Parts: []Part{{Expr: read}}}}}},
					}}}},
					Dir:         &Template{Value: "sub"},
					Config:      value.NewObject(value.Field{Name: "script", Value: "true\n"}),
					OnInterrupt: RunAgain,
				},
				{
					ID: "group", Role: Work, Needs: []int{1},
					ForEach: &ForEach{Items: Template{Parts: []Part{{Expr: &Expr{Source: "[1, 2]"}}}}, As: "x"},
					Body:    &Graph{Nodes: []Node{{ID: "inner", Role: Work, Kind: "command", OnInterrupt: FailStage}}},
				},
				{
					ID: "implement/validate", Role: Review, Kind: "command", Needs: []int{0},
					Loop:      &Loop{Target: 0, MaxIterations: 5, OnExhausted: FailRun, Rerun: Path, Self: true},
					Refine:    &Refine{Name: "plan", FeedbackFile: &Template{Parts: []Part{{Text: "docs/"}, {Expr: read}}}},
					Discovery: true,
					Rollback:  &Rollback{Strategy: RunScript, Description: "undo", Run: "./undo", Env: []Binding{{Name: "T", Type: str, Value: Template{Parts: []Part{{Expr: read}}}}}},
				},
			},
			Outputs: []Binding{{Name: "summary", Type: str, Value: Template{Parts: []Part{{Expr: read}}}}},
		},
	}
}

func TestJSONRoundTrip(t *testing.T) {
	p := sample()
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Dump(), got.Dump()); diff != "" {
		t.Errorf("dump after a round trip (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(p, got, cmp.Comparer(func(a, b *value.Object) bool {
		return (a == nil) == (b == nil) && slices.Equal(a.Keys(), b.Keys()) && value.Equal(a, b)
	})); diff != "" {
		t.Errorf("plan after a round trip (-want +got):\n%s", diff)
	}
	if p.Digest() != got.Digest() || len(p.Digest()) != 64 {
		t.Errorf("digests %q and %q, want the same 64 digits", p.Digest(), got.Digest())
	}
	got.Graph.Nodes[0].Timeout++
	if p.Digest() == got.Digest() {
		t.Error("a nanosecond of a timeout does not change the digest")
	}
	if v := got.Inputs[2].Default.(value.List); v[0] != int64(1) || v[1] != 2.5 {
		t.Errorf("default came back as %#v, want int64 1 and float64 2.5", v)
	}
}

func TestDumpGolden(t *testing.T) {
	want, err := os.ReadFile("testdata/sample.dump")
	if *update {
		err = os.WriteFile("testdata/sample.dump", []byte(sample().Dump()), 0o644)
		want = []byte(sample().Dump())
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), sample().Dump()); diff != "" {
		t.Errorf("dump (-want +got), rewrite it with -update:\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	edit := func(f func(*Plan)) string {
		p := sample()
		f(p)
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct{ name, in, want string }{
		{"no json", "{", "decoding a plan"},
		{"newer format", `{"format": 2, "graph": {"nodes": []}}`, "its format is 2, this program reads 1"},
		{"unknown role", `{"format": 1, "graph": {"nodes": [{"id": "a", "role": "boss"}]}}`, `unknown role "boss"`},
		{"need out of range", edit(func(p *Plan) { p.Graph.Nodes[1].Needs = []int{9} }), `stage "review" needs stage 9`},
		{"needs not ascending", edit(func(p *Plan) { p.Graph.Nodes[2].Needs = []int{1, 0} }), "not an ascending index"},
		{"cycle", edit(func(p *Plan) { p.Graph.Nodes[0].Needs = []int{1} }), "form a cycle"},
		{"target", edit(func(p *Plan) { p.Graph.Nodes[1].Loop.Target = 1 }), "targets stage 1"},
		{"twice", edit(func(p *Plan) { p.Graph.Nodes[1].ID = "implement" }), "no id of its own"},
		{"part of another", edit(func(p *Plan) { p.Graph.Nodes[3].Needs = []int{1} }), `stage "implement/validate" is a part of stage 0, and needs other ones`},
		{"validates nothing", edit(func(p *Plan) { p.Graph.Nodes[3].Loop = nil }), `stage "implement/validate" validates a refine loop and is no part of a stage`},
		{"body", edit(func(p *Plan) { p.Graph.Nodes[2].Body.Nodes[0].Needs = []int{0} }), `stage "group/inner" needs stage 0`},
		{"config", strings.Replace(edit(func(*Plan) {}), `{"script":"true\n"}`, `[1]`, 1), "decoding a plan"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode([]byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	check := func(name string, v fmt.Stringer, marshal func() ([]byte, error), word string) {
		t.Helper()
		if v.String() != word {
			t.Errorf("%s: String is %q, want %q", name, v, word)
		}
		b, err := marshal()
		if err != nil || string(b) != word {
			t.Errorf("%s: MarshalText is %q, %v, want %q", name, b, err, word)
		}
	}
	for i, w := range []string{"work", "implementation", "review"} {
		check("role", Role(i+1), Role(i+1).MarshalText, w)
	}
	for i, w := range []string{"escalate", "fail"} {
		check("on_exhausted", OnExhausted(i+1), OnExhausted(i+1).MarshalText, w)
	}
	for i, w := range []string{"downstream", "path"} {
		check("rerun", Rerun(i+1), Rerun(i+1).MarshalText, w)
	}
	for i, w := range []string{"exponential", "linear", "fixed"} {
		check("backoff", Backoff(i+1), Backoff(i+1).MarshalText, w)
	}
	for i, w := range []string{"rerun", "ask", "fail"} {
		check("on_interrupt", OnInterrupt(i+1), OnInterrupt(i+1).MarshalText, w)
	}
	check("duration", Duration(90*time.Second), Duration(90*time.Second).MarshalText, "1m30s")
	if _, err := Role(9).MarshalText(); err == nil {
		t.Error("a role without a name has a text")
	}
	if Role(9).String() != "unknown" || Role(0).String() != "unknown" {
		t.Error("a role without a name is not called unknown")
	}
	var r Role
	if err := r.UnmarshalText([]byte("reviewer")); err == nil || !strings.Contains(err.Error(), "expected work, implementation, review") {
		t.Errorf("error %v, want the roles that there are", err)
	}
	var d Duration
	if err := d.UnmarshalText([]byte("soon")); err == nil {
		t.Error("soon is a length of time")
	}
}

func TestGraph(t *testing.T) {
	g := Graph{Nodes: []Node{{ID: "a", Needs: []int{2}}, {ID: "b"}, {ID: "c"}, {ID: "d", Needs: []int{0, 1}}}}
	if g.Index("c") != 2 || g.Index("x") != -1 {
		t.Errorf("Index gives %d and %d, want 2 and -1", g.Index("c"), g.Index("x"))
	}
	if diff := cmp.Diff([][]int{{3}, {3}, {0}, {}}, g.Dependents()); diff != "" {
		t.Errorf("Dependents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2, 0, 3}, g.Order()); diff != "" {
		t.Errorf("Order (-want +got):\n%s", diff)
	}
	g.Nodes[2].Needs = []int{3}
	if diff := cmp.Diff([]int{1}, g.Order()); diff != "" {
		t.Errorf("Order of a cycle (-want +got):\n%s", diff)
	}
}

// names evaluates an expression by looking its source up.
type names map[string]value.Value

func (n names) Eval(e Expr, _ *value.Object) (value.Value, error) {
	v, ok := n[e.Source]
	if !ok {
		return nil, &EvalError{At: e.At, Err: errors.New("no such name")}
	}
	return v, nil
}

func TestTemplateEval(t *testing.T) {
	ev := names{"n": int64(3), "s": "text", "null": nil, "list": value.List{int64(1), "a"}}
	e := func(src string) Part {
		return Part{Expr: &Expr{Source: src, At: source.Pos{Line: 4, Col: 7}}}
	}
	for _, c := range []struct {
		name      string
		t         Template
		want      string // JSON
		text, err string
	}{
		{"literal", Template{Value: 2.5}, "2.5", "2.5", ""},
		{"literal text", Template{Value: "x"}, `"x"`, "x", ""},
		{"alone", Template{Parts: []Part{e("n")}}, "3", "3", ""},
		{"alone list", Template{Parts: []Part{e("list")}}, `[1,"a"]`, `[1,"a"]`, ""},
		{"in text", Template{Parts: []Part{{Text: "<"}, e("s"), e("list"), {Text: ">"}}}, `"<text[1,\"a\"]>"`, `<text[1,"a"]>`, ""},
		{"tree", Template{Fields: []Binding{{Name: "b", Value: Template{Items: []Template{{Parts: []Part{e("n")}}, {Value: nil}}}}}},
			`{"b":[3,null]}`, `{"b":[3,null]}`, ""},
		{"alone null", Template{Parts: []Part{e("null")}}, "null", "", `4:7: "null" is null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := c.t.Eval(ev, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := valueText(v); got != c.want {
				t.Errorf("value %s, want %s", got, c.want)
			}
			s, err := c.t.EvalText(ev, nil)
			if c.err == "" && (err != nil || s != c.text) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("text %q, %v, want %q, %s", s, err, c.text, c.err)
			}
		})
	}
}

func TestTemplateErrors(t *testing.T) {
	ev := names{"null": nil}
	bad := func(src string) Template {
		return Template{Parts: []Part{{Text: "x"}, {Expr: &Expr{Source: src, At: source.Pos{Line: 4, Col: 7}}}}}
	}
	p := &Plan{File: "p.yaml"}
	for _, c := range []struct {
		name string
		err  func() error
		want string
	}{
		{"null in text", func() error { tm := bad("null"); _, err := tm.Eval(ev, nil); return err }, `p.yaml:4:7: "null" is null, which has no text`},
		{"no such name", func() error { tm := bad("x"); _, err := tm.Eval(ev, nil); return err }, "p.yaml:4:7: no such name"},
		{"in a tree", func() error {
			tm := Template{Fields: []Binding{{Name: "f", Value: Template{Items: []Template{bad("x")}}}}}
			_, err := tm.EvalText(ev, nil)
			return err
		}, "p.yaml:4:7: no such name"},
		{"null alone", func() error { tm := bad("null"); _, err := tm.EvalText(ev, nil); return err },
			`p.yaml:4:7: "null" is null`},
		{"type", func() error {
			_, err := EvalObject([]Binding{{Name: "n", Type: value.Of(value.Int),
				Value: Template{Value: "3", At: source.Pos{Line: 2, Col: 1}}}}, ev, nil)
			return err
		}, `p.yaml:2:1: n: want integer, got string "3"`},
		{"prompt file", func() error {
			tm := Template{File: "prompt.md", Parts: bad("null").Parts}
			_, err := tm.EvalText(ev, nil)
			return err
		}, "prompt.md:4:7:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := p.Locate(c.err())
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s…", err, c.want)
			}
		})
	}
	if err := p.Locate(nil); err != nil {
		t.Errorf("Locate(nil) is %v", err)
	}
	number := Template{Value: int64(2)}
	if text, err := number.EvalText(ev, nil); err != nil || text != "2" {
		t.Errorf("a number is the text %q, %v", text, err)
	}
}

func TestReads(t *testing.T) {
	n := &sample().Graph.Nodes[0]
	if !n.Reads(ScopeInputs) || n.Reads(ScopeChanges) {
		t.Errorf("reads inputs %v, changes %v; want true, false", n.Reads(ScopeInputs), n.Reads(ScopeChanges))
	}
	var got []string
	for i := range sample().Graph.Nodes {
		for e := range sample().Graph.Nodes[i].Exprs() {
			got = append(got, e.Source)
		}
	}
	want := []string{`inputs.level == "high"`, "len(outputs.summary) > 0", "inputs.task", "inputs.task", "true", "[1, 2]", "inputs.task", "inputs.task"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("expressions (-want +got):\n%s", diff)
	}
	got = nil
	for e := range sample().Task.Exprs() {
		got = append(got, e.Source)
	}
	if diff := cmp.Diff([]string{"inputs.task"}, got); diff != "" {
		t.Errorf("expressions of the task (-want +got):\n%s", diff)
	}
}
