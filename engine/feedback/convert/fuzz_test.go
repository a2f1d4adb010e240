package convert_test

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
)

// checkReport converts anything, and checks what must hold of every report: either the review did not
// take place, or its items can be used, and a failure is explained by one.
func checkReport(t *testing.T, format string, in convert.Input) {
	t.Helper()
	in.Root, in.Dir = "/repo", "d"
	in.LineText = func(file string, line int) string {
		if line < 1 || strings.HasPrefix(file, "/") || strings.HasPrefix(file, "..") {
			t.Errorf("the text of line %d of %q was asked for", line, file)
		}
		return "text"
	}
	r, err := convert.Convert(format, in)
	if err != nil {
		if !errors.Is(err, convert.ErrNoReview) {
			t.Fatalf("error %v", err)
		}
		if !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 4000 {
			t.Fatalf("error %q", err)
		}
		return
	}
	if in.ExitCode != 0 && len(r.Items) == 0 && format != convert.SARIF { // whose results may all be suppressed
		t.Fatal("a failure without a finding counts as a review")
	}
	if len(r.Items) > convert.MaxItems {
		t.Fatalf("%d items", len(r.Items))
	}
	clean, err := feedback.Normalise(r, feedback.Context{Root: in.Root})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range clean.Items {
		if i.File == ".." || strings.HasPrefix(i.File, "../") || strings.HasPrefix(i.File, "/") || i.Fingerprint == "" || !utf8.ValidString(i.Description) {
			t.Fatalf("%+v", i)
		}
	}
}

// seed adds the recorded reports of a format.
func seed(f *testing.F, prefix string) {
	files, err := filepath.Glob("testdata/" + prefix + "-*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no reports: %v", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(getFile(a, "stdout"), getFile(a, "stderr"), uint8(1))
	}
}

func FuzzGoTest(f *testing.F) {
	seed(f, "test")
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit uint8) {
		checkReport(t, convert.GoTest, convert.Input{Stdout: strings.NewReader(stdout), Stderr: strings.NewReader(stderr),
			ExitCode: int(exit % 3), Module: "example.com/shop"})
	})
}

func FuzzGoVet(f *testing.F) {
	seed(f, "vet")
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit uint8) {
		checkReport(t, convert.GoVet, convert.Input{Stdout: strings.NewReader(stdout), Stderr: strings.NewReader(stderr), ExitCode: int(exit % 3)})
	})
}

func FuzzLines(f *testing.F) {
	f.Add(`^(?P<file>[^:]+):(?P<line>\d+): (?P<severity>\w+): (?P<description>.*)$`, "a.go:3: error: x\n", uint8(1))
	f.Add(`(?P<description>)`, "x\n", uint8(0))
	f.Fuzz(func(t *testing.T, pattern, stdout string, exit uint8) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		checkReport(t, convert.Lines, convert.Input{Stdout: strings.NewReader(stdout), ExitCode: int(exit % 2), Pattern: re})
	})
}

// TestCutOffAnywhere cuts recorded reports at every byte: none becomes a clean review.
func TestCutOffAnywhere(t *testing.T) {
	for _, name := range []string{"test-fail", "test-build", "test-panic"} {
		a, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		whole := getFile(a, "stdout")
		for n := range len(whole) {
			checkReport(t, convert.GoTest, convert.Input{Stdout: strings.NewReader(whole[:n]), ExitCode: 1, Module: "example.com/shop"})
		}
	}
}
