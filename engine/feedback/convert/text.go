package convert

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLine is how much of a line is read; the rest of a longer one is skipped.
const maxLine = 1 << 20

// maxText is the most bytes of output that a description takes over.
const maxText = 2000

// ansi is what terminals take for colours and titles.
var ansi = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\^_])")

// eachLine hands over each line of r without its end, made valid UTF-8, without colours; it stops early
// when each returns false. A nil reader has no lines. A read error is ErrNoReview: the report is not whole.
func eachLine(r io.Reader, each func(line string) bool) error {
	if r == nil {
		return nil
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if room := maxLine - len(line); len(part) <= room {
			line = append(line, part...)
		} else {
			line = append(line, part[:room]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > 0 && !each(cleanLine(line)) {
			return nil
		}
		line = line[:0]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: read report: %w", ErrNoReview, err)
		}
	}
}

func cleanLine(line []byte) string {
	s := strings.ToValidUTF8(strings.TrimRight(string(line), "\r\n"), "\uFFFD")
	return stripColours(s)
}

func stripColours(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	return ansi.ReplaceAllString(s, "")
}

// clip cuts text to at most limit bytes at a character's border.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// position is "file:line:col: message" as compilers and vet write it.
type position struct {
	file    string
	line    int
	message string
}

var positionLine = regexp.MustCompile(`^(?:vet: )?([^\s:]+\.[A-Za-z][A-Za-z0-9]*):(\d{1,9})(?::\d{1,9})?: (.*\S)`)

func readPosition(line string) (position, bool) {
	m := positionLine.FindStringSubmatch(line)
	if m == nil {
		return position{}, false
	}
	n, err := strconv.Atoi(m[2])
	if err != nil || n < 1 {
		return position{}, false
	}
	return position{file: m[1], line: n, message: m[3]}, true
}

// output keeps the beginning and the end of what a test wrote, and where it died.
type output struct {
	began      int // when its test began, in the order of the report
	head, tail []string
	headSize   int
	tailSize   int
	cut        bool // lines between head and tail were dropped

	death     []string // the first line that says so, with the stack below it
	deathSize int
}

const headBytes, tailBytes, lineBytes, deathLines = 4 << 10, 8 << 10, 2 << 10, 60

// add keeps a line and reports by how much what is kept grew.
func (o *output) add(line string) int {
	line = strings.Clone(clip(line, lineBytes))
	before := o.size()
	if n := len(o.death); n == 0 && isDeath(line) || n > 0 && n < deathLines {
		o.death = append(o.death, line)
		o.deathSize += len(line) + 1
	}
	if o.tail == nil && o.headSize+len(line) <= headBytes {
		o.head = append(o.head, line)
		o.headSize += len(line) + 1
		return o.size() - before
	}
	o.tail = append(o.tail, line)
	o.tailSize += len(line) + 1
	for o.tailSize > tailBytes {
		o.tailSize -= len(o.tail[0]) + 1
		o.tail = o.tail[1:]
		o.cut = true
	}
	return o.size() - before
}

func (o *output) size() int { return o.headSize + o.tailSize + o.deathSize }

// lines gives what is kept, with a mark where something is missing.
func (o *output) lines() []string {
	out := append([]string{}, o.head...)
	if o.cut {
		out = append(out, "…")
	}
	return append(out, o.tail...)
}

const raceWarning = "WARNING: DATA RACE"

func isDeath(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || line == raceWarning
}

// died reports whether the program really died, or raced, while this was written: a test may print what
// looks like a panic, but no stack after it.
func (o *output) died() bool {
	if len(o.death) == 0 {
		return false
	}
	return o.death[0] == raceWarning || slices.ContainsFunc(o.death, func(line string) bool {
		return strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:")
	})
}
