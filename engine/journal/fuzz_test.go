package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzSalvage gives Read and Salvage a file that anybody may have written. With sealed, each of its lines gets the sum
// that it lacks, so that what comes behind the sums is reached too. Whatever it holds: the steps that are
// given are numbered without gaps, Salvage goes exactly as far as Read, what Salvage calls whole can be read
// once the rest is cut off, and a step that was read is written again as it was.
func FuzzSalvage(f *testing.F) {
	recorded, err := filepath.Glob("../../testdata/journals/*/" + FileName)
	if err != nil || len(recorded) == 0 {
		f.Fatalf("no recorded journals: %v", err)
	}
	for _, name := range recorded {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, false)
		f.Add(b[:len(b)-5], false)
		f.Add(bytes.Replace(b, []byte("a"), []byte("b"), 1), false)
		f.Add(unsealedLines(b), true)
		for line := range bytes.Lines(unsealedLines(b)) {
			f.Add(line, true)
		}
	}
	f.Add([]byte("{\"v\":1,\"type\":\"header\",\"run\":\"R\"\n{\"v\":1,\"seq\":1,\"blob\":\"../../../etc/passwd\",\"size\":3\n"), true)
	f.Add([]byte("{\"v\":2,\"type\":\"header\",\"run\":\"R\"\n"), true)
	f.Add([]byte("\x00\x00\n\n"), false)
	dir := f.TempDir() // each worker has its own
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if sealed {
			b = sealedLines(b)
		}
		checkJournal(t, dir, b)
	})
}

// unsealedLines takes the sums off.
func unsealedLines(b []byte) []byte {
	var out []byte
	for line := range bytes.Lines(b) {
		if body, ok := unsealed(bytes.TrimSuffix(line, []byte("\n"))); ok {
			out = append(append(out, body...), '\n')
		}
	}
	return out
}

func sealedLines(b []byte) []byte {
	var out []byte
	for line := range bytes.Lines(b) {
		out = append(out, seal(bytes.TrimSuffix(line, []byte("\n")))...)
	}
	return out
}

func checkJournal(t *testing.T, dir string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := readSteps(t, dir)
	r, salvageErr := Salvage(dir)
	if salvageErr != nil {
		t.Fatalf("Salvage: %v", salvageErr)
	}
	var damage *DamageError
	switch {
	case errors.As(err, &damage) != (r.Damage != nil) && r.Unknown == nil:
		t.Fatalf("Read: %v; Salvage: %v", err, r.Damage)
	case r.Whole.Offset > r.Size || r.Size != int64(len(b)):
		t.Fatalf("%d of %d bytes are whole", r.Whole.Offset, r.Size)
	case r.Unknown == nil && r.Whole.Seq != int64(len(lines)):
		t.Fatalf("Salvage counts %d steps, and Read gives %d (%v)", r.Whole.Seq, len(lines), err)
	}
	for _, s := range r.Stretch {
		if s.Offset < r.Whole.Offset || s.End <= s.Offset || s.End > r.Size || s.First > s.Last {
			t.Fatalf("a stretch that is none: %+v", s)
		}
	}
	if r.Unknown != nil || r.Whole.Offset == 0 {
		return
	}
	if err := os.WriteFile(path, b[:r.Whole.Offset], 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := readSteps(t, dir); err != nil || len(again) != len(lines) {
		t.Fatalf("what is whole can't be read: %d of %d steps, %v", len(again), len(lines), err)
	}
}

// readSteps reads a journal, and writes each step again.
func readSteps(t *testing.T, dir string) ([]Line, error) {
	t.Helper()
	var lines []Line
	log, err := Read(dir, func(l Line) error {
		lines = append(lines, l)
		if l.Seq != int64(len(lines)) {
			t.Fatalf("step %d is the %dth that is given", l.Seq, len(lines))
		}
		return nil
	})
	if err == nil && log.Last.Seq != int64(len(lines)) {
		t.Fatalf("%d steps were given, and the last is %d", len(lines), log.Last.Seq)
	}
	for _, l := range lines {
		if l.Event == nil {
			t.Fatalf("step %d has no event", l.Seq)
		}
		once := body(t, l)
		back, err := decode(once, nil)
		if err != nil {
			t.Fatalf("step %d can't be read again: %v\n%s", l.Seq, err, once)
		}
		if twice := body(t, back); !bytes.Equal(once, twice) {
			t.Fatalf("step %d changes in a round trip:\n%s\n%s", l.Seq, once, twice)
		}
	}
	return lines, err
}

// body is a step as it is written, without its sum.
func body(t *testing.T, l Line) []byte {
	t.Helper()
	b, err := appendBody(append(appendHead(nil, l), ','), l)
	if err != nil {
		t.Fatalf("step %d can't be written again: %v", l.Seq, err)
	}
	return b
}
