package specs

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/specs/read"
)

// Release is the number of a program's release.
type Release struct{ Major, Minor, Patch int }

var (
	releaseText = regexp.MustCompile(`^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?:[-+].*)?$`)
	pseudo      = regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}(?:\+.*)?$`) // of a commit that is no release
	constraint  = regexp.MustCompile(`^>=\s*(v?\d{1,6}\.\d{1,6}(?:\.\d{1,6})?)$`)
)

// ParseRelease reads a version such as "0.4", "v1.2.3" or "1.2.3-rc.1". False: it has no number, as that of a
// program which was built from no release.
func ParseRelease(version string) (Release, bool) {
	m := releaseText.FindStringSubmatch(version)
	if m == nil || pseudo.MatchString(version) {
		return Release{}, false
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // at most six digits, or none, which is 0
	}
	return Release{n[0], n[1], n[2]}, true
}

// Compare tells which of two releases is older: negative if r is.
func (r Release) Compare(other Release) int {
	return cmp.Or(cmp.Compare(r.Major, other.Major), cmp.Compare(r.Minor, other.Minor), cmp.Compare(r.Patch, other.Patch))
}

// String gives the number, without a patch of 0.
func (r Release) String() string {
	if r.Patch == 0 {
		return fmt.Sprintf("%d.%d", r.Major, r.Minor)
	}
	return fmt.Sprintf("%d.%d.%d", r.Major, r.Minor, r.Patch)
}

// release reads pipe: the oldest program that may run the document.
func (r *reader) release(n *yaml.Node) *Leaf[Release] {
	const want = `"pipe" must be the oldest release that knows all keys used here, such as ">=0.4"`
	if n.Kind != yaml.ScalarNode || read.IsNull(n) {
		r.WrongKind(n, `"pipe"`, `the oldest release that knows all keys used here, such as ">=0.4"`)
		return nil
	}
	text := strings.TrimSpace(n.Value)
	if m := constraint.FindStringSubmatch(text); m != nil && read.IsString(n) {
		v, _ := ParseRelease(m[1])
		return &Leaf[Release]{Value: v, Span: r.Doc.Span(n)}
	}
	d := r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), want+", not %q", read.Short(n.Value))
	number := strings.TrimLeft(text, "<>=~^ v")
	if _, ok := ParseRelease(number); ok {
		d.Help = `write pipe: ">=` + number + `"; other comparisons are not known: within a version of the language, keys are only added`
	}
	return nil
}
