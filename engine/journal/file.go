package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Files hold what people write and what commands print: nobody else's to read.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

const tempSuffix = ".tmp"

// bare takes the operation and the path off an error of package os; the caller names both itself.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

func storage(op, path string, err error) error {
	return &StorageError{Op: op, Path: path, Err: bare(err)}
}

// WriteFile puts data at path, whole or not at all: it writes a file of another name in the same folder
// (".NAME.*.tmp": who lists a folder leaves out names that begin with a dot) and renames it. With sync the
// data and the name are on the disk when it returns; without, a reader never sees half a file, but a power
// failure may bring the old one back. The folder must exist.
func WriteFile(path string, data []byte, sync bool) error {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+base+".*"+tempSuffix)
	if err != nil {
		return storage("create", path, err)
	}
	if err := fill(f, data, sync); err != nil {
		os.Remove(f.Name()) // the error that matters is the first
		return storage("write", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		os.Remove(f.Name())
		return storage("rename", path, err)
	}
	if !sync {
		return nil
	}
	return SyncDir(dir)
}

func fill(f *os.File, data []byte, sync bool) error {
	_, err := f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

// SyncDir makes the names in a folder durable: files that were created, renamed or removed in it.
func SyncDir(dir string) error {
	// Without an os.File, which costs three times as much as opening the folder: each stage syncs one.
	fd, err := again(func() (int, error) {
		return syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return storage("open", dir, err)
	}
	defer syscall.Close(fd)
	_, err = again(func() (int, error) { return 0, syscall.Fsync(fd) })
	// Some file systems have no such thing as syncing a folder, and say so in these two ways.
	if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return storage("sync", dir, err)
	}
	return nil
}

// again makes a system call until no signal interrupts it.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// sweep removes what a WriteFile that was killed left in a folder that only the lock's holder writes to.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return storage("list", dir, err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempSuffix) && e.Type().IsRegular() {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return storage("remove", filepath.Join(dir, name), err)
			}
		}
	}
	return nil
}
