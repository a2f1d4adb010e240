package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/pipe/engine/step"
)

// childVar makes the test binary a process of its own that does one thing: "hold PATH", or what
// disk_test.go names.
const childVar = "JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	what, arg, _ := strings.Cut(os.Getenv(childVar), " ")
	switch what {
	case "":
		os.Exit(m.Run())
	case "hold":
		os.Exit(childHold(arg))
	case "fill-limited":
		os.Exit(childFillLimited(arg, false))
	case "fill-limited-blobs":
		os.Exit(childFillLimited(arg, true))
	case "fill-tmpfs":
		os.Exit(childFillTmpfs(arg))
	}
	fmt.Fprintf(os.Stderr, "no child %q\n", what)
	os.Exit(2)
}

// childHold takes a lock, starts a process that outlives it, says so, and waits to be killed.
func childHold(path string) int {
	if _, err := Acquire(path, Holder{Run: "01J", Command: "pipe resume 01J", At: 1700000000123}); err != nil {
		fmt.Println(err)
		return 1
	}
	heir := exec.Command("cat")
	heir.Stdin = os.Stdin // ends with the test's pipe
	if err := heir.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("held")
	select {}
}

// child starts the test binary as a child.
func child(t *testing.T, what string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+what)
	return cmd
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if _, held, err := HeldBy(path); held || err != nil {
		t.Errorf("no file: %v, %v", held, err)
	}
	at := step.Instant(1700000000123)
	l, err := Acquire(path, Holder{Run: "01JA", Command: "pipe run build", At: at})
	if err != nil {
		t.Fatal(err)
	}
	h, held, err := HeldBy(path)
	if !held || err != nil || h.PID != os.Getpid() || h.Run != "01JA" || h.At != at || h.Host == "" {
		t.Errorf("holder %+v, %v, %v", h, held, err)
	}
	_, err = Acquire(path, Holder{Run: "01JB"})
	var other *HeldError
	if !errors.Is(err, ErrHeld) || !errors.As(err, &other) || other.Holder != h {
		t.Errorf("a second one: %v", err)
	}
	for _, want := range []string{path, fmt.Sprint(os.Getpid()), "pipe run build", "01JA", "2023-11-14T22:13:20.123Z"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := HeldBy(path); held || err != nil {
		t.Errorf("released: %v, %v", held, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the file: %v, %v", info, err)
	}
	// A longer line of somebody before is overwritten as a whole.
	if err := os.WriteFile(path, []byte(`{"pid":99999999,"host":"x","command":"`+strings.Repeat("y", 500)+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err = Acquire(path, Holder{Run: "01JC", At: at})
	if err != nil {
		t.Fatal(err)
	}
	if h, _, err := HeldBy(path); err != nil || h.Run != "01JC" {
		t.Errorf("holder %+v, %v", h, err)
	}
	// Deleted and made anew: the old lock is nobody's any more, and its Release harms nobody.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	anew, err := Acquire(path, Holder{Run: "01JD", At: at})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if h, held, err := HeldBy(path); !held || err != nil || h.Run != "01JD" {
		t.Errorf("holder %+v, %v, %v", h, held, err)
	}
	if err := anew.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(filepath.Join(path, "x"), Holder{}); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a file is no folder: %v", err)
	}
}

// TestLockManyAtOnce: of those that try at once exactly one holds it, the others learn who, and readers that
// look at a free lock keep nobody out.
func TestLockManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 20 {
		var wg sync.WaitGroup
		var got atomic.Pointer[Lock]
		var winners, looking atomic.Int32
		start := make(chan struct{})
		for i := range 8 {
			wg.Go(func() {
				<-start
				if i%2 == 0 {
					if _, _, err := HeldBy(path); err != nil {
						t.Error(err)
					}
					looking.Add(1)
					return
				}
				l, err := Acquire(path, Holder{Run: fmt.Sprint(i), At: 1})
				var held *HeldError
				switch {
				case err == nil:
					winners.Add(1)
					got.Store(l)
				case !errors.As(err, &held) || held.Holder.PID != os.Getpid():
					t.Errorf("the others: %v", err)
				}
			})
		}
		close(start)
		wg.Wait()
		if winners.Load() != 1 || looking.Load() != 4 {
			t.Fatalf("%d hold it", winners.Load())
		}
		if err := got.Load().Release(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLockOfAKilledHolder: it is free at once, though a process that the holder started lives on.
func TestLockOfAKilledHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	cmd := child(t, "hold "+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	_, err = Acquire(path, Holder{})
	var held *HeldError
	if !errors.As(err, &held) || held.Holder.PID != cmd.Process.Pid || held.Holder.Command != "pipe resume 01J" {
		t.Errorf("while it lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	l, err := Acquire(path, Holder{Run: "01JZ", At: 1})
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	if h, held, err := HeldBy(path); !held || err != nil || h.Run != "01JZ" {
		t.Errorf("holder %+v, %v, %v", h, held, err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stdout); err != nil { // until the heir has gone, too
		t.Log(err)
	}
}
