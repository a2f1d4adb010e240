package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
)

// sarifResult is a result of which the run has yet to say where it lies and what it means.
type sarifResult struct {
	index      int
	level      string // empty: that of its rule
	invocation int    // -1: none
	rule       sarifRuleRef
	message    sarifMessage
	place      sarifPlace
	line       int
	logical    string // the function, or the like, of a result without a file
	prints     string // its fingerprints
	print      string // that which is our own
	fixWords   string
	edits      []edit
	words      string // a fix that is words alone
	category   string
	security   bool
}

func (res *sarifResult) within() string {
	if res.logical == "" {
		return ""
	}
	return " in " + res.logical
}

// sarifState is what may make a result none that counts.
type sarifState struct {
	kind, baseline string
	suppressed     bool
}

// result reads a result and holds it if it may be a finding.
func (r *sarifRun) result(index int) {
	res := sarifResult{index: index, invocation: -1, rule: sarifRuleRef{index: -1, component: -1}, place: sarifPlace{index: -1}}
	var state sarifState
	var target sarifPlace
	start := r.in.Offset()
	r.in.Object(func(name string) {
		switch name {
		case "kind":
			state.kind = r.in.String(40)
		case "baselineState":
			state.baseline = r.in.String(40)
		case "suppressions":
			state.suppressed = r.suppressed()
		case "analysisTarget":
			target = r.place()
		default:
			r.resultMember(&res, name)
		}
	})
	if r.in.Err() != nil {
		return
	}
	if res.place.uri == "" && res.place.index < 0 && res.logical == "" {
		res.place = cmp.Or(target, res.place)
	}
	switch res.level = strings.ToLower(res.level); res.level {
	case "", "none", "note", "warning", "error":
	default:
		r.in.Fail("result %d of run %d, at byte %d, has the level %q, expected none, note, warning or error", index+1, r.index+1, start, clip(res.level, 40))
		return
	}
	kind := strings.ToLower(state.kind)
	if res.level == "" && kind != "" && kind != "fail" {
		res.level = "none"
	}
	r.s.f.read++
	switch {
	case state.suppressed:
		r.s.suppressed++
	case state.baseline == "absent":
		r.s.absent++
	case kind == "pass", kind == "notapplicable", kind == "informational": // no finding, whatever a level none may mean
		r.s.passed++
	default:
		r.hold(res)
	}
}

// resultMember reads what a finding is made of.
func (r *sarifRun) resultMember(res *sarifResult, name string) {
	switch name {
	case "level":
		res.level = r.in.String(40)
	case "ruleId":
		res.rule.id = strings.TrimSpace(r.in.String(maxName))
	case "ruleIndex":
		res.rule.index = r.in.Int()
	case "rule":
		ref := r.ruleRef()
		ref.id = cmp.Or(ref.id, res.rule.id)
		if ref.index < 0 {
			ref.index = res.rule.index
		}
		res.rule = ref
	case "message":
		res.message = r.message()
	case "locations":
		r.in.Array(func(i int) { r.location(res, i == 0) })
	case "fingerprints", "partialFingerprints":
		if p := r.prints(&res.print); name == "fingerprints" && p != "" || res.prints == "" {
			res.prints = p
		}
	case "fixes":
		r.in.Array(func(i int) {
			if i > 0 { // the others are other ways to do the same
				r.in.Skip()
				return
			}
			r.fix(res)
		})
	case "properties":
		r.resultProperties(res)
	case "provenance":
		r.in.Object(func(name string) {
			if name == "invocationIndex" {
				res.invocation = r.in.Int()
			} else {
				r.in.Skip()
			}
		})
	default:
		r.in.Skip()
	}
}

// hold keeps a result until its run ends. Of those whose severity is known no more are needed than an answer
// may hold.
func (r *sarifRun) hold(res sarifResult) {
	severity := feedback.UnknownSeverity
	if res.level != "" || r.toolRead && res.invocation < 0 {
		if severity = r.severity(&res); severity == feedback.UnknownSeverity {
			r.s.passed++
			return
		}
	}
	key := fmt.Sprintf("%d\x00%v\x00%v\x00%v\x00%d", severity, res.rule, res.message, res.place, res.line)
	if r.seen[key] {
		return
	}
	if severity != feedback.UnknownSeverity {
		if len(r.held[severity]) >= MaxItems {
			r.s.f.dropped++
			return
		}
	} else if r.keep(2*len(key) + len(res.fixWords) + len(res.words) + len(res.edits)*maxEdit); r.in.Err() != nil {
		return
	}
	r.seen[key] = true
	for i := range res.edits {
		if res.edits[i].file == res.place.uri {
			res.edits[i].file = ""
		}
	}
	r.held[severity] = append(r.held[severity], res)
}

// severity gives what a result is by its level or that of its rule; unknown: none.
func (r *sarifRun) severity(res *sarifResult) feedback.Severity {
	level, rule := res.level, r.rule(res.rule)
	if level == "" && res.invocation >= 0 { // asked only when the run has been read
		if r.levels == nil {
			r.levels = make(map[sarifLevelOf]string)
			for _, o := range r.overrides {
				if of := r.rule(o.rule); o.level != "" && of.id != "" {
					r.levels[sarifLevelOf{o.invocation, of}] = o.level
				}
			}
		}
		level = r.levels[sarifLevelOf{res.invocation, rule}]
	}
	return r.s.f.severity(cmp.Or(level, rule.level, "warning"))
}

// suppressed reads suppressions: they hold if there are some and none is still, or was not, granted.
func (r *sarifParts) suppressed() bool {
	some, granted := false, true
	r.in.Array(func(int) {
		some = true
		r.in.Object(func(name string) {
			if name != "status" {
				r.in.Skip()
			} else if status := r.in.String(40); status != "" && status != "accepted" {
				granted = false
			}
		})
	})
	return some && granted
}

// location reads one of the places of a result; the first of them counts.
func (r *sarifRun) location(res *sarifResult, first bool) {
	if !first {
		r.in.Skip()
		return
	}
	r.in.Object(func(name string) {
		switch name {
		case "physicalLocation":
			r.in.Object(func(name string) {
				switch name {
				case "artifactLocation":
					res.place = r.place()
				case "region":
					res.line = r.region().line
				default:
					r.in.Skip()
				}
			})
		case "logicalLocations":
			r.in.Array(func(i int) {
				short, full := r.logical()
				if i == 0 {
					res.logical = cmp.Or(full, short)
				}
			})
		default:
			r.in.Skip()
		}
	})
	if res.place.uri != "" || res.place.index >= 0 {
		res.logical = ""
	}
}

func (r *sarifParts) logical() (short, full string) {
	r.in.Object(func(name string) {
		switch name {
		case "name":
			short = r.in.String(300)
		case "fullyQualifiedName":
			full = r.in.String(300)
		default:
			r.in.Skip()
		}
	})
	return short, full
}

func (r *sarifParts) region() region {
	return r.regionWith(func(string) { r.in.Skip() })
}

// regionWith reads a region, and lets others read what else stands in it.
func (r *sarifParts) regionWith(other func(name string)) region {
	p := region{toEnd: true}
	r.in.Object(func(name string) {
		switch name {
		case "startLine":
			p.line = max(r.in.Int(), 0)
		case "startColumn":
			p.column = max(r.in.Int(), 0)
		case "endLine":
			p.endLine = max(r.in.Int(), 0)
		case "endColumn":
			p.endColumn = max(r.in.Int(), 0)
		default:
			other(name)
		}
	})
	return p
}

// prints reads an object of fingerprints, of which the names count as well; one that is our own stands apart.
func (r *sarifParts) prints(own *string) string {
	var all []string
	r.in.Object(func(name string) {
		text := r.in.String(300)
		if name == OwnFingerprint {
			*own = text
		}
		if print := name + "=" + text; len(all) < 20 {
			all = append(all, print)
		}
	})
	slices.Sort(all) // sorted: a tool may write them in any order
	return strings.Join(all, "\x00")
}

// fix reads what a result suggests.
func (r *sarifRun) fix(res *sarifResult) {
	r.in.Object(func(name string) {
		switch name {
		case "description":
			res.fixWords = r.message().text
		case "artifactChanges":
			r.in.Array(func(int) { r.change(res) })
		default:
			r.in.Skip()
		}
	})
}

func (r *sarifRun) change(res *sarifResult) {
	file, first := sarifPlace{}, len(res.edits)
	r.in.Object(func(name string) {
		switch name {
		case "artifactLocation":
			file = r.place()
		case "replacements":
			r.in.Array(func(int) {
				if e := r.replacement(); len(res.edits) < maxEdits {
					res.edits = append(res.edits, e)
				}
			})
		default:
			r.in.Skip()
		}
	})
	for i := first; i < len(res.edits); i++ {
		res.edits[i].file = file.uri
	}
}

func (r *sarifParts) replacement() (e edit) {
	r.in.Object(func(name string) {
		switch name {
		case "deletedRegion":
			e.region = r.regionWith(func(name string) {
				if name == "snippet" {
					e.old = r.contentText()
				} else {
					r.in.Skip()
				}
			})
		case "insertedContent":
			e.text = r.contentText()
		default:
			r.in.Skip()
		}
	})
	return e
}

// contentText reads the text of an artifactContent.
func (r *sarifParts) contentText() (text string) {
	r.in.Object(func(name string) {
		if name == "text" {
			text = r.in.String(maxEdit)
		} else {
			r.in.Skip()
		}
	})
	return text
}
