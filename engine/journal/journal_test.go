package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"example.com/pipe/engine/step"
)

var header = Header{Run: "01J0000000000000000000000A", Engine: "0.1.0", PlanDigest: "sha256:ab", Pipeline: "build", At: 1700000000123}

// step makes a line; its content follows from its number.
func lineOf(seq int64) Line {
	at := step.Instant(1700000000123 + seq)
	return Line{Seq: seq, At: at,
		Event: step.StageEnded{At: at, Effect: fmt.Sprintf("e%d", seq), DurationMS: seq, Message: "<ü>\n\x1b[0m"},
		Records: []step.Record{
			step.StageSucceeded{Stage: "a", Iteration: 1, Attempt: 1, Effect: fmt.Sprintf("e%d", seq), At: at, DurationMS: seq},
			step.StageStarted{Stage: "b", Iteration: 1, Attempt: 1, Effect: fmt.Sprintf("e%d", seq+1), At: at, Prompt: "do\nit"},
		}}
}

// large makes a line that needs a blob.
func large(seq int64) Line {
	l := lineOf(seq)
	l.Event = step.StageEnded{At: l.At, Effect: "e1", Message: strings.Repeat("long ", maxLine/4)}
	return l
}

// journal writes the lines given, or n small ones.
func journal(t testing.TB, lines ...Line) string {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir, header)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := w.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func steps(n int64) []Line {
	var lines []Line
	for i := range n {
		lines = append(lines, lineOf(i+1))
	}
	return lines
}

func text(t testing.TB, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// put makes the journal's file anew. Some file systems flush a file that is cut to nothing and written
// again, so it is removed first: the tests do it thousands of times.
func put(t testing.TB, dir string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, FileName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// seqs reads a journal and returns the numbers of its steps.
func seqs(dir string) (got []int64, log *Log, err error) {
	log, err = Read(dir, func(l Line) error {
		got = append(got, l.Seq)
		return nil
	})
	return got, log, err
}

func TestRoundTrip(t *testing.T) {
	want := append(steps(3), large(4), Line{Seq: 5, At: 7, Event: step.Resumed{At: 7}})
	dir := journal(t, want...)
	for i := range want {
		want[i].V = Version
	}
	var got []Line
	log, err := Read(dir, func(l Line) error { got = append(got, l); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	h := header
	h.V, h.Type = Version, "header"
	if log.Header != h || log.Last != (Position{Offset: int64(len(text(t, dir))), Seq: 5, Line: 6}) || log.Torn != 0 {
		t.Errorf("log %+v", log)
	}
	w, log, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(lineOf(6)); err != nil {
		t.Fatal(err)
	}
	if w.Position().Offset != int64(len(text(t, dir))) {
		t.Errorf("position %+v of %d bytes", w.Position(), len(text(t, dir)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for l, err := range log.Lines() {
		if n++; err != nil || l.Seq != n {
			t.Fatalf("line %d: %d, %v", n, l.Seq, err)
		}
	}
	if n != 5 {
		t.Errorf("Lines gives %d steps of the 5 that were there", n)
	}
}

// TestFormat pins what is in the file: it is read by other programs and by every later version.
func TestFormat(t *testing.T) {
	dir := journal(t, Line{Seq: 1, At: 1700000000123, Event: step.TimerFired{At: 1700000000123, Effect: "e1"},
		Records: []step.Record{step.RetryDue{Stage: "a", Effect: "e1"}, step.RetryDue{Stage: "b", Effect: "e2"}}})
	want := `{"v":1,"type":"header","run":"01J0000000000000000000000A","engine":"0.1.0","plan":"sha256:ab","pipeline":"build","at":"2023-11-14T22:13:20.123Z","sum":"309bb1ab"}
{"v":1,"seq":1,"at":"2023-11-14T22:13:20.123Z","event":{"type":"timer_fired","at":"2023-11-14T22:13:20.123Z","effect":"e1"},"records":[{"type":"retry.due","stage":"a","effect":"e1"},{"type":"retry.due","stage":"b","effect":"e2"}],"sum":"e31e4bef"}
`
	if got := string(text(t, dir)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestTruncated cuts a journal at every byte: a reader gives exactly the lines that are whole, and Open cuts
// the rest and goes on.
func TestTruncated(t *testing.T) {
	whole := text(t, journal(t, steps(3)...))
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	first := bytes.IndexByte(whole, '\n') + 1
	dir := t.TempDir()
	for n := range len(whole) + 1 {
		put(t, dir, whole[:n])
		got, log, err := seqs(dir)
		if n < first {
			if !errors.Is(err, ErrNoHeader) {
				t.Fatalf("cut at %d: %v", n, err)
			}
			if _, _, err := Open(dir); !errors.Is(err, ErrNoHeader) {
				t.Fatalf("cut at %d, Open: %v", n, err)
			}
			continue
		}
		lines := bytes.Count(whole[:n], []byte("\n")) - 1
		end := bytes.LastIndexByte(whole[:n], '\n') + 1
		if err != nil || len(got) != lines || log.Torn != int64(n-end) {
			t.Fatalf("cut at %d: %d steps, %d torn, %v; want %d and %d", n, len(got), log.Torn, err, lines, n-end)
		}
		if n < last && n%16 != 0 {
			continue // Open syncs: all cuts of the last line, and some of the others
		}
		w, log, err := Open(dir)
		if err != nil || log.Torn != int64(n-end) || log.Last.Seq != int64(lines) {
			t.Fatalf("cut at %d, Open: %+v, %v", n, log, err)
		}
		if !bytes.Equal(text(t, dir), whole[:end]) {
			t.Fatalf("cut at %d: Open did not cut at %d", n, end)
		}
		if n%7 == 0 {
			if err := w.Append(lineOf(int64(lines) + 1)); err != nil {
				t.Fatal(err)
			}
			if got, _, err := seqs(dir); err != nil || len(got) != lines+1 {
				t.Fatalf("cut at %d, appended: %v, %v", n, got, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTornWithNULs: a file system may leave NULs where a write did not come to its end.
func TestTornWithNULs(t *testing.T) {
	whole := text(t, journal(t, steps(2)...))
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	dir := t.TempDir()
	for n := last; n < len(whole); n++ {
		put(t, dir, append(bytes.Clone(whole[:n]), make([]byte, len(whole)-n)...))
		if got, _, err := seqs(dir); err != nil || len(got) != 1 {
			t.Fatalf("NULs from %d on: %v, %v", n, got, err)
		}
	}
}

// TestFlippedBits flips every bit of a journal: none goes unnoticed by a reader, nor by Open, which repairs
// nothing.
func TestFlippedBits(t *testing.T) {
	whole := text(t, journal(t, steps(2)...))
	dir := t.TempDir()
	for i := range whole {
		for bit := range 8 {
			flipped := bytes.Clone(whole)
			flipped[i] ^= 1 << bit
			put(t, dir, flipped)
			var damage *DamageError
			_, _, err := seqs(dir)
			if !errors.As(err, &damage) {
				t.Fatalf("bit %d of byte %d: %v", bit, i, err)
			}
			if at := int64(bytes.LastIndexByte(whole[:i], '\n') + 1); damage.Offset != at {
				t.Fatalf("bit %d of byte %d: found at %d, the line begins at %d", bit, i, damage.Offset, at)
			}
			if _, _, err := Open(dir); !errors.As(err, &damage) {
				t.Fatalf("bit %d of byte %d, Open: %v", bit, i, err)
			}
			if !bytes.Equal(text(t, dir), flipped) {
				t.Fatalf("bit %d of byte %d: Open wrote to a damaged journal", bit, i)
			}
		}
	}
}

// TestDamage is damage of larger kinds. Lines are those of a journal of three steps, the header first.
func TestDamage(t *testing.T) {
	lines := bytes.SplitAfter(text(t, journal(t, steps(3)...)), []byte("\n"))
	join := func(i ...int) []byte {
		var b []byte
		for _, i := range i {
			b = append(b, lines[i]...)
		}
		return b
	}
	sealed := func(s string) []byte { return seal([]byte(s)) }
	for _, tc := range []struct {
		name string
		text []byte
		line int64
		why  string
	}{
		{"a gap", join(0, 1, 3), 3, "its seq is 3, and 2 must follow"},
		{"a duplicate", join(0, 1, 1, 2), 3, "its seq is 1, and 2 must follow"},
		{"an exchange", join(0, 2, 1, 3), 2, "its seq is 2, and 1 must follow"},
		{"no header", join(1, 2), 1, "the header is missing"},
		{"two headers", join(0, 0, 1), 2, "it is a second header"},
		{"an empty line", append(join(0, 1), '\n'), 3, "its sum is wrong"},
		{"text of others", append(join(0, 1), "hello\n"...), 3, "its sum is wrong"},
		{"a sum over nonsense", append(join(0), sealed("hello")...), 2, "it is no line of a journal"},
		{"another version", append(join(0, 1), sealed(`{"v":2,"seq":2`)...), 3, "its version is 2, and this pipe knows 1"},
		{"a version that knows other members", append(join(0, 1), sealed(`{"v":3,"z":2`)...), 3, "its version is 3, and this pipe knows 1"},
		{"a torn line in the middle", append(append(join(0), lines[1][:40]...), join(2, 3)...), 2, "its sum is wrong"},
		{"a line feed gone at the end", join(0, 1, 2)[:len(join(0, 1, 2))-1], 0, ""},
		{"a line feed overwritten at the end", append(join(0, 1)[:len(join(0, 1))-1], 'x'), 2, "its line feed is gone"},
		{"a line feed overwritten before a torn line", append(append(join(0, 1)[:len(join(0, 1))-1], 'x'), lines[2][:50]...), 2, "its line feed is gone"},
		{"an endless line", append(join(0), bytes.Repeat([]byte("x"), 3*maxHeld)...), 2, "it is longer than any line that is written"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, tc.text)
			_, _, err := seqs(dir)
			var damage *DamageError
			switch {
			case tc.line == 0 && err == nil:
			case !errors.As(err, &damage) || damage.Line != tc.line || damage.Why != tc.why:
				t.Errorf("got %v, want line %d: %s", err, tc.line, tc.why)
			case errors.Is(err, ErrVersion) != strings.Contains(tc.why, "version"):
				t.Errorf("ErrVersion: %v", errors.Is(err, ErrVersion))
			}
		})
	}
}

// TestUnknownContent: a sum that is right over what this version does not know is not damage.
func TestUnknownContent(t *testing.T) {
	for _, members := range []string{
		`"event":{"type":"dreamt"},"records":[]`, `"event":{"type":"resumed","at":"2023-11-14T22:13:20.123Z","ended":0},"records":[{"type":"moon.landed"}]`,
		`"records":[]`, `"event":7`,
	} {
		dir := journal(t)
		put(t, dir, append(text(t, dir), seal([]byte(`{"v":1,"seq":1,"at":"2023-11-14T22:13:20.123Z",`+members))...))
		_, _, err := seqs(dir)
		var damage *DamageError
		if err == nil || errors.As(err, &damage) {
			t.Errorf("%s: %v", members, err)
		}
	}
	dir := journal(t)
	put(t, dir, append(text(t, dir), seal([]byte(`{"v":1,"seq":1,"at":"2023-11-14T22:13:20.123Z","mood":"good","event":{"type":"resumed","at":"2023-11-14T22:13:20.123Z","ended":0,"mood":1},"records":[]`))...))
	if got, _, err := seqs(dir); err != nil || len(got) != 1 {
		t.Errorf("a member that was added later: %v, %v", got, err)
	}
}

func TestBlobs(t *testing.T) {
	dir := journal(t, lineOf(1), large(2), lineOf(3))
	blobs, err := os.ReadDir(filepath.Join(dir, BlobDir))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("blobs %v, %v", blobs, err)
	}
	if n := len(text(t, dir)); n > 10_000 {
		t.Errorf("the journal has %d bytes", n)
	}
	path := filepath.Join(dir, BlobDir, blobs[0].Name())
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, change := range map[string]func() error{
		"flipped": func() error { return os.WriteFile(path, flipped, 0o600) },
		"shorter": func() error { return os.WriteFile(path, whole[:len(whole)-1], 0o600) },
		"longer":  func() error { return os.WriteFile(path, append(bytes.Clone(whole), ' '), 0o600) },
		"missing": func() error { return os.Remove(path) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		got, _, err := seqs(dir)
		var damage *DamageError
		if !errors.As(err, &damage) || damage.Line != 3 || len(got) != 1 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if name == "missing" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("missing: %v", err)
		}
		r, err := Salvage(dir)
		if err != nil || len(r.Blobs) != 1 || r.Whole.Seq != 1 || r.Damage == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := seqs(dir); err != nil || len(got) != 3 {
		t.Errorf("put back: %v, %v", got, err)
	}
	put(t, dir, append(text(t, journal(t)), seal([]byte(`{"v":1,"seq":1,"at":"2023-11-14T22:13:20.123Z","blob":"../events.jsonl","size":5`))...))
	if _, _, err := seqs(dir); err == nil {
		t.Error("a blob's name led out of its folder")
	}
}

func TestTail(t *testing.T) {
	dir := t.TempDir()
	tail := NewTail(dir)
	var got []int64
	next := func() error {
		return tail.Next(func(l Line) error { got = append(got, l.Seq); return nil })
	}
	if err := next(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before there is a journal: %v", err)
	}
	w, err := Create(dir, header)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := int64(1); i <= 6; i++ {
		if err := next(); err != nil || int64(len(got)) != i-1 {
			t.Fatalf("before step %d: %v, %v", i, got, err)
		}
		if err := w.Append(lineOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	if tail.Header().Run != header.Run {
		t.Errorf("header %+v", tail.Header())
	}
	stop := errors.New("stop")
	if err := tail.Next(func(Line) error { return stop }); err != stop { //nolint:errorlint // as it is
		t.Fatal(err)
	}
	if err := next(); err != nil || len(got) != 5 {
		t.Errorf("the line that was refused came again: %v, %v", got, err)
	}
	later := NewTailAt(dir, tail.Position())
	if err := w.Append(lineOf(7)); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := later.Next(func(l Line) error { n++; return nil }); err != nil || n != 1 || later.Position() != w.Position() {
		t.Errorf("%d steps from a place in the middle, %v", n, err)
	}
	put(t, dir, text(t, dir)[:100])
	var damage *DamageError
	if err := later.Next(nil); !errors.As(err, &damage) {
		t.Errorf("a journal that is shorter than what was read: %v", err)
	}
}

func TestSalvage(t *testing.T) {
	dir := journal(t, steps(9)...)
	whole := text(t, dir)
	if r, err := Salvage(dir); err != nil || r.Damage != nil || r.Whole.Seq != 9 || r.Header.Run != header.Run {
		t.Errorf("a whole one: %+v, %v", r, err)
	}
	lines := bytes.SplitAfter(bytes.Clone(whole), []byte("\n"))
	lines[3][20] ^= 1                     // step 3
	lines[6] = lines[6][:len(lines[6])-9] // step 6 runs into step 7
	torn := append(bytes.Join(lines, nil), "half"...)
	put(t, dir, torn)
	r, err := Salvage(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) int64 { return int64(len(bytes.Join(lines[:i], nil))) }
	want := []Stretch{{Offset: at(4), End: at(6), First: 4, Last: 5}, {Offset: at(8), End: at(10), First: 8, Last: 9}}
	if r.Damage == nil || r.Damage.Offset != at(3) || r.Whole != (Position{Offset: at(3), Seq: 2, Line: 3}) ||
		!reflect.DeepEqual(r.Stretch, want) || r.Torn != 4 || r.Size != int64(len(torn)) {
		t.Errorf("got %+v", r)
	}
	if !bytes.Equal(text(t, dir), torn) {
		t.Error("Salvage wrote")
	}
	put(t, dir, append(bytes.Repeat([]byte("x"), 2*maxHeld+50), append([]byte{'\n'}, whole...)...))
	if r, err := Salvage(dir); err != nil || len(r.Stretch) != 1 || r.Stretch[0].Last != 9 || r.Whole.Line != 0 {
		t.Errorf("garbage before everything: %+v, %v", r, err)
	}
	put(t, dir, append(bytes.Clone(whole), seal([]byte(`{"v":1,"seq":10,"at":"2023-11-14T22:13:20.123Z","event":{"type":"dreamt"}`))...))
	if r, err := Salvage(dir); err != nil || r.Unknown == nil || r.Damage != nil {
		t.Errorf("an unknown event: %+v, %v", r, err)
	}
}
