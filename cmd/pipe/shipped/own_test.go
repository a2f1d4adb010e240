package shipped

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnCopy does what docs/pipelines.md proposes: a project's own copy of full-feature, in which a plan that
// a person rejects is made again.
func TestOwnCopy(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "go")
	b, err := os.ReadFile(filepath.Join(pipelines, "full-feature.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const key = "    requires_approval:\n"
	own := strings.Replace(string(b), key, key+"      on_reject: {target_stage: plan, max_iterations: 3}\n", 1)
	if own == string(b) {
		t.Fatal("full-feature asks for no approval")
	}
	p.write("pipelines/full-feature.yaml", own)
	prompts := filepath.Join("prompts", "full-feature")
	if err := os.CopyFS(filepath.Join(p.dir, "pipelines", prompts), os.DirFS(filepath.Join(pipelines, prompts))); err != nil {
		t.Fatal(err)
	}
	if status, out := p.pipe("check", "full-feature"); status != 0 || !strings.Contains(out, "nothing found") {
		t.Errorf("check: exit status %d\n%s", status, out)
	}
	r := &route{
		patches: map[string][]string{"implement 2": {"full-feature-first", "full-feature-rest"}},
		says:    map[string]string{"plan 2": strings.Replace(answers["full-feature"]["plan"], "2. its test", "2. its tests", 1)},
		steps: []step{{status: 4, run: "waiting"},
			{command: []string{"reject", "last", "--reason", "what of a note that is not there?"}, status: 4, run: "waiting"},
			approve(0, "succeeded")},
	}
	r.take(t, p, "full-feature")
	want := `  plan succeeded 2
  architecture_review skipped 2
  implement succeeded 2
  security_verify succeeded 1
  observability_review succeeded 1
  quality_review succeeded 1
`
	if got := p.tell(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant it to begin with\n%s", got, want)
	}
	if prompt := p.prompt("plan", "2.1"); !strings.Contains(prompt, "what of a note that is not there?") {
		t.Errorf("the plan is made again without the reason:\n%s", prompt)
	}
}
