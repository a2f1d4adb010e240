package envelope

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/pipe/engine/feedback"
)

// The greatest lengths of what Render writes into a description, in bytes.
const (
	nameLimit   = 200  // a name, a path or an address
	partLimit   = 2000 // one text of a diagnosis
	pathsShown  = 20
	reportLimit = 8000 // the whole description
)

// Render gives what is to be done as items, in the order in which sources are declared: the concerns of
// reviewers as they are, those of assemblies one by one, and one blocking item for each other diagnosis and
// for a person's note, whose description says all that a stage must know. The history and the criteria are
// no findings. A slot that is empty gives nothing.
func Render(e Envelope) []feedback.Item {
	out := slices.Clone(e.ReviewerConcerns)
	d := Diagnosis{e.AssemblyFixerConcerns, e.SquashGateOutput, e.CIFailureDetail, e.VerifierChainDetail, nil}
	out = append(out, d.Items()...)
	if note := strings.TrimSpace(e.OperatorReferBackNote); note != "" {
		out = append(out, blocking(SourceOperatorReferBack, "", clip(note, reportLimit), note))
	}
	last := Diagnosis{Resolver: e.ResolverDiagnosis}
	return append(out, last.Items()...)
}

// Items gives the blocking items of a diagnosis, as Render does: what a review that has one gives as its
// findings. Each has a fingerprint in which digits do not count, so that the same failure is the same item in
// another round, whatever it took or wherever in its file it has moved to.
func (d *Diagnosis) Items() []feedback.Item {
	if d == nil {
		return nil
	}
	var out []feedback.Item
	for _, c := range d.Assembly {
		item := blocking(SourceAssemblyFixer, "", clip(c.Comment, reportLimit), c.File, c.Comment)
		item.File, item.Line = c.File, c.Line
		out = append(out, item)
	}
	if g := d.Gate; g != nil {
		pointer := ""
		if g.ArtifactPath != "" {
			pointer = "the whole output is in " + clip(g.ArtifactPath, nameLimit)
		}
		text := fmt.Sprintf("the gate of %q failed: %s", clip(g.Repo, nameLimit), said(g.Summary, pointer))
		out = append(out, blocking(SourceSquashGate, "", text, g.Repo, g.Summary))
	}
	if c := d.CI; c != nil {
		pointer := ""
		if c.RunURL != "" {
			pointer = "the run is " + clip(c.RunURL, partLimit)
		}
		text := fmt.Sprintf("the CI workflow %q failed: %s", clip(c.Workflow, nameLimit), said(c.Summary, pointer))
		out = append(out, blocking(SourceCIFailure, c.Workflow, text, c.Workflow, c.Summary))
	}
	if v := d.Verifier; v != nil {
		text := fmt.Sprintf("the verifier %q rejected the work", clip(v.VerifierName, nameLimit))
		if v.ExitCode != 0 {
			text += fmt.Sprintf(" with exit status %d", v.ExitCode)
		}
		if strings.TrimSpace(v.Stdout+v.Stderr) == "" {
			text += " and said nothing"
		}
		text += stream("stdout", v.Stdout) + stream("stderr", v.Stderr)
		out = append(out, blocking(SourceVerifierChain, v.VerifierName, text, v.VerifierName, v.Stdout, v.Stderr))
	}
	if r := d.Resolver; r != nil {
		out = append(out, blocking(SourceMergeResolver, "", resolution(r), r.RepoSlug, r.PlanBranch, r.ConflictSignature))
	}
	return out
}

// resolution says what could not be merged.
func resolution(r *ResolverDiagnosis) string {
	var b strings.Builder
	b.WriteString("the merge")
	if r.MergedBranch != "" {
		fmt.Fprintf(&b, " of branch %q", clip(r.MergedBranch, nameLimit))
	}
	fmt.Fprintf(&b, " into %q of %q has conflicts", clip(r.PlanBranch, nameLimit), clip(r.RepoSlug, nameLimit))
	switch n := len(r.ConflictingPaths); n {
	case 0:
	case 1:
		b.WriteString(" in 1 file")
	default:
		fmt.Fprintf(&b, " in %d files", n)
	}
	for i, path := range r.ConflictingPaths {
		switch {
		case i == pathsShown:
			fmt.Fprintf(&b, " and %d more", len(r.ConflictingPaths)-i)
		case i == 0:
			fmt.Fprintf(&b, ": %q", clip(path, nameLimit))
		case i < pathsShown:
			fmt.Fprintf(&b, ", %q", clip(path, nameLimit))
		}
	}
	if verdict := strings.TrimSpace(r.VerdictText); verdict != "" {
		fmt.Fprintf(&b, "; the resolver said: %s", clip(verdict, partLimit))
	}
	return b.String()
}

// blocking is the item that stands for a diagnosis; evidence is what makes it the same in another round.
func blocking(s Source, agent, description string, evidence ...string) feedback.Item {
	parts := []string{string(s)}
	for _, text := range evidence {
		parts = append(parts, digits.ReplaceAllString(text, "0"))
	}
	return feedback.Item{
		Severity: feedback.Blocking, Description: description, SourceAgent: agent,
		Fingerprint: feedback.Fingerprint(parts...),
	}
}

// digits are numbers, and addresses in memory.
var digits = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+`)

// said is the first line of a summary, or that there is none; then where to find more, and the other lines: what
// shows a description as one short line shows the best of it.
func said(summary, pointer string) string {
	first, rest, _ := strings.Cut(clip(strings.TrimSpace(summary), partLimit), "\n")
	if first == "" {
		first = "it said nothing"
	}
	if pointer != "" {
		first += "; " + pointer
	}
	if rest = strings.Trim(rest, "\n"); rest != "" {
		first += "; with more of it:\n" + rest
	}
	return first
}

// stream is the end of what a verifier wrote, where it tells most; "" for nothing.
func stream(name, text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if cut := len(text) - partLimit; cut > 0 {
		for !utf8.RuneStart(text[cut]) {
			cut++
		}
		text = "…" + text[cut:]
	}
	return ";\n" + name + ": " + text
}

// clip cuts text to a number of bytes, at a character, and says so with an ellipsis.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
