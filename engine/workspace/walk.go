package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// walkPrefix begins the hash of a tree that was walked; the rest is the SHA-256 of its manifest.
const walkPrefix = "walk:"

// The modes of a manifest, as git writes them.
const (
	modeFile = "100644"
	modeExec = "100755"
	modeLink = "120000"
)

// readWalk reads the tree without git. The manifest has one entry a file, "mode sum name" and a NUL, in the
// order of names. Empty folders, pipes, sockets and devices don't count, as in git.
func (w *Workspace) readWalk(ctx context.Context, out *exclusion) (Tree, error) {
	root, err := os.OpenRoot(w.Root)
	if err != nil {
		return Tree{}, fmt.Errorf("read the workspace's tree: %w", err)
	}
	defer root.Close()
	var entries []string
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, fs.ErrNotExist) && name != "." {
			return nil // gone since its folder was listed
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" || out.path(name) {
				return fs.SkipDir
			}
			return nil
		}
		if out.path(name) {
			return nil
		}
		entry, err := manifestEntry(ctx, root, name, out)
		if entry != "" {
			entries = append(entries, entry)
		}
		return err
	})
	if err != nil {
		return Tree{}, fmt.Errorf("read the workspace's tree: %w", err)
	}
	// sorted: a folder's files come before the file "folder.txt" in the walk and after it here
	slices.SortFunc(entries, func(a, b string) int { return strings.Compare(entryName(a), entryName(b)) })
	manifest := []byte(strings.Join(entries, ""))
	sum := sha256.Sum256(manifest)
	hash := walkPrefix + hex.EncodeToString(sum[:])
	if err := w.keepManifest(hash, manifest); err != nil {
		return Tree{}, err
	}
	return Tree{Hash: hash, Tracked: hash}, nil
}

func entryName(entry string) string { return entry[len(modeFile)+1+hex.EncodedLen(sha256.Size)+1:] }

// manifestEntry returns "" for what does not count, and for a file that is gone.
func manifestEntry(ctx context.Context, root *os.Root, name string, out *exclusion) (string, error) {
	path := filepath.FromSlash(name)
	info, err := root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	h := sha256.New()
	mode := modeFile
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		mode = modeLink
		target, err := root.Readlink(path)
		if err != nil {
			return "", unlessGone(err)
		}
		io.WriteString(h, target) // a hash takes everything
	case info.Mode().IsRegular():
		if out.ourOutput(info) {
			return "", nil
		}
		if info.Mode()&0o100 != 0 {
			mode = modeExec
		}
		f, err := openRegular(root, path)
		if errors.Is(err, ErrNotRegular) {
			return "", nil // swapped since
		}
		if err != nil {
			return "", unlessGone(err)
		}
		defer f.Close()
		if _, err := io.Copy(h, Until(ctx, f)); err != nil {
			return "", err
		}
	default:
		return "", nil
	}
	return mode + " " + hex.EncodeToString(h.Sum(nil)) + " " + name + "\x00", nil
}

func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Until gives what r holds, until the context is done: also in the midst of a huge file. It lives no longer than one copy.
func Until(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

func (w *Workspace) manifestPath(hash string) string {
	return filepath.Join(w.Store, "manifests", strings.TrimPrefix(hash, walkPrefix))
}

// keepManifest stores a manifest under its own sum, once.
func (w *Workspace) keepManifest(hash string, manifest []byte) error {
	path := w.manifestPath(hash)
	if isFile(path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep a manifest: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".manifest-*")
	if err != nil {
		return fmt.Errorf("keep a manifest: %w", err)
	}
	_, err = f.Write(manifest)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) // the error that matters is the first
		return fmt.Errorf("keep a manifest: %w", err)
	}
	return nil
}

// manifest returns a tree's files by name; "" is the empty tree.
func (w *Workspace) manifest(hash string) (map[string]string, error) {
	files := map[string]string{}
	if hash == "" {
		return files, nil
	}
	sum := strings.TrimPrefix(hash, walkPrefix)
	if sum == hash || len(sum) != 64 || !isObject(sum) {
		return nil, fmt.Errorf("compare trees: %w: %q is no name of a tree", ErrUnknownTree, hash)
	}
	text, err := os.ReadFile(w.manifestPath(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("compare trees: %w: %q is not in %q", ErrUnknownTree, hash, w.Store)
	}
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	if got := sha256.Sum256(text); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("compare trees: %w: the manifest %q is damaged", ErrUnknownTree, w.manifestPath(hash))
	}
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		if len(entry) > 0 {
			name := entryName(string(entry))
			files[name] = string(entry[:len(entry)-len(name)])
		}
	}
	return files, nil
}

func (w *Workspace) changedWalk(from, to string) ([]string, error) {
	a, err := w.manifest(from)
	if err != nil {
		return nil, err
	}
	b, err := w.manifest(to)
	if err != nil {
		return nil, err
	}
	var names []string
	for name, entry := range a {
		if b[name] != entry {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	return names, nil // sorted by Changed
}
