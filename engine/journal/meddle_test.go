package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestMeddling has somebody else write to the open journal in its place: the next step is refused, so that
// nothing is carried out whose record can't be read again.
func TestMeddling(t *testing.T) {
	for name, meddle := range map[string]func(path string) error{
		"cut":   func(path string) error { return os.Truncate(path, 0) },
		"a bit": func(path string) error { return os.Truncate(path, 100) },
		"longer": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("garbage\n")
			return errors.Join(err, f.Close())
		},
	} {
		for _, closing := range []bool{false, true} {
			w, dir := create(t)
			if err := w.Append(lineOf(1)); err != nil {
				t.Fatal(err)
			}
			if err := meddle(filepath.Join(dir, FileName)); err != nil {
				t.Fatal(err)
			}
			var err error
			if closing {
				err = w.Close()
			} else {
				err = w.Append(lineOf(2))
			}
			var damage *DamageError
			if !errors.As(err, &damage) {
				t.Errorf("%s, closing %v: got %v, want damage", name, closing, err)
			}
			if !closing {
				if again := w.Append(lineOf(3)); again != err { //nolint:errorlint // the very same
					t.Errorf("%s: then %v", name, again)
				}
			}
		}
	}
}
