package compile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// running gives a pipeline with one stage for each of some lines of keys.
func running(stages ...string) string {
	var b strings.Builder
	b.WriteString("name: p\nversion: 1\nstages:\n")
	for i, s := range stages {
		fmt.Fprintf(&b, "  - {id: s%d, %s}\n", i, s)
	}
	return b.String()
}

// What is wrong in a pipeline that is run is said once, in its own file, however many stages run it.
func TestChildDiagnostics(t *testing.T) {
	_, ds := parse(t, "p.yaml", running("pipeline: broken", "pipeline: broken"))
	if got, want := ds.Short(), "children/broken.yaml:6:13: error: unknown stage \"nobody\" in needs [unknown-stage]\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestChildrenInACircle(t *testing.T) {
	_, ds := parse(t, "p.yaml", running("pipeline: round"))
	if got := ds.Short(); !strings.Contains(got, "children/about.yaml:5:15: error: pipelines run each other in a circle: children/round.yaml → children/about.yaml → children/round.yaml [cycle]") || len(ds) != 1 {
		t.Errorf("got %s", got)
	}
}

// A child that only a newer program knows is said to be that.
func TestChildOfNewerPipe(t *testing.T) {
	text := strings.Replace(running("pipeline: tree"), "version: 1", "version: 1\nworkspace: worktree", 1)
	opt := options(t)
	for version, want := range map[string]string{
		"0.4.9":  "children/tree.yaml:4:7: error: this pipeline needs a newer pipe: at least 0.5, and this one is 0.4.9 [newer-pipe]\n",
		"v0.5.0": "", "1.0": "", "0.5.0-rc.1": "", "devel": "", "": "",
		"v0.0.0-20261201113000-0123456789ab+dirty": "", "v0.4.3-0.20261201113000-0123456789ab": "",
	} {
		opt.Version = version
		if _, ds := compileText(t, text, opt); ds.Short() != want {
			t.Errorf("%q gives %s, want %s", version, ds.Short(), want)
		}
	}
}

// The pipelines that a document runs, each the next one twice, are no more than a plan may hold.
func TestChildrenThatMultiply(t *testing.T) {
	opt := options(t)
	var find func(ref string) (*Child, error)
	find = func(ref string) (*Child, error) {
		n := len(ref)
		if n > 25 {
			return nil, errors.New("there is none")
		}
		next := ref + "x"
		text := running("pipeline: "+next, "pipeline: "+next)
		if n == 25 {
			text = running("run: x")
		}
		doc, ds := specs.ParsePipeline(source.NewFile(ref+".yaml", text))
		return &Child{Name: ref, Doc: doc, Diags: ds, Pipeline: find}, nil
	}
	opt.Pipeline = find
	_, ds := compileText(t, running("pipeline: x"), opt)
	if len(ds) != 1 || !strings.Contains(ds.Short(), "this one has more than 100000 stages [pipeline]") {
		t.Errorf("got %s", ds.Short())
	}
}

// A row of pipelines that each run the next one ends somewhere.
func TestChildrenThatAreDeep(t *testing.T) {
	opt := options(t)
	var find func(ref string) (*Child, error)
	find = func(ref string) (*Child, error) {
		doc, ds := specs.ParsePipeline(source.NewFile(ref+".yaml", running("pipeline: "+ref+"x")))
		return &Child{Name: ref, Doc: doc, Diags: ds, Pipeline: find}, nil
	}
	opt.Pipeline = find
	_, ds := compileText(t, running("pipeline: x"), opt)
	if len(ds) != 1 || !strings.Contains(ds.Short(), "more than 30 levels deep") {
		t.Errorf("got %s", ds.Short())
	}
}

func TestNoFilesBeside(t *testing.T) {
	opt := options(t)
	opt.Pipeline = nil
	_, ds := compileText(t, running("pipeline: look"), opt)
	if len(ds) != 1 || ds[0].Code != CodePipeline {
		t.Errorf("got %s", ds.Short())
	}
}

// Where nobody attends, the option says so as the document does, for the pipelines inside too.
func TestUnattended(t *testing.T) {
	opt := options(t)
	text := running("run: x, requires_approval: {on_timeout: approve}", "uses: approval, with: {timeout: 1h}")
	doc, _ := specs.ParsePipeline(source.NewFile("p.yaml", text))
	p, ds := Compile(doc, opt)
	if p == nil || p.Unattended || p.Graph.Nodes[1].Approval.OnTimeout != plan.TimeoutRejects {
		t.Fatalf("%v %s", p, ds.Short())
	}
	opt.Unattended = true
	if _, ds = compileText(t, text, opt); len(ds) != 1 || ds[0].Code != CodeUnattended || ds[0].Span.Start.Line != 5 {
		t.Errorf("got %s", ds.Short())
	}
}

// A kind that is named gets what is written out as its config, and the rest is evaluated at the start.
func TestUses(t *testing.T) {
	opt := options(t)
	var seen []string
	opt.Kinds = []stage.Kind{{Name: "command"}, {
		Name: "notify", Doc: "Tells somebody.",
		Config: []stage.Field{
			{Name: "to", Type: value.Of(value.String), Required: true, Doc: "who is told"},
			{Name: "times", Type: value.Of(value.Int), Default: int64(1)},
			{Name: "how", Type: value.OneOf("mail", "chat"), Default: "mail"},
		},
		Check: func(p *stage.CheckPass) {
			sc := p.Scalars["to"]
			seen = append(seen, p.Stage+" "+sc.Text)
			if sc.Text == "nobody" {
				p.Report(diag.Diagnostic{Severity: diag.Error, Code: "who", Span: sc.Span, Message: "nobody can't be told"})
			}
		},
	}}
	dump, ds := compileText(t, running(`uses: notify, with: {to: "${{ run.id }}", times: 2}`, "uses: notify, with: {to: ann}"), opt)
	if len(ds) > 0 {
		t.Fatal(ds.Text())
	}
	for _, want := range []string{`config how = "mail"`, "config times = 2", "config times = 1", `config to = "ann"`, `with to string = ${"run.id"`} {
		if !strings.Contains(dump, want) {
			t.Errorf("no %s in\n%s", want, dump)
		}
	}
	if diff := cmp.Diff([]string{"s0 ${{ run.id }}", "s1 ann"}, seen); diff != "" {
		t.Errorf("what the kind saw (-want +got):\n%s", diff)
	}
	for keys, want := range map[string]string{
		"uses: notify":                                     `kind "notify" needs the key "to"`,
		"uses: notify, with: {too: x}":                     `kind "notify" has no key "too"`,
		"uses: notify, with: {to: 3}":                      `the key "to" of kind "notify" does not fit: want string, got integer 3`,
		"uses: notify, with: {to: x, how: fax}":            `the key "how" of kind "notify" does not fit`,
		"uses: notify, with: {to: x, times: '${{ [1] }}'}": `the key "times" of kind "notify" does not fit: want integer, got integer[]`,
		"uses: notify, with: {to: nobody}":                 "nobody can't be told",
		"uses: notfy":                                      `there is no kind or plugin "notfy"`,
		"uses: command":                                    `the kind "command" has a key of its own`,
	} {
		if _, ds := compileText(t, running(keys), opt); len(ds) != 1 || !strings.Contains(ds[0].Message, want) {
			t.Errorf("%s: want %s, got %s", keys, want, ds.Text())
		}
	}
}

// The task that a stage of a pipeline inside is given is that of the run, whatever the pipeline says of itself.
func TestChildDiscovery(t *testing.T) {
	_, ds := parse(t, "p.yaml", running("pipeline: finder"))
	want := "children/finder.yaml:5:36: error: stage \"look\" is to be given the task of the run, and the pipeline that is run, p.yaml, has none [task]\n"
	if diff := cmp.Diff(want, ds.Short()); diff != "" {
		t.Errorf("without a task (-want +got):\n%s", diff)
	}
	p, ds := parse(t, "p.yaml", "task: {key: T-1, body: of the run}\n"+running("pipeline: finder"))
	if p == nil || p.Task.Key.Value != "T-1" || !p.Graph.Nodes[0].Body.Nodes[0].Discovery {
		t.Errorf("with a task: %s", ds.Text())
	}
}
