package convert

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxDepth is how deep elements may stand in each other: suites nest, but not without end.
const maxDepth = 200

// junit reads a report of JUnit's form, as test runners of many languages write it. There is no one
// definition of it: testsuites or testsuite is the root, suites may nest, a testcase that holds a failure or
// an error has failed, and a suite may hold one itself. Elements that are not known are looked through.
func junit(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	in := newXMLTrimmer(f.in.Stdout)
	j := &junitReport{f: f, in: in, dec: xml.NewDecoder(in)}
	j.dec.CharsetReader = j.charset
	for {
		tok, err := j.dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return j.broken(err)
		}
		if err := j.token(tok); err != nil {
			return err
		}
	}
	if !j.rooted {
		return noReview("the report is empty, expected JUnit XML")
	}
	f.sort()
	f.summary = fmt.Sprintf("%d failed, %d passed, %d skipped", j.fails, j.passes, j.skips)
	return nil
}

// junitReport is a report that is being read.
type junitReport struct {
	f   *findings
	in  *xmlTrimmer
	dec *xml.Decoder

	rooted bool   // the root was there
	other  string // an encoding that is not read
	depth  int    // of elements that are open
	suites []junitSuite
	test   *junitTest  // that is open
	fault  *junitFault // that is open
	text   strings.Builder

	passes, fails, skips int
}

// junitSuite is a suite that is open.
type junitSuite struct {
	depth      int
	name, file string
	says       [2]int // the tests that it counts itself, and failures and errors
	holds      [2]int
}

type junitTest struct {
	depth             int
	name, class, file string
	line              int
	failed, skipped   bool
}

// junitFault is a failure or an error.
type junitFault struct {
	depth               int
	word, message, kind string // the word is failure or error
}

// charset takes UTF-8 by other names, and what is a part of it.
func (j *junitReport) charset(label string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "utf8", "us-ascii", "ascii":
		return in, nil
	}
	j.other = label
	return nil, errors.New("expected UTF-8")
}

// broken says why a document can't be read to its end.
func (j *junitReport) broken(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case j.other != "":
		return noReview("the report is encoded in %q, expected UTF-8", clip(j.other, 100))
	case j.in.failed != nil && !errors.Is(j.in.failed, errLongTag):
		return fmt.Errorf("%w: read report: %w", ErrNoReview, j.in.failed)
	case j.in.failed != nil:
		return noReview("the report is not read beyond byte %d: %v", j.in.offset, j.in.failed)
	case errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		return noReview("the report ends in the middle, at byte %d", j.in.offset)
	case errors.As(err, &syntax):
		return noReview("the report is no well-formed XML, at byte %d: %s", j.in.offset, clip(strings.ToValidUTF8(syntax.Msg, "\uFFFD"), 200))
	}
	return noReview("the report is no XML that can be read, at byte %d: %s", j.in.offset, clip(strings.ToValidUTF8(err.Error(), "\uFFFD"), 200))
}

func (j *junitReport) token(tok xml.Token) error {
	switch tok := tok.(type) {
	case xml.StartElement:
		j.depth++
		return j.start(&tok)
	case xml.EndElement:
		err := j.end()
		j.depth--
		return err
	case xml.CharData:
		if j.depth == 0 && strings.TrimSpace(string(tok)) != "" {
			return noReview("the report is no JUnit XML, there is text outside of it, at byte %d", j.in.offset)
		}
		if room := xmlText - j.text.Len(); j.fault != nil && j.depth == j.fault.depth && room > 0 {
			j.text.WriteString(strings.ToValidUTF8(string(tok[:min(len(tok), room)]), ""))
		}
	case xml.Directive:
		if strings.Contains(string(tok), "<!ENTITY") {
			return noReview("the report declares entities of its own, which are not read")
		}
	}
	return nil
}

func (j *junitReport) start(e *xml.StartElement) error {
	name := e.Name.Local
	switch {
	case j.depth > maxDepth:
		return noReview("the report holds more than %d elements in each other", maxDepth)
	case j.depth == 1 && j.rooted:
		return noReview("the report holds more than one document, at byte %d", j.in.offset)
	case j.depth == 1 && name != "testsuites" && name != "testsuite":
		return noReview("the report is no JUnit XML: its root is %q, expected \"testsuites\" or \"testsuite\"", clip(name, 100))
	}
	j.rooted = true
	switch name {
	case "testsuites", "testsuite":
		s := junitSuite{depth: j.depth, name: attribute(e, "name"), file: attribute(e, "file")}
		s.says = [2]int{count(e, "tests"), count(e, "failures") + count(e, "errors")}
		j.suites = append(j.suites, s)
	case "testcase":
		if j.test != nil {
			return noReview("the report is no JUnit XML: a testcase stands in a testcase, at byte %d", j.in.offset)
		}
		j.test = &junitTest{depth: j.depth, name: attribute(e, "name"), class: attribute(e, "classname"),
			file: attribute(e, "file"), line: count(e, "line")}
		if j.test.line > 0 && j.suites[len(j.suites)-1].name == "pytest" {
			j.test.line++ // pytest counts lines from 0
		}
	case "failure", "error":
		if j.fault == nil {
			j.fault = &junitFault{depth: j.depth, word: name, message: attribute(e, "message"), kind: attribute(e, "type")}
			j.text.Reset()
		}
	case "skipped", "disabled":
		if j.test != nil {
			j.test.skipped = true
		}
	}
	return nil
}

// end takes the end of the element at the present depth.
func (j *junitReport) end() error {
	last := len(j.suites) - 1
	switch {
	case j.fault != nil && j.depth == j.fault.depth:
		j.addFault()
		j.fault = nil
	case j.test != nil && j.depth == j.test.depth:
		j.endTest()
		j.test = nil
	case last >= 0 && j.suites[last].depth == j.depth:
		s := &j.suites[last]
		switch {
		case s.says[1] > 0 && s.holds[1] == 0:
			return noReview("the report is not whole: %s counts %d failed tests and holds none", s.title(), s.says[1])
		case s.says[0] > 0 && s.holds[0] == 0 && s.holds[1] == 0:
			return noReview("the report is not whole: %s counts %d tests and holds none", s.title(), s.says[0])
		}
		if last > 0 {
			for i, n := range s.holds {
				j.suites[last-1].holds[i] += n
			}
		}
		j.suites = j.suites[:last]
	}
	return nil
}

func (s *junitSuite) title() string {
	if s.name == "" {
		return "a suite"
	}
	return fmt.Sprintf("suite %q", clip(s.name, 200))
}

func (j *junitReport) endTest() {
	j.suites[len(j.suites)-1].holds[0]++ // the root is a suite
	switch {
	case j.test.failed:
		j.fails++
	case j.test.skipped:
		j.skips++
	default:
		j.passes++
	}
}

// attribute gives an attribute, cleaned; "" where there is none.
func attribute(e *xml.StartElement, name string) string {
	for i := range e.Attr {
		if e.Attr[i].Name.Local == name {
			return strings.TrimSpace(stripColours(strings.ToValidUTF8(e.Attr[i].Value, "\uFFFD")))
		}
	}
	return ""
}

// count gives an attribute that is a whole number; 0 where it is none.
func count(e *xml.StartElement, name string) int {
	n, err := strconv.Atoi(attribute(e, name))
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return n
}
