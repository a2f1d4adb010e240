//go:build linux

package hold

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files describes every file below a folder, with what it holds.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if e.Type()&fs.ModeSymlink != 0 {
			var to string
			to, err = os.Readlink(path)
			text = []byte(to)
		}
		if filepath.Base(path) == "lock" {
			text = nil // it names its last holder
		}
		fmt.Fprintf(&b, "%s %x\n", strings.TrimPrefix(path, dir), sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFlippedBit flips single bits all over the journal of a run that waits: whoever reads it says where it
// is damaged, and nobody changes anything.
func TestFlippedBit(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - {id: one, run: "true"}
  - {id: gate, run: "true", requires_approval: true}
`)
	p.want(4, "run", "p")
	name := p.inRun("events.jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	var offsets []int
	start := 0
	for _, l := range lines {
		offsets = append(offsets, start+1, start+len(l)/2, start+len(l)-4)
		start += len(l)
	}
	if len(offsets) < 9 {
		t.Fatalf("the journal has %d lines, expected more:\n%s", len(lines), whole)
	}
	for n, at := range offsets {
		line := n/3 + 1
		begin := len(bytes.Join(lines[:line-1], nil))
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << (n % 7)
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		before := files(t, p.path(".pipe"))
		place := fmt.Sprintf("byte %d", begin)
		p.says(p.want(3, "show", "last"), "events.jsonl", place)
		p.says(p.want(3, "resume", "last"), "events.jsonl", place)
		p.says(p.want(3, "approve", "last"), "events.jsonl", place)
		p.says(p.want(1, "doctor", "--run", "last"), place, fmt.Sprintf("line %d", line))
		if after := files(t, p.path(".pipe")); after != before {
			t.Errorf("bit %d of byte %d (line %d): something was changed:\n%s\nwas\n%s", n%7, at, line, after, before)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if err := os.WriteFile(name, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	p.want(0, "approve", "last", "--resume")
	p.leavesNothing()
}
