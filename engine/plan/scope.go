package plan

// The names that expressions see. A scope is an object of them; who evaluates builds it, and package
// compile types expressions against the same shape:
//
//	inputs      object   the inputs of the run, each declared one there, null if optional and not given
//	run         object   id, task_id, pipeline, status: strings
//	stages      object   by stage id, each stage that runs before this one:
//	  status      string  as records spell it: succeeded, skipped, failed, …
//	  outputs     object  each declared output there, null if the stage gave none
//	  iteration   int     how often the stage came to its start, from 1
//	  attempts    int     tries made in that iteration
//	  feedback    object  blocking, advisory, informational: lists of open items, also of what verifies it
//	iteration   int      of this stage, from 1
//	attempt     int      of this iteration, from 1
//	brief       string   what this stage is asked to act on; empty: nothing
//	open_items  list     the open items handed to this stage
//	changes     list     of a review with a loop: paths that its target changed in its last execution; else empty
//	each        object   in a stage with for_each: the item under the name that "as" gives, and index, from 0
//	outputs     object   in post_checks: what the stage gave, null where it gave none
//	exit_code   int      in post_checks: of the process
//
// Which of them stand where:
//
//	outputs of the run              inputs run stages
//	when, a for_each's items        inputs run stages iteration
//	inputs env dir with             inputs run stages iteration attempt brief open_items changes each
//	allowed_paths                   the same
//	prompt, approval's message      the same
//	pre_checks                      the same
//	post_checks                     the same and outputs, exit_code
//
// In finally run.status is succeeded, failed or cancelled, and stages holds all stages of the graph.
// The checks of a stage's contract (Check.Contract) see none of these, but the stage's inputs by their bare names,
// and in post_checks its outputs by theirs: null where it was given, or gave, none.
//
// Items have the fields of feedback items as their JSON spells them.
const (
	ScopeInputs    = "inputs"
	ScopeRun       = "run"
	ScopeStages    = "stages"
	ScopeIteration = "iteration"
	ScopeAttempt   = "attempt"
	ScopeBrief     = "brief"
	ScopeOpenItems = "open_items"
	ScopeChanges   = "changes"
	ScopeOutputs   = "outputs"
	ScopeExitCode  = "exit_code"
	ScopeEach      = "each"
)

// EachIndex is the field of each that holds the item's place in the list.
const EachIndex = "index"

// The fields of run in a scope.
const (
	RunID       = "id"
	RunTaskID   = "task_id"
	RunPipeline = "pipeline"
	RunStatus   = "status"
)

// The fields of a stage in a scope.
const (
	StageStatus    = "status"
	StageOutputs   = "outputs"
	StageIteration = "iteration"
	StageAttempts  = "attempts"
	StageFeedback  = "feedback"
)

// The fields of a stage's feedback in a scope.
const (
	FeedbackBlocking      = "blocking"
	FeedbackAdvisory      = "advisory"
	FeedbackInformational = "informational"
)

// The names that the checks of a routing's contract (Plan.Routing) see, and nothing else. A routing is the
// decision about one feedback loop after its source has reviewed: accept, re_implement or escalate. The
// pre_checks are asked before it with what it is given, the post_checks after it with that and what it gave:
//
//	source_stage          string   id of the stage that reviewed, as its pipeline spells it: no path, no [index]
//	source_role           string   its role: review
//	target_stage          string   id of the stage that work is sent back to, spelled likewise
//	target_role           string   its role: implementation
//	feedback_items        list     the open items of the source, of all severities, with the fields of items
//	task_id               string   of the run
//	iteration             int      of the loop, from 1: the one whose review is routed
//	max_iterations        int      its cap, with what decisions added to it
//
//	action                string   accept, re_implement or escalate
//	iteration_count       int      of the loop after the decision: one more than iteration after re_implement
//	filtered_feedback     list     the blocking ones of feedback_items
//	implementation_brief  string   of those items for the target; null unless the action is re_implement
//	escalation_context    object   task_id, feedback_source, iterations_attempted, blocking_issues, full_history;
//	                               null unless the action is escalate
//
// A contract of the project may declare fewer of them; the machine gives all, and an expression is handed
// what it reads.
const (
	RoutingSourceStage   = "source_stage"
	RoutingSourceRole    = "source_role"
	RoutingTargetStage   = "target_stage"
	RoutingTargetRole    = "target_role"
	RoutingFeedbackItems = "feedback_items"
	RoutingTaskID        = "task_id"
	RoutingIteration     = "iteration"
	RoutingMaxIterations = "max_iterations"

	RoutingAction              = "action"
	RoutingIterationCount      = "iteration_count"
	RoutingFilteredFeedback    = "filtered_feedback"
	RoutingImplementationBrief = "implementation_brief"
	RoutingEscalationContext   = "escalation_context"
)

// The outputs of a stage that is nothing but an approval.
const (
	ApprovalBy     = "by"
	ApprovalReason = "reason"
)
