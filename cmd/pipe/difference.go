package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"example.com/pipe/engine"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/view"
	"example.com/pipe/specs/data"
)

// writeDifference says in what a record differs from the one that would be decided now: the members that
// differ, each cut to where it begins to differ, since most of a record is the same.
func writeDifference(w io.Writer, d *engine.Difference) {
	was, is := recordObject(d.Recorded), recordObject(d.Decided)
	if was == nil || is == nil || memberText(was, "type") != memberText(is, "type") {
		fmt.Fprintf(w, "  step %d, %s:\n", d.Seq, view.OneLine(d.Event))
		writeSides(w, "    ", orNothing(d.Recorded), orNothing(d.Decided))
		return
	}
	fmt.Fprintf(w, "  step %d, %s: %s differs\n", d.Seq, view.OneLine(d.Event), view.OneLine(recordName(was)))
	for name := range was.All() {
		writeMember(w, name, was, is)
	}
	for name := range is.All() {
		if _, ok := was.Get(name); !ok {
			writeMember(w, name, was, is)
		}
	}
}

func writeMember(w io.Writer, name string, was, is *value.Object) {
	a, b := memberText(was, name), memberText(is, name)
	if a == b {
		return
	}
	fmt.Fprintf(w, "    %s\n", view.OneLine(name))
	a, b = fromDifference(a, b)
	writeSides(w, "      ", orNothing(a), orNothing(b))
}

func writeSides(w io.Writer, indent, was, is string) {
	fmt.Fprintf(w, "%srecorded: %s\n%sdecided:  %s\n", indent, was, indent, is)
}

// recordName is a record in words: "stage.started of implement".
func recordName(rec *value.Object) string {
	name := strings.Trim(memberText(rec, "type"), `"`)
	for _, of := range [...]string{"stage", "source", "id"} {
		if s := strings.Trim(memberText(rec, of), `"`); s != "" {
			return name + " of " + s
		}
	}
	return name
}

// recordObject is a record as an object; nil where there is none.
func recordObject(text string) *value.Object {
	v, err := data.ReadJSON([]byte(text))
	if err != nil {
		return nil
	}
	rec, _ := v.(*value.Object)
	return rec
}

// memberText is a member as JSON, "" where it is missing.
func memberText(rec *value.Object, name string) string {
	v, ok := rec.Get(name)
	if !ok {
		return ""
	}
	b, err := view.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

// fromDifference leaves out what two texts begin with in common, but for a few words of it.
func fromDifference(a, b string) (string, string) {
	const before = 40
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := same - before
	if from <= 0 {
		return a, b
	}
	for !utf8.RuneStart(a[from]) {
		from--
	}
	return "…" + a[from:], "…" + b[from:]
}
