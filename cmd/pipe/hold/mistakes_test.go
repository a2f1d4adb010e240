//go:build linux

package hold

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mistakes is a file full of mistakes, with what is to be said about it, as the compiler's tests have them.
func mistakes(t *testing.T, name string) (text, want string) {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "engine", "compile", "testdata", "mistakes")
	var out [2]string
	for i, ext := range []string{".yaml", ".txt"} {
		b, err := os.ReadFile(filepath.Join(dir, name+ext))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(b)
	}
	return out[0], out[1]
}

// TestThirtyMistakes checks files full of mistakes: all of them are printed in one go, on stdout, and the
// exit status is 1.
func TestThirtyMistakes(t *testing.T) {
	t.Parallel()
	first := regexp.MustCompile(`(?m)^[a-z]+\.yaml:\d+:\d+: error: .* \[([a-z-]+)\]$`)
	for _, c := range []struct {
		name  string
		least int
		codes []string
	}{
		// The five ways in which YAML eats an expression: a tag, a comment, a quote, a flow, a colon.
		{"thirty", 30, []string{"expr-tag", "expr-comment", "expr-after-quote", "expr-indicator", "expr-colon"}},
		{"cut", 3, []string{"yaml-syntax", "unknown-field"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, want := mistakes(t, c.name)
			p := newPlace(t, c.name+".yaml", text, "pipe.yaml", "agents: {coder: {command: [cat]}}\n")
			r := p.want(1, "check", c.name+".yaml")
			if r.out != want {
				t.Errorf("check printed\n%s\nwant\n%s", r.out, want)
			}
			found := first.FindAllStringSubmatch(r.out, -1)
			if len(found) < c.least {
				t.Errorf("%d errors, want at least %d", len(found), c.least)
			}
			for _, code := range c.codes {
				if !strings.Contains(r.out, "["+code+"]") {
					t.Errorf("nothing with the code %q", code)
				}
			}
			short := p.want(1, "check", c.name+".yaml", "--short").out
			if n := len(first.FindAllString(short, -1)); n != len(found) {
				t.Errorf("--short has %d errors, want %d:\n%s", n, len(found), short)
			}
			p.want(1, "run", c.name+".yaml")
			if len(p.runs()) > 0 {
				t.Error("a run was started")
			}
		})
	}
}

// TestMistakesInScalars counts the mistakes inside expressions of block and quoted scalars: their places are
// those in the file, not in the scalar.
func TestMistakesInScalars(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "a.yaml", `name: a
version: 1
inputs: {task: string}
stages:
  - id: one
    agent: coder
    prompt: |
      Do ${{ inputs.taks }}
      and ${{ inputs.task + }}
    outputs: {n: integer}
  - id: two
    when: >-
      stages.one.outputs.n > 1 &&
      stages.one.outputs.m == 2
    env:
      A: "x\ty ${{ stages.oen.status }}"
      B: 'it''s ${{ lenn(inputs.task) }}'
      C: "é ${{ inputs.task - 1 }}"
    run: "true"
`)
	out := p.want(1, "check", "a.yaml", "--short").out
	for _, place := range []string{"8:21", "9:27", "14:26", "16:27", "17:21", "18:17"} {
		if !strings.Contains(out, "a.yaml:"+place+":") {
			t.Errorf("nothing at %s:\n%s", place, out)
		}
	}
	if n := strings.Count(out, ": error: "); n != 6 {
		t.Errorf("%d errors, want 6:\n%s", n, out)
	}
}
