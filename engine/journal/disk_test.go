package journal

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// childFill appends until the disk does not take more, and says how many steps it took and why it stopped.
// Each error must be a StorageError, and the Writer must stay as it is.
func childFill(dir string, blobs bool) int {
	w, err := Create(dir, header)
	if err != nil {
		fmt.Println("create:", err)
		return 1
	}
	for seq := int64(1); seq < 100_000; seq++ {
		l := lineOf(seq)
		if blobs && seq%7 == 0 {
			l = large(seq)
		}
		err := w.Append(l)
		if err == nil {
			continue
		}
		var storage *StorageError
		if !errors.As(err, &storage) {
			fmt.Println("no StorageError:", err)
			return 1
		}
		if again := w.Append(l); again != err { //nolint:errorlint // the very same
			fmt.Println("not final:", again)
			return 1
		}
		fmt.Printf("%d\n%v\n", seq-1, err)
		return 0
	}
	fmt.Println("it never ended")
	return 1
}

// childFillLimited does so under a limit on the size of a file, which cuts a blob in two, or a line.
func childFillLimited(dir string, blobs bool) int {
	signal.Ignore(syscall.SIGXFSZ)
	limit := &syscall.Rlimit{Cur: 5000, Max: 5000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, limit); err != nil {
		fmt.Println("setrlimit:", err)
		return 1
	}
	return childFill(dir, blobs)
}

// filled reads what a child says.
func filled(t *testing.T, output []byte) (steps int64, message string) {
	t.Helper()
	n, message, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if _, err := fmt.Sscan(n, &steps); err != nil {
		t.Fatalf("the child says %q", output)
	}
	return steps, message
}

// goesOn checks that all steps that were promised are there, and that an Open after space was made goes on.
// It returns how many bytes of a torn line it found.
func goesOn(t *testing.T, dir string, steps int64) int64 {
	t.Helper()
	got, log, err := seqs(dir)
	if err != nil || int64(len(got)) != steps {
		t.Fatalf("%d steps were written, a reader finds %d, %v", steps, len(got), err)
	}
	w, _, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(large(steps + 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _, err := seqs(dir); err != nil || int64(len(got)) != steps+1 {
		t.Errorf("after going on: %d steps, %v", len(got), err)
	}
	return log.Torn
}

// TestFileSizeLimit meets the limit in the midst of a line, which stays behind torn, and in a blob.
func TestFileSizeLimit(t *testing.T) {
	for what, torn := range map[string]bool{"fill-limited": true, "fill-limited-blobs": false} {
		dir := t.TempDir()
		out, err := child(t, what+" "+dir).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		steps, message := filled(t, out)
		if !strings.Contains(message, "larger than the limit") {
			t.Errorf("the message is %q", message)
		}
		if got := goesOn(t, dir, steps); torn != (got > 0) {
			t.Errorf("%s: %d torn bytes", what, got)
		}
	}
}

func TestStorageErrorSays(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ENOSPC: "disk is full", syscall.EDQUOT: "quota", syscall.EFBIG: "ulimit", syscall.EROFS: "read-only",
		syscall.EIO: "reports an error", syscall.EACCES: "permission denied",
	} {
		err := storage("write", "/x/events.jsonl", &os.PathError{Op: "write", Path: "/x/events.jsonl", Err: errno})
		if !errors.Is(err, errno) || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "/x/events.jsonl") != 1 {
			t.Errorf("%v: %v", errno, err)
		}
	}
	if _, err := os.Stat(filepath.Join(t.TempDir(), "x")); !errors.Is(bare(err), syscall.ENOENT) {
		t.Error(bare(err))
	}
}
