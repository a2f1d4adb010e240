package compile

import "example.com/pipe/engine/diag"

// The codes of compile's diagnostics.
const (
	CodeDuplicateStage diag.Code = "duplicate-stage"
	CodeUnknownStage   diag.Code = "unknown-stage"
	CodeNotBefore      diag.Code = "stage-not-before"
	CodeStagesValue    diag.Code = "stages-value"
	CodeCycle          diag.Code = "cycle"
	CodeType           diag.Code = "type"
	CodeDefault        diag.Code = "default"
	CodeTemplateInRun  diag.Code = "template-in-run"
	CodeTemplateHere   diag.Code = "template-not-here"
	CodeUnknownAgent   diag.Code = "unknown-agent"
	CodeUnknownKind    diag.Code = "unknown-kind"
	CodePromptFile     diag.Code = "prompt-file"
	CodeLoopTarget     diag.Code = "loop-target"
	CodeRole           diag.Code = "role"
	CodeRetry          diag.Code = "retry"
	CodePath           diag.Code = "path"
)
