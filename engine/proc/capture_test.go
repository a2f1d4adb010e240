package proc

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func TestHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &stream{dir: -1, log: -1}
		var all []byte
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, HeadTail*5/4), 0, 8).Draw(t, "pieces") {
			p := make([]byte, n)
			for j := range p {
				p[j] = byte(j*7 + i*13 + j>>8)
			}
			all = append(all, p...)
			s.take(p)
		}
		tail := s.tail.bytes()
		if s.size != int64(len(all)) || !bytes.HasPrefix(all, s.head) || !bytes.HasSuffix(all, tail) {
			t.Fatalf("%d bytes: head of %d and tail of %d don't fit", len(all), len(s.head), len(tail))
		}
		if want := min(HeadTail, len(all)); len(s.head) != want {
			t.Fatalf("head of %d, want %d", len(s.head), want)
		}
		if want := min(HeadTail, len(all)-len(s.head)); len(tail) != want {
			t.Fatalf("tail of %d, want %d", len(tail), want)
		}
	})
}

// A disk that held us up past the delay costs nothing that was written before it.
func TestNothingThatWaitsIsLost(t *testing.T) {
	s, err := openStream("", "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	want := bytes.Repeat([]byte("0123456789abcdef"), 3800)
	if _, err := unix.Write(s.w, want); err != nil { // and the pipe stays open
		t.Fatal(err)
	}
	w := &watch{exited: true, woken: true, streams: []*stream{s}, buf: make([]byte, 1000)}
	if err := w.drain(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.head, want) {
		t.Errorf("got %d bytes of %d", len(s.head), len(want))
	}
}

// Somebody who can't be found and never stops writing doesn't hold us.
func TestEndlessWriterIsLeft(t *testing.T) {
	s, err := openStream("", "")
	if err != nil {
		t.Fatal(err)
	}
	end := s.w
	s.w = -1
	done := make(chan error)
	go func() {
		for p := make([]byte, 4096); ; {
			if _, err := unix.Write(end, p); err != nil {
				unix.Close(end)
				done <- err
				return
			}
		}
	}()
	w := &watch{exited: true, woken: true, streams: []*stream{s}, buf: make([]byte, 4096)}
	if err := w.drain(); err != nil {
		t.Fatal(err)
	}
	s.close()
	if err := <-done; !errors.Is(err, unix.EPIPE) {
		t.Errorf("the writer ended with %v", err)
	}
}

func TestLastLine(t *testing.T) {
	for _, tc := range []struct{ head, tail, want string }{
		{"", "", ""},
		{"a\nb\n\n", "", "b"},
		{"a\nb", " \n", "b"},
		{"a", "b\r\nc\r\n", "c"},
		{"progress 1%\rprogress 2%\r", "", "progress 2%"},
		{"bad \xff byte", "", "bad \uFFFD byte"},
		{strings.Repeat("é", 200), "", strings.Repeat("é", 120) + "…"},
	} {
		o := Output{Head: []byte(tc.head), Tail: []byte(tc.tail)}
		if got := o.LastLine(); got != tc.want {
			t.Errorf("%q %q: got %q, want %q", tc.head, tc.tail, got, tc.want)
		}
	}
}
