package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What a caller may ask an error of Resolve, OpenInside and ReadInside for.
var (
	ErrOutside    = errors.New("it must be a relative path that stays inside, without \"..\" and symbolic links that lead out")
	ErrNotRegular = errors.New("it is not a regular file")
	ErrTooLarge   = errors.New("the file is larger than allowed")
)

// Resolve returns the absolute path, without symbolic links, of a folder of the workspace: what "dir" of a
// stage names, relative to the root, "" for the root. It must exist. A link inside the workspace is
// followed, one that leads out is ErrOutside.
func (w *Workspace) Resolve(rel string) (string, error) {
	if rel == "" {
		rel = "."
	}
	if !local(rel) {
		return "", fmt.Errorf("use the folder %q: %w", rel, ErrOutside)
	}
	abs, err := filepath.EvalSymlinks(filepath.Join(w.Root, filepath.FromSlash(rel)))
	if err != nil {
		return "", fmt.Errorf("use the folder %q: %w", rel, err)
	}
	if inside, err := filepath.Rel(w.Root, abs); err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("use the folder %q: %w", rel, ErrOutside)
	}
	if !isDir(abs) {
		return "", fmt.Errorf("use the folder %q: it is not a folder", rel)
	}
	return abs, nil
}

// local refuses what leads out by its text alone, also where the way back in would be clean ("a/../b"): a
// symbolic link makes ".." mean something else.
func local(rel string) bool {
	if !filepath.IsLocal(filepath.FromSlash(rel)) || strings.ContainsRune(rel, 0) {
		return false
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if part == ".." {
			return false
		}
	}
	return true
}

// Reserved gives the first part of a relative path, with slashes, below which nobody else writes: the folder of a git
// repository, wherever it lies, and ours; "" for none. File systems that ignore case have them by other spellings too.
func Reserved(rel string) string {
	first := true
	for part := range strings.SplitSeq(rel, "/") {
		if strings.EqualFold(part, ".git") || first && strings.EqualFold(part, StateDir) {
			return part
		}
		first = false
	}
	return ""
}

// OpenInside opens a regular file below root for reading. No component of rel, which has slashes, may be
// ".." or a symbolic link (ErrOutside), and no pipe, device or folder is opened (ErrNotRegular): it never
// blocks. Whatever is swapped meanwhile, the file that is returned lies below root.
func OpenInside(root, rel string) (*os.File, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", rel, err)
	}
	defer r.Close()
	return OpenIn(r, rel)
}

// OpenIn is OpenInside below a folder that is open already: it stays the same one, whatever is put in the
// place of its name.
func OpenIn(r *os.Root, rel string) (*os.File, error) {
	if !local(rel) || filepath.Clean(rel) == "." {
		return nil, fmt.Errorf("open %q: %w", rel, ErrOutside)
	}
	path := filepath.Clean(filepath.FromSlash(rel))
	for i := range len(path) {
		if path[i] == filepath.Separator {
			if err := notLink(r, path[:i]); err != nil {
				return nil, fmt.Errorf("open %q: %w", rel, err)
			}
		}
	}
	f, err := openRegular(r, path)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", rel, err)
	}
	return f, nil
}

func notLink(r *os.Root, path string) error {
	info, err := r.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return ErrOutside
	}
	return nil
}

// openRegular opens a file that is regular both before, since opening a device may do something, and after.
// The root keeps the file inside in any case; that it is the one looked at shows that no link was followed.
func openRegular(r *os.Root, path string) (*os.File, error) {
	before, err := r.Lstat(path)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrOutside
	}
	if !before.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	// Without O_NONBLOCK a pipe that took the file's place would wait for a writer.
	f, err := r.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && (!after.Mode().IsRegular() || !os.SameFile(before, after)) {
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadInside returns the content of a file that OpenInside opens, of at most max bytes; a larger one gives
// ErrTooLarge.
func ReadInside(root, rel string, max int64) ([]byte, error) {
	f, err := OpenInside(root, rel)
	if err != nil {
		return nil, err
	}
	return readAll(f, rel, max)
}

// ReadIn is ReadInside below a folder that is open already.
func ReadIn(r *os.Root, rel string, max int64) ([]byte, error) {
	f, err := OpenIn(r, rel)
	if err != nil {
		return nil, err
	}
	return readAll(f, rel, max)
}

func readAll(f *os.File, rel string, max int64) ([]byte, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", rel, err)
	}
	if int64(len(data)) > max {
		return nil, fmt.Errorf("read %q: %w: more than %d bytes", rel, ErrTooLarge, max)
	}
	return data, nil
}
