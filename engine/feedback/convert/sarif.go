package convert

import (
	"cmp"
	"fmt"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert/jsonstream"
)

// OwnFingerprint is the name under which a log of SARIF keeps the fingerprint of an item of ours.
const OwnFingerprint = "pipeItem/v1"

// sarifVersion is the one version of SARIF that is read.
const sarifVersion = "2.1.0"

// keepSARIF is how much is kept of what results refer to, and of results whose rules come after them.
const keepSARIF = 64 << 20

// sarif reads a report in the Static Analysis Results Interchange Format (OASIS, version 2.1.0). The parts of
// a run may come in any order, so results are held until their run ends: of each severity as many as a result
// of ours may have.
func sarif(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	s := &sarifReport{f: f, in: jsonstream.New(f.in.Stdout)}
	version := ""
	s.in.Object(func(name string) {
		switch name {
		case "version":
			if version = s.in.String(100); version != sarifVersion && s.in.Err() == nil {
				s.in.Fail("the report has version %q, before byte %d, expected SARIF %s", version, s.in.Offset(), sarifVersion)
			}
		case "runs":
			s.in.Array(func(i int) { s.run(i) })
		default:
			s.in.Skip()
		}
	})
	if s.in.Err() == nil && !s.in.End() {
		s.in.Unexpected("the end of the report")
	}
	switch {
	case s.in.Err() != nil:
	case version == "":
		s.in.Fail("the report names no version, expected SARIF %s", sarifVersion)
	case s.runs == 0:
		s.in.Fail("the report holds no run of a tool")
	}
	if s.in.Err() != nil {
		return notRead(s.in.Err())
	}
	f.sort()
	f.summary = s.summary()
	return nil
}

// sarifReport is a report that is being read.
type sarifReport struct {
	f    *findings
	in   *jsonstream.Reader
	runs int

	suppressed, absent, passed int // results that are no findings
}

func (s *sarifReport) summary() string {
	out := fmt.Sprintf("%d findings", len(s.f.items)+s.f.dropped)
	for _, n := range []struct {
		count int
		what  string
	}{{s.suppressed, "suppressed"}, {s.absent, "absent"}, {s.passed, "without a level"}} {
		if n.count > 0 {
			out += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	return out
}

// sarifRun is a run of a tool that is being read.
type sarifRun struct {
	sarifParts
	s *sarifReport

	tools     []sarifTool // the driver, and its extensions
	toolRead  bool        // rules of results are known
	bases     map[string]sarifPlace
	artifacts []sarifPlace
	overrides []sarifOverride
	levels    map[sarifLevelOf]string // what they come to, once a result has asked
	rules     map[string]*sarifRule   // of all components, by id
	named     map[string]int          // components by name

	held [4][]sarifResult // by severity; unknown: their rule says it
	seen map[string]bool  // held ones: repeats of a result are one
}

// sarifParts reads what stands in several places of a run.
type sarifParts struct {
	in    *jsonstream.Reader
	index int // of the run
	kept  int // bytes, of keepSARIF
}

// sarifPlace is where an artifact lies: a URI, relative to a base that has a name; or an artifact of the run.
type sarifPlace struct {
	uri, base string
	index     int // -1: none
}

// sarifOverride is the level that one invocation gives a rule.
type sarifOverride struct {
	invocation int
	rule       sarifRuleRef
	level      string
}

// sarifLevelOf is what an override holds for.
type sarifLevelOf struct {
	invocation int
	rule       *sarifRule
}

func (s *sarifReport) run(index int) {
	r := &sarifRun{s: s, sarifParts: sarifParts{in: s.in, index: index}, tools: make([]sarifTool, 1), bases: make(map[string]sarifPlace), seen: make(map[string]bool)}
	there, elsewhere := false, false
	s.in.Object(func(name string) {
		switch name {
		case "tool":
			r.tool()
		case "results":
			there = s.in.Array(func(i int) { r.result(i) }) || there
		case "invocations":
			s.in.Array(func(i int) { r.invocation(i) })
		case "originalUriBaseIds":
			s.in.Object(func(name string) {
				p := r.place()
				r.keep(len(name) + len(p.uri) + len(p.base))
				r.bases[name] = p
			})
		case "artifacts":
			s.in.Array(func(int) { r.artifact() })
		case "externalPropertyFileReferences":
			s.in.Object(func(name string) {
				elsewhere = elsewhere || name == "results"
				s.in.Skip()
			})
		default:
			s.in.Skip()
		}
	})
	switch {
	case s.in.Err() != nil:
		return
	case !there && elsewhere:
		s.in.Fail("the results of run %d lie in other files, which are not read; have the tool write them into the report", index+1)
	case !there:
		s.in.Fail("run %d holds no list of results: its scan was not done", index+1)
	}
	s.runs++
	r.end()
}

// keep counts what is kept until the run ends.
func (r *sarifParts) keep(n int) {
	if r.kept += n + 64; r.kept > keepSARIF {
		r.in.Fail("the report is not read beyond byte %d: run %d holds too much that results refer to, or results before their rules", r.in.Offset(), r.index+1)
	}
}

func (r *sarifRun) artifact() {
	p := sarifPlace{index: -1}
	r.in.Object(func(name string) {
		if name == "location" {
			p = r.place()
		} else {
			r.in.Skip()
		}
	})
	r.keep(len(p.uri) + len(p.base))
	r.artifacts = append(r.artifacts, p)
}

// place reads an artifactLocation.
func (r *sarifParts) place() sarifPlace {
	p := sarifPlace{index: -1}
	r.in.Object(func(name string) {
		switch name {
		case "uri":
			p.uri = r.in.String(maxName)
		case "uriBaseId":
			p.base = r.in.String(maxName)
		case "index":
			p.index = r.in.Int()
		default:
			r.in.Skip()
		}
	})
	return p
}

// uri puts a place together. A base that says nothing of where it lies is the folder of the execution, and so
// are bases that name each other in a circle.
func (r *sarifRun) uri(p sarifPlace) string {
	if p.uri == "" && p.index >= 0 && p.index < len(r.artifacts) {
		p = r.artifacts[p.index]
	}
	uri := p.uri
	for steps, at := 0, p.base; at != "" && !hasScheme(uri) && !strings.HasPrefix(uri, "/"); steps++ {
		if steps > len(r.bases) || len(uri) > 4*maxName {
			return p.uri
		}
		base := r.bases[at]
		if base.uri != "" {
			uri = strings.TrimSuffix(base.uri, "/") + "/" + uri
		}
		at = base.base
	}
	return uri
}

// file places an artifact. Where the tool ran in another place than the repository lies in now, such as a container, its
// address is one of there: then a file that is there from the root, or the folder of the execution, is meant.
func (r *sarifRun) file(p sarifPlace) string {
	f := r.s.f
	file := f.placeURI(r.uri(p))
	if p.uri == "" && p.index >= 0 && p.index < len(r.artifacts) {
		p = r.artifacts[p.index]
	}
	if f.in.LineText == nil || p.base == "" || hasScheme(p.uri) || !isElsewhere(file) {
		return file
	}
	if here := f.placeURI(p.uri); !isElsewhere(here) && f.in.LineText(here, 1) != "" {
		return here
	}
	return file
}

func hasScheme(uri string) bool {
	scheme, _, ok := strings.Cut(uri, ":")
	return ok && isScheme(scheme)
}

// invocation reads how the tool ran: one that says that it failed is no review.
func (r *sarifRun) invocation(index int) {
	ok, why, status := true, "", ""
	notes := func() {
		r.in.Array(func(int) {
			level, text := r.notification()
			if level == "error" && why == "" {
				why = text
			}
		})
	}
	r.in.Object(func(name string) {
		switch name {
		case "executionSuccessful":
			ok = r.in.Bool(true)
		case "toolExecutionNotifications", "toolConfigurationNotifications":
			notes()
		case "exitCodeDescription", "processStartFailureMessage", "exitSignalName":
			status = cmp.Or(status, r.in.String(300))
		case "ruleConfigurationOverrides":
			r.in.Array(func(int) { r.override(index) })
		default:
			r.in.Skip()
		}
	})
	if !ok && r.in.Err() == nil {
		said := ""
		if why = cmp.Or(why, status); why != "" {
			said = fmt.Sprintf(" (it says %q)", clip(why, 300))
		}
		r.in.Fail("the report says of run %d that the tool did not succeed%s", r.index+1, said)
	}
}

func (r *sarifParts) notification() (level, text string) {
	r.in.Object(func(name string) {
		switch name {
		case "level":
			level = r.in.String(20)
		case "message":
			text = r.message().text
		default:
			r.in.Skip()
		}
	})
	return level, text
}

func (r *sarifRun) override(invocation int) {
	o := sarifOverride{invocation: invocation}
	r.in.Object(func(name string) {
		switch name {
		case "descriptor":
			o.rule = r.ruleRef()
		case "configuration":
			o.level = r.configuration()
		default:
			r.in.Skip()
		}
	})
	r.keep(len(o.rule.id) + len(o.level))
	r.overrides = append(r.overrides, o)
}

// end turns the results that are held into items.
func (r *sarifRun) end() {
	for severity := range r.held {
		for i := range r.held[severity] {
			res := &r.held[severity][i]
			sev := feedback.Severity(severity)
			if sev == feedback.UnknownSeverity {
				if sev = r.severity(res); sev == feedback.UnknownSeverity {
					r.s.passed++
					continue
				}
			}
			r.item(res, sev)
			if r.in.Err() != nil {
				return
			}
		}
	}
}

// item gives a result as an item.
func (r *sarifRun) item(res *sarifResult, severity feedback.Severity) {
	rule := r.rule(res.rule)
	id := cmp.Or(res.rule.id, rule.id)
	message := r.messageOf(res, rule)
	if message == "" {
		r.in.Fail("result %d of run %d has no message", res.index+1, r.index+1)
		return
	}
	item := feedback.Item{
		Severity: severity, File: r.file(res.place), Line: res.line,
		Description: withRule(message+res.within(), id), SuggestedFix: suggestion(res.fixWords, res.edits),
		SourceAgent: r.tools[0].name,
	}
	if item.Category = res.category; res.security || rule.security {
		item.Category = "security"
	}
	if item.SuggestedFix == "" {
		item.SuggestedFix = res.words
	}
	switch {
	case res.print != "":
		item.Fingerprint = res.print
	case res.prints != "":
		item.Fingerprint = feedback.Fingerprint("sarif", r.tools[0].name, id, item.File, res.prints)
	}
	r.s.f.add(item, cmpRule("sarif", id, message))
}
