package journal

import (
	"errors"
	"fmt"
	"syscall"
)

// What a caller may ask an error for, with errors.Is.
var (
	// ErrReplaced: the file at the journal's path is no longer the one that is written.
	ErrReplaced = errors.New("the journal was deleted or replaced while the run wrote it")
	// ErrNoHeader: there is a journal, and not even its first line is whole: the run never began.
	ErrNoHeader = errors.New("the journal holds nothing: the run ended before it began")
	// ErrVersion: a line was written by another version of the format.
	ErrVersion = errors.New("written by another version of pipe")
	// ErrHeld: somebody else holds the lock.
	ErrHeld = errors.New("held by another process")
	// ErrClosed: the Writer is closed.
	ErrClosed = errors.New("the journal is closed")
)

// DamageError says that a journal is not what was written. Offset is the first byte of the line, Line its
// number from 1 (the header's).
type DamageError struct {
	Path   string
	Offset int64
	Line   int64
	Why    string
	Err    error // nil, or more about it
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal %q is damaged in line %d, at byte %d: %s; see what can be saved with \"pipe doctor --run\"",
		e.Path, e.Line, e.Offset, e.Why)
}

func (e *DamageError) Unwrap() error { return e.Err }

// StorageError says that the disk did not take what was to be written.
type StorageError struct {
	Op   string // "write", "sync", "create", …
	Path string
	Err  error
}

func (e *StorageError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.ENOSPC):
		return fmt.Sprintf("%s %q: the disk is full; nothing that was recorded is lost: make space, then run \"pipe resume\"", e.Op, e.Path)
	case errors.Is(e.Err, syscall.EDQUOT):
		return fmt.Sprintf("%s %q: the disk quota is used up; nothing that was recorded is lost: make space, then run \"pipe resume\"", e.Op, e.Path)
	case errors.Is(e.Err, syscall.EFBIG):
		return fmt.Sprintf("%s %q: the file would be larger than the limit of this process (ulimit -f); nothing that was recorded is lost: raise it, then run \"pipe resume\"", e.Op, e.Path)
	case errors.Is(e.Err, syscall.EROFS):
		return fmt.Sprintf("%s %q: the file system is read-only; nothing that was recorded is lost: make it writable, then run \"pipe resume\"", e.Op, e.Path)
	case errors.Is(e.Err, syscall.EIO):
		return fmt.Sprintf("%s %q: the disk reports an error; what was recorded before is read again at \"pipe resume\", once the disk is well", e.Op, e.Path)
	}
	return fmt.Sprintf("%s %q: %v", e.Op, e.Path, bare(e.Err))
}

func (e *StorageError) Unwrap() error { return e.Err }

// ReplacedError is ErrReplaced with what was done about it.
type ReplacedError struct {
	Path  string   // of the journal
	Copy  string   // where the whole journal was written; "": it could not be
	Blobs []string // sums of blobs that the journal names and that are gone
	Err   error    // why there is no copy
}

func (e *ReplacedError) Error() string {
	msg := fmt.Sprintf("the journal %q was deleted or replaced while the run wrote it (git clean in a stage does that to a run's folder)", e.Path)
	if e.Copy == "" {
		return fmt.Sprintf("%s; a copy can't be written: %v", msg, e.Err)
	}
	msg += fmt.Sprintf("; a copy is in %q", e.Copy)
	if len(e.Blobs) > 0 {
		msg += fmt.Sprintf(", without %d blobs that are gone", len(e.Blobs))
	}
	return msg
}

// Is makes a ReplacedError an ErrReplaced.
func (e *ReplacedError) Is(target error) bool { return target == ErrReplaced }

func (e *ReplacedError) Unwrap() error { return e.Err }
