// Package notes keeps notes as text files in a folder.
package notes

import (
	"os"
	"path/filepath"
	"strings"
)

// Store is a folder of notes.
type Store struct{ Dir string }

// Write keeps a note under a name.
func (s Store) Write(name, text string) error {
	return os.WriteFile(filepath.Join(s.Dir, name+".txt"), []byte(text), 0o600)
}

// Read gives the text of a note.
func (s Store) Read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(s.Dir, name+".txt"))
	return string(b), err
}

// Names gives the names of all notes in alphabetical order.
func (s Store) Names() ([]string, error) {
	entries, err := os.ReadDir(s.Dir) // it sorts them
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".txt"); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// Search gives the names of the notes that hold all the words.
func (s Store) Search(words ...string) ([]string, error) {
	found, err := s.Names()
	for _, word := range words {
		var rest []string
		for _, name := range found {
			text, err := s.Read(name)
			if err != nil {
				return nil, err
			}
			if strings.Contains(text, word) {
				rest = append(rest, name)
			}
		}
		found = rest
	}
	return found, err
}

// Title gives the first line of a text, without the mark of a heading.
func Title(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(line, "# ")
}
