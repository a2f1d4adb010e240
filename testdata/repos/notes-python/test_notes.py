import tempfile
import unittest

import notes


class TestTitle(unittest.TestCase):
    def test_one_line(self):
        self.assertEqual(notes.title("bread"), "bread")

    def test_heading(self):
        self.assertEqual(notes.title("# Bread\nflour\n"), "Bread")


class TestStore(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = notes.Store(folder.name)

    def test_search(self):
        for name, text in [("rolls", "flour and milk"), ("bread", "flour and water"), ("tea", "water")]:
            self.store.write(name, text)
        self.assertEqual(self.store.search("flour"), ["bread", "rolls"])
        self.assertEqual(self.store.search("flour", "water"), ["bread"])
        self.assertEqual(self.store.search("salt"), [])


if __name__ == "__main__":
    unittest.main()
