package journal

import (
	"testing"

	"example.com/pipe/engine/machine"
)

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, Header{Run: "01J", Engine: "dev", PlanDigest: "abc", Pipeline: "p", At: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Append(Line{Seq: int64(i + 1), At: 5, Event: machine.TimerFired{At: 5, Effect: "e1"}, Records: []machine.Record{machine.RetryDue{Stage: "a", Effect: "e1"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	log, err := Read(dir, func(l Line) error { n++; return nil })
	if err != nil || n != 3 || log.Last.Seq != 3 || log.Header.Run != "01J" {
		t.Fatal(n, log, err)
	}
}
