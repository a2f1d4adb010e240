package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"example.com/pipe/engine/view"
)

// TestSafeWriter cuts a text anywhere: what comes out is the same as for the whole text.
func TestSafeWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			piece := rapid.SampledFrom([]string{"a", "é", "日本", "👩‍💻", "\xff", "\xe2\x82", "\x1b[2J", "\r\n", "\r", "\n", "\u202e", "\u009b"})
			text = append(text, piece.Draw(t, "piece")...)
		}
		var out strings.Builder
		w := &safeWriter{w: &out}
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			if got, err := w.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", got, n, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		want := view.Escape(strings.ReplaceAll(string(text), "\r\n", "\n"))
		if out.String() != want {
			t.Fatalf("%q came out as %q, want %q", text, out.String(), want)
		}
		if !utf8.ValidString(out.String()) || strings.ContainsAny(out.String(), "\x1b\r") {
			t.Fatalf("%q came out as %q", text, out.String())
		}
	})
}

// TestSafeWriterFails hands on the error of the writer below.
func TestSafeWriterFails(t *testing.T) {
	w := &safeWriter{w: failing{io.ErrShortWrite}}
	if _, err := w.Write([]byte("x")); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("the error is %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestOutputOfClosedPipe(t *testing.T) {
	o := &output{w: failing{syscall.EPIPE}}
	if n, err := o.Write([]byte("x")); n != 1 || err != nil || !o.closed || o.failed != nil {
		t.Errorf("a closed pipe: %d %v %+v", n, err, o)
	}
	o = &output{w: failing{syscall.ENOSPC}}
	if _, err := o.Write([]byte("x")); err != nil || !errors.Is(o.failed, syscall.ENOSPC) {
		t.Errorf("a full disk: %v %+v", err, o)
	}
	a := &app{out: o, err: &output{w: io.Discard}}
	if got := a.execute(t.Context(), []string{"version"}); got != exitOurs {
		t.Errorf("a result that can't be written gives exit status %d, want %d", got, exitOurs)
	}
}

func TestOutputBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOf(rapid.Byte()).Draw(t, "value")
		b, err := outputBlock("name", v)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := bytes.Cut(b, []byte("\n"))
		mark, ok := bytes.CutPrefix(head, []byte("name<<"))
		if !ok || len(mark) < 20 {
			t.Fatalf("the first line is %q", head)
		}
		got, ok := bytes.CutSuffix(rest, []byte("\n"+string(mark)+"\n"))
		if !ok || !bytes.Equal(got, v) {
			t.Fatalf("%q came back as %q", v, got)
		}
	})
}

func TestStatusOf(t *testing.T) {
	plain := errors.New("x")
	for _, c := range []struct {
		err    error
		status int
		say    bool
	}{
		{nil, exitOK, false},
		{plain, exitOurs, true},
		{usagef("x"), exitUsage, true},
		{withStatus(exitWaiting), exitWaiting, false},
		{withStatus(exitOK), exitOK, false},
		{&statusError{exitHeld, plain}, exitHeld, true},
	} {
		status, say := statusOf(c.err)
		if status != c.status || (say != nil) != c.say {
			t.Errorf("%v: status %d, says %v", c.err, status, say)
		}
	}
}
