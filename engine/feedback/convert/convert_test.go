package convert_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestReports converts what tools really wrote. An archive holds the input as "key: value" lines, stdout
// and stderr, and what comes of it.
func TestReports(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no reports: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			format, in := readInput(t, archive)
			result, err := convert.Convert(format, in)
			if err == nil {
				result, err = feedback.Normalise(result, feedback.Context{Root: in.Root, Dir: in.Dir, Agent: "tool"})
			}
			got := dump(result, err)
			if *update {
				setFile(archive, "want", got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(getFile(archive, "want"), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func readInput(t *testing.T, archive *txtar.Archive) (string, convert.Input) {
	t.Helper()
	in := convert.Input{Root: "/repo", Stdout: strings.NewReader(getFile(archive, "stdout")), Stderr: strings.NewReader(getFile(archive, "stderr"))}
	format := ""
	for line := range strings.Lines(getFile(archive, "input")) {
		key, val, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "format":
			format = val
		case "exit":
			n, err := strconv.Atoi(val)
			if err != nil {
				t.Fatal(err)
			}
			in.ExitCode = n
		case "dir":
			in.Dir = val
		case "root":
			in.Root = val
		case "module":
			in.Module = val
		case "pattern":
			in.Pattern = regexp.MustCompile(val)
		default:
			t.Fatalf("unknown key %q", key)
		}
	}
	return format, in
}

func getFile(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setFile(a *txtar.Archive, name, data string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(data)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(data)})
}

// dump shows a result, its fingerprints aside, or the error.
func dump(r feedback.Result, err error) string {
	if err != nil {
		return fmt.Sprintf("error (no review: %v): %v\n", errors.Is(err, convert.ErrNoReview), err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "summary: %s\n", r.Summary)
	for _, i := range r.Items {
		fmt.Fprintf(&b, "%s %s:%d (%s) %q\n", i.Severity, i.File, i.Line, i.SourceAgent, i.Description)
		if i.SuggestedFix != "" {
			fmt.Fprintf(&b, "  fix: %s\n", i.SuggestedFix)
		}
		for _, flag := range i.Flags {
			fmt.Fprintf(&b, "  %s\n", flag)
		}
	}
	return b.String()
}

func event(action, pkg, test, output string) string {
	data, err := json.Marshal(map[string]string{"Action": action, "Package": pkg, "Test": test, "Output": output})
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

func failing(pkg, test string, lines ...string) string {
	var b strings.Builder
	b.WriteString(event("run", pkg, test, ""))
	for _, l := range lines {
		b.WriteString(event("output", pkg, test, l+"\n"))
	}
	return b.String() + event("fail", pkg, test, "")
}

func TestGoTest(t *testing.T) {
	const module = "example.com/m"
	end := event("fail", module+"/p", "", "")
	tests := []struct {
		name   string
		in     convert.Input
		stdout string
		want   string
	}{
		{"nothing", convert.Input{}, "", "error (no review: true): the review did not take place: no result of go test -json in the report\n"},
		{"nothing, failing", convert.Input{ExitCode: 1}, "hello\n",
			"error (no review: true): the review did not take place: no result of go test -json in the report (it says \"hello\")\n"},
		{"another exit status", convert.Input{ExitCode: 2}, "usage: go test\n",
			"error (no review: true): the review did not take place: exit status 2, expected one of 0, 1 (it says \"usage: go test\")\n"},
		{"allowed exit status", convert.Input{ExitCode: 2, OKExitCodes: []int{2}}, failing(module+"/p", "TestA") + end,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"TestA failed\"\n"},
		{"all pass, yet it failed", convert.Input{ExitCode: 1}, event("pass", module, "TestA", "") + event("pass", module, "", ""),
			"error (no review: true): the review did not take place: exit status 1, but the report holds no finding\n"},
		{"cut off", convert.Input{ExitCode: 1}, failing(module+"/p", "TestA"),
			"error (no review: true): the review did not take place: the report ends in the middle: package \"example.com/m/p\" has no result\n"},
		{"cut off in a line", convert.Input{ExitCode: 1}, failing(module+"/p", "TestA") + end[:len(end)-4],
			"error (no review: true): the review did not take place: the report ends in the middle: package \"example.com/m/p\" has no result\n"},
		{"one of two cut off", convert.Input{ExitCode: 1}, event("start", "q", "", "") + failing(module+"/p", "TestA") + end,
			"error (no review: true): the review did not take place: the report ends in the middle: package \"q\" has no result\n"},
		{"other lines between", convert.Input{Module: module}, "go: downloading x\n{not json\n{\"a\":1}\n\n" +
			failing(module+"/p", "TestA", "    a_test.go:3: \x1b[31mgot\x1b[0m 1\xff") + end,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking p/a_test.go:3 () \"TestA failed: got 1\uFFFD\"\n"},
		{"module in a folder", convert.Input{Module: module, ModuleDir: "go"}, failing(module, "TestA", "    a_test.go:3: x") + event("fail", module, "", ""),
			"summary: 1 failed, 0 passed, 0 skipped\nblocking go/a_test.go:3 () \"TestA failed: x\"\n"},
		{"a function finds the folder", convert.Input{Module: module, Folder: func(p string) (string, bool) { return "found", p == module+"/p" }},
			failing(module+"/p", "TestA", "    a_test.go:3: x") + end,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking found/a_test.go:3 () \"TestA failed: x\"\n"},
		{"module not known", convert.Input{}, failing(module+"/p", "TestA", "    a_test.go:3: x") + end,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking :0 () \"TestA failed: x\"\n" +
				"  file \"a_test.go\" dropped: the folder of package \"example.com/m/p\" is not known\n"},
		{"files of a command line", convert.Input{Dir: "d"}, failing("command-line-arguments", "TestA", "    a_test.go:3: x") + event("fail", "command-line-arguments", "", ""),
			"summary: 1 failed, 0 passed, 0 skipped\nblocking d/a_test.go:3 () \"TestA failed: x\"\n"},
		{"a line of the test runner itself", convert.Input{Module: module},
			failing(module+"/p", "TestA", "    a_test.go:3: x is 2", "    testing.go:1712: race detected during execution of test: unexpected") + end,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking p/a_test.go:3 () \"TestA failed: x is 2\\ntesting.go:1712: race detected during execution of test: unexpected\"\n"},
		{"a test that prints a panic", convert.Input{Module: module},
			failing(module+"/p", "TestA", "panic: as text", "    a_test.go:3: want no panic") + end,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking p/a_test.go:3 () \"TestA failed: want no panic\\npanic: as text\"\n"},
		{"a panic behind much output", convert.Input{Module: module, Root: "/repo"},
			failing(module+"/p", "TestA", append(append(many("log", 4000), "panic: boom", "goroutine 7 [running]:", "\t/repo/p/a.go:9 +0x1"), many("frame", 4000)...)...) + end,
			"summary: 1 failed, 0 passed, 0 skipped\nblocking /repo/p/a.go:9 () \"TestA failed: panic: boom\"\n"},
		{"older tools say of a build on stderr", convert.Input{ExitCode: 1, Module: module, Stderr: strings.NewReader("# example.com/m/p\np/a.go:3:4: undefined: x\n")},
			event("output", module+"/p", "", "FAIL\texample.com/m/p [build failed]\n") + end,
			"summary: 0 failed, 0 passed, 0 skipped, 1 packages not built\nblocking p/a.go:3 () \"undefined: x\"\n"},
		{"a build without a position", convert.Input{ExitCode: 1},
			event("output", module+"/p", "", "FAIL\texample.com/m/p [build failed]\n") + end,
			"error (no review: true): the review did not take place: build of package \"example.com/m/p\" failed without a position\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.in.Stdout = strings.NewReader(test.stdout)
			if got := dump(convert.Convert(convert.GoTest, test.in)); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
		})
	}
}

func many(word string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = word + " " + strconv.Itoa(i)
	}
	return out
}

func TestGoVet(t *testing.T) {
	tests := []struct {
		name, stderr string
		exit         int
		want         string
	}{
		{"clean", "", 0, "summary: 0 findings\n"},
		{"silent failure", "", 1, "error (no review: true): the review did not take place: exit status 1, but the report holds no finding\n"},
		{"repeats, an absolute path, one outside", "a.go:1:2: x\n./a.go:1:2: x\n/repo/b.go:3: y\n/usr/lib/c.go:4:1: z\n", 1,
			"summary: 3 findings\nblocking /usr/lib/c.go:4 () \"z\"\nblocking /repo/b.go:3 () \"y\"\nblocking /repo/d/a.go:1 () \"x\"\n"},
		{"no positions", "a.go:0:1: x\n12:30: lunch\nhttp://x.go: y\na.go:x: z\n", 1,
			"error (no review: true): the review did not take place: exit status 1, but the report holds no finding (it says \"a.go:0:1: x; 12:30: lunch; http://x.go: y\")\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := convert.Input{Stderr: strings.NewReader(test.stderr), ExitCode: test.exit, Root: "/repo", Dir: "d"}
			if got := dump(convert.Convert(convert.GoVet, in)); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	const full = `^(?P<severity>\w+) (?P<file>\S*):(?P<line>\d*) (?P<description>.*)$`
	tests := []struct {
		name, pattern, stdout, stderr string
		exit                          int
		want                          string
	}{
		{"all groups", full, "warning a.go:3 x\nnote :  \nE ../b.go:0 y\r\n", "info c.go:1 z\n", 1,
			"summary: 4 findings\nadvisory d/a.go:3 () \"x\"\ninformational :0 () \"note :\"\nblocking b.go:0 () \"y\"\ninformational d/c.go:1 () \"z\"\n"},
		{"no groups", `TODO`, "a TODO here\nnothing\n", "", 0, "summary: 1 findings\nblocking :0 () \"a TODO here\"\n"},
		{"no match", `TODO`, "all well\n", "", 0, "summary: 0 findings\n"},
		{"no match, failing", `TODO`, "", "\n\x1b[1mcannot start\x1b[0m\n", 1,
			"error (no review: true): the review did not take place: exit status 1, but the report holds no finding (it says \"cannot start\")\n"},
		{"empty matches", `x*`, "\n \n", "", 0, "summary: 0 findings\n"},
		{"a number beyond all lines", full, "error a.go:99999999999999999999 x\n", "", 1, "summary: 1 findings\nblocking d/a.go:0 () \"x\"\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := convert.Input{Stdout: strings.NewReader(test.stdout), Stderr: strings.NewReader(test.stderr), ExitCode: test.exit,
				Dir: "d", Pattern: regexp.MustCompile(test.pattern)}
			if got := dump(convert.Convert(convert.Lines, in)); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
		})
	}
}

func TestMistakesInTheInput(t *testing.T) {
	for _, format := range []string{"", "checkstyle", convert.Items} {
		if _, err := convert.Convert(format, convert.Input{}); err == nil || errors.Is(err, convert.ErrNoReview) {
			t.Errorf("format %q: error %v", format, err)
		}
	}
	if _, err := convert.Convert(convert.Lines, convert.Input{}); err == nil || errors.Is(err, convert.ErrNoReview) {
		t.Errorf("lines without a pattern: error %v", err)
	}
	for _, format := range convert.Formats() {
		if codes, ok := convert.Defaults(format); !ok || format != convert.JUnit && codes[0] != 0 {
			t.Errorf("defaults of %q: %v, %v", format, codes, ok)
		}
	}
	if _, ok := convert.Defaults("nosuch"); ok {
		t.Error("a format that is not known has defaults")
	}
}

func TestAReportThatCannotBeRead(t *testing.T) {
	broken := func() io.Reader {
		return io.MultiReader(strings.NewReader("a.go:1:1: x\n"), iotest.ErrReader(errors.New("disk on fire")))
	}
	for _, format := range []string{convert.GoTest, convert.GoVet, convert.Lines} {
		in := convert.Input{Stdout: broken(), Pattern: regexp.MustCompile(".")}
		if _, err := convert.Convert(format, in); !errors.Is(err, convert.ErrNoReview) || !strings.Contains(err.Error(), "disk on fire") {
			t.Errorf("%s, stdout: error %v", format, err)
		}
		in = convert.Input{Stdout: strings.NewReader(event("pass", "p", "", "")), Stderr: broken(), Pattern: regexp.MustCompile(".")}
		if _, err := convert.Convert(format, in); !errors.Is(err, convert.ErrNoReview) {
			t.Errorf("%s, stderr: error %v", format, err)
		}
	}
}

func TestFingerprints(t *testing.T) {
	lines := map[int]string{3: "\tx()", 9: "x()", 4: "y()"}
	of := func(stderr string) string {
		r, err := convert.Convert(convert.GoVet, convert.Input{Stderr: strings.NewReader(stderr),
			LineText: func(_ string, n int) string { return lines[n] }})
		if err != nil {
			t.Fatal(err)
		}
		return r.Items[0].Fingerprint
	}
	if of("a.go:3:1: m\n") != of("./a.go:9:7: m\n") {
		t.Error("a line that moved has another fingerprint")
	}
	for _, other := range []string{"a.go:4:1: m\n", "b.go:3:1: m\n", "a.go:3:1: n\n"} {
		if of("a.go:3:1: m\n") == of(other) {
			t.Errorf("%q has the same fingerprint", other)
		}
	}
}

// TestFilesOfAStageInAFolder checks that a file is placed once, not again when its result is normalised for
// the folder of the stage.
func TestFilesOfAStageInAFolder(t *testing.T) {
	in := convert.Input{Root: "/repo", Dir: "api", Module: "example.com/m", ExitCode: 1,
		Stdout: strings.NewReader(failing("example.com/m/lib", "TestA", "    a_test.go:3: x") + event("fail", "example.com/m/lib", "", ""))}
	tested, err := convert.Convert(convert.GoTest, in)
	if err != nil {
		t.Fatal(err)
	}
	vetted, err := convert.Convert(convert.GoVet, convert.Input{Root: "/repo", Dir: "api", Stderr: strings.NewReader("../lib/b.go:3:1: x\n../../c.go:1:1: y\n")})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, r := range []feedback.Result{tested, vetted} {
		r, err := feedback.Normalise(r, feedback.Context{Root: "/repo", Dir: "api"})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range r.Items {
			files = append(files, i.File)
		}
	}
	if d := cmp.Diff([]string{"lib/a_test.go", "", "lib/b.go"}, files); d != "" {
		t.Error(d)
	}
}

func TestTooManyFindings(t *testing.T) {
	var b strings.Builder
	for i := range convert.MaxItems + 7 {
		fmt.Fprintf(&b, "a.go:%d:1: x\n", i+1)
	}
	r, err := convert.Convert(convert.GoVet, convert.Input{Stderr: strings.NewReader(b.String()), ExitCode: 1})
	if err != nil || len(r.Items) != convert.MaxItems || r.Summary != "1007 findings; only the first 1000 are kept" {
		t.Errorf("%d items, %q, %v", len(r.Items), r.Summary, err)
	}
}

// repeat reads the same text over and over, n bytes of it.
func repeat(text string, n int64) io.Reader { return io.LimitReader(&loop{text: text}, n) }

type loop struct {
	text string
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	l.at = (l.at + n) % len(l.text)
	return n, nil
}

// TestMemory reads reports of 12 MB, and looks at what is alive at their end.
func TestMemory(t *testing.T) {
	const size = 12 << 20
	long := strings.Repeat("x", 2<<20)
	reports := map[string]struct {
		format string
		report io.Reader
	}{
		"one line":      {convert.GoTest, repeat("x", size)},
		"long lines":    {convert.Lines, repeat("a.go:1: "+long+"\n", size)},
		"one test":      {convert.GoTest, repeat(event("output", "p", "TestA", long[:1000]+"\n"), size)},
		"build output":  {convert.GoTest, repeat(`{"Action":"build-output","ImportPath":"p","Output":"a.go:1:1: x\n"}`+"\n", size)},
		"stack of tabs": {convert.GoVet, repeat("\tgoes on and on\n", size)},
		"continuation":  {convert.GoVet, io.MultiReader(strings.NewReader("a.go:1:1: x\n"), repeat("\t"+long+"\n", size))},
	}
	for name, r := range reports {
		t.Run(name, func(t *testing.T) {
			var peak uint64
			probe := &probed{in: r.report, every: size / 4, each: func() { peak = max(peak, alive()) }}
			before := alive()
			_, err := convert.Convert(r.format, convert.Input{Stdout: probe, ExitCode: 1, Pattern: regexp.MustCompile("^(?P<file>.*?):")})
			if err != nil && !errors.Is(err, convert.ErrNoReview) {
				t.Fatal(err)
			}
			if peak == 0 {
				t.Fatal("the report was not read")
			}
			if grew := int64(peak) - int64(before); grew > 8<<20 {
				t.Errorf("%d MB are held while a report of %d MB is read", grew>>20, size>>20)
			}
		})
	}
}

func alive() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// probed calls each while it is read.
type probed struct {
	in    io.Reader
	every int
	read  int
	each  func()
}

func (p *probed) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	if p.read/p.every != (p.read+n)/p.every {
		p.each()
	}
	p.read += n
	return n, err
}

func TestTooManyTestsAtATime(t *testing.T) {
	// Nothing but their names is kept of these: 20 of half a megabyte are fine, 140 are not.
	for n, want := range map[int]string{20: "ends in the middle", 140: "too many tests"} {
		var readers []io.Reader
		for i := range n {
			readers = append(readers, strings.NewReader(event("run", "p", strconv.Itoa(i)+strings.Repeat("x", 1<<19), "")))
		}
		_, err := convert.Convert(convert.GoTest, convert.Input{Stdout: io.MultiReader(readers...)})
		if !errors.Is(err, convert.ErrNoReview) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d tests: error %s, want %q in it", n, clip(err), want)
		}
	}
}

func clip(err error) string {
	s := fmt.Sprint(err)
	return s[:min(len(s), 300)]
}
