// Package envelope is the typed form in which work is sent to a stage: who sends it back and why, with what
// each kind of sender knows, and what the stage works on.
//
// An Envelope names its Source, one of eight, and the state of the issue it is for; the slots that its source
// must fill stand in Required, and Validate holds an envelope to it. There is a builder for each source
// (FromReviewerVerdict, …), and New for one that several senders filled; Render gives the findings in it as
// items. What a review learnt beside its items is a Diagnosis. DiscoveryInput is what a stage that only looks
// around is given, AcceptanceCriteria finds the criteria in the text of an issue.
//
// The types, names and JSON forms are those of the implementer-feedback document; its ReviewConcern is our
// feedback.Item. The package is pure.
package envelope

import "example.com/pipe/engine/feedback"

// Source names who sends work to a stage.
type Source string

// The sources, in the order in which slots are rendered.
const (
	SourceReviewerVerdict   Source = "reviewer_verdict"    // a review that blocks
	SourceAssemblyFixer     Source = "assembly_fixer"      // who puts branches together, of one that does not fit
	SourceSquashGate        Source = "squash_gate"         // a gate that failed
	SourceCIFailure         Source = "ci_failure"          // a CI workflow that failed
	SourceVerifierChain     Source = "verifier_chain"      // a stage's own verifiers
	SourcePriorDefect       Source = "prior_defect"        // an earlier run of the task, at the first dispatch of a stage
	SourceOperatorReferBack Source = "operator_refer_back" // a person, with a note
	SourceMergeResolver     Source = "merge_resolver"      // who could not resolve the conflict of a merge
)

// Sources lists the sources in the order of their declaration.
func Sources() []Source {
	return []Source{
		SourceReviewerVerdict, SourceAssemblyFixer, SourceSquashGate, SourceCIFailure, SourceVerifierChain,
		SourcePriorDefect, SourceOperatorReferBack, SourceMergeResolver,
	}
}

// IssueState is where the work on an issue stands when an envelope is handed over.
type IssueState string

// The states, of which each source has one: implementing where it begins work, feedback where it sends work back.
const (
	IssueStateImplementing IssueState = "implementing"
	IssueStateFeedback     IssueState = "feedback"
)

// Envelope is what is handed to a stage with work that is sent to it.
type Envelope struct {
	IssueKey string     `json:"issue_key"`
	Target   IssueState `json:"target"`
	Source   Source     `json:"source"`

	AcceptanceCriteria []string      `json:"acceptance_criteria,omitempty"`
	Repos              []string      `json:"repos,omitempty"`
	PriorDefectHistory []PriorDefect `json:"prior_defect_history,omitempty"`

	ReviewerConcerns      []feedback.Item        `json:"reviewer_concerns,omitempty"`
	AssemblyFixerConcerns []AssemblyFixerConcern `json:"assembly_fixer_concerns,omitempty"`
	SquashGateOutput      *GateOutput            `json:"squash_gate_output,omitempty"`
	CIFailureDetail       *CIFailure             `json:"ci_failure_detail,omitempty"`
	VerifierChainDetail   *VerifierChainResult   `json:"verifier_chain_detail,omitempty"`
	OperatorReferBackNote string                 `json:"operator_refer_back_note,omitempty"`
	ResolverDiagnosis     *ResolverDiagnosis     `json:"resolver_diagnosis,omitempty"`
}

// PriorDefect is one earlier time that work was sent back.
type PriorDefect struct {
	Cycle   int    `json:"cycle"` // from 1
	Source  Source `json:"source"`
	Summary string `json:"summary"` // one line
}

// GateOutput is what a gate that failed said.
type GateOutput struct {
	Repo         string `json:"repo"`
	ArtifactPath string `json:"artifact_path"` // of the whole output, captured; "": there is none
	Summary      string `json:"summary"`       // the first line that says what failed, with lines around it; of a silent gate, how it ended
}

// CIFailure is a failed run of a CI workflow.
type CIFailure struct {
	Workflow string `json:"workflow"`
	RunURL   string `json:"run_url"`
	Summary  string `json:"summary"`
}

// VerifierChainResult is the verifier that rejected a stage's work.
type VerifierChainResult struct {
	VerifierName string `json:"verifier_name"`
	Gate         string `json:"gate"` // the phase in which it ran: GatePostSubmit
	Stdout       string `json:"stdout"`
	Stderr       string `json:"stderr"`
	ExitCode     int    `json:"exit_code,omitempty"`
	DurationMs   int64  `json:"duration_ms"`
}

// GatePostSubmit is the phase in which a stage's verifiers run: after its work, before anybody else sees it.
const GatePostSubmit = "post_submit"

// ResolverDiagnosis is a merge whose conflict could not be resolved.
type ResolverDiagnosis struct {
	VerdictText       string   `json:"verdict_text"` // of the resolver, as it gave it
	ConflictingPaths  []string `json:"conflicting_paths"`
	RepoSlug          string   `json:"repo_slug"`
	MergedBranch      string   `json:"merged_branch,omitempty"`
	PlanBranch        string   `json:"plan_branch"`    // into which it is merged
	AttemptNumber     int      `json:"attempt_number"` // from 1
	ConflictSignature string   `json:"conflict_signature"`
}

// AssemblyFixerConcern is what is wrong with a part that is to be assembled.
type AssemblyFixerConcern struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // 1-based; 0: none
	Comment string `json:"comment"`
}

// Diagnosis is what a review learnt beside its items: one field for each kind of sender that knows more.
type Diagnosis struct {
	Assembly []AssemblyFixerConcern `json:"assembly_fixer_concerns,omitempty"`
	Gate     *GateOutput            `json:"squash_gate_output,omitempty"`
	CI       *CIFailure             `json:"ci_failure_detail,omitempty"`
	Verifier *VerifierChainResult   `json:"verifier_chain_detail,omitempty"`
	Resolver *ResolverDiagnosis     `json:"resolver_diagnosis,omitempty"`
}

// Issue is the task that a run works on.
type Issue struct {
	Key   string   `json:"key"`
	Body  string   `json:"body,omitempty"` // Markdown
	Repos []string `json:"repos,omitempty"`
}

// DiscoveryInput is what a stage is given that looks around before anything is changed. IssueKey and IssueBody
// are always there.
type DiscoveryInput struct {
	IssueKey           string
	IssueBody          string
	AcceptanceCriteria []string
	SpecContext        *SpecExcerpt
}

// SpecExcerpt is the part of a specification that an issue is about.
type SpecExcerpt struct {
	Path string
	Text string
}
