package convert_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
)

func TestMarkdown(t *testing.T) {
	for _, tc := range []struct {
		name, report string
		exit         int
		want         string
	}{
		{"all three", "**Status:** FAIL\n## Summary\nbad\n### Critical\n- [ ] a - a.go:3\n- [x] done\n### Warnings\n- [ ] b - lib/b.go:4\n## Suggestions\nc\n", 0,
			"summary: bad\nblocking api/a.go:3 (tool) \"a\"\nadvisory lib/b.go:4 (tool) \"b\"\ninformational :0 (tool) \"c\"\n"},
		{"fail by the summary", "**Status:** FAIL\n## Summary\nbad\n### Critical\n- [x] done\n### Warnings\n- [ ] b\n", 0,
			"summary: bad\nblocking :0 (tool) \"bad\"\nadvisory :0 (tool) \"b\"\n"},
		{"fail without a word", "**Status:** FAIL\n", 0,
			"summary: FAIL, 1 findings (the status is FAIL, and neither a box nor the summary says why)\nblocking :0 (tool) \"the feedback file says FAIL and does not say why\"\n"},
		{"pass", "**Status:** PASS\n", 0, "summary: PASS, 0 findings\n"},
		{"pass with critical", "**Status:** PASS\n### Critical\n- [ ] a\n", 0,
			"summary: PASS, 1 findings (the file passes with 1 open under Critical)\nadvisory :0 (tool) \"a\"\n  critical, but the feedback file says that the work passes\n"},
		{"the sign-off counts", "**Status:** FAIL\n### Critical\n- [ ] a\n## Sign-Off\n✅ APPROVED\n", 0, "*advisory :0 (tool) \"a\"|*the sign-off counts"},
		{"a line in the text", "**Status:** FAIL\n### Critical\n- [ ] a in line 7\n", 0, "summary: FAIL, 1 findings\nblocking :7 (tool) \"a in line 7\"\n"},
		{"a file elsewhere", "**Status:** FAIL\n### Critical\n- [ ] a - /etc/passwd.txt:3\n", 0, "*blocking :0 (tool) \"a\"\n  file \"/etc/passwd.txt\" dropped: it leaves the repository"},
		{"another status", "**Status:** PASS\n", 1, noReview + "exit status 1, expected one of 0 ("},
		{"unknown", "**Status:** maybe\n", 0, noReview + "the feedback file says neither PASS nor FAIL (line 1: the status \"maybe\" is not known"},
		{"the template", "**Status:** PASS | FAIL\n### Critical\n- [ ] {description}\n", 0, noReview + "the feedback file says neither PASS nor FAIL (line 1: the status is still"},
		{"empty", "", 0, noReview + "the feedback file says neither PASS nor FAIL (the file is empty)\n"},
		{"binary", "\x00**Status:** PASS\n", 0, noReview + "the feedback file says neither PASS nor FAIL (the file is not text"},
	} {
		t.Run(tc.name, func(t *testing.T) { compare(t, from(convert.Markdown, tc.report, tc.exit), tc.want) })
	}
	if _, err := convert.Convert(convert.Markdown, convert.Input{}); !errors.Is(err, convert.ErrNoReview) {
		t.Errorf("no file: %v", err)
	}
	broken := io.MultiReader(strings.NewReader("**Status:** PASS\n"), brokenReader{})
	if _, err := convert.Convert(convert.Markdown, convert.Input{Stdout: broken}); !errors.Is(err, convert.ErrNoReview) {
		t.Errorf("a file that can't be read: %v", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("disk") }

// TestMarkdownTooLarge reads no more than a feedback file has.
func TestMarkdownTooLarge(t *testing.T) {
	r := &counted{r: endless{}}
	if _, err := convert.Convert(convert.Markdown, convert.Input{Stdout: r}); !errors.Is(err, convert.ErrNoReview) || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("error %v", err)
	}
	if r.n > 32<<20 {
		t.Errorf("%d bytes were read", r.n)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// TestMarkdownSeverities gives each word another meaning; the word FAIL itself has none other.
func TestMarkdownSeverities(t *testing.T) {
	severities := map[string]feedback.Severity{"critical": feedback.Advisory, "warning": feedback.Blocking, "suggestion": feedback.Blocking}
	for report, want := range map[string]string{
		"**Status:** FAIL\n### Critical\n- [ ] a\n":                          "advisory",
		"**Status:** PASS\n### Warnings\n- [ ] a\n":                          "blocking",
		"**Status:** PASS\n### Suggestions\n- a\n":                           "blocking",
		"**Status:** FAIL\n## Summary\na\n":                                  "blocking",
		"**Status:** PASS\n### Critical\n- [ ] a\n## Sign-Off\n✅ APPROVED\n": "advisory",
	} {
		r, err := convert.Convert(convert.Markdown, convert.Input{Stdout: strings.NewReader(report), Severity: severities})
		if err != nil || len(r.Items) != 1 || r.Items[0].Severity.String() != want {
			t.Errorf("%s: %+v, %v, want %s", report, r.Items, err, want)
		}
	}
}

// TestMarkdownFingerprints keeps an item the same where its line moves, and another where its text changes.
func TestMarkdownFingerprints(t *testing.T) {
	of := func(report string) string {
		r, err := convert.Convert(convert.Markdown, convert.Input{Stdout: strings.NewReader("**Status:** FAIL\n### Critical\n" + report),
			LineText: func(string, int) string { return "text" }})
		if err != nil || len(r.Items) != 1 {
			t.Fatalf("%s: %+v, %v", report, r.Items, err)
		}
		return r.Items[0].Fingerprint
	}
	a := of("- [ ] a - a.go:3\n")
	if a != of("* [ ] a - a.go:9\n") || a == of("- [ ] b - a.go:3\n") || a == of("- [ ] a - b.go:3\n") {
		t.Error("fingerprints do not tell findings apart")
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, name := range []string{"template-filled-fail", "code-and-comments", "boxes-odd"} {
		a, err := txtar.ParseFile("../taskfile/testdata/" + name + ".txtar")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(a.Files[0].Data), uint8(0))
	}
	f.Fuzz(func(t *testing.T, report string, exit uint8) {
		checkReport(t, convert.Markdown, convert.Input{Stdout: strings.NewReader(report), ExitCode: int(exit % 2)})
	})
}
