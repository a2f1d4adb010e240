package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/value"
)

func TestPrune(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ended := machine.StageEnded{Outputs: value.NewObject(value.Field{Name: "x", Value: "y"})}
	fill := func(c cache) {
		for i := range 6 {
			key := fmt.Sprint("k", i)
			now := at.Add(time.Duration(i) * time.Minute)
			if err := c.put(key, ended, now); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(c.path(key), now, now); err != nil {
				t.Fatal(err)
			}
			if i == 3 && c.get("k1", now.Add(time.Second)) == nil { // used: it stays
				t.Fatal("k1 is gone")
			}
		}
	}
	probe := cache{dir: t.TempDir(), most: 1, size: 1 << 20}
	if err := probe.put("k", ended, at); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(probe.path("k"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []cache{{most: 3, size: 1 << 20}, {most: 100, size: 3*info.Size() + 1}} {
		c.dir = filepath.Join(t.TempDir(), "cache")
		half := filepath.Join(c.dir, ".k.json.1.tmp")
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(half, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(half, at.Add(-2*time.Hour), at.Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		fill(c)
		var left []string
		for i := range 6 {
			if key := fmt.Sprint("k", i); c.get(key, at) != nil {
				left = append(left, key)
			}
		}
		if fmt.Sprint(left) != "[k1 k4 k5]" {
			t.Errorf("left are %v", left)
		}
		if _, err := os.Lstat(half); err == nil {
			t.Error("what a killed process left is still there")
		}
	}
}
