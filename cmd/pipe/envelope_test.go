package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback/envelope"
)

// TestSourcesOccur asks for a run of each source of work, and for one in which each slot of an envelope is filled: a
// script that looks for it in what a stage was given.
func TestSourcesOccur(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var looked strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		given := false // what the last command printed is an envelope or the like, which a stage kept
		for line := range strings.Lines(string(b)) {
			switch {
			case strings.HasPrefix(line, "exec cat "):
				given = true
			case strings.HasPrefix(line, "stdout ") && given:
				looked.WriteString(line)
			case !strings.HasPrefix(line, "! stdout "):
				given = false
			}
		}
	}
	for _, s := range envelope.Sources() {
		if !strings.Contains(looked.String(), `"source":"`+string(s)+`"`) {
			t.Errorf("no script has a stage that is sent work by %s", s)
		}
	}
	for f := range reflect.TypeFor[envelope.Envelope]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(looked.String(), `"`+name+`":`) {
			t.Errorf("no script looks into the slot %s", name)
		}
	}
	for f := range reflect.TypeFor[envelope.DiscoveryInput]().Fields() {
		if !strings.Contains(looked.String(), `"`+f.Name+`":`) {
			t.Errorf("no script looks at %s of what a stage of discovery is given", f.Name)
		}
	}
}
