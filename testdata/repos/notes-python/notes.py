"""Keeps notes as text files in a folder."""

from pathlib import Path


class Store:
    """A folder of notes."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def write(self, name, text):
        """Keeps a note under a name."""
        (self.folder / (name + ".txt")).write_text(text)

    def read(self, name):
        """Gives the text of a note."""
        return (self.folder / (name + ".txt")).read_text()

    def names(self):
        """Gives the names of all notes in alphabetical order."""
        return sorted(file.stem for file in self.folder.glob("*.txt"))

    def search(self, *words):
        """Gives the names of the notes that hold all the words."""
        found = self.names()
        for word in words:
            found = [name for name in found if word in self.read(name)]
        return found


def title(text):
    """Gives the first line of a text, without the mark of a heading."""
    line, _, _ = text.partition("\n")
    return line.removeprefix("# ")
