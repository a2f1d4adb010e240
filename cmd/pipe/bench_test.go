package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
)

// build builds the command as people get it: that of the tests holds the tests too.
func build(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "pipe")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// BenchmarkVersion is the start-up of the command: at most 15 ms.
func BenchmarkVersion(b *testing.B) {
	bin := build(b)
	for b.Loop() {
		if err := exec.Command(bin, "version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPs lists 10,000 runs: at most 0.5 s. The runs are copies of a real one under other ids.
func BenchmarkPs(b *testing.B) {
	dir := newProject(b, "name: p\nversion: 1\nstages: [{id: a, run: \"true\"}]\n")
	if out, err := pipeCmd(dir, "run", "p").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	runs := filepath.Join(dir, ".pipe", "runs")
	entries, err := os.ReadDir(runs)
	if err != nil || len(entries) != 1 {
		b.Fatalf("%d runs: %v", len(entries), err)
	}
	first := entries[0].Name()
	status, err := os.ReadFile(filepath.Join(runs, first, "status.json"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		id := ulid.MustNew(uint64(1_700_000_000_000+i), nil)
		copyRun(b, filepath.Join(runs, first), filepath.Join(runs, id.String()), fmt.Sprint(id), first, status)
	}
	cmd := build(b)
	for b.Loop() {
		ps := exec.Command(cmd, "ps")
		ps.Dir = dir
		if err := ps.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// copyRun makes a run of another id out of one: what ps reads of it.
func copyRun(b *testing.B, from, to, id, was string, status []byte) {
	b.Helper()
	if err := os.Mkdir(to, 0o755); err != nil {
		b.Fatal(err)
	}
	text := []byte(strings.ReplaceAll(string(status), was, id))
	if err := os.WriteFile(filepath.Join(to, "status.json"), text, 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.Link(filepath.Join(from, "events.jsonl"), filepath.Join(to, "events.jsonl")); err != nil {
		b.Fatal(err)
	}
}
