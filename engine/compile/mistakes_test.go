package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/source"
)

// TestMistakes holds what authors see for files full of typical mistakes, all in one go.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name  string
		least int // errors
	}{
		{"thirty", 30},
		{"cut", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join("testdata", "mistakes", c.name+".yaml")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, ds := parse(t, c.name+".yaml", string(text))
			if p != nil {
				t.Error("a file full of mistakes gives a plan")
			}
			f := source.NewFile(c.name+".yaml", string(text))
			golden(t, strings.TrimSuffix(file, ".yaml")+".txt", ds.Text(f))
			if n := ds.Sorted().Len(); n < c.least {
				t.Errorf("%d diagnostics, want at least %d", n, c.least)
			}
		})
	}
}
