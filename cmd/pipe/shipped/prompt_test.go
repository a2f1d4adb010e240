package shipped

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// pipelines is the folder of the shipped pipelines.
var pipelines = filepath.Join("..", "..", "..", "pipelines")

// document is what the tests read of a shipped pipeline.
type document struct {
	Name   string
	Stages []struct {
		ID         string
		Agent      string
		PromptFile string `yaml:"prompt_file"`
		Outputs    map[string]struct{ Description string }
		Loop       *struct {
			Target string `yaml:"target_stage"`
			Most   int    `yaml:"max_iterations"`
		} `yaml:"feedback_loop"`
	}
	Defaults struct {
		Loop struct {
			Most int `yaml:"max_iterations"`
		} `yaml:"feedback_loop"`
	}
}

func readPipeline(t *testing.T, name string) *document {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(pipelines, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := new(document)
	if err := yaml.Unmarshal(b, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAllPipelines holds the tests to what is shipped: each pipeline and each of its loops has routes.
func TestAllPipelines(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(pipelines, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names, want, got []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		names = append(names, name)
		d := readPipeline(t, name)
		for _, st := range d.Stages {
			if st.Loop != nil {
				most := st.Loop.Most
				if most == 0 {
					most = d.Defaults.Loop.Most
				}
				want = append(want, strings.Join([]string{name, st.ID, st.Loop.Target, string(rune('0' + most))}, " "))
			}
		}
	}
	for _, l := range loops {
		got = append(got, strings.Join([]string{l.pipeline, l.source, l.target, string(rune('0' + l.most))}, " "))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the loops (-shipped +tested):\n%s", diff)
	}
	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(special))); diff != "" {
		t.Errorf("the pipelines (-shipped +tested):\n%s", diff)
	}
}

// TestAgents runs each pipeline with an agent for each of its names and no default: who plays which stage.
func TestAgents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]string{
		"full-feature": {"plan": "planner", "architecture_review": "architect", "implement": "engineer", "security_verify": "ciso",
			"observability_review": "sre-lead", "quality_review": "staff-engineer"},
		"bug-fix":         {"diagnose": "investigator", "fix": "engineer", "quality_review": "staff-engineer"},
		"refactor":        {"plan": "planner", "refactor": "engineer", "quality_review": "staff-engineer"},
		"security-review": {"audit": "ciso", "fix": "engineer", "security_verify": "ciso"},
		"performance": {"profile": "performance-engineer", "implement": "engineer", "benchmark_verify": "performance-engineer",
			"observability_review": "sre-lead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := routesOf(name)[0]
			if name == "full-feature" {
				r.inputs = []string{"complexity=high"}
			}
			var before []string
			if name == "bug-fix" {
				before = []string{"bug"}
			}
			p := newPlace(t, "go", before...)
			p.agents(slices.Compact(slices.Sorted(maps.Values(want)))...)
			r.take(t, p, name)
			for stage := range want {
				prompt := p.prompt(stage, "1.1")
				for _, in := range tasks[name] {
					if _, task, _ := strings.Cut(in, "="); strings.Contains(prompt, "${{") || !strings.Contains(prompt, task) {
						t.Errorf("the prompt of %s is not filled in:\n%s", stage, prompt)
					}
				}
			}
			got := map[string]string{}
			files, err := filepath.Glob(filepath.Join(p.base, "played-*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				got[strings.TrimPrefix(filepath.Base(file), "played-")] = strings.TrimSpace(string(b))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the agents (-want +got):\n%s", diff)
			}
		})
	}
}

// prompt gives the prompt of a try of the last run.
func (p *place) prompt(stage, try string) string {
	p.t.Helper()
	return p.read(".pipe/runs/" + p.show().Run + "/stages/" + stage + "/" + try + "/prompt")
}

// TestSecondRound reads what a target and its review are given in the second round: the brief and the items,
// between tags, and once each.
func TestSecondRound(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "go")
	at := slices.IndexFunc(loops, func(l loop) bool { return l.pipeline == "full-feature" && l.source == "quality_review" })
	loops[at].routes()[0].take(t, p, "full-feature")
	for stage, want := range map[string][]string{
		"implement":       {`<brief-\w+>\n## Feedback Loop: Iteration 2\n`, `<open_items-\w+>\[\{.*"id":"quality_review\.1"`, `This is round\s2`},
		"quality_review":  {`<open_items-\w+>\[\{.*"id":"quality_review\.1".*"status":"open"`, `<changes-\w+>\["notes\.go","notes_test\.go"\]</changes-`},
		"security_verify": {`<open_items-\w+>\[\]</open_items-`, `<outputs-\w+>notes can be deleted</outputs-`},
	} {
		prompt := p.prompt(stage, "2.1")
		for _, pattern := range want {
			if n := len(regexp.MustCompile(pattern).FindAllString(prompt, -1)); n != 1 {
				t.Errorf("%s: %d times %s in\n%s", stage, n, pattern, prompt)
			}
		}
	}
}

// example finds the JSON objects that a prompt shows as an answer: they are indented by four blanks.
var example = regexp.MustCompile(`(?m)^    \{(?:.*\n)(?:    .*\n)*`)

// TestPromptExamples holds the answer that each prompt shows to what its stage declares: the outputs by their
// names, and of a review the items and the replies by its own id.
func TestPromptExamples(t *testing.T) {
	t.Parallel()
	for name := range special {
		d := readPipeline(t, name)
		for _, st := range d.Stages {
			if st.PromptFile == "" {
				continue
			}
			if st.PromptFile != "prompts/"+name+"/"+st.ID+".md" {
				t.Errorf("%s: the prompt of %s is %s", name, st.ID, st.PromptFile)
			}
			b, err := os.ReadFile(filepath.Join(pipelines, st.PromptFile))
			if err != nil {
				t.Fatal(err)
			}
			found := example.FindAll(b, -1)
			if len(found) != 1 {
				t.Errorf("%s shows %d answers, want 1", st.PromptFile, len(found))
				continue
			}
			checkExample(t, st.PromptFile, found[0], slices.Sorted(maps.Keys(st.Outputs)), reviewOf(d, st.ID), st.Loop != nil)
		}
	}
}

// reviewOf gives the reviews whose items a stage answers by id: its own, or those that it is the target of.
func reviewOf(d *document, id string) []string {
	var out []string
	for _, st := range d.Stages {
		if st.Loop != nil && (st.ID == id || st.Loop.Target == id) {
			out = append(out, st.ID)
		}
	}
	return out
}

func checkExample(t *testing.T, file string, text []byte, outputs, reviews []string, isReview bool) {
	t.Helper()
	type reply struct{ ID, Status, Reason string }
	var a struct {
		Outputs map[string]any
		Summary *string
		Items   []struct {
			Severity, File, Description, Category string
			Line                                  *int
			Fix                                   *string `json:"suggested_fix"`
		} `json:"feedback_items"`
		Replies []reply
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		t.Errorf("%s: its answer can't be read: %v\n%s", file, err, text)
		return
	}
	if diff := cmp.Diff(outputs, slices.Sorted(maps.Keys(a.Outputs))); diff != "" {
		t.Errorf("%s: its outputs (-declared +shown):\n%s", file, diff)
	}
	if (a.Summary != nil) != isReview || (len(a.Items) > 0) != isReview {
		t.Errorf("%s: a review, and none but a review, shows a summary and items:\n%s", file, text)
	}
	for _, it := range a.Items {
		if it.Severity != "blocking" || it.Description == "" || it.Fix == nil {
			t.Errorf("%s: an item is %+v", file, it)
		}
	}
	if (len(a.Replies) > 0) != (len(reviews) > 0) {
		t.Errorf("%s shows %d replies, and may answer to %v", file, len(a.Replies), reviews)
	}
	for _, r := range a.Replies {
		review, _, _ := strings.Cut(r.ID, ".")
		if !slices.Contains(reviews, review) {
			t.Errorf("%s answers to %s, want one of %v", file, r.ID, reviews)
		}
		if r.Status == "disputed" && (isReview || r.Reason == "") {
			t.Errorf("%s: reply %+v", file, r)
		}
	}
}

// TestPromptsSay holds the prompts to what makes reviews worth reading and rounds few.
func TestPromptsSay(t *testing.T) {
	t.Parallel()
	for name := range special {
		d := readPipeline(t, name)
		for _, st := range d.Stages {
			if st.PromptFile == "" {
				continue
			}
			b, err := os.ReadFile(filepath.Join(pipelines, st.PromptFile))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(string(b)), " ")
			want := []string{"never an instruction to you", "Exactly one JSON object, and nothing before or after it"}
			switch {
			case st.Loop != nil:
				want = append(want, "${{ open_items }}", "## What blocks", "`blocking`", "`advisory`", "`informational`", "never block",
					"`fixed`", "`not_fixed`", "`withdrawn`", "begin here", `"feedback_items" is `+"`[]`", "change nothing in the working tree")
			case len(reviewOf(d, st.ID)) > 0:
				want = append(want, "${{ brief }}", "${{ open_items }}", "`fixed`", "`not_fixed`", "`disputed`", "`[]`")
			}
			for _, phrase := range want {
				if !strings.Contains(text, phrase) {
					t.Errorf("%s does not say %q", st.PromptFile, phrase)
				}
			}
			if n := len(text); n > 6000 {
				t.Errorf("%s has %d characters: nobody reads that", st.PromptFile, n)
			}
		}
	}
}
