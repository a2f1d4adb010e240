package driver_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/step"
)

// TestHalfAnswers leaves the one that may be being written at this moment, and removes that of a command that
// was killed long ago.
func TestHalfAnswers(t *testing.T) {
	w := newWorld(t, gate)
	if status := w.run(); status != step.RunIsWaiting {
		t.Fatalf("status %s", status)
	}
	inbox := filepath.Join(w.dir, driver.InboxDir)
	if err := os.MkdirAll(inbox, 0o700); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(inbox, "."+answerID+"2.json.1.tmp")
	for _, tc := range []struct {
		age  time.Duration
		left bool
	}{{0, true}, {2 * time.Hour, false}} {
		if err := os.WriteFile(half, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-tc.age)
		if err := os.Chtimes(half, at, at); err != nil {
			t.Fatal(err)
		}
		if status := w.run(); status != step.RunIsWaiting {
			t.Fatalf("status %s", status)
		}
		if _, err := os.Stat(half); (err == nil) != tc.left {
			t.Errorf("after %s: %v, expected it to be left: %t", tc.age, err, tc.left)
		}
	}
}
