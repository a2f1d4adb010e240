package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteInside puts data into a file below root, whole or not at all, and on the disk when it returns; folders on the
// way are made. As with ReadInside no component of rel, which has slashes, may be ".." or a symbolic link
// (ErrOutside), and what lies in the file's place must be a regular file or nothing (ErrNotRegular).
func WriteInside(root, rel string, data []byte) error {
	if err := writeInside(root, rel, data); err != nil {
		return fmt.Errorf("write %q: %w", rel, err)
	}
	return nil
}

func writeInside(root, rel string, data []byte) error {
	if !local(rel) || filepath.Clean(rel) == "." {
		return ErrOutside
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer r.Close()
	path := filepath.Clean(filepath.FromSlash(rel))
	if err := makeFolders(r, path); err != nil {
		return err
	}
	info, err := r.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return ErrOutside
	case !info.Mode().IsRegular():
		return ErrNotRegular
	}
	dir := filepath.Dir(path)
	temp := filepath.Join(dir, "."+rand.Text()+".tmp")
	f, err := r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = r.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, r.Remove(temp))
	}
	return syncIn(r, dir)
}

// makeFolders makes the folders that a file lies in, and sees that none is a link.
func makeFolders(r *os.Root, path string) error {
	for i := range len(path) {
		if path[i] != filepath.Separator {
			continue
		}
		if err := r.Mkdir(path[:i], 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := notLink(r, path[:i]); err != nil {
			return err
		}
	}
	return nil
}

// syncIn makes the names in a folder durable, where the file system knows of such a thing.
func syncIn(r *os.Root, dir string) error {
	d, err := r.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
