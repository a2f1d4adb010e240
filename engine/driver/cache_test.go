package driver_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// cached is a pipeline whose stage counts its executions in a file beside the workspace.
const cached = `
name: cached
version: 1
inputs: {word: {type: string, default: a}}
stages:
  - id: s
    cache: true
    env: {WORD: "${{ inputs.word }}"}
    outputs: {said: string, n: integer}
    run: |
      echo x >> "$COUNT"
      printf 'said=%s\nn=9007199254740993\n' "$WORD$(cat in.txt)" >> "$PIPE_OUTPUT"
`

// counted counts what stages append to $COUNT.
func counted(t *testing.T) func() int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "count")
	t.Setenv("COUNT", file)
	return func() int {
		b, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(b), "\n")
	}
}

// world of a pipeline over a cache, in a workspace of its own.
func over(t *testing.T, cache, yaml string) *world {
	t.Helper()
	w := newWorld(t, yaml)
	w.cache = cache
	w.write("in.txt", "1")
	return w
}

// success gives the record of a stage that succeeded.
func (w *world) success(path string) step.StageSucceeded {
	w.t.Helper()
	var out step.StageSucceeded
	for _, r := range w.records() {
		if s, ok := r.(step.StageSucceeded); ok && s.Stage == path {
			out = s
		}
	}
	if out.Stage == "" {
		w.t.Fatalf("%q did not succeed", path)
	}
	return out
}

func TestCache(t *testing.T) {
	count := counted(t)
	cache := filepath.Join(t.TempDir(), "cache")
	first := over(t, cache, cached)
	first.run()
	if s := first.success("s"); s.Cached || count() != 1 {
		t.Fatalf("the first execution: cached %t, %d times", s.Cached, count())
	}
	for name, c := range map[string]struct {
		yaml   string
		change func(*world)
		hits   bool
	}{
		"the same in another place": {hits: true},
		"the stage stands elsewhere in the file": {hits: true,
			yaml: strings.Replace(cached, "stages:\n", "# a remark\nstages:\n  - {id: before, needs: [], run: 'true'}\n", 1)},
		"another input":    {change: func(w *world) { w.inputs = value.NewObject(value.Field{Name: "word", Value: "b"}) }},
		"another file":     {change: func(w *world) { w.write("in.txt", "2") }},
		"one file more":    {change: func(w *world) { w.write("more.txt", "2") }},
		"another script":   {yaml: strings.Replace(cached, "echo x", "echo y", 1)},
		"another variable": {yaml: strings.Replace(cached, "env: {", "env: {MORE: x, ", 1)},
		"another output":   {yaml: strings.Replace(cached, "n: integer", "n: number", 1)},
		"another id":       {yaml: strings.Replace(cached, "id: s", "id: s2", 1)},
		"without cache":    {yaml: strings.Replace(cached, "cache: true", "cache: false", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			if c.yaml == "" {
				c.yaml = cached
			}
			before := count()
			w := over(t, cache, c.yaml)
			if c.change != nil {
				c.change(w)
			}
			if status := w.run(); status != step.RunSucceeded {
				t.Fatal(status)
			}
			if ran := count() != before; ran == c.hits {
				t.Errorf("it ran: %t", ran)
			}
			if !c.hits {
				return
			}
			got, want := w.success("s"), first.success("s")
			if !got.Cached || !value.Equal(got.Outputs, want.Outputs) || *got.ExitCode != 0 {
				t.Errorf("got %+v, want the outputs %v", got, want.Outputs)
			}
			if _, err := os.Stat(filepath.Join(w.dir, driver.FolderOf("s", 1, 1))); err == nil {
				t.Error("there is a folder of a try that did not take place")
			}
		})
	}
}

// TestCacheKeepsOnlyWhatHolds has stages whose outcome must not be used again.
func TestCacheKeepsOnlyWhatHolds(t *testing.T) {
	for name, script := range map[string]string{
		"it failed":            `echo x >> "$COUNT"; exit 1`,
		"it changed the tree":  `echo x >> "$COUNT"; echo new > new.txt`,
		"it gave no output":    `echo x >> "$COUNT"`,
		"only its second try":  `echo x >> "$COUNT"; printf 'said=a\nn=1\n' >> "$PIPE_OUTPUT"; [ "$PIPE_ATTEMPT" = 2 ]`,
		"it gave what is huge": `echo x >> "$COUNT"; printf 'n=1\nsaid=' >> "$PIPE_OUTPUT"; head -c 900000 /dev/zero | tr '\0' '\1' >> "$PIPE_OUTPUT"`,
	} {
		t.Run(name, func(t *testing.T) {
			count := counted(t)
			cache := filepath.Join(t.TempDir(), "cache")
			i := strings.Index(cached, "    run: |")
			yaml := cached[:i] + "    retry: {max_attempts: 2, initial_delay: 1ms}\n    run: |\n      " + script + "\n"
			over(t, cache, yaml).run()
			before := count()
			over(t, cache, yaml).run()
			if count() != 2*before {
				t.Errorf("it ran %d times, and then %d times", before, count()-before)
			}
			if left, _ := filepath.Glob(filepath.Join(cache, "*.json")); len(left) > 0 {
				t.Errorf("the cache holds %q", left)
			}
		})
	}
}

func TestCacheWithDamage(t *testing.T) {
	count := counted(t)
	cache := filepath.Join(t.TempDir(), "cache")
	over(t, cache, cached).run()
	entries, err := filepath.Glob(filepath.Join(cache, "*.json"))
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	whole, err := os.ReadFile(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]func(string) error{
		"empty":   func(f string) error { return os.WriteFile(f, nil, 0o600) },
		"cut off": func(f string) error { return os.WriteFile(f, whole[:len(whole)/2], 0o600) },
		"another outcome": func(f string) error {
			return os.WriteFile(f, []byte(strings.Replace(string(whole), "a1", "b1", 1)), 0o600)
		},
		"another version": func(f string) error {
			return os.WriteFile(f, []byte(strings.Replace(string(whole), `"version":1`, `"version":0`, 1)), 0o600)
		},
		"a folder": func(f string) error { return errors.Join(os.Remove(f), os.Mkdir(f, 0o700)) },
		"a link":   func(f string) error { return errors.Join(os.Remove(f), os.Symlink("/etc/passwd", f)) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := harm(entries[0]); err != nil {
				t.Fatal(err)
			}
			before := count()
			w := over(t, cache, cached)
			if status := w.run(); status != step.RunSucceeded || w.success("s").Cached || count() != before+1 {
				t.Errorf("%s, cached %t, ran %d times", status, w.success("s").Cached, count()-before)
			}
			if over(t, cache, cached).run(); count() != before+1 {
				t.Error("it was not put right")
			}
		})
	}
}

// TestCacheThatCanNotBeWritten is no failure of a stage.
func TestCacheThatCanNotBeWritten(t *testing.T) {
	counted(t)
	cache := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(cache, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := over(t, cache, cached)
	if status := w.run(); status != step.RunSucceeded || len(w.warned) != 1 || !strings.Contains(w.warned[0], `"s" gave can't be cached`) {
		t.Errorf("%s, warned %q", status, w.warned)
	}
}

// TestCacheOfAReview takes the items from the cache, and routes them.
func TestCacheOfAReview(t *testing.T) {
	count := counted(t)
	cache := filepath.Join(t.TempDir(), "cache")
	yaml := `
name: loop
version: 1
stages:
  - {id: make, role: implementation, run: 'echo "$PIPE_ITERATION" > made.txt'}
  - id: review
    role: review
    cache: true
    feedback_loop: {target_stage: make}
    run: |
      echo x >> "$COUNT"
      if grep -q 1 made.txt; then echo '[{"severity":"blocking","file":"made.txt","line":1,"description":"one"}]'; else echo '[]'; fi > "$PIPE_FEEDBACK"
`
	first := over(t, cache, yaml)
	if status := first.run(); status != step.RunSucceeded || count() != 2 {
		t.Fatalf("%s after %d reviews", status, count())
	}
	second := over(t, cache, yaml)
	if status := second.run(); status != step.RunSucceeded || count() != 2 {
		t.Fatalf("%s after %d reviews", status, count())
	}
	if got, want := second.state(), strings.ReplaceAll(first.state(), first.id, second.id); strings.ReplaceAll(got, "\n   \"cached\": true,", "") != want {
		t.Errorf("with the cache\n%s\nwithout\n%s", got, want)
	}
}

// TestCacheAfterACrash ends the process at each append, with an empty and with a full cache.
func TestCacheAfterACrash(t *testing.T) {
	count := counted(t)
	for _, full := range []bool{false, true} {
		for at := int64(1); ; at++ {
			cache := filepath.Join(t.TempDir(), fmt.Sprint("cache", full, at))
			if full {
				over(t, cache, cached).run()
			}
			before := count()
			w := over(t, cache, cached)
			w.fail = func(seq int64) (error, error) {
				if seq == at {
					return errCrash, nil
				}
				return nil, nil
			}
			if _, err := w.live(t.Context()); err == nil {
				break
			}
			w.fail = nil
			if status := w.run(); status != step.RunSucceeded {
				t.Fatalf("append %d: %s", at, status)
			}
			if ran := count() - before; full && ran != 0 || !full && ran == 0 {
				t.Errorf("full %t, append %d: it ran %d times", full, at, ran)
			}
		}
	}
}
