package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine"
	"example.com/pipe/engine/step"
)

// The checks of a for_each are asked for each item, with what that one gave.
func TestChecksOfItems(t *testing.T) {
	p := project(t, "pipelines/x.yaml", `name: x
version: 1
outputs: {sum: "${{ sum(stages.each.outputs.n) }}"}
stages:
  - id: each
    for_each: {items: [3, 4]}
    env: {N: "${{ each.item }}"}
    run: echo "n=$N" > "$PIPE_OUTPUT"
    outputs: {n: integer}
    pre_checks: [{validation: each.index < 2}]
    post_checks: [{validation: outputs.n == each.item}]
`)
	l, err := p.Load("x", "")
	if err != nil || l.Plan == nil {
		t.Fatalf("%v %s", err, l.Diags.Text())
	}
	if res, err := p.Run(t.Context(), l, engine.RunOptions{}); err != nil || res.Status != step.RunSucceeded {
		t.Fatalf("got %+v, %v", res, err)
	}
}

// A review of one item sees what that item of its target gave last, also while others run again.
func TestItemsSeeTheirOwn(t *testing.T) {
	p := project(t, "pipelines/x.yaml", `name: x
version: 1
inputs: {files: {type: "string[]", default: [a, b]}}
stages:
  - id: implement
    writes: false
    for_each: {items: inputs.files}
    env: {I: "${{ each.index }}"}
    run: |
      if [ "$I$PIPE_ITERATION" = 12 ]; then # it waits for the review of the other one
        while ! grep -q '^read.0. 2' ../log; do sleep 0.01; done
      fi
      echo "$I $PIPE_ITERATION" > "f$I"
      echo "v=$PIPE_ITERATION" > "$PIPE_OUTPUT"
    outputs: {v: integer}
  - id: read
    for_each: {items: inputs.files}
    env: {SEEN: "${{ stages.implement.outputs.v[each.index] }} ${{ stages.implement.status }}"}
    run: |
      echo "$PIPE_STAGE $PIPE_ITERATION sees $SEEN" >> ../log
      if [ "$PIPE_ITERATION" = 1 ]; then echo '[{"severity":"blocking","description":"more"}]'; else echo '[]'; fi > "$PIPE_FEEDBACK"
    feedback_loop: {target_stage: implement}
`)
	l, err := p.Load("x", "")
	if err != nil || l.Plan == nil {
		t.Fatalf("%v %s", err, l.Diags.Text())
	}
	if res, err := p.Run(t.Context(), l, engine.RunOptions{Jobs: 2}); err != nil || res.Status != step.RunSucceeded {
		t.Fatalf("got %+v, %v", res, err)
	}
	b, err := os.ReadFile(filepath.Join(p.Root, "..", "log"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(b)), "\n")
	slices.Sort(got)
	want := []string{"read[0] 1 sees 1 succeeded", "read[0] 2 sees 2 succeeded", "read[1] 1 sees 1 succeeded", "read[1] 2 sees 2 succeeded"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
