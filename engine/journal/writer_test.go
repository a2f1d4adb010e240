package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/pipe/engine/step"
)

func create(t testing.TB) (*Writer, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := Create(dir, header)
	if err != nil {
		t.Fatal(err)
	}
	return w, dir
}

func TestCreateRefusesAnExistingOne(t *testing.T) {
	dir := journal(t, lineOf(1))
	before := text(t, dir)
	if _, err := Create(dir, header); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if !bytes.Equal(text(t, dir), before) {
		t.Error("it was written to")
	}
	if _, err := Create(filepath.Join(dir, "none"), header); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no journal: %v", err)
	}
}

func TestTheFirstErrorIsFinal(t *testing.T) {
	for name, bad := range map[string]Line{
		"a gap": lineOf(3), "a repeat": lineOf(1), "no event": {Seq: 2},
	} {
		w, dir := create(t)
		if err := w.Append(lineOf(1)); err != nil {
			t.Fatal(err)
		}
		first := w.Append(bad)
		if first == nil {
			t.Errorf("%s: no error", name)
		}
		if again := w.Append(lineOf(2)); again != first { //nolint:errorlint // the very same
			t.Errorf("%s: then %v", name, again)
		}
		if err := w.Close(); err != first { //nolint:errorlint // the very same
			t.Errorf("%s: Close gave %v", name, err)
		}
		if got, _, err := seqs(dir); err != nil || !slices.Equal(got, []int64{1}) {
			t.Errorf("%s: the journal holds %v, %v", name, got, err)
		}
	}
	w, _ := create(t)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(lineOf(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := w.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("a second Close: %v", err)
	}
}

// TestWriteFails closes the file under the Writer: the write fails, for good.
func TestWriteFails(t *testing.T) {
	w, dir := create(t)
	w.f.Close()
	err := w.Append(lineOf(1))
	var storage *StorageError
	if !errors.As(err, &storage) || storage.Op != "write" || storage.Path != filepath.Join(dir, FileName) {
		t.Errorf("got %v", err)
	}
	if again := w.Append(lineOf(1)); again != err { //nolint:errorlint // the very same
		t.Errorf("then %v", again)
	}
}

func TestReplaced(t *testing.T) {
	other := []byte("something else\n")
	for name, tc := range map[string]struct {
		change func(dir string) error
		copy   string // name of the copy
	}{
		"deleted":     {func(dir string) error { return os.Remove(filepath.Join(dir, FileName)) }, FileName},
		"folder gone": {os.RemoveAll, FileName},
		"all gone":    {func(dir string) error { return os.RemoveAll(filepath.Dir(dir)) }, FileName},
		"replaced": {func(dir string) error {
			return WriteFile(filepath.Join(dir, FileName), other, false)
		}, FileName + ".copy-1"},
		"moved": {func(dir string) error {
			return os.Rename(filepath.Join(dir, FileName), filepath.Join(dir, "moved"))
		}, FileName},
	} {
		for _, closing := range []bool{false, true} {
			w, dir := create(t)
			for i := range int64(3) {
				if err := w.Append(lineOf(i + 1)); err != nil {
					t.Fatal(err)
				}
			}
			if err := tc.change(dir); err != nil {
				t.Fatal(err)
			}
			want, err := []int64{1, 2, 3}, error(nil)
			if closing {
				err = w.Close()
			} else {
				err = w.Append(lineOf(4))
				want = append(want, 4)
				if again := w.Append(lineOf(5)); again != err { //nolint:errorlint // the very same
					t.Errorf("%s: then %v", name, again)
				}
			}
			var lost *ReplacedError
			if !errors.Is(err, ErrReplaced) || !errors.As(err, &lost) || lost.Copy != filepath.Join(dir, tc.copy) {
				t.Errorf("%s: got %v", name, err)
				continue
			}
			if tc.copy != FileName {
				if got := text(t, dir); !bytes.Equal(got, other) {
					t.Errorf("%s: what replaced it is now %q", name, got)
				}
				if err := os.Rename(lost.Copy, filepath.Join(dir, FileName)); err != nil {
					t.Fatal(err)
				}
			}
			if got, _, err := seqs(dir); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: the copy holds %v, %v", name, got, err)
			}
		}
	}
}

func TestReplacedWithBlobs(t *testing.T) {
	w, dir := create(t)
	if err := w.Append(large(1)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	var lost *ReplacedError
	if err := w.Append(lineOf(2)); !errors.As(err, &lost) || len(lost.Blobs) != 1 || !strings.Contains(err.Error(), "without 1 blob") {
		t.Errorf("got %v", lost)
	}
}

func TestReplacedAndNoPlaceForACopy(t *testing.T) {
	w, dir := create(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := w.Append(lineOf(1))
	if err == nil {
		t.Fatal("no error")
	}
	var lost *ReplacedError
	if errors.As(err, &lost) && lost.Copy != "" {
		t.Errorf("a copy in %q", lost.Copy)
	}
}

// TestReadersDuringAppends: readers see a growing whole journal at any moment, and never an error; so does a
// reader while a torn tail is cut and written over.
func TestReadersDuringAppends(t *testing.T) {
	w, dir := create(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			tail, seen := NewTail(dir), int64(0)
			for {
				select {
				case <-stop:
					return
				default:
				}
				got, _, err := seqs(dir)
				if err != nil || int64(len(got)) < seen {
					t.Errorf("a reader: %d steps after %d, %v", len(got), seen, err)
					return
				}
				seen = int64(len(got))
				if err := tail.Next(func(Line) error { return nil }); err != nil || tail.Position().Seq < seen {
					t.Errorf("a tail: %+v after %d, %v", tail.Position(), seen, err)
					return
				}
			}
		})
	}
	for seq := int64(1); seq <= 300; seq++ {
		l := lineOf(seq)
		if seq%50 == 0 {
			l = large(seq)
		}
		if err := w.Append(l); err != nil {
			t.Fatal(err)
		}
		if seq%10 == 0 { // die in a write, and resume
			if _, err := w.f.WriteString(`{"v":1,"seq":` + strings.Repeat("9", int(seq))); err != nil {
				t.Fatal(err)
			}
			if err := w.f.Close(); err != nil {
				t.Fatal(err)
			}
			var err error
			if w, _, err = Open(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	for i, sync := range []bool{true, false} {
		want := strings.Repeat("x", i+1)
		if err := WriteFile(path, []byte(want), sync); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{filepath.Join(dir, "none", "x"), filepath.Join(dir, "folder")} {
		var storage *StorageError
		if err := WriteFile(bad, nil, true); !errors.As(err, &storage) || storage.Path != bad {
			t.Errorf("%q: %v", bad, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := SyncDir(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there was synced")
	}
}

func TestOpenSweeps(t *testing.T) {
	dir := journal(t, large(1))
	keep := []string{".hidden", "x.tmp"}
	for _, name := range append([]string{".run.json.123.tmp", BlobDir + "/.ab.4.tmp"}, keep...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, _, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var names []string
	for _, folder := range []string{dir, filepath.Join(dir, BlobDir)} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	if want := append(keep[:1:1], BlobDir, FileName, "x.tmp"); !slices.Equal(names[:4], want) || len(names) != 5 {
		t.Errorf("left %q, want %q and a blob", names, want)
	}
}

// FuzzRead: whatever stands in a journal, a reader ends and gives steps in order; what it takes is taken
// again without its torn tail and with a step more.
func FuzzRead(f *testing.F) {
	whole := text(f, journal(f, steps(3)...))
	f.Add(whole)
	f.Add(whole[:len(whole)-5])
	f.Add([]byte(nil))
	f.Add(bytes.Repeat([]byte("\n"), 9))
	f.Add(append(bytes.Clone(whole), seal([]byte(`{"v":1,"seq":4,"at":"2023-11-14T22:13:20.123Z","blob":"`+strings.Repeat("a", 64)+`","size":1`))...))
	dir := f.TempDir() // without blobs
	read := func(t *testing.T, b []byte) (Position, int64, error) {
		tail := NewTail(dir)
		n := int64(0)
		torn, err := tail.scan(&scanner{r: bytes.NewReader(b), path: FileName}, func(l Line) error {
			if n++; l.Seq != n {
				t.Fatalf("seq %d is step %d", l.Seq, n)
			}
			return nil
		})
		return tail.pos, torn, err
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		// Sums that are right let the fuzzer behind them.
		for _, b := range [][]byte{b, resealed(b)} {
			last, torn, err := read(t, b)
			if err != nil {
				continue
			}
			if last.Offset+torn != int64(len(b)) {
				t.Fatalf("%d bytes whole and %d torn of %d", last.Offset, torn, len(b))
			}
			w := &Writer{path: FileName, pos: last}
			line, err := w.encode(Line{Seq: last.Seq + 1, Event: step.Resumed{}})
			if err != nil {
				t.Fatal(err)
			}
			now, torn, err := read(t, append(bytes.Clone(b[:last.Offset]), line...))
			if err != nil || torn != 0 || now.Seq != last.Seq+1 || now.Line != last.Line+1 {
				t.Fatalf("%+v after %+v, %v", now, last, err)
			}
		}
	})
}

// resealed gives every line of b a right sum.
func resealed(b []byte) []byte {
	var out []byte
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		body := line[:max(0, len(line)-sumTail)]
		out = append(out, seal(bytes.Clone(body))...)
	}
	return out
}

// BenchmarkAppend against BenchmarkFloor: the same bytes, written and synced.
func BenchmarkAppend(b *testing.B) {
	w, _ := create(b)
	defer w.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Append(lineOf(w.Position().Seq + 1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFloor(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := bytes.SplitAfter(text(b, journal(b, lineOf(1))), []byte("\n"))[1]
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	w, dir := create(b)
	w.f.Close()
	b.StopTimer()
	whole := text(b, dir)
	for seq := range int64(10_000) {
		l := lineOf(seq + 1)
		line, err := w.encode(l)
		if err != nil {
			b.Fatal(err)
		}
		whole = append(whole, line...)
	}
	put(b, dir, whole)
	b.StartTimer()
	b.ReportAllocs()
	b.SetBytes(int64(len(whole)))
	for b.Loop() {
		if got, _, err := seqs(dir); err != nil || len(got) != 10_000 {
			b.Fatal(len(got), err)
		}
	}
}
