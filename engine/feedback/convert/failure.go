package convert

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/pipe/engine/feedback"
)

// addFailure keeps a failed test, or with an empty test a failed package.
func (t *testRun) addFailure(pkg, title, test string, o *output) {
	lines := testLines(o.lines())
	var item feedback.Item
	item.Severity = t.f.severity("fail")
	var said []string
	if o.died() {
		item.File, item.Line = t.frame(o.death)
		said = append(said, o.death[0])
		if at := slices.Index(lines, o.death[0]); at >= 0 {
			said = append(said, tailOf(lines[:at], 5)...)
		}
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
		case strings.Trim(trimmed, "=") == "", trimmed == "FAIL", trimmed == "PASS", strings.HasPrefix(line, "FAIL\t"),
			strings.HasPrefix(line, "exit status "), strings.HasPrefix(line, "=== "), strings.HasPrefix(trimmed, "--- "):
			continue
		}
		out = append(out, strings.TrimRight(line, " \t"))
	}
	return out
}

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
func (t *testRun) frame(lines []string) (string, int) {
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
