package envelope

import (
	"cmp"
	"slices"

	"example.com/pipe/engine/feedback"
)

// from is an envelope of a source with what every one has. The history has the present cycle as its last
// entry.
func from(s Source, iss Issue, criteria []string, history []PriorDefect) Envelope {
	return Envelope{
		IssueKey: iss.Key, Target: TargetOf(s), Source: s,
		AcceptanceCriteria: slices.Clone(criteria), Repos: slices.Clone(iss.Repos), PriorDefectHistory: slices.Clone(history),
	}
}

// FromReviewerVerdict is the envelope of a review that blocks.
func FromReviewerVerdict(iss Issue, criteria []string, history []PriorDefect, concerns []feedback.Item) Envelope {
	e := from(SourceReviewerVerdict, iss, criteria, history)
	e.ReviewerConcerns = slices.Clone(concerns)
	return e
}

// FromAssemblyFixer is the envelope of a branch that does not fit with the others.
func FromAssemblyFixer(iss Issue, criteria []string, history []PriorDefect, concerns []AssemblyFixerConcern) Envelope {
	e := from(SourceAssemblyFixer, iss, criteria, history)
	e.AssemblyFixerConcerns = slices.Clone(concerns)
	return e
}

// FromSquashGate is the envelope of a gate that failed.
func FromSquashGate(iss Issue, criteria []string, history []PriorDefect, output GateOutput) Envelope {
	e := from(SourceSquashGate, iss, criteria, history)
	e.SquashGateOutput = &output
	return e
}

// FromCIFailure is the envelope of a CI workflow that failed.
func FromCIFailure(iss Issue, criteria []string, history []PriorDefect, detail CIFailure) Envelope {
	e := from(SourceCIFailure, iss, criteria, history)
	e.CIFailureDetail = &detail
	return e
}

// FromVerifierChain is the envelope of a verifier that rejected a stage's work.
func FromVerifierChain(iss Issue, criteria []string, history []PriorDefect, detail VerifierChainResult) Envelope {
	e := from(SourceVerifierChain, iss, criteria, history)
	e.VerifierChainDetail = &detail
	return e
}

// FromPriorDefect is the envelope of a first dispatch: what earlier runs sent back is all that it tells.
func FromPriorDefect(iss Issue, criteria []string, history []PriorDefect) Envelope {
	return from(SourcePriorDefect, iss, criteria, history)
}

// FromOperatorReferBack is the envelope of a person who sends work back.
func FromOperatorReferBack(iss Issue, criteria []string, history []PriorDefect, note string) Envelope {
	e := from(SourceOperatorReferBack, iss, criteria, history)
	e.OperatorReferBackNote = note
	return e
}

// FromMergeResolver is the envelope that starts the stage which corrects what could not be merged.
func FromMergeResolver(iss Issue, criteria []string, history []PriorDefect, diagnosis ResolverDiagnosis) Envelope {
	e := from(SourceMergeResolver, iss, criteria, history)
	diagnosis.ConflictingPaths = slices.Clone(diagnosis.ConflictingPaths)
	e.ResolverDiagnosis = &diagnosis
	return e
}

// Contents is what several senders put into one envelope.
type Contents struct {
	Items     []feedback.Item // those that stand for a part of Diagnosis may be among them
	Diagnosis *Diagnosis      // nil: nobody knew more than the items say
	Note      string          // of a person
}

// New is an envelope of a source with all that is there to hand over, of whichever sender. An item that a
// review made of its diagnosis is in the diagnosis's slot alone, so that Render gives it once.
func New(s Source, iss Issue, criteria []string, history []PriorDefect, c Contents) Envelope {
	e := from(s, iss, criteria, history)
	e.OperatorReferBackNote = c.Note
	if d := c.Diagnosis; d != nil {
		d = d.clone()
		e.AssemblyFixerConcerns, e.SquashGateOutput, e.CIFailureDetail = d.Assembly, d.Gate, d.CI
		e.VerifierChainDetail, e.ResolverDiagnosis = d.Verifier, d.Resolver
	}
	stands := make(map[string]int) // by fingerprint, only looked up
	for _, item := range c.Diagnosis.Items() {
		stands[item.Fingerprint]++
	}
	for i := range c.Items {
		if print := c.Items[i].Fingerprint; stands[print] > 0 {
			stands[print]--
			continue
		}
		e.ReviewerConcerns = append(e.ReviewerConcerns, c.Items[i])
	}
	return e
}

// Source is the source of an envelope that the diagnosis is the reason for; "" for none.
func (d *Diagnosis) Source() Source {
	switch {
	case d == nil:
	case len(d.Assembly) > 0:
		return SourceAssemblyFixer
	case d.Gate != nil:
		return SourceSquashGate
	case d.CI != nil:
		return SourceCIFailure
	case d.Verifier != nil:
		return SourceVerifierChain
	case d.Resolver != nil:
		return SourceMergeResolver
	}
	return ""
}

// Join gives both diagnoses in one. An envelope has one slot for each: where both fill it, the first stays
// (of the other there is still its item), but the concerns of assemblies are listed one after another.
func Join(first, second *Diagnosis) *Diagnosis {
	if first == nil || second == nil {
		return cmp.Or(first, second).clone()
	}
	out, other := first.clone(), second.clone()
	out.Assembly = append(out.Assembly, other.Assembly...)
	out.Gate, out.CI = cmp.Or(out.Gate, other.Gate), cmp.Or(out.CI, other.CI)
	out.Verifier, out.Resolver = cmp.Or(out.Verifier, other.Verifier), cmp.Or(out.Resolver, other.Resolver)
	return out
}

// clone copies a diagnosis, so that nobody changes what somebody else keeps.
func (d *Diagnosis) clone() *Diagnosis {
	if d == nil {
		return nil
	}
	out := &Diagnosis{
		Assembly: slices.Clone(d.Assembly), Gate: clone(d.Gate), CI: clone(d.CI),
		Verifier: clone(d.Verifier), Resolver: clone(d.Resolver),
	}
	if out.Resolver != nil {
		out.Resolver.ConflictingPaths = slices.Clone(out.Resolver.ConflictingPaths)
	}
	return out
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
