package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine"
	"example.com/pipe/engine/step"
)

// TestChanges has a review see which files its target changed in its last execution, and nobody else any.
func TestChanges(t *testing.T) {
	p := project(t, "pipelines/x.yaml", `name: x
version: 1
stages:
  - id: fix
    run: echo "$PIPE_ITERATION" > "f$PIPE_ITERATION.txt"
  - id: review
    feedback_loop: {target_stage: fix}
    env: {CHANGED: "${{ changes }}"}
    run: |
      echo "$CHANGED" >> ../changed
      if [ "$PIPE_ITERATION" = 1 ]; then echo '[{"severity":"blocking","description":"more"}]'; else echo '[]'; fi > "$PIPE_FEEDBACK"
  - id: other
    env: {CHANGED: "${{ changes }}"}
    run: echo "other $CHANGED" >> ../changed
`)
	l, err := p.Load("x", "")
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Run(t.Context(), l, engine.RunOptions{})
	if err != nil || res.Status != step.RunSucceeded {
		t.Fatalf("got %+v, %v", res, err)
	}
	b, err := os.ReadFile(filepath.Join(p.Root, "..", "changed"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(b)), "[\"f1.txt\"]\n[\"f2.txt\"]\nother []"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
