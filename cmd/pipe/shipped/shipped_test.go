package shipped

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/cmd/pipe/built"
)

var update = flag.Bool("update", false, "write testdata/*.txt anew")

// languages are those of the sample repositories.
var languages = []string{"go", "python"}

// TestRoutes takes each shipped pipeline through all its routes, in each language. What a route has led to
// is compared with testdata/PIPELINE.txt, and its tree with the repository and the patches of the route.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for pipeline := range special {
		for _, lang := range languages {
			t.Run(pipeline+"/"+lang, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath("python3"); lang == "python" && err != nil {
					built.Missing(t, "python3")
				}
				routes := routesOf(pipeline)
				told := make([]string, len(routes))
				t.Run("routes", func(t *testing.T) {
					for i, r := range routes {
						t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) {
							t.Parallel()
							told[i] = fmt.Sprintf("== %s\n%s", r.name, takeRoute(t, r, pipeline, lang))
						})
					}
				})
				compare(t, pipeline, strings.Join(told, "\n"), lang == languages[0])
			})
		}
	}
}

// takeRoute takes a route in a place of its own, and tells what it has led to.
func takeRoute(t *testing.T, r *route, pipeline, lang string) string {
	var before []string
	if pipeline == "bug-fix" {
		before = []string{"bug"}
	}
	p := newPlace(t, lang, before...)
	told := r.take(t, p, pipeline)

	want := p.beside("want")
	want.apply(slices.Concat(before, r.tree)...)
	if diff := cmp.Diff(want.tree(), p.tree()); diff != "" {
		t.Errorf("the tree at the end (-want +got):\n%s", diff)
	}
	return told + p.tell()
}

// tell says where the last run stands: stages with their iterations, loops, items, outputs.
func (p *place) tell() string {
	s := p.show()
	var b strings.Builder
	for _, st := range s.Stages {
		fmt.Fprintf(&b, "  %s %s %d\n", st.ID, st.Status, st.Iteration)
	}
	for _, l := range s.Loops {
		last := "-"
		if l.Last != nil {
			last = *l.Last
		}
		fmt.Fprintf(&b, "  %s -> %s %d/%d %s\n", l.Source, l.Target, l.Iteration, l.Max, last)
	}
	for _, it := range p.items(s) {
		fmt.Fprintf(&b, "  %s\n", it)
	}
	var names []string
	for name := range s.Outputs {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 0 {
		fmt.Fprintf(&b, "  outputs %s\n", strings.Join(names, ", "))
	}
	return b.String()
}

// golden guards the files against being written and read at once.
var golden sync.Mutex

// compare holds what was told to the pipeline's file; the first language writes it.
func compare(t *testing.T, pipeline, told string, first bool) {
	t.Helper()
	golden.Lock()
	defer golden.Unlock()
	file := filepath.Join("testdata", pipeline+".txt")
	switch {
	case *update && first && !t.Failed():
		if err := os.WriteFile(file, []byte(told), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	case *update:
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(told)) {
		t.Errorf("%s (-want +got):\n%s", file, cmp.Diff(strings.Split(string(want), "\n"), strings.Split(told, "\n")))
	}
}
