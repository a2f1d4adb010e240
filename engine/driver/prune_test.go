package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

func TestPrune(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ended := step.StageEnded{Outputs: value.NewObject(value.Field{Name: "x", Value: "y"})}
	fill := func(c cache) {
		for i := range 6 {
			key := keyOf(i)
			now := at.Add(time.Duration(i) * time.Minute)
			if err := c.put(key, ended, now); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(c.path(key), now, now); err != nil {
				t.Fatal(err)
			}
			if i == 3 && c.get(keyOf(1), now.Add(time.Second)) == nil { // used: it stays
				t.Fatal("the second is gone")
			}
		}
	}
	probe := cache{dir: t.TempDir(), most: 1, size: 1 << 20}
	if err := probe.put(keyOf(0), ended, at); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(probe.path(keyOf(0)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []cache{{most: 3, size: 1 << 20}, {most: 100, size: 3*info.Size() + 1}} {
		c.dir = filepath.Join(t.TempDir(), "cache")
		half := filepath.Join(c.dir, "."+keyOf(7)+".json.1.tmp")
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		others := []string{filepath.Join(c.dir, ".gitkeep"), filepath.Join(c.dir, "notes.json")}
		for _, file := range append(others, half) {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, at.Add(-2*time.Hour), at.Add(-2*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		fill(c)
		var left []int
		for i := range 6 {
			if c.get(keyOf(i), at) != nil {
				left = append(left, i)
			}
		}
		if fmt.Sprint(left) != "[1 4 5]" {
			t.Errorf("left are %v", left)
		}
		if _, err := os.Lstat(half); err == nil {
			t.Error("what a killed process left is still there")
		}
		for _, file := range others {
			if _, err := os.Lstat(file); err != nil {
				t.Errorf("a file of somebody else is gone: %v", err)
			}
		}
	}
}

// keyOf is a key as the cache makes them.
func keyOf(i int) string { return fmt.Sprintf("%064x", i) }
