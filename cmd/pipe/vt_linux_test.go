package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// vt is a small terminal: it keeps what is written to it as a screen and what has scrolled out of it. What it does
// not know is an error.
type vt struct {
	width, height int
	rows          [][]string // of the screen; a cell holds a character, or "" behind a wide one
	past          []string   // lines that scrolled out
	x, y          int
	wrap          bool            // the last column was written: the next character begins a new line
	modes         map[string]bool // that were set or reset, by number
	colours       bool            // there were some
	rest          []byte          // the beginning of what has not come whole
	err           error
}

func newVT(width, height int) *vt {
	v := &vt{width: width, height: height, modes: map[string]bool{}}
	v.rows = make([][]string, height)
	return v
}

// resize keeps lines as they are: it shows more or less of them.
func (v *vt) resize(width, height int) {
	v.width, v.height = width, height
	for len(v.rows) < height {
		v.rows = append(v.rows, nil)
	}
	for len(v.rows) > height {
		if v.y < len(v.rows)-1 {
			v.rows = v.rows[:len(v.rows)-1]
			continue
		}
		v.scroll()
		v.rows = v.rows[:len(v.rows)-1]
		v.y--
	}
	v.x, v.wrap = min(v.x, width-1), false
}

func (v *vt) String() string {
	var lines []string
	for _, row := range v.rows {
		lines = append(lines, strings.TrimRight(strings.Join(row[:min(len(row), v.width)], ""), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// log is all that scrolled out, and the screen.
func (v *vt) log() string {
	lines := append([]string{}, v.past...)
	for _, row := range v.rows {
		lines = append(lines, strings.Join(row, ""))
	}
	return strings.Join(lines, "\n")
}

func (v *vt) scroll() {
	v.past = append(v.past, strings.Join(v.rows[0], ""))
	v.rows = append(v.rows[1:], nil)
}

func (v *vt) down() {
	if v.wrap = false; v.y == v.height-1 {
		v.scroll()
		return
	}
	v.y++
}

func (v *vt) write(b []byte) {
	b = append(v.rest, b...)
	for len(b) > 0 && v.err == nil {
		n := v.take(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	v.rest = append([]byte(nil), b...)
}

// take carries out what stands first, and gives how long it is; 0: not whole yet.
func (v *vt) take(b []byte) int {
	switch c := b[0]; {
	case c == 0x1b:
		return v.escape(b)
	case c == '\r':
		v.x, v.wrap = 0, false
	case c == '\n':
		v.down()
	case c == '\b':
		v.x, v.wrap = max(0, v.x-1), false
	case c == '\t':
		v.x = min(v.width-1, v.x/8*8+8)
	case c < ' ' || c == 0x7f:
		v.err = fmt.Errorf("the control character %q reached the terminal", c)
	case !utf8.FullRune(b):
		return 0
	default:
		r, n := utf8.DecodeRune(b)
		v.put(string(r))
		return n
	}
	return 1
}

func (v *vt) put(s string) {
	w := ansi.StringWidthWc(s)
	if w == 0 {
		if row := v.rows[v.y]; v.x > 0 && v.x <= len(row) {
			row[v.x-1] += s
		}
		return
	}
	if v.wrap || v.x+w > v.width {
		v.x = 0
		v.down()
	}
	v.fill(v.x + w)
	v.rows[v.y][v.x] = s
	if w == 2 {
		v.rows[v.y][v.x+1] = ""
	}
	if v.x += w; v.x >= v.width {
		v.x, v.wrap = v.width-1, true
	}
}

// fill makes the row of the cursor so many cells long.
func (v *vt) fill(n int) {
	for len(v.rows[v.y]) < n {
		v.rows[v.y] = append(v.rows[v.y], " ")
	}
}

func (v *vt) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case 'M': // reverse index
		if v.y > 0 {
			v.y--
		}
		return 2
	case '[':
	default:
		v.err = fmt.Errorf("the sequence %q reached the terminal", b[:2])
		return 2
	}
	end := 2
	for end < len(b) && (b[end] < 0x40 || b[end] > 0x7e) {
		end++
	}
	if end == len(b) {
		return 0
	}
	v.control(string(b[2:end]), b[end])
	return end + 1
}

func (v *vt) control(params string, final byte) {
	if final == 'm' {
		for p := range strings.SplitSeq(params, ";") {
			n, _ := strconv.Atoi(p)
			v.colours = v.colours || n >= 30 && n <= 49 && n != 39 && n != 49 || n >= 90
		}
		return
	}
	if final == 'h' || final == 'l' {
		v.modes[params] = final == 'h'
		return
	}
	n, _ := strconv.Atoi(params)
	count := max(n, 1)
	if final != 'K' && final != 'J' {
		v.wrap = false
	}
	switch final {
	case 'A':
		v.y = max(0, v.y-count)
	case 'B':
		v.y = min(v.height-1, v.y+count)
	case 'C':
		v.x = min(v.width-1, v.x+count)
	case 'D':
		v.x = max(0, v.x-count)
	case 'G':
		v.x = min(v.width-1, count-1)
	case 'K':
		v.erase(n)
	case 'J':
		v.erase(0)
		for y := v.y + 1; y < v.height; y++ {
			v.rows[y] = nil
		}
	case 'L':
		for range min(count, v.height-v.y) {
			copy(v.rows[v.y+1:], v.rows[v.y:v.height-1])
			v.rows[v.y] = nil
		}
	case 'X':
		v.fill(v.x + count)
		for i := range count {
			v.rows[v.y][v.x+i] = " "
		}
	case '@':
		v.fill(v.x)
		row := append([]string{}, v.rows[v.y][v.x:]...)
		v.rows[v.y] = append(v.rows[v.y][:v.x], append(strings.Split(strings.Repeat(" ", count), ""), row...)...)
	case 'P':
		v.fill(v.x + count)
		v.rows[v.y] = append(v.rows[v.y][:v.x], v.rows[v.y][v.x+count:]...)
	default:
		v.err = fmt.Errorf("the sequence \\x1b[%s%c reached the terminal", params, final)
	}
}

// erase clears the row of the cursor: from it, up to it, or all.
func (v *vt) erase(how int) {
	switch row := v.rows[v.y]; how {
	case 0:
		v.rows[v.y] = row[:min(len(row), v.x)]
	case 1:
		for i := range min(len(row), v.x+1) {
			row[i] = " "
		}
	default:
		v.rows[v.y] = nil
	}
}
