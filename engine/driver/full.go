package driver

import (
	"errors"
	"syscall"

	"example.com/pipe/engine/journal"
)

// A file system with less room than this is full: what is left takes no other step of a run.
const leastRoom = 8 << 10

// isFull reports whether the file system of a folder has no room left, for data or for files. One that
// can't be asked is not full.
func isFull(dir string) bool {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return false
	}
	return uint64(st.Bavail)*uint64(st.Bsize) < leastRoom || st.Files > 0 && st.Ffree == 0
}

// ifFull says of an error that came up while the file system of the run was full that this is its likely
// cause, and what to do. Programs that we call, and stages, tell of a full disk in words of their own.
func ifFull(dir string, err error) error {
	var known *journal.StorageError
	var stopped *Stopped
	if err == nil || errors.As(err, &known) || errors.As(err, &stopped) || !isFull(dir) {
		return err
	}
	return errors.Join(&journal.StorageError{Op: "write to", Path: dir, Err: syscall.ENOSPC}, err)
}
