package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrClosed is returned by a Run on a closed Starter.
var ErrClosed = errors.New("the starter of processes is closed")

// Reason says why a process could not be started.
type Reason uint8

// The reasons for which a process can't be started.
const (
	UnknownReason Reason = iota // what the system said is in the message
	NotFound                    // no such program, or the interpreter that its first line names is missing
	NotPermitted                // the program, or its folder, may not be executed or entered
	NoDir                       // the working directory is missing, or no directory
	TooBig                      // arguments and environment are larger than the system takes
	BadFormat                   // the file is no program for this machine
	BadArgument                 // a NUL character in an argument or a variable
	NoStdin                     // the file for stdin can't be opened
)

func (r Reason) String() string {
	switch r {
	case NotFound:
		return "not_found"
	case NotPermitted:
		return "not_permitted"
	case NoDir:
		return "no_dir"
	case TooBig:
		return "too_big"
	case BadFormat:
		return "bad_format"
	case BadArgument:
		return "bad_argument"
	case NoStdin:
		return "no_stdin"
	}
	return "unknown"
}

// StartError is a process that could not be started, through no fault of ours.
type StartError struct {
	Path   string // of the program, as given
	Reason Reason
	Detail string // the whole message
	Err    error
}

func (e *StartError) Error() string { return e.Detail }

func (e *StartError) Unwrap() error { return e.Err }

// LimitError is the cause of a context that ends with a time limit, so that a message can say how long that was.
type LimitError struct{ Limit time.Duration }

func (e *LimitError) Error() string { return fmt.Sprintf("the time limit of %s is over", e.Limit) }

// Unwrap makes it the error of any deadline.
func (e *LimitError) Unwrap() error { return context.DeadlineExceeded }

// LogError is a log file that can't be opened or written. It is returned beside a complete Result when the
// process ran.
type LogError struct {
	Path string
	Err  error
}

func (e *LogError) Error() string { return fmt.Sprintf("writing the log %q: %v", e.Path, e.Err) }

func (e *LogError) Unwrap() error { return e.Err }

// LeftError names processes that outlived SIGKILL.
type LeftError struct{ PIDs []int }

func (e *LeftError) Error() string {
	return fmt.Sprintf("processes %v do not end, not even by SIGKILL; they hang in the kernel, see their state with ps", e.PIDs)
}

// startError explains why exec failed. The kernel says ENOENT for a missing program, interpreter and
// directory alike, so look which one it was.
func startError(spec *Spec, program string, err error) error {
	e := &StartError{Path: spec.Path, Err: err}
	if info, dirErr := os.Stat(spec.Dir); spec.Dir != "" && (dirErr != nil || !info.IsDir()) {
		e.Reason = NoDir
		e.Detail = fmt.Sprintf("cannot start %q: its directory %q is not there", spec.Path, spec.Dir)
		if dirErr == nil {
			e.Detail = fmt.Sprintf("cannot start %q: %q is not a directory", spec.Path, spec.Dir)
		} else if !errors.Is(dirErr, fs.ErrNotExist) {
			e.Detail = fmt.Sprintf("cannot start %q: its directory %q can't be used: %v", spec.Path, spec.Dir, dirErr)
		}
		return e
	}
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		e.Reason = NotFound
		e.Detail = fmt.Sprintf("there is no program %q", spec.Path)
		if _, statErr := os.Stat(resolve(spec.Dir, program)); statErr == nil {
			e.Detail = fmt.Sprintf("cannot start %q: the interpreter that its first line names is missing", spec.Path)
			if strings.HasSuffix(firstLine(resolve(spec.Dir, program)), "\r") {
				e.Detail += "; its lines end in CR LF, expected LF alone, and the CR is taken for a part of the name"
			}
		} else if !strings.Contains(spec.Path, "/") {
			e.Detail = fmt.Sprintf("there is no program %q in PATH", spec.Path)
		}
	case errors.Is(err, fs.ErrPermission):
		e.Reason = NotPermitted
		e.Detail = fmt.Sprintf("may not execute %q: permission denied (chmod +x makes a file executable)", spec.Path)
	case errors.Is(err, syscall.E2BIG):
		e.Reason = TooBig
		e.Detail = tooBig(spec)
	case errors.Is(err, syscall.ENOEXEC):
		e.Reason = BadFormat
		e.Detail = fmt.Sprintf("cannot start %q: it is no program for this machine; does a script's first line name its interpreter (#!)?", spec.Path)
	case errors.Is(err, syscall.EINVAL):
		e.Reason = BadArgument
		e.Detail = fmt.Sprintf("cannot start %q: a NUL character in %s", spec.Path, nulIn(spec))
	default: // too many processes, a file that is being written, a name that is too long …
		e.Detail = fmt.Sprintf("cannot start %q: %v", spec.Path, err)
	}
	return e
}

// tooBig names the largest piece, which is nearly always the one to blame.
func tooBig(spec *Spec) string {
	total, largest, name := 0, 0, ""
	note := func(text, what string) {
		total += len(text) + 1
		if len(text) > largest {
			largest, name = len(text), what
		}
	}
	for i, a := range spec.Args {
		note(a, fmt.Sprintf("argument %d", i+1))
	}
	for _, kv := range spec.Env {
		key, _, _ := strings.Cut(kv, "=")
		note(kv, fmt.Sprintf("the variable %q", key))
	}
	return fmt.Sprintf("cannot start %q: arguments and environment hold %d bytes, more than the system takes; the largest is %s with %d bytes; hand large values over in a file",
		spec.Path, total, name, largest)
}

func nulIn(spec *Spec) string {
	for _, kv := range spec.Env {
		if strings.ContainsRune(kv, 0) {
			key, _, _ := strings.Cut(strings.ReplaceAll(kv, "\x00", "?"), "=")
			return fmt.Sprintf("the variable %q", key)
		}
	}
	for i, a := range spec.Args {
		if strings.ContainsRune(a, 0) {
			return fmt.Sprintf("argument %d", i+1)
		}
	}
	return "its path or directory"
}

// resolve makes path absolute against dir.
func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
