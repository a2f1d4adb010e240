package journal

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine/step"
)

// TestReadTypes gives the steps that hold a record of a type, those in blobs among them, and no text that only looks
// like one; what is damaged is found in lines that are left out as well.
func TestReadTypes(t *testing.T) {
	stale := lineOf(2)
	stale.Records = append(stale.Records, step.StageStale{Stage: "a", At: stale.At})
	looks := lineOf(3)
	looks.Event = step.StageEnded{At: looks.At, Effect: "e3", Message: `"type":"stage.stale"`}
	blob := large(4)
	blob.Records = append(blob.Records, step.StageStale{Stage: "b", At: blob.At})
	dir := journal(t, lineOf(1), stale, looks, blob, lineOf(5))
	var got []int64
	log, err := ReadTypes(dir, []string{"stage.stale", "run."}, func(l Line) error {
		got = append(got, l.Seq)
		return nil
	})
	if err != nil || !slices.Equal(got, []int64{2, 4}) {
		t.Errorf("the steps are %d (%v), want 2 and 4", got, err)
	}
	if log.Header.Run != header.Run || log.Last.Seq != 5 {
		t.Errorf("the log is %+v", log)
	}
	put(t, dir, []byte(strings.Replace(string(text(t, dir)), `"seq":1`, `"seq":7`, 1)))
	var damage *DamageError
	if _, err := ReadTypes(dir, []string{"stage.stale"}, func(Line) error { return nil }); !errors.As(err, &damage) {
		t.Errorf("a damaged line that is left out: %v, want a DamageError", err)
	}
}
