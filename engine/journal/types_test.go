package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine/step"
)

// TestReadTypes gives the records of types, those in blobs among them, and no text that only looks like one; what is damaged is found in lines that are left out as well.
func TestReadTypes(t *testing.T) {
	stale := lineOf(2)
	stale.Records = append(stale.Records, step.StageStale{Stage: "a", At: stale.At})
	looks := lineOf(3)
	looks.Event = step.StageEnded{At: looks.At, Effect: "e3", Message: `"type":"stage.stale"`}
	blob := large(4)
	blob.Records = append(blob.Records, step.StageStale{Stage: "b", At: blob.At})
	dir := journal(t, lineOf(1), stale, looks, blob, lineOf(5))
	types := Types{Any: []string{"stage.stale", "run."}, Beside: []string{"stage.started"}}
	var got []string
	err := ReadTypes(dir, types, func(l Line) error {
		for _, r := range l.Records {
			got = append(got, fmt.Sprint(l.Seq, " ", r.RecordType()))
		}
		return nil
	})
	want := []string{"2 stage.started", "2 stage.stale", "4 stage.started", "4 stage.stale"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the records are %q (%v), want %q", got, err, want)
	}
	put(t, dir, []byte(strings.Replace(string(text(t, dir)), `"seq":1`, `"seq":7`, 1)))
	var damage *DamageError
	if err := ReadTypes(dir, types, func(Line) error { return nil }); !errors.As(err, &damage) {
		t.Errorf("a damaged line that is left out: %v, want a DamageError", err)
	}
}

// BenchmarkReadTypes reads a journal of which one line in ten is asked for, and all of it.
func BenchmarkReadTypes(b *testing.B) {
	lines := steps(200)
	for i := 0; i < len(lines); i += 10 {
		lines[i].Records = append(lines[i].Records, step.StageStale{Stage: "a", At: lines[i].At})
	}
	dir := journal(b, lines...)
	b.Run("types", func(b *testing.B) {
		for b.Loop() {
			if err := ReadTypes(dir, Types{Any: []string{"stage.stale"}}, func(Line) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if _, err := Read(dir, func(Line) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
