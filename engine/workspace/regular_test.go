package workspace

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("file"), "text")
	write(t, at("empty"), "")
	must(t, os.Symlink("file", at("link")))
	must(t, os.Symlink("none", at("dangling")))
	must(t, os.Symlink("ring", at("ring")))
	must(t, os.Symlink("pipe", at("to-pipe")))
	must(t, os.Mkdir(at("folder"), 0o755))
	mkfifo(t, at("pipe"))
	l, err := net.Listen("unix", at("socket"))
	must(t, err)
	defer l.Close()

	for name, want := range map[string]string{"file": "text", "link": "text", "empty": ""} {
		if b, err := ReadRegular(at(name), 4); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for name, want := range map[string]struct {
		err  error
		text string
	}{
		"none":       {fs.ErrNotExist, "no such file"},
		"file/below": {nil, "not a directory"},
		"dangling":   {ErrDangling, "leads to"},
		"ring":       {nil, "too many levels of symbolic links"},
		"folder":     {ErrNotRegular, "a folder"},
		"pipe":       {ErrNotRegular, "a named pipe"},
		"to-pipe":    {ErrNotRegular, "a named pipe"},
		"socket":     {ErrNotRegular, "a socket"},
		"/dev/zero":  {ErrNotRegular, "a device"},
	} {
		path := at(name)
		if filepath.IsAbs(name) {
			path = name
		}
		_, err := ReadRegular(path, 4)
		if err == nil || want.err != nil && !errors.Is(err, want.err) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v, want %q", name, err, want.text)
		} else if strings.Contains(err.Error(), dir) {
			t.Errorf("%s: the error names the file: %v", name, err)
		}
		if errors.Is(err, fs.ErrNotExist) != (name == "none") {
			t.Errorf("%s: %v says that there is none", name, err)
		}
	}
	if _, err := ReadRegular(at("file"), 3); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("too large: %v", err)
	}
}
