package source

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFileLines(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"a", []string{"a"}},
		{"a\n", []string{"a", ""}},
		{"a\r\nb\rc\nd", []string{"a", "b", "c", "d"}},
		{"\ufeffä\r\n\r\nb", []string{"ä", "", "b"}},
		{"\r", []string{"", ""}},
	} {
		f := NewFile("x", c.text)
		if f.Lines() != len(c.want) {
			t.Errorf("%q has %d lines, want %d", c.text, f.Lines(), len(c.want))
			continue
		}
		for i, want := range c.want {
			if got := f.Line(i + 1); got != want {
				t.Errorf("line %d of %q is %q, want %q", i+1, c.text, got, want)
			}
		}
	}
}

func TestFileOutside(t *testing.T) {
	f := NewFile("x", "ab\ncd")
	if got := f.Line(0) + f.Line(3); got != "" {
		t.Errorf("lines that are not there hold %q", got)
	}
	for _, c := range []struct {
		pos  Pos
		want int
	}{
		{Pos{}, 0}, {Pos{1, 0}, 0}, {Pos{1, 1}, 0}, {Pos{1, 99}, 3}, {Pos{2, 2}, 4}, {Pos{2, 99}, 5}, {Pos{3, 1}, 5},
	} {
		if got := f.Offset(c.pos); got != c.want {
			t.Errorf("Offset(%v) = %d, want %d", c.pos, got, c.want)
		}
	}
	if got := f.LineStart(-1) + f.LineStart(9); got != 5 {
		t.Errorf("line starts outside the file sum to %d", got)
	}
	if a, b := f.Pos(-1), f.Pos(99); a != (Pos{1, 1}) || b != (Pos{2, 3}) {
		t.Errorf("places outside the file are %v and %v", a, b)
	}
	if got := f.Span(3, 1); got.End != got.Start || got.File != "x" {
		t.Errorf("a span that ends before it starts is %v", got)
	}
}

func TestFilePosInsideCharacter(t *testing.T) {
	f := NewFile("x", "a世b\xe4\xb8")
	for offset, col := range []int{1, 2, 2, 2, 3, 4, 5, 6} {
		if got := f.Pos(offset); got != (Pos{1, col}) {
			t.Errorf("Pos(%d) = %v, want column %d", offset, got, col)
		}
	}
}

// Places and offsets agree with a plain walk over the text, also on lines far longer than a stride.
func TestFilePosAndOffset(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "ä", "世", "😀", "\n", "\r\n", "\r", "\t", "\xff", "\xe4\xb8", strings.Repeat("x", stride-1),
		strings.Repeat("世", stride/2), strings.Repeat("xä", stride),
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
		f := NewFile("x", text)
		p := Pos{1, 1}
		for offset := 0; offset <= len(text); {
			if got := f.Pos(offset); got != p {
				t.Fatalf("Pos(%d) = %v, want %v", offset, got, p)
			}
			if got := f.Offset(p); got != offset {
				t.Fatalf("Offset(%v) = %d, want %d", p, got, offset)
			}
			if offset == len(text) {
				break
			}
			_, size := utf8.DecodeRuneInString(text[offset:])
			c := text[offset]
			offset += size
			p.Col++
			if c == '\n' || c == '\r' && (offset == len(text) || text[offset] != '\n') {
				p = Pos{p.Line + 1, 1}
			}
		}
	})
}

func TestScalar(t *testing.T) {
	span := Span{File: "x", Start: Pos{3, 5}, End: Pos{3, 20}}
	plain := NewScalar("aä世", span, nil)
	if got := plain.At(1, 3); got != (Span{"x", Pos{3, 6}, Pos{3, 7}}) {
		t.Errorf("the second character is at %v", got)
	}
	if got := plain.At(-5, 99); got != (Span{"x", Pos{3, 5}, Pos{3, 8}}) {
		t.Errorf("the whole is at %v", got)
	}
	if got := plain.At(6, 2); got.Start != (Pos{3, 8}) || got.End != got.Start {
		t.Errorf("an empty stretch at the end is at %v", got)
	}

	// "a\u0041b" and a second line that starts in column 7.
	marked := NewScalar("aAb c", span, []Mark{
		{0, Pos{3, 6}}, {1, Pos{3, 7}}, {2, Pos{3, 13}}, {3, Pos{3, 14}}, {4, Pos{4, 7}},
	})
	for _, c := range []struct {
		from, to   int
		start, end Pos
	}{
		{0, 1, Pos{3, 6}, Pos{3, 7}},
		{1, 2, Pos{3, 7}, Pos{3, 13}}, // the whole escape
		{2, 3, Pos{3, 13}, Pos{3, 14}},
		{2, 4, Pos{3, 13}, Pos{3, 15}}, // up to the line's end, not to where the next line starts
		{0, 5, Pos{3, 6}, Pos{4, 8}},
		{4, 4, Pos{4, 7}, Pos{4, 7}},
	} {
		if got := marked.At(c.from, c.to); got.Start != c.start || got.End != c.end {
			t.Errorf("At(%d, %d) = %v, want %v to %v", c.from, c.to, got, c.start, c.end)
		}
	}
	if got := (Scalar{Text: "abc"}).At(1, 2); got.IsValid() {
		t.Errorf("a scalar without a place has one: %v", got)
	}
}

func TestPosBefore(t *testing.T) {
	if !(Pos{1, 9}).Before(Pos{2, 1}) || !(Pos{2, 1}).Before(Pos{2, 2}) || (Pos{2, 2}).Before(Pos{2, 2}) {
		t.Error("places are out of order")
	}
}
