package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	began    int                     // packages and tests so far: their order
	builds   map[string][]position   // what failed builds said, by import path
	loose    []position              // positions in lines that are no events
	failed   []buildFailure          // the first of them
	unbuilt  int                     // all of them
	ended    int                     // packages
	held     int                     // bytes kept of tests that have not ended

	passes, fails, skips int
}

type buildFailure struct {
	pkg, build string
	setup      bool // the package could not even be loaded
}

// testPackage is a package whose tests run.
type testPackage struct {
	name   string
	began  int
	tests  map[string]*output // those that have not ended
	failed map[string]bool    // ancestors of tests that failed: their failure is that of the child
	count  int                // of failed tests
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
		t.began++
		p = &testPackage{name: name, began: t.began, tests: make(map[string]*output), failed: make(map[string]bool)}
		t.packages[name] = p
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
		t.began++
		o = &output{began: t.began}
		p.tests[name] = o
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
	t.held -= len(p.name) + p.out.size()
	running := slices.SortedFunc(maps.Keys(p.tests), func(a, b string) int { return p.tests[a].began - p.tests[b].began })
	for _, name := range running {
		t.held -= len(name) + p.tests[name].size()
	}
	for name := range p.failed { // a sum: order does not matter
		t.held -= len(name)
	}
	if e.Action != "fail" {
		return
	}
	if e.FailedBuild != "" || p.state != "" {
		if t.unbuilt++; len(t.failed) < MaxItems {
			t.failed = append(t.failed, buildFailure{p.name, strings.Clone(e.FailedBuild), p.state == "setup failed"})
		}
		return
	}
	for _, name := range running {
		if p.tests[name].died() {
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
	if len(t.packages) > 0 {
		first := slices.MinFunc(slices.Collect(maps.Values(t.packages)), func(a, b *testPackage) int { return a.began - b.began })
		return noReview("the report ends in the middle: package %q has no result", clip(first.name, 200))
	}
	told := make(map[string]bool, len(t.failed)) // a build that many packages need fails each of them
	for _, failure := range t.failed {
		build, positions := failure.build, t.builds[failure.build]
		if len(positions) == 0 {
			build, positions = "", t.loose
		}
		switch {
		case len(positions) > 0 && told[build]:
		case len(positions) > 0:
			told[build] = true
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
	if t.unbuilt > 0 {
		t.f.summary += fmt.Sprintf(", %d packages not built", t.unbuilt)
	}
	return nil
}
