package driver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/step"
)

// TestAllowedPaths changes, deletes and renames files outside, in each state of a stage.
func TestAllowedPaths(t *testing.T) {
	const globs = `allowed_paths: [src/**, "*.md"]`
	for name, c := range map[string]struct {
		run   string
		class string
		says  string // in the message
	}{
		"inside":           {"echo x > src/new; rm src/a; echo x > README.md", "", ""},
		"a new file":       {"mkdir lib; echo x > lib/x", "check", `"lib/x"`},
		"a changed file":   {"echo x > other", "check", `"other"`},
		"a deleted file":   {"rm other", "check", `"other"`},
		"a moved file":     {"mv other src/other", "check", `paths ("src/**", "*.md"): "other"`},
		"an odd name":      {`echo x > "$(printf 'a "b"\nc')"`, "check", `"a \"b\"\nc"`},
		"a link":           {"ln -s src/a link", "check", `"link"`},
		"a failed stage":   {"echo x > other; exit 3", "exit", `it also changed outside of allowed_paths`},
		"changed and back": {"cp other keep; echo x > other; mv keep other", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, single(globs+"\nrun: |\n  "+strings.ReplaceAll(c.run, "; ", "\n  ")))
			w.write("src/a", "a")
			w.write("other", "other")
			status := w.run()
			class, message := w.failure("s")
			if class != c.class || !strings.Contains(message, c.says) || (class == "") != (status == step.RunSucceeded) {
				t.Errorf("%s: %q %q, want %q with %q", status, class, message, c.class, c.says)
			}
		})
	}
}

// TestAllowedPathsOverTries has a first try go outside, which the second does not put back.
func TestAllowedPathsOverTries(t *testing.T) {
	w := newWorld(t, single("allowed_paths: [src/**]\nretry: {max_attempts: 2, initial_delay: 1ms}\nrun: '[ \"$PIPE_ATTEMPT\" = 2 ] || { echo x > out; exit 1; }'"))
	w.run()
	if class, message := w.failure("s"); class != "check" || !strings.Contains(message, `"out"`) {
		t.Errorf("%q %q", class, message)
	}
	if _, err := os.Stat(filepath.Join(w.root, "out")); err != nil {
		t.Errorf("something put the change back: %v", err)
	}
}

func TestAllowedPathsThatAreNoGlobs(t *testing.T) {
	w := newWorld(t, "name: one\nversion: 1\nstages:\n  - {id: a, run: 'echo p=../x >> \"$PIPE_OUTPUT\"', outputs: {p: string}}\n"+
		"  - {id: s, needs: [a], allowed_paths: ['${{ stages.a.outputs.p }}/**'], run: 'touch ran'}\n")
	w.run()
	if class, message := w.failure("s"); class != "check" || !strings.Contains(message, `"../x/**" leads out of the workspace`) {
		t.Errorf("%q %q", class, message)
	}
	if _, err := os.Stat(filepath.Join(w.root, "ran")); err == nil {
		t.Error("the stage ran")
	}
}

// TestAllowedPathsTakeValuesLiterally has another stage write what would mean more than itself in a pattern.
func TestAllowedPathsTakeValuesLiterally(t *testing.T) {
	for value, also := range map[string]string{"a,b": "b", "*": "b", "{a,b}": "b", "[ab]": "b"} {
		w := newWorld(t, "name: one\nversion: 1\nstages:\n  - {id: a, run: 'echo \"p="+value+"\" >> \"$PIPE_OUTPUT\"', outputs: {p: string}}\n"+
			"  - {id: s, needs: [a], allowed_paths: ['{${{ stages.a.outputs.p }},c}/*'], run: 'mkdir -p \""+value+"\" "+also+"; touch \""+value+"/x\" "+also+"/y'}\n")
		w.run()
		if class, message := w.failure("s"); class != "check" || !strings.HasSuffix(message, `: "`+also+`/y"`) {
			t.Errorf("%s: %q %q", value, class, message)
		}
	}
}
