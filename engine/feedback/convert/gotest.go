package convert

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/pipe/engine/feedback"
)

// testEvent is a line of "go test -json"; its form is that of cmd/test2json, and of "go help buildjson" for
// what the build says.
type testEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	FailedBuild string
}

// The most that is kept at a time of tests that have not ended: beyond the first no more output is kept,
// beyond the second the report is not read to its end.
const (
	keepOutput = 32 << 20
	keepTests  = 64 << 20
)

// goTest reads the stream of "go test -json", in which lines that are no events may stand: what a script
// printed before, or what older tools say of a build.
func goTest(f *findings) error {
	t := &testRun{f: f, packages: make(map[string]*testPackage), builds: make(map[string][]position)}
	var failure error
	err := eachLine(f.in.Stdout, func(line string) bool {
		failure = t.line(line)
		return failure == nil
	})
	if err == nil {
		err = failure
	}
	if err == nil {
		err = eachLine(f.in.Stderr, func(line string) bool {
			t.plain(line)
			return true
		})
	}
	if err != nil {
		return err
	}
	return t.end()
}

// testRun is a report of go test being read.
type testRun struct {
	f        *findings
	packages map[string]*testPackage // those that have not ended
	order    []string                // their names as they came, for a message
	builds   map[string][]position   // what failed builds said, by import path
	loose    []position              // positions in lines that are no events
	failed   []buildFailure
	ended    int // packages
	held     int // bytes kept of tests that have not ended

	passes, fails, skips int
}

type buildFailure struct {
	pkg, build string
	setup      bool // the package could not even be loaded
}

// testPackage is a package whose tests run.
type testPackage struct {
	name   string
	tests  map[string]*output // those that have not ended
	order  []string
	failed map[string]bool // ancestors of tests that failed: their failure is that of the child
	count  int             // of failed tests
	out    output
	state  string // "build failed" or "setup failed", as its last line says
}

func (t *testRun) line(line string) error {
	var e testEvent
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		t.plain(line)
		return nil
	}
	e.Output = stripColours(strings.ToValidUTF8(strings.TrimRight(e.Output, "\r\n"), "\uFFFD"))
	switch {
	case e.Action == "build-output":
		t.buildOutput(e)
		return nil
	case e.Package == "":
		return nil
	}
	p := t.pkg(e.Package)
	switch e.Action {
	case "output":
		t.output(p, e)
	case "run":
		t.test(p, e.Test)
	case "pass", "skip", "fail":
		if e.Test == "" {
			t.endPackage(p, e)
		} else {
			t.endTest(p, e)
		}
	}
	if t.held > keepTests {
		return noReview("the report holds too many tests at a time")
	}
	return nil
}

// plain takes a line that is no event.
func (t *testRun) plain(line string) {
	if pos, ok := readPosition(line); ok && len(t.loose) < MaxItems {
		t.loose = append(t.loose, pos)
	}
	t.f.hear(line)
}

func (t *testRun) buildOutput(e testEvent) {
	said := t.builds[e.ImportPath]
	if pos, ok := readPosition(e.Output); ok {
		if len(said) < MaxItems && len(t.builds) < MaxItems {
			t.builds[strings.Clone(e.ImportPath)] = append(said, pos)
		}
		return
	}
	if n := len(said); n > 0 && strings.HasPrefix(e.Output, "\t") && len(said[n-1].message) < maxText {
		said[n-1].message += "\n" + strings.TrimSpace(e.Output)
		return
	}
	t.f.hear(e.Output)
}

func (t *testRun) pkg(name string) *testPackage {
	p := t.packages[name]
	if p == nil {
		name = strings.Clone(name)
		p = &testPackage{name: name, tests: make(map[string]*output), failed: make(map[string]bool)}
		t.packages[name] = p
		t.order = append(t.order, name)
		t.held += len(name)
	}
	return p
}

func (t *testRun) test(p *testPackage, name string) *output {
	if name == "" {
		return &p.out
	}
	o := p.tests[name]
	if o == nil {
		name = strings.Clone(name)
		o = &output{}
		p.tests[name] = o
		p.order = append(p.order, name)
		t.held += len(name)
	}
	return o
}

func (t *testRun) output(p *testPackage, e testEvent) {
	if e.Test == "" {
		switch {
		case strings.HasSuffix(e.Output, "[setup failed]"):
			p.state = "setup failed"
		case strings.HasSuffix(e.Output, "[build failed]"):
			p.state = "build failed"
		}
	}
	if t.held < keepOutput {
		t.held += t.test(p, e.Test).add(e.Output)
	}
}

// endTest drops what is kept of a test and keeps its failure, unless a test inside it failed.
func (t *testRun) endTest(p *testPackage, e testEvent) {
	o := p.tests[e.Test]
	if o == nil {
		o = &output{}
	} else {
		t.held -= o.size() + len(e.Test)
		delete(p.tests, e.Test)
		p.order = remove(p.order, e.Test)
	}
	switch e.Action {
	case "pass":
		t.passes++
	case "skip":
		t.skips++
	case "fail":
		t.failTest(p, e.Test, o)
	}
}

// remove takes a name out; tests that end are most often among the last that began.
func remove(names []string, name string) []string {
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return slices.Delete(names, i, i+1)
		}
	}
	return names
}

func (t *testRun) failTest(p *testPackage, name string, o *output) {
	p.count++
	inner := p.failed[name]
	for i, c := range name {
		if c == '/' && !p.failed[name[:i]] {
			p.failed[strings.Clone(name[:i])] = true
			t.held += i
		}
	}
	if inner {
		return
	}
	t.fails++
	t.addFailure(p.name, strings.Clone(name), name, o)
}

// endPackage keeps the failure of a package that no failed test explains: a build, a panic or a time limit
// (which belong to the tests that were running), or an exit of its own.
func (t *testRun) endPackage(p *testPackage, e testEvent) {
	t.ended++
	delete(t.packages, p.name)
	t.order = remove(t.order, p.name)
	t.held -= len(p.name) + p.out.size()
	for _, name := range p.order {
		t.held -= len(name) + p.tests[name].size()
	}
	for name := range p.failed { // a sum: order does not matter
		t.held -= len(name)
	}
	if e.Action != "fail" {
		return
	}
	if e.FailedBuild != "" || p.state != "" {
		t.failed = append(t.failed, buildFailure{p.name, strings.Clone(e.FailedBuild), p.state == "setup failed"})
		return
	}
	for _, name := range p.order {
		if crash(p.tests[name].lines()) >= 0 {
			t.failTest(p, name, p.tests[name])
		}
	}
	if p.count == 0 {
		t.fails++
		t.addFailure(p.name, "package "+p.name, "", &p.out)
	}
}

// end looks at the report as a whole.
func (t *testRun) end() error {
	if t.ended == 0 && len(t.packages) == 0 {
		return noReview("no result of go test -json in the report%s", t.f.said())
	}
	if len(t.order) > 0 {
		return noReview("the report ends in the middle: package %q has no result", clip(t.order[0], 200))
	}
	for _, failure := range t.failed {
		positions := t.builds[failure.build]
		if len(positions) == 0 {
			positions = t.loose
		}
		switch {
		case len(positions) > 0:
			for _, pos := range positions {
				t.f.addPosition(pos)
			}
		case failure.setup:
			return noReview("setup of package %q failed%s", clip(failure.pkg, 200), t.f.said())
		default:
			return noReview("build of package %q failed without a position%s", clip(failure.pkg, 200), t.f.said())
		}
	}
	t.f.sort()
	t.f.summary = fmt.Sprintf("%d failed, %d passed, %d skipped", t.fails, t.passes, t.skips)
	if n := len(t.failed); n > 0 {
		t.f.summary += fmt.Sprintf(", %d packages not built", n)
	}
	return nil
}

// addFailure keeps a failed test, or with an empty test a failed package.
func (t *testRun) addFailure(pkg, title, test string, o *output) {
	lines := testLines(o.lines())
	var item feedback.Item
	item.Severity = feedback.Blocking
	var said []string
	if at := crash(lines); at >= 0 {
		item.File, item.Line = t.frame(pkg, lines[at:])
		said = append([]string{lines[at]}, beforeCrash(lines[:at])...)
	} else if at, file, line := errorLine(lines); at >= 0 {
		item.File, item.Line = t.sourceFile(pkg, file), line
		said = blockFirst(lines, at)
		if item.File == "" {
			item.Line = 0
			item.Flags = []string{fmt.Sprintf("file %q dropped: the folder of package %q is not known", file, clip(pkg, 200))}
		}
	} else {
		said = lines
		if test == "" {
			said = tailOf(lines, 20)
		}
	}
	item.Description = title + " failed"
	if text := strings.TrimSpace(strings.Join(said, "\n")); text != "" {
		item.Description = clip(title+" failed: "+text, maxText)
	}
	t.f.add(item, "go-test "+pkg+" "+test)
}

// testLines drops the lines that the test runner writes itself.
func testLines(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "", trimmed == "FAIL", trimmed == "PASS", strings.HasPrefix(line, "FAIL\t"),
			strings.HasPrefix(line, "exit status "), strings.HasPrefix(line, "=== "), strings.HasPrefix(trimmed, "--- "):
			continue
		}
		out = append(out, strings.TrimRight(line, " \t"))
	}
	return out
}

// crash finds the line with which a program died; -1: none.
func crash(lines []string) int {
	return slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	})
}

// beforeCrash keeps a little of what a test said before it died.
func beforeCrash(lines []string) []string { return tailOf(lines, 5) }

func tailOf(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

var (
	testPosition = regexp.MustCompile(`^\s{4,}([^\s:][^:]*\.go):(\d{1,9}): ?(.*)$`)
	soundsFailed = regexp.MustCompile(`(?i)\b(got|wants?|wanted|expect(ed|s)?|unexpected|errors?|fail(ed|s|ure)?|not|mismatch|diff|missing|nil|invalid)\b`)
	stackFrame   = regexp.MustCompile(`^\s+(\S.*\.(?:go|s)):(\d{1,9})(?: \+0x[0-9a-f]+)?$`)
)

// errorLine finds where a test says that it failed. t.Log and t.Error look alike, so the first line that
// sounds like a failure counts, else the last one: it is the one that ended the test.
func errorLine(lines []string) (at int, file string, line int) {
	at = -1
	for i, l := range lines {
		m := testPosition.FindStringSubmatch(l)
		if m == nil || m[1] == "testing.go" {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		at, file, line = i, m[1], n
		if soundsFailed.MatchString(m[3]) {
			return at, file, line
		}
	}
	return at, file, line
}

// blockFirst puts the message at a line, with the lines that go on with it, before all others: a brief
// shows the beginning.
func blockFirst(lines []string, at int) []string {
	end := at + 1
	for end < len(lines) && testPosition.FindString(lines[end]) == "" {
		end++
	}
	first := testPosition.FindStringSubmatch(lines[at])[3]
	out := make([]string, 0, len(lines))
	if first != "" {
		out = append(out, first)
	}
	for _, rest := range [][]string{lines[at+1 : end], lines[:at], lines[end:]} {
		for _, line := range rest {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// frame finds the first line of a stack that lies in the repository.
func (t *testRun) frame(pkg string, lines []string) (string, int) {
	for _, line := range lines {
		m := stackFrame.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		if rel, ok := t.f.insideRoot(m[1]); ok {
			return rel, n
		}
		if dir, file := path.Split(m[1]); dir != "" && !path.IsAbs(m[1]) { // built with -trimpath
			if folder, ok := t.folder(strings.TrimSuffix(dir, "/")); ok {
				return path.Join(folder, file), n
			}
		}
	}
	return "", 0
}

// sourceFile places a file that a test of the package names.
func (t *testRun) sourceFile(pkg, file string) string {
	if path.IsAbs(file) {
		return t.f.place(file)
	}
	folder, ok := t.folder(pkg)
	if !ok {
		return ""
	}
	return path.Join(folder, file)
}

// folder finds the folder of a package, relative to the root.
func (t *testRun) folder(pkg string) (string, bool) {
	in := &t.f.in
	if in.Folder != nil {
		if dir, ok := in.Folder(pkg); ok {
			return dir, true
		}
	}
	switch {
	case pkg == "command-line-arguments":
		return in.Dir, true
	case in.Module == "":
		return "", false
	case pkg == in.Module:
		return in.ModuleDir, true
	}
	rest, ok := strings.CutPrefix(pkg, in.Module+"/")
	return path.Join(in.ModuleDir, rest), ok
}
