package compile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/compile/contract"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
	"example.com/pipe/specs/contracts"
)

// folderOf finds the contracts of a folder; that of routings comes with the program.
type folderOf struct{ fs.FS }

func (f folderOf) Contract(name string) (*specs.Contract, diag.List, error) {
	for _, ext := range []string{".yaml", ".md"} {
		for _, in := range []fs.FS{f.FS, contracts.Files} {
			if b, err := fs.ReadFile(in, name+ext); err == nil {
				doc, diags := specs.ParseContract(source.NewFile("contracts/"+name+ext, string(b)))
				return doc, diags, nil
			}
		}
	}
	return nil, nil, nil
}

func (f folderOf) ContractNames() []string {
	files, _ := fs.Glob(f.FS, "*")
	for i, name := range files {
		files[i] = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return files
}

var goodContracts = folderOf{os.DirFS("testdata/contracts/good")}

// TestContractWants checks the contracts of testdata/contracts/bad, as TestWants does pipelines.
func TestContractWants(t *testing.T) {
	files, err := filepath.Glob("testdata/contracts/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, ds := specs.ParseContract(source.NewFile(filepath.Base(file), string(text)))
			ds.Add(CheckContract(name, doc)...)
			checkWants(t, string(text), ds.Sorted())
		})
	}
}

// TestContractStages compiles stages under contracts.
func TestContractStages(t *testing.T) {
	files, err := filepath.Glob("testdata/contracts/stages/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, ds := underContracts(t, filepath.Base(file), string(text))
			checkWants(t, string(text), slices.DeleteFunc(ds, func(d diag.Diagnostic) bool { return d.Span.File != filepath.Base(file) }))
		})
	}
}

// underContracts reads and compiles a document where there are contracts.
func underContracts(t *testing.T, name, text string) (*plan.Plan, diag.List) {
	t.Helper()
	doc, ds := specs.ParsePipeline(source.NewFile(name, text))
	opt := options(t)
	opt.Contracts = goodContracts
	p, more := Compile(doc, opt)
	ds.Add(more...)
	return p, ds.Sorted()
}

// What is wrong with a contract is said once, in its own file, however many stages name it.
func TestContractDiagnostics(t *testing.T) {
	_, ds := underContracts(t, "p.yaml", running("run: x, contract: broken", "run: x, contract: broken", "pipeline: look, with: {what: x}, contract: broken"))
	const want = "contracts/broken.yaml:2:1: error: unknown key \"inputschema\" in the contract; did you mean \"input_schema\"? [unknown-key]\n" +
		"contracts/broken.yaml:3:28: error: unknown name \"x\"; a text needs quotes [unknown-name]\n"
	if got := ds.Short(); got != want {
		t.Errorf("got %s", got)
	}
}

// The routings of a pipeline that another one runs are held to the contract of routings too; a person's rejection
// is none.
func TestRoutingInside(t *testing.T) {
	for text, want := range map[string]bool{
		running("pipeline: look, with: {what: x}"):        true,
		running("run: x, role: implementation", "run: x"): false,
		running("run: x, role: implementation", "run: x, requires_approval: {message: well, on_reject: {target_stage: s0}}"): false,
	} {
		p, ds := underContracts(t, "p.yaml", text)
		if p == nil || (p.Routing != nil) != want {
			t.Errorf("%s%s", text, ds.Text())
		}
	}
}

func TestContractPlan(t *testing.T) {
	text, err := os.ReadFile("testdata/contracts/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, ds := underContracts(t, "plan.yaml", string(text))
	if len(ds) > 0 {
		t.Fatal(ds.Text())
	}
	golden(t, "testdata/contracts/plan.dump", p.Dump())
}

// A pipeline without a loop routes nothing, and one compiled without contracts has none.
func TestNoRouting(t *testing.T) {
	const loop = "name: p\nversion: 1\nstages:\n  - {id: fix, run: x}\n  - {id: look, run: x, feedback_loop: {target_stage: fix}}\n"
	for _, c := range []struct {
		text string
		from Contracts
		want bool
	}{
		{loop, goodContracts, true},
		{loop, nil, false},
		{"name: p\nversion: 1\nstages: [{id: fix, run: x}]\n", goodContracts, false},
	} {
		doc, ds := specs.ParsePipeline(source.NewFile("p.yaml", c.text))
		p, more := Compile(doc, Options{Contracts: c.from})
		ds.Add(more...)
		if len(ds) > 0 || (p.Routing != nil) != c.want {
			t.Errorf("%s: %s", c.text, ds.Text())
		}
	}
}

// TestShippedRouting asks the checks of the program's own contract about decisions that are sound and ones that
// are not: the last character of a case is that of the first check that does not hold.
func TestShippedRouting(t *testing.T) {
	doc, ds, err := goodContracts.Contract(contract.ForRoutings)
	if err != nil || len(ds) > 0 {
		t.Fatal(ds.Text(), err)
	}
	var diags diag.List
	ct := contract.Routing(doc, &diags)
	if len(diags) > 0 {
		t.Fatal(diags.Text())
	}
	blocking := value.List{value.NewObject(value.Field{Name: "severity", Value: "blocking"}, value.Field{Name: "description", Value: "x"})}
	base := func() *value.Object {
		return value.NewObject(
			value.Field{Name: plan.RoutingSourceStage, Value: "look"}, value.Field{Name: plan.RoutingSourceRole, Value: "review"},
			value.Field{Name: plan.RoutingTargetStage, Value: "do"}, value.Field{Name: plan.RoutingTargetRole, Value: "implementation"},
			value.Field{Name: plan.RoutingFeedbackItems, Value: blocking}, value.Field{Name: plan.RoutingTaskID, Value: "t"},
			value.Field{Name: plan.RoutingIteration, Value: int64(1)}, value.Field{Name: plan.RoutingMaxIterations, Value: int64(2)},
			value.Field{Name: plan.RoutingAction, Value: "re_implement"}, value.Field{Name: plan.RoutingIterationCount, Value: int64(2)},
			value.Field{Name: plan.RoutingFilteredFeedback, Value: blocking},
			value.Field{Name: plan.RoutingImplementationBrief, Value: "do"}, value.Field{Name: plan.RoutingEscalationContext, Value: nil},
		)
	}
	for name, c := range map[string]struct {
		set  map[string]value.Value
		want string // the beginning of the description of the check that does not hold
	}{
		"sent back":  {nil, ""},
		"by name":    {map[string]value.Value{"source_role": "work", "source_stage": "x_verify", "target_role": "work", "target_stage": "fix"}, ""},
		"accepted":   {map[string]value.Value{"feedback_items": value.List{}, "filtered_feedback": value.List{}, "action": "accept", "iteration_count": int64(1), "implementation_brief": nil}, ""},
		"escalated":  {map[string]value.Value{"iteration": int64(2), "action": "escalate", "implementation_brief": nil, "escalation_context": value.NewObject()}, ""},
		"no review":  {map[string]value.Value{"source_role": "work"}, "the source is a review"},
		"no target":  {map[string]value.Value{"target_role": "review"}, "the target is an implementation"},
		"no text":    {map[string]value.Value{"feedback_items": value.List{value.NewObject(value.Field{Name: "severity", Value: "blocking"}, value.Field{Name: "description", Value: ""})}}, "the items are a list"},
		"round zero": {map[string]value.Value{"iteration": int64(0)}, "rounds are counted from 1"},
		"other word": {map[string]value.Value{"action": "retry"}, "the action is one of"},
		"not counted": {map[string]value.Value{"iteration_count": int64(1)},
			"rounds are still counted"},
		"accepted all":   {map[string]value.Value{"action": "accept", "iteration_count": int64(1)}, "nothing is accepted while"},
		"beyond the cap": {map[string]value.Value{"iteration": int64(2), "iteration_count": int64(3)}, "no round begins beyond"},
		"advice": {map[string]value.Value{"filtered_feedback": value.List{value.NewObject(value.Field{Name: "severity", Value: "advisory"})}},
			"only blocking items"},
		"two outcomes": {map[string]value.Value{"escalation_context": value.NewObject()}, "there is a brief only"},
	} {
		scope := base()
		for k, v := range c.set {
			scope.Set(k, v)
		}
		got := ""
		ev := NewEvaluator()
		for _, ck := range slices.Concat(ct.PreChecks, ct.PostChecks) {
			v, err := ev.Eval(ck.Validation, scope)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if v != true && got == "" {
				got = ck.Description
			}
		}
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q does not hold, want %q", name, got, c.want)
		}
	}
}

// What a stage does not give has its contract's default, also where a pipeline that it runs would take null.
func TestContractDefaults(t *testing.T) {
	p, ds := underContracts(t, "p.yaml", running("run: x, contract: noted", "pipeline: look, with: {what: x}, contract: noted", "pipeline: look, with: {what: x, notes: y}, contract: noted"))
	if len(ds) > 0 {
		t.Fatal(ds.Text())
	}
	for i, want := range []string{"nothing new", "nothing new", "y"} {
		b := findBinding(p.Graph.Nodes[i].Inputs, "notes")
		if b == nil || b.Value.Value != want {
			t.Errorf("stage %d: %+v", i, b)
		}
		if b := findBinding(p.Graph.Nodes[i].Inputs, "more"); b == nil || b.Value.Value != nil || !b.Type.Optional {
			t.Errorf("stage %d: %+v", i, b)
		}
	}
}

// The names of a routing are those that the program's contract declares, and that the document tells of.
func TestRoutingNames(t *testing.T) {
	doc, _, _ := goodContracts.Contract(contract.ForRoutings)
	text, err := os.ReadFile("../../docs/contracts.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		schema *specs.Schema
		given  value.Type
	}{{doc.Inputs, scope.RoutingInputs()}, {doc.Outputs, scope.RoutingOutputs()}} {
		var declared []string
		for _, p := range slices.Concat(part.schema.Required, part.schema.Optional) {
			declared = append(declared, p.Name.Value)
		}
		given := part.given.FieldNames()
		for _, name := range given {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("contracts.md does not tell of %q", name)
			}
		}
		slices.Sort(declared)
		slices.Sort(given)
		if diff := cmp.Diff(given, declared); diff != "" {
			t.Errorf("names of a routing (-given +declared):\n%s", diff)
		}
	}
}

// FuzzContract throws documents at the compiler: it ends, and says nothing without a place.
func FuzzContract(f *testing.F) {
	f.Add("name: x\ninput_schema: {required: [{name: a, type: string}]}\npre_checks: [{validation: a is not empty}]\n")
	f.Add("name: x\noutput_schema: {optional: [{name: a, type: object, default: {b: 1}}]}\npost_checks: [{validation: {cel: a.b > 1}}]\n")
	f.Add("input_schema: {optional: [{name: feedback_items, enum: [a, a]}]}\npre_checks: [{validation: each item of feedback_items has b, description: \"${{ x }}\"}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		doc, _ := specs.ParseContract(source.NewFile("x.yaml", text))
		for _, name := range []string{"x", contract.ForRoutings} {
			for _, d := range CheckContract(name, doc) {
				if !d.Span.IsValid() || d.Code == "" || d.Message == "" {
					t.Fatalf("not a proper diagnostic: %+v", d)
				}
			}
		}
	})
}
