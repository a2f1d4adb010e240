package driver

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/pipe/engine/journal"
)

func TestFullDisk(t *testing.T) {
	odd := errors.New("git: write error")
	dir := t.TempDir()
	if isFull(dir) || isFull(filepath.Join(dir, "nosuch")) {
		t.Fatal("a folder with room is full")
	}
	if err := ifFull(dir, odd); err != odd {
		t.Errorf("with room: got %v", err)
	}
	const without = "/proc" // a file system that never has room
	if _, err := os.Stat(without); err != nil {
		return
	}
	var full *journal.StorageError
	if err := ifFull(without, odd); !errors.As(err, &full) || !errors.Is(err, odd) {
		t.Errorf("without room: got %v", err)
	}
	for _, err := range []error{nil, &Stopped{odd}, &journal.StorageError{Err: odd}} {
		if got := ifFull(without, err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}
