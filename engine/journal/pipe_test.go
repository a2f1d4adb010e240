package journal

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadWaitsForNobody refuses a pipe in the place of a journal, which one who lists all runs would wait for.
func TestReadWaitsForNobody(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, FileName), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Read(dir, func(Line) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "it is not a regular file") {
		t.Errorf("%v", err)
	}
}
