package toolchain

import (
	_ "embed"
	"path"
	"regexp"
	"strings"
)

// runUnittest runs the tests of the standard library's unittest and writes a report of them, which it can't do
// itself. It holds no single quote, so that a shell takes it between two.
//
//go:embed unittest.py
var runUnittest string

// pythonFiles are the files by which a Python project is known, the first that is there.
var pythonFiles = []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "pytest.ini", "tox.ini", "conftest.py"}

// positionLines are the findings of ruff and flake8.
const positionLines = `^(?P<file>[^\s:][^:]*):(?P<line>\d+):\d+: (?P<description>.+)$`

// pythonTools are the commands of a Python project: pytest where it is configured or required, else unittest.
func pythonTools(f folder) (*tools, error) {
	tests, inFolder := f.pythonTests()
	mark := f.first(pythonFiles...)
	if mark == "" {
		if tests == "" {
			return nil, nil
		}
		mark = tests
	}
	t := &tools{kind: "Python", mark: mark, why: map[string]string{
		"test": "no pytest is configured or required, and there are no files test*.py",
		"lint": "neither ruff nor flake8 is configured or required",
	}}
	p := pythonProject{folder: f}
	if err := p.load(); err != nil {
		return nil, err
	}
	// Tests leave nothing in the tree that a later look at it would take for work.
	switch python := "PYTHONDONTWRITEBYTECODE=1 " + p.interpreter(); {
	case p.uses("pytest"):
		// The form xunit1 says in which file and line a test stands.
		t.commands = append(t.commands, Command{Role: "test", Format: "junit", Path: reportPath,
			Script: python + ` -m pytest -o cache_dir="$PIPE_STAGE_DIR/cache" -o junit_family=xunit1 --junitxml="` + reportPath + `"`})
	case tests != "":
		start := "."
		if inFolder {
			start = path.Dir(tests)
		}
		t.commands = append(t.commands, Command{Role: "test", Format: "junit", Path: reportPath,
			Script: python + " -c '" + runUnittest + `' "` + reportPath + `" ` + start})
	}
	run := p.runner()
	switch {
	case p.uses("ruff"):
		t.commands = append(t.commands, Command{Role: "lint", Format: "lines", Pattern: positionLines,
			Script: run + "ruff check --output-format=concise ."})
	case p.uses("flake8"):
		t.commands = append(t.commands, Command{Role: "lint", Format: "lines", Pattern: positionLines, Script: run + "flake8"})
	}
	return t, nil
}

// pythonTests finds a file of tests: in the folder itself, or in tests or test below it. Whether the search must
// start in that folder: it is no package, and would not be found from here.
func (f folder) pythonTests() (file string, inFolder bool) {
	if names := f.glob("test*.py"); len(names) > 0 {
		return names[0], false
	}
	for _, dir := range []string{"tests", "test"} {
		if names := f.glob(dir + "/test*.py"); len(names) > 0 {
			return names[0], !f.has(dir + "/__init__.py")
		}
	}
	return "", false
}

// pythonProject is what the files of a project say.
type pythonProject struct {
	folder
	text     string // of all that configure tools or name what is required, without comments
	sections string // the headings of the configuration files
}

var (
	pythonComment = regexp.MustCompile(`(?m)(^|\s)#.*$`)
	pythonSection = regexp.MustCompile(`(?m)^\[[^\]\n]+\]`)
)

func (p *pythonProject) load() error {
	names := append([]string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "Pipfile"}, p.glob("requirements*.txt")...)
	var text strings.Builder
	for _, name := range names {
		s, err := p.read(name)
		if err != nil {
			return err
		}
		text.WriteString(pythonComment.ReplaceAllString(s, "") + "\n")
	}
	p.text = text.String()
	p.sections = strings.Join(pythonSection.FindAllString(p.text, -1), "\n")
	return nil
}

// uses reports whether a tool is configured or required.
func (p *pythonProject) uses(tool string) bool {
	files := map[string][]string{
		"pytest": {"pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"},
		"ruff":   {"ruff.toml", ".ruff.toml"},
		"flake8": {".flake8"},
	}
	if p.first(files[tool]...) != "" {
		return true
	}
	section := regexp.MustCompile(`\[(?:tool[.:])?` + tool + `[.\]]`)
	required := regexp.MustCompile(`(?m)(?:^|["'\s,\[])` + tool + `(?:$|["'\s,\]\[<>=~!;])`)
	return section.MatchString(p.sections) || required.MatchString(pythonSection.ReplaceAllString(p.text, ""))
}

// runner is what a program of the project's environment is started by; "" or a word with a blank behind it.
func (p *pythonProject) runner() string {
	for _, lock := range []struct{ file, run string }{
		{"uv.lock", "uv run "}, {"poetry.lock", "poetry run "}, {"pdm.lock", "pdm run "}, {"Pipfile.lock", "pipenv run "},
	} {
		if len(p.above(lock.file)) > 0 {
			return lock.run
		}
	}
	for _, dir := range []string{".venv", "venv"} {
		if p.has(dir + "/bin/python") {
			return dir + "/bin/"
		}
	}
	return ""
}

// interpreter is what starts Python.
func (p *pythonProject) interpreter() string {
	if run := p.runner(); run != "" {
		return run + "python"
	}
	return "python3"
}
