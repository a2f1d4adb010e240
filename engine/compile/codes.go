package compile

import "example.com/pipe/engine/diag"

// The codes of compile's diagnostics, beside those of package scope.
const (
	CodeDuplicateStage diag.Code = "duplicate-stage"
	CodeCycle          diag.Code = "cycle"
	CodeTemplateInRun  diag.Code = "template-in-run"
	CodeUnknownAgent   diag.Code = "unknown-agent"
	CodeUnknownCommand diag.Code = "unknown-command"
	CodeUnknownKind    diag.Code = "unknown-kind"
	CodePromptFile     diag.Code = "prompt-file"
	CodeLoopTarget     diag.Code = "loop-target"
	CodeRole           diag.Code = "role"
	CodeStateFile      diag.Code = "state-file"
	CodePipeline       diag.Code = "pipeline"
	CodeWith           diag.Code = "with"
	CodeForEach        diag.Code = "for-each"
	CodeUnattended     diag.Code = "unattended"
	CodeCache          diag.Code = "cache"
	CodeNewerPipe      diag.Code = "newer-pipe"
	CodeFinally        diag.Code = "finally"
	CodeTask           diag.Code = "task"

	CodeUnknownContract diag.Code = "unknown-contract"
)
