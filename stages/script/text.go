package script

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
)

// escapes are what colours text and moves cursors.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\^_])")

// Clean makes text fit for a message and for JSON: valid UTF-8, without escapes and control characters other than
// tabs and the ends of lines. Of a line that was written over, what stands there at last is kept.
func Clean(text string) string {
	text = escapes.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.Contains(text, "\r") {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			line = strings.TrimRight(line, "\r")
			lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
		}
		text = strings.Join(lines, "\n")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// Cut cuts text to a number of bytes, at a character.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

// End is the end of what a command wrote, cleaned, of at most a number of bytes; what is cut off at its front is
// cut at a line where there is one.
func End(out *proc.Output, limit int) string {
	data := append(append([]byte{}, out.Head...), out.Tail...)
	if out.Size > int64(len(data)) {
		data = out.Tail
	}
	whole := len(data) <= limit && int64(len(data)) == out.Size
	if len(data) > limit {
		data = data[len(data)-limit:]
	}
	if !whole {
		if i := bytes.IndexByte(data, '\n'); i >= 0 && i < len(data)-1 {
			data = data[i+1:]
		} else {
			for len(data) > 0 && !utf8.RuneStart(data[0]) {
				data = data[1:]
			}
		}
	}
	text := strings.TrimRight(Clean(string(data)), " \t\n")
	if !whole && text != "" {
		text = "…\n" + text
	}
	return text
}

// Note writes a line of ours into a log of the stage's folder. A log in whose place a process put something else,
// or took away the folder, gets none: so it is with what processes write.
func Note(call *stage.Call, log, line string) error {
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	file := filepath.Join(call.StageDir, log)
	f, err := os.OpenFile(file, flags, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EISDIR):
		return nil
	case err != nil:
		return &proc.LogError{Path: file, Err: err}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if _, err := f.WriteString(line); err != nil {
		return &proc.LogError{Path: file, Err: err}
	}
	return nil
}

// OpenLog opens a file for reading that a process may have touched: nothing that it put in its place is followed,
// or waited for.
func OpenLog(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file any more")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// WithEnv sets variables over an environment: one of a name that is set already takes its place.
func WithEnv(env []string, set ...string) []string {
	names := make(map[string]bool, len(set)) // only looked up
	for _, kv := range set {
		name, _, _ := strings.Cut(kv, "=")
		names[name] = true
	}
	out := make([]string, 0, len(env)+len(set))
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !names[name] {
			out = append(out, kv)
		}
	}
	return append(out, set...)
}
