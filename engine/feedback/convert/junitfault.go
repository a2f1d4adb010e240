package convert

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/pipe/engine/feedback"
)

// addFault keeps the failure that is open: that of the test, or of the suite where there is no test.
func (j *junitReport) addFault() {
	suite := &j.suites[len(j.suites)-1]
	suite.holds[1]++
	t := j.test
	if t == nil {
		t = &junitTest{name: suite.title()}
		j.fails++
	}
	t.failed = true
	file := cmp.Or(t.file, suite.file)
	if file == "" && j.f.in.LineText != nil && strings.Contains(t.name, "/") && j.there(j.fileOf(t.name, 1), 1) {
		file = t.name // a file that could not be run is a test of its own
	}
	text := strings.TrimSpace(stripColours(j.text.String()))
	item := feedback.Item{Severity: j.f.severity(j.fault.word)}
	item.File, item.Line = j.place(file, t.line, j.fault.message+"\n"+text)
	item.Description = title(t, suite) + " failed"
	if said := j.fault.said(text); said != "" {
		item.Description = clip(item.Description+": "+said, maxText)
	}
	j.f.add(item, "junit "+t.class+" "+t.name)
}

// title names a test for people: its name, and where it belongs.
func title(t *junitTest, s *junitSuite) string {
	name, class := t.name, t.class
	if name == "" {
		name = "a test without a name"
	}
	if (class == "" || class == "test") && s.name != t.name { // Node's runner says "test" of all
		class = s.name
	}
	if class == "" || class == name || name == s.title() {
		return clip(name, 500)
	}
	return clip(name, 500) + " (" + clip(class, 300) + ")"
}

// said puts the words of a failure in the order in which they help: a brief shows the beginning.
func (f *junitFault) said(text string) string {
	message := f.message
	if lines := errorLines(message); len(lines) > 0 {
		message = strings.Join(lines, "\n") // of a pytest that puts all it shows into the message
	}
	if message == "" {
		message = f.kind
	}
	if text == "" || strings.HasPrefix(text, message) {
		return strings.TrimSpace(cmp.Or(text, message))
	}
	return strings.TrimSpace(message + "\n" + text)
}

// errorLines gives the lines in which pytest says what went wrong.
func errorLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "E "); ok {
			out = append(out, strings.TrimSpace(rest))
		}
	}
	return out
}

// textPosition are the forms in which traces name a line of a file: Python's own, and "file:line" as nearly
// all others have it, also in brackets and as an address.
var textPosition = regexp.MustCompile(`File "([^"\n]+)", line (\d{1,9})|(?:^|[\s("'@])((?:file://)?[^\s:()"'<>]+\.[A-Za-z]\w{0,4}):(\d{1,9})\b`)

// foreign are folders whose files are nobody's work here.
var foreign = []string{"node_modules", "site-packages", "dist-packages", ".venv", "venv", ".tox"}

// maxPositions is how many lines of a trace are looked for.
const maxPositions = 100

// place finds where a test failed: in its own file if it has one, else in the first file of the trace that
// is there. Traces of Python end where the failure happened, all others begin there.
func (j *junitReport) place(file string, line int, text string) (string, int) {
	own := j.fileOf(file, line)
	var at position
	for _, m := range textPosition.FindAllStringSubmatch(text, maxPositions) {
		named, number := m[1]+m[3], m[2]+m[4]
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			continue
		}
		found := j.fileOf(named, n)
		if own != "" {
			if found != own && !strings.HasSuffix(own, "/"+path.Clean(named)) {
				continue
			}
			found = own
		}
		if !j.there(found, n) || slices.ContainsFunc(strings.Split(found, "/"), func(dir string) bool { return slices.Contains(foreign, dir) }) {
			continue
		}
		if at.file == "" || strings.HasSuffix(found, ".py") {
			at = position{file: found, line: n}
		}
	}
	if at.file != "" {
		return at.file, at.line
	}
	return own, line
}

// fileOf gives a file of a report relative to the root. Runners name files from their folder, or from the
// top of the project: what is there counts.
func (j *junitReport) fileOf(file string, line int) string {
	file = strings.TrimPrefix(file, "file://")
	placed := j.f.place(file)
	if clean := path.Clean(file); placed != "" && !path.IsAbs(file) && clean != placed && !j.there(placed, line) && j.there(clean, line) {
		return clean
	}
	return placed
}

// there reports whether a line of a file of the repository is there; without a way to look, any is.
func (j *junitReport) there(file string, line int) bool {
	switch {
	case file == "" || path.IsAbs(file) || strings.HasPrefix(file, ".."):
		return false
	case j.f.in.LineText == nil:
		return true
	}
	return j.f.in.LineText(file, max(line, 1)) != ""
}
