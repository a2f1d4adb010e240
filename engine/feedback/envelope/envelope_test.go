package envelope

import (
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/pipe/engine/feedback"
)

var update = flag.Bool("update", false, "write the golden files")

var (
	issue    = Issue{Key: "SHOP-7", Body: "Sell.\n\n## Acceptance criteria\n- [ ] a cart\n- [x] a till\n", Repos: []string{"shop"}}
	criteria = []string{"a cart", "a till"}
	history  = []PriorDefect{{1, SourceSquashGate, "make lint failed"}, {2, SourceReviewerVerdict, "no test"}}

	concern  = feedback.Item{Severity: feedback.Blocking, File: "cart.go", Line: 7, Description: "it leaks"}
	assembly = AssemblyFixerConcern{File: "till.go", Line: 3, Comment: "renamed on both sides"}
	gate     = GateOutput{"shop", "stages/gate/stdout.log", "--- FAIL: TestCart\n    cart_test.go:9: want 1"}
	ci       = CIFailure{"build", "https://ci.example/1", "job test: step unit"}
	verifier = VerifierChainResult{"lint", GatePostSubmit, "cart.go:7: shadowed", "exit 1", 2, 1200}
	resolver = ResolverDiagnosis{"both sides renamed it", []string{"cart.go", "a \"b\"\n.go"}, "shop", "feature/cart", "main", 1, "5e1f"}
)

// built has an envelope of each source as its builder makes it, and how many items it renders to.
var built = map[Source]struct {
	envelope Envelope
	items    int
}{
	SourceReviewerVerdict:   {FromReviewerVerdict(issue, criteria, history, []feedback.Item{concern}), 1},
	SourceAssemblyFixer:     {FromAssemblyFixer(issue, criteria, history, []AssemblyFixerConcern{assembly, {Comment: "too large"}}), 2},
	SourceSquashGate:        {FromSquashGate(issue, criteria, history, gate), 1},
	SourceCIFailure:         {FromCIFailure(issue, criteria, history, ci), 1},
	SourceVerifierChain:     {FromVerifierChain(issue, criteria, history, verifier), 1},
	SourcePriorDefect:       {FromPriorDefect(issue, criteria, history), 0}, // history is no finding
	SourceOperatorReferBack: {FromOperatorReferBack(issue, criteria, history, "use the cache"), 1},
	SourceMergeResolver:     {FromMergeResolver(issue, criteria, history, resolver), 1},
}

// declared reads the package's constants of a type, and the names of its functions.
func declared(t *testing.T, typ string) (constants map[string]string, functions map[string]bool) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the package's files: %v, %v", files, err)
	}
	constants, functions = map[string]string{}, map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				functions[n.Name.Name] = n.Recv == nil
			case *ast.ValueSpec:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == typ && len(n.Values) == 1 {
					lit := n.Values[0].(*ast.BasicLit)
					constants[n.Names[0].Name], _ = strconv.Unquote(lit.Value)
				}
			}
			return true
		})
	}
	return constants, functions
}

// TestSourcesAreWhole walks the sources that the package declares: each must have a row, a builder that fills
// it, and a rendering.
func TestSourcesAreWhole(t *testing.T) {
	constants, functions := declared(t, "Source")
	if len(constants) != 8 || len(Sources()) != 8 || len(Required) != 8 {
		t.Fatalf("%d constants, %d in Sources, %d in Required, want 8 each", len(constants), len(Sources()), len(Required))
	}
	for name, text := range constants {
		source := Source(text)
		if !slices.Contains(Sources(), source) {
			t.Errorf("%s is not in Sources", name)
		}
		if len(Required[source]) != 1 || TargetOf(source) == "" {
			t.Errorf("%s has %d rows in Required, want 1", name, len(Required[source]))
		}
		if builder := "From" + strings.TrimPrefix(name, "Source"); !functions[builder] {
			t.Errorf("%s has no builder %s", name, builder)
		}
		b, ok := built[source]
		if !ok {
			t.Errorf("%s has no envelope in this test", name)
			continue
		}
		if err := b.envelope.Validate(); err != nil || b.envelope.Source != source || b.envelope.Target != TargetOf(source) {
			t.Errorf("%s: built %q for %q: %v", name, b.envelope.Source, b.envelope.Target, err)
		}
		if items := Render(b.envelope); len(items) != b.items {
			t.Errorf("%s renders to %d items, want %d: %v", name, len(items), b.items, items)
		}
		if strings.HasSuffix((&InvalidError{source, TargetOf(source), SlotRepos}).Error(), "its row in the matrix asks for") {
			t.Errorf("%s: an error does not say what it knows", name)
		}
	}
}

// TestSlotsAreFields holds each slot to the field of its name: empty without it, filled with it.
func TestSlotsAreFields(t *testing.T) {
	constants, _ := declared(t, "Slot")
	full := compositeOf(t)
	fields := map[string]bool{"IssueKey": true, "Target": true, "Source": true} // these are no slots
	for name, text := range constants {
		fields[text] = true
		if name != "Slot"+text {
			t.Errorf("%s is %q, want the name after Slot", name, text)
		}
		if !full.Has(Slot(text)) || (Envelope{}).Has(Slot(text)) {
			t.Errorf("%s: has %v in a full envelope and %v in an empty one", name, full.Has(Slot(text)), (Envelope{}).Has(Slot(text)))
		}
		emptied := full
		reflect.ValueOf(&emptied).Elem().FieldByName(text).SetZero()
		if emptied.Has(Slot(text)) {
			t.Errorf("%s does not look at its field", name)
		}
	}
	for f := range reflect.TypeFor[Envelope]().Fields() {
		if !fields[f.Name] {
			t.Errorf("field %s is no slot", f.Name)
		}
	}
}

// TestValidateRefuses empties each slot that each row asks for, and gives each source the other target.
func TestValidateRefuses(t *testing.T) {
	for source, b := range built {
		for target, slots := range Required[source] {
			for _, slot := range slots {
				e := b.envelope
				reflect.ValueOf(&e).Elem().FieldByName(string(slot)).SetZero()
				var invalid *InvalidError
				if err := e.Validate(); !errors.As(err, &invalid) || *invalid != (InvalidError{source, target, slot}) {
					t.Errorf("%s without %s: %v", source, slot, err)
				} else if text := err.Error(); !strings.Contains(text, string(source)) || !strings.Contains(text, string(target)) || !strings.Contains(text, string(slot)) {
					t.Errorf("the error does not name source, target and slot: %s", text)
				}
			}
			e := b.envelope
			e.Target = map[IssueState]IssueState{IssueStateFeedback: IssueStateImplementing, IssueStateImplementing: IssueStateFeedback}[target]
			if err := e.Validate(); err == nil || !strings.Contains(err.Error(), "expected "+strconv.Quote(string(target))) {
				t.Errorf("%s for %s: %v", source, e.Target, err)
			}
		}
	}
	bare := FromReviewerVerdict(Issue{}, nil, history, []feedback.Item{concern})
	if err := bare.Validate(); err != nil {
		t.Errorf("criteria, repos and issue are not required: %v", err)
	}
	err := Envelope{Source: "gossip", Target: IssueStateFeedback}.Validate()
	if err == nil || !strings.Contains(err.Error(), `envelope from "gossip" for target "feedback": the source is not known, expected one of reviewer_verdict, `) {
		t.Errorf("an unknown source: %v", err)
	}
	if err := FromOperatorReferBack(issue, nil, nil, " \n").Validate(); err == nil {
		t.Error("a note of blanks is taken for one")
	}
}

func TestDiscoveryInput(t *testing.T) {
	whole := DiscoveryInput{IssueKey: "SHOP-7", IssueBody: "sell"}
	if err := whole.Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		in   DiscoveryInput
		want string
	}{
		{DiscoveryInput{IssueBody: "sell"}, `"IssueKey"`}, {DiscoveryInput{IssueKey: "SHOP-7", IssueBody: " "}, `"IssueBody"`}, {DiscoveryInput{}, `"IssueKey"`},
	} {
		if err := c.in.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s named", c.in, err, c.want)
		}
	}
}

// compositeOf fills every slot.
func compositeOf(t *testing.T) Envelope {
	t.Helper()
	e := New(SourceReviewerVerdict, issue, criteria, history, Contents{
		Items:     []feedback.Item{concern},
		Diagnosis: &Diagnosis{[]AssemblyFixerConcern{assembly}, &gate, &ci, &verifier, &resolver},
		Note:      "use the cache",
	})
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestGolden compares the JSON of an envelope in which every slot is filled, and what it renders to, in the
// order of sources.
func TestGolden(t *testing.T) {
	e := compositeOf(t)
	input := DiscoveryInput{issue.Key, issue.Body, AcceptanceCriteria(issue.Body), &SpecExcerpt{"spec.md", "a till adds up"}}
	for _, g := range []struct {
		name string
		v    any
	}{{"envelope.json", e}, {"items.json", Render(e)}, {"discovery.json", input}} {
		got, err := json.MarshalIndent(g.v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		file := filepath.Join("testdata", g.name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != string(got) {
			t.Errorf("%s differs (%v), got:\n%s", file, err, got)
		}
	}
	var back Envelope
	text, _ := json.Marshal(e)
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("read back: %v\n%+v\nwant\n%+v", err, back, e)
	}
}

// TestNewGivesEachFindingOnce hands over the items that reviews made of their diagnoses along with these.
func TestNewGivesEachFindingOnce(t *testing.T) {
	d := &Diagnosis{Assembly: []AssemblyFixerConcern{assembly}, Gate: &gate, Verifier: &verifier}
	items := append([]feedback.Item{concern}, d.Items()...)
	second := Diagnosis{Gate: &GateOutput{"other", "log", "error: it broke"}}
	items = append(items, second.Items()...) // a second gate, for which there is no slot
	e := New(d.Source(), issue, nil, history, Contents{Items: items, Diagnosis: Join(d, &second)})
	if err := e.Validate(); err != nil || e.Source != SourceAssemblyFixer {
		t.Fatalf("%s: %v", e.Source, err)
	}
	if len(e.ReviewerConcerns) != 2 || e.ReviewerConcerns[1].Fingerprint != second.Items()[0].Fingerprint {
		t.Errorf("concerns of reviewers: %+v, want the reviewer's own and that of the second gate", e.ReviewerConcerns)
	}
	if got := len(Render(e)); got != len(items) {
		t.Errorf("renders to %d items, want %d", got, len(items))
	}
	if Join(nil, nil) != nil || Join(nil, d) == d || !reflect.DeepEqual(Join(nil, d), d) || !reflect.DeepEqual(Join(d, nil), d) {
		t.Error("Join with none does not give a copy of the other")
	}
}

func TestDiagnosisSource(t *testing.T) {
	for want, d := range map[Source]*Diagnosis{
		"": nil, SourceAssemblyFixer: {Assembly: []AssemblyFixerConcern{assembly}}, SourceSquashGate: {Gate: &gate},
		SourceCIFailure: {CI: &ci}, SourceVerifierChain: {Verifier: &verifier}, SourceMergeResolver: {Resolver: &resolver},
	} {
		if got := d.Source(); got != want {
			t.Errorf("%+v: source %q, want %q", d, got, want)
		}
	}
}

// TestItemsAreTheSameInAnotherRound: times, lines and addresses differ from run to run.
func TestItemsAreTheSameInAnotherRound(t *testing.T) {
	print := func(stdout, name string) string {
		d := Diagnosis{Verifier: &VerifierChainResult{VerifierName: name, Gate: GatePostSubmit, Stdout: stdout}}
		return d.Items()[0].Fingerprint
	}
	first := print("--- FAIL: TestCart (0.03s) at 0xc000012f\ncart.go:7", "test")
	if again := print("--- FAIL: TestCart (12.1s) at 0xc0000a\ncart.go:19", "test"); again != first {
		t.Error("another duration, line or address makes it another item")
	}
	if print("--- FAIL: TestTill (0.03s) at 0xc000012f\ncart.go:7", "test") == first || print("--- FAIL: TestCart (0.03s)", "lint") == first {
		t.Error("another test, or another verifier, is the same item")
	}
}

// TestRenderReadsAsOneLine: briefs and escalations make one line of a description, and show its beginning.
func TestRenderReadsAsOneLine(t *testing.T) {
	for want, d := range map[string]Diagnosis{
		`the gate of "shop" failed: it broke; the whole output is in a.log; with more of it: before it broke`:   {Gate: &GateOutput{"shop", "a.log", "it broke\n\nbefore\nit broke"}},
		`the gate of "shop" failed: it said nothing`:                                                            {Gate: &GateOutput{Repo: "shop"}},
		`the CI workflow "build" failed: job test; the run is https://ci.example/1; with more of it: step unit`: {CI: &CIFailure{"build", "https://ci.example/1", "job test\nstep unit"}},
		`the verifier "lint" rejected the work with exit status 3 and said nothing`:                             {Verifier: &VerifierChainResult{VerifierName: "lint", Gate: GatePostSubmit, ExitCode: 3}},
		`the verifier "lint" rejected the work with exit status 3; stderr: no`:                                  {Verifier: &VerifierChainResult{VerifierName: "lint", Gate: GatePostSubmit, Stderr: "no", ExitCode: 3}},
		`the merge into "main" of "shop" has conflicts in 1 file: "a.go"; the resolver said: no`:                {Resolver: &ResolverDiagnosis{VerdictText: "no", ConflictingPaths: []string{"a.go"}, RepoSlug: "shop", PlanBranch: "main"}},
	} {
		if got := feedback.OneLine(d.Items()[0].Description, reportLimit); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRenderIsBounded fills everything with more than anybody reads.
func TestRenderIsBounded(t *testing.T) {
	huge := strings.Repeat("日本😀\n", 1<<20/11)
	var paths []string
	for range 5000 {
		paths = append(paths, huge[:300])
	}
	e := New(SourceReviewerVerdict, issue, nil, history, Contents{Note: huge, Diagnosis: &Diagnosis{
		[]AssemblyFixerConcern{{Comment: huge}}, &GateOutput{huge, huge, huge}, &CIFailure{huge, huge, huge},
		&VerifierChainResult{huge, GatePostSubmit, huge, huge + "the end", 1, 1}, &ResolverDiagnosis{huge, paths, huge, huge, huge, 1, huge},
	}})
	items := Render(e)
	if len(items) != 6 {
		t.Fatalf("%d items, want 6", len(items))
	}
	for _, item := range items {
		if len(item.Description) > 2*reportLimit || !utf8.ValidString(item.Description) || item.Severity != feedback.Blocking {
			t.Errorf("%d bytes, valid %v: %.200q", len(item.Description), utf8.ValidString(item.Description), item.Description)
		}
	}
	if !strings.HasSuffix(items[3].Description, "the end") {
		t.Error("a verifier's output is not cut from its front")
	}
	if !strings.Contains(items[5].Description, "and 4980 more") {
		t.Errorf("the paths that are not shown are not counted: %.300q", items[5].Description)
	}
}

func TestAcceptanceCriteria(t *testing.T) {
	const fenced = "```\n## Acceptance criteria\n- not one\n```\n"
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"none", "Sell.\n- a\n", nil},
		{"empty", "", nil},
		{"no list", "## Acceptance criteria\nIt works.\n## Next\n- a\n", nil},
		{"boxes", "# A\n\n## Acceptance criteria\n\n- [ ] a cart\n- [x] a till\n- [X] a bell\n- [] odd\n-no item\n", []string{"a cart", "a till", "a bell", "[] odd -no item"}},
		{"level, case, closing marks, colon, marks of stress", "#### **ACCEPTANCE  Criteria:** ####\n* a\n+ b\n3. c\n4) d\n", []string{"a", "b", "c", "d"}},
		{"other heading", "## Acceptance criteria of others\n- a\n##Acceptance criteria\n- b\n", nil},
		{"ends", "## Acceptance criteria\n- a\n### API\n- b\n## Notes\n- c\n# Z\n- d\n", []string{"a", "b"}},
		{"twice", "# Acceptance criteria\n- a\n# Other\n- x\n# Acceptance criteria\n- b\n", []string{"a", "b"}},
		{"long item", "## Acceptance criteria\n- a\n  goes on\nlazily\n\n  and on\n\nText.\n- b\n", []string{"a goes on lazily and on", "b"}},
		{"nested", "## Acceptance criteria\n- a\n  - [ ] b\n\t* c\n", []string{"a", "b", "c"}},
		{"CRLF", "## Acceptance criteria\r\n- a\r\n- [ ] b  \r\n", []string{"a", "b"}},
		{"fence before", fenced + "## Acceptance criteria\n- a\n", []string{"a"}},
		{"fence only", fenced, nil},
		{"fence in an item", "## Acceptance criteria\n- a\n  ````go\n  - x\n  ```\n  # y\n  ````\n- b\n~~~\n- z\n", []string{"a", "b"}},
		{"code in a line", "## Acceptance criteria\n```a``` is code\n- b\n", []string{"b"}},
		{"comment", "<!--\n## Acceptance criteria\n- x\n-->\n## Acceptance criteria\n<!-- one a line -->\n- a <!-- why --> b\n", []string{"a  b"}},
		{"underlined", "Acceptance criteria\n---\n- a\n\nOther\n===\n- b\n", []string{"a"}},
		{"break", "## Acceptance criteria\n- a\n\n* * *\n---\n- b\n", []string{"a", "b"}},
		{"empty items", "## Acceptance criteria\n- \n- [ ]\n-\n- a", []string{"a"}},
		{"bold is an item", "## Acceptance criteria\n**not a list**\n- **a**: b\n", []string{"**a**: b"}},
	} {
		if got := AcceptanceCriteria(c.body); !slices.Equal(got, c.want) || c.want == nil && got != nil {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzAcceptanceCriteria(f *testing.F) {
	f.Add("## Acceptance criteria\n- [ ] a\n```\n- x\n")
	f.Add("Acceptance criteria\n===\n<!-- \n- x -->\n1. a\n")
	f.Fuzz(func(t *testing.T, body string) {
		for _, c := range AcceptanceCriteria(body) {
			if strings.TrimSpace(c) == "" || strings.Contains(c, "\n") {
				t.Errorf("%q is no criterion", c)
			}
		}
	})
}
