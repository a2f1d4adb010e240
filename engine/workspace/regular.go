package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ErrDangling is the error of ReadRegular for a symbolic link that leads nowhere.
var ErrDangling = errors.New("it is a symbolic link, and what it leads to is not there")

// ReadRegular returns the content of a regular file of at most max bytes, wherever it lies: a file that a
// person named, so that symbolic links are followed. What is no regular file is not opened (ErrNotRegular),
// so that no pipe makes it wait and no device gives without an end. The errors don't name the file; that
// there is none at all is fs.ErrNotExist.
func ReadRegular(path string, max int64) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && exists(path) {
		return nil, ErrDangling
	}
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, bare(err)
	}
	// Without O_NONBLOCK a pipe that took the file's place would wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bare(err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, bare(err)
	}
	b, err := readAll(f, path, max)
	if errors.Is(err, ErrTooLarge) {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, max)
	}
	return b, bare(err)
}

// regular refuses what is no regular file, and says what it is.
func regular(info fs.FileInfo) error {
	what := "something else"
	switch m := info.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		what = "a folder"
	case m&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%w but %s", ErrNotRegular, what)
}

// bare takes the operation and the path off an error.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
