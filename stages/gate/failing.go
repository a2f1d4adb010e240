package gate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"example.com/pipe/engine/proc"
	"example.com/pipe/stages/script"
)

// failing says what failed: of Go's tests and panics, of compilers and linters, of test runners that print
// their result in capitals, of npm, of make and of TAP.
var failing = regexp.MustCompile(`\bFAIL(?:ED|URE)?\b|\b[Ee]rror(?:\[\w+\])?:|\bERRORS?\b|^\s*panic: |^\s*fatal: |\bnpm (?:ERR!|error\b)|^\s*not ok\b|^Traceback |^make(?:\[\d+\])?: \*\*\* `)

// hints are what such a line has at the least: to look for them costs far less.
var hints = [...]string{"FAIL", "rror", "ERROR", "panic: ", "fatal: ", "npm ", "not ok", "Traceback ", ": *** "}

func saysWhatFailed(line string) bool {
	return slices.ContainsFunc(hints[:], func(h string) bool { return strings.Contains(line, h) }) && failing.MatchString(line)
}

// The greatest lengths in a summary, in bytes.
const (
	lineLimit    = 300
	summaryLimit = 4000
)

// failure is the first line of a log that says what failed, and then the lines around it where there are any.
// Without such a line it is the last line that is not blank. The log is read line by line; where it is gone, what
// is still known of the output stands for it. Where the stage is stopped meanwhile, it is what was found by then.
func failure(ctx context.Context, log string, out *proc.Output, around int) string {
	f, err := script.OpenLog(log)
	if err != nil {
		return find(ctx, bytes.NewReader(append(append([]byte{}, out.Head...), out.Tail...)), around)
	}
	defer f.Close()
	return find(ctx, f, around)
}

func find(ctx context.Context, r io.Reader, around int) string {
	lines := bufio.NewReaderSize(r, 64<<10)
	var before, after, last []string // last is what stood before the last line that is not blank, and it
	found := ""
	for ctx.Err() == nil && (len(after) < around || found == "") {
		line, err := readLine(ctx, lines)
		switch {
		case err != nil && line == "":
		case found != "":
			after = append(after, line)
		case saysWhatFailed(line):
			found = line
		default:
			before = append(before, line)
			if len(before) > around+1 {
				before = before[1:]
			}
			if strings.TrimSpace(line) != "" {
				last = append(last[:0], before...)
			}
		}
		if err != nil {
			break
		}
	}
	if found == "" && len(last) > 0 {
		found, before = last[len(last)-1], last[:len(last)-1]
	}
	if len(before) > around {
		before = before[len(before)-around:]
	}
	return excerpt(before, found, after)
}

// excerpt begins with the line itself, which is all that a short text shows of it.
func excerpt(before []string, found string, after []string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(found))
	if len(before) > 0 {
		b.WriteString("\n")
		for _, line := range append(before, found) {
			b.WriteString("\n" + line)
		}
	}
	for _, line := range after {
		b.WriteString("\n" + line)
	}
	text := strings.TrimRight(b.String(), " \t\n")
	return script.Cut(text, summaryLimit)
}

// readLine gives the next line, of which only the beginning is kept, fit for a message. The error is that of the
// end.
func readLine(ctx context.Context, r *bufio.Reader) (string, error) {
	var kept []byte
	for {
		part, err := r.ReadSlice('\n')
		if room := 8*lineLimit - len(kept); room > 0 {
			kept = append(kept, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) && ctx.Err() == nil {
			continue
		}
		return script.Cut(script.Clean(strings.TrimRight(string(kept), "\r\n")), lineLimit), err
	}
}
