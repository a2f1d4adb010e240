package driver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// errTooLarge says that a file holds more than its reader takes.
var errTooLarge = errors.New("the file is too large")

// openBeneath opens a regular file below base without following a symbolic link in any part of name, and
// without waiting for anybody (a FIFO is refused, not waited for). It walks part by part with openat, so
// that a folder swapped for a link between a check and the use is refused like one that was a link before.
func openBeneath(base, name string) (*os.File, error) {
	dir, last, err := openParent(base, name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	fd, err := openat(dir, last, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, pathError(name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%q is %s, expected a regular file", name, describeMode(info.Mode()))
	}
	return f, nil
}

// openParent opens the folder that holds the last part of name.
func openParent(base, name string) (fd int, last string, err error) {
	if !filepath.IsLocal(name) {
		return -1, "", fmt.Errorf("%q leaves its folder", name)
	}
	parts := strings.Split(filepath.ToSlash(filepath.Clean(name)), "/")
	fd, err = unix.Open(base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, "", &fs.PathError{Op: "open", Path: base, Err: err}
	}
	for _, part := range parts[:len(parts)-1] {
		next, err := openat(fd, part, unix.O_RDONLY|unix.O_DIRECTORY)
		unix.Close(fd)
		if err != nil {
			return -1, "", pathError(name, err)
		}
		fd = next
	}
	return fd, parts[len(parts)-1], nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// pathError explains what the kernel says of a link where none may be.
func pathError(name string, err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return fmt.Errorf("%q is, or is reached through, a symbolic link, which is not followed", name)
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}

func describeMode(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// readBeneath reads a file as openBeneath opens it, at most limit bytes; one that is larger is errTooLarge.
func readBeneath(base, name string, limit int64) ([]byte, error) {
	f, err := openBeneath(base, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, errTooLarge
	}
	b := make([]byte, 0, info.Size()+1)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if int64(len(b)) > limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// removeBeneath removes the file or link name below base, if there is one; links on the way to it are not
// followed, and what hides behind one is left alone. A folder in its place is left alone too.
func removeBeneath(base, name string) error {
	dir, last, err := openParent(base, name)
	if err != nil {
		if isMissing(err) || errors.Is(err, unix.ENOTDIR) {
			return nil
		}
		return err
	}
	defer unix.Close(dir)
	switch err := unix.Unlinkat(dir, last, 0); {
	case err == nil, errors.Is(err, unix.ENOENT), errors.Is(err, unix.EISDIR), errors.Is(err, unix.EPERM):
		return nil
	default:
		return &fs.PathError{Op: "unlink", Path: name, Err: err}
	}
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
