package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seed002Pipeline is the usage example of the cross-stage-feedback document as a pipeline: the review leaves the
// document's input as it stands there, with all its fields. The second try of the target keeps what it was handed.
const seed002Pipeline = `name: parser
version: 1
stages:
  - id: implement
    role: implementation
    writes: false
    run: |
      [ "$PIPE_ITERATION" = 1 ] || cp "$PIPE_BRIEF" "$PIPE_INPUT" "$PIPE_SESSION"/feedback-*.md ../kept/
      echo "$PIPE_ITERATION" > parser.ts
  - id: quality_review
    needs: [implement]
    run: |
      [ "$PIPE_ITERATION" = 1 ] || { echo '[]' > "$PIPE_FEEDBACK"; exit; }
      cat > "$PIPE_FEEDBACK" <<'X'
      {"source_stage": "quality_review",
       "target_stage": "implement",
       "feedback_items": [
         {"severity": "blocking", "file": "src/utils/parser.ts", "line": 23,
          "description": "Potential null pointer dereference",
          "suggested_fix": "Add null check before accessing data.items",
          "source_agent": "staff-engineer"},
         {"severity": "advisory", "file": "src/utils/parser.ts", "line": 45,
          "description": "Consider using optional chaining",
          "suggested_fix": "Replace data && data.items with data?.items",
          "source_agent": "staff-engineer"}],
       "task_id": "task-a1b2c3-add-parser",
       "iteration": 1,
       "max_iterations": 2}
      X
    feedback_loop: {target_stage: implement, max_iterations: 2}
`

// seed002Brief is the brief of the example, and the section with which the document's format ends every brief.
const seed002Brief = `## Feedback Loop: Iteration 2

**Source:** quality_review (staff-engineer)
**Target:** implement

### Issues to Address

1. **src/utils/parser.ts:23** - Potential null pointer dereference
   Fix: Add null check before accessing data.items

### Priority
Address issues in order listed. Security issues first.
`

// seed002Contract holds the routing to the example's output, by its names.
const seed002Contract = `name: cross-stage-feedback
version: 1
input_schema:
  required:
    - {name: source_stage, type: string}
    - {name: target_stage, type: string}
    - {name: feedback_items, type: "object[]"}
    - {name: task_id, type: string}
  optional:
    - {name: iteration, type: number, default: 1}
    - {name: max_iterations, type: number, default: 2}
output_schema:
  required:
    - {name: action, type: string}
    - {name: iteration_count, type: number}
  optional:
    - {name: filtered_feedback, type: "object[]"}
    - {name: implementation_brief, type: string}
    - {name: escalation_context, type: object}
pre_checks:
  - {description: "the source is a review stage", validation: source_stage == "quality_review"}
  - {description: "the target is an implementation stage", validation: target_stage == "implement"}
  - {description: "the task is that of the example", validation: task_id == "task-a1b2c3-add-parser"}
  - {description: "the cap is 2", validation: max_iterations == 2}
post_checks:
  - description: the output of the example
    validation: |
      iteration == 2 or action == "re_implement" and iteration_count == 2 and len(feedback_items) == 2
      and len(filtered_feedback ?? []) == 1
      and one(filtered_feedback ?? [], .description == "Potential null pointer dereference" and .severity == "blocking" and (.line ?? 0) == 23)
      and (implementation_brief ?? "") == BRIEF and escalation_context == nil
  - description: the end of the loop
    validation: iteration == 1 or action == "accept" and iteration_count == 2 and len(filtered_feedback ?? []) == 0 and implementation_brief == nil
`

const seed002State = `---
entity_name: session.current.feedback.task-a1b2c3-add-parser.quality_review.implement
namespace: session.current
category: feedback-loop
task_id: task-a1b2c3-add-parser
source_stage: quality_review
target_stage: implement
iteration: 2
max_iterations: 2
last_action: re_implement
updated_at: TIME
---
`

const seed002Log = `[cross-stage-feedback] Parsed 2 feedback items from quality_review
[cross-stage-feedback] Advisory: Consider using optional chaining (src/utils/parser.ts)
[cross-stage-feedback] 1 blocking, 1 advisory
[cross-stage-feedback] task=task-a1b2c3-add-parser source=quality_review target=implement items=2 blocking=1
[cross-stage-feedback] Triggering re-implementation (iteration 2)
[cross-stage-feedback] task=task-a1b2c3-add-parser action=re_implement iteration=2/2
[cross-stage-feedback] Parsed 0 feedback items from quality_review
[cross-stage-feedback] 0 blocking, 0 advisory
[cross-stage-feedback] task=task-a1b2c3-add-parser source=quality_review target=implement items=0 blocking=0
[cross-stage-feedback] No blocking items, accepting
[cross-stage-feedback] task=task-a1b2c3-add-parser action=accept iteration=2/2
`

// TestSeed002Example runs the usage example of the cross-stage-feedback document with the real command: the brief,
// the counts, the action, what is filtered, the log lines, the state file and the figures are those of the document.
func TestSeed002Example(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, kept := filepath.Join(top, "p"), filepath.Join(top, "kept")
	if err := os.Mkdir(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(seed002Brief)
	if err != nil {
		t.Fatal(err)
	}
	writeProject(t, dir, map[string]string{
		"pipe.yaml": "", "pipelines/parser.yaml": seed002Pipeline,
		"specs/contracts/cross-stage-feedback.yaml": strings.Replace(seed002Contract, "BRIEF", string(quoted), 1),
	})
	out := pipeIn(t, dir, "run", "parser", "--task-id", "task-a1b2c3-add-parser")
	for _, want := range []string{
		" quality_review feedback_received target=implement items=2 blocking=1\n",
		" quality_review feedback_routed target=implement action=re_implement iteration=2/2 items=quality_review.1\n",
		" quality_review feedback_routed target=implement action=accept iteration=2/2\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no line %q in\n%s", want, out)
		}
	}
	same := func(what, got, want string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs (- want, + got):\n%s", what, diff)
		}
	}
	same("the brief", readText(t, filepath.Join(kept, "brief.md")), seed002Brief)
	state := readText(t, filepath.Join(kept, "feedback-task-a1b2c3-add-parser-quality_review-implement.md"))
	front, _, _ := strings.Cut(state, "\n\n")
	same("the state file", regexp.MustCompile(`\d{4}-\S+Z`).ReplaceAllString(front+"\n", "TIME"), seed002State)
	logs, err := filepath.Glob(filepath.Join(dir, ".pipe", "runs", "*", "feedback.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("the logs are %q: %v", logs, err)
	}
	same("the log", readText(t, logs[0]), seed002Log)
	var input struct {
		Items []struct {
			ID          string
			Description string
			Severity    string
		} `json:"open_items"`
	}
	if err := json.Unmarshal([]byte(readText(t, filepath.Join(kept, "input.json"))), &input); err != nil {
		t.Fatal(err)
	}
	if len(input.Items) != 2 || input.Items[0].Description != "Potential null pointer dereference" {
		t.Errorf("the target was handed %+v", input.Items)
	}
	figures := regexp.MustCompile(`"total_duration_ms":\d+,"run":"\w+"`).ReplaceAllString(pipeIn(t, dir, "feedback", "metrics", "--json"), "MASKED")
	same("the figures", figures, `{"version":1,"runs":1,"per_feedback_loop":[{"task_id":"task-a1b2c3-add-parser",`+
		`"source_stage":"quality_review","target_stage":"implement","iterations":2,"blocking_items_initial":1,"blocking_items_final":0,`+
		`"resolved_without_escalation":true,"escalated":false,MASKED,"pipeline":"parser","open":false}],`+
		`"aggregated":{"feedback_loop_success_rate":100,"avg_iterations_to_resolve":2,`+
		`"most_common_feedback_sources":[{"stage":"quality_review","count":1}],"escalation_rate_by_stage":{"quality_review":0}},"skipped":[]}`+"\n")
}

// TestSeed002Escalation escalates the example at its cap: the context and the message are those of the document.
func TestSeed002Escalation(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "p")
	writeProject(t, dir, map[string]string{"pipe.yaml": "", "pipelines/parser.yaml": strings.NewReplacer("max_iterations: 2}", "max_iterations: 1}",
		`[ "$PIPE_ITERATION" = 1 ] || cp`, ": cp").Replace(seed002Pipeline)})
	cmd := pipeCmd(dir, "run", "parser", "--task-id", "task-a1b2c3-add-parser")
	out, _ := cmd.Output()
	if cmd.ProcessState.ExitCode() != exitWaiting {
		t.Fatalf("exit status %d:\n%s", cmd.ProcessState.ExitCode(), out)
	}
	const message = `---
## Feedback Loop Escalation

**Task:** task-a1b2c3-add-parser
**Source:** quality_review
**Iterations:** 1 (cap: 1)

### Unresolved Issues

The following blocking issues could not be auto-resolved:

- **src/utils/parser.ts:23** - Potential null pointer dereference

### Feedback History

- Iteration 1: quality_review -> implement, 1 blocking, 1 advisory, escalate

### Options

1. Fix manually and retry the task
`
	if !strings.Contains(string(out), message) {
		t.Errorf("the message is not\n%s\nin\n%s", message, out)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, ".pipe", "runs", "*", "feedback.log"))
	if len(logs) != 1 {
		t.Fatalf("the logs are %q", logs)
	}
	const end = "[cross-stage-feedback] Iteration cap reached (1/1), escalating\n" +
		"[cross-stage-feedback] task=task-a1b2c3-add-parser action=escalate iteration=1/1\n" +
		"[cross-stage-feedback] task=task-a1b2c3-add-parser escalated reason=\"iteration_cap_reached\"\n"
	if got := readText(t, logs[0]); !strings.HasSuffix(got, end) {
		t.Errorf("the log does not end with\n%s\nbut is\n%s", end, got)
	}
	var shown struct {
		Escalation map[string]any `json:"escalation"`
	}
	if err := json.Unmarshal([]byte(pipeIn(t, dir, "show", "last", "--json")), &shown); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"task_id", "feedback_source", "iterations_attempted", "blocking_issues", "full_history"} {
		if _, ok := shown.Escalation[name]; !ok {
			t.Errorf("the escalation has no %q: %v", name, shown.Escalation)
		}
	}
}

// writeProject writes the files of a project.
func writeProject(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		writeInto(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
}

// pipeIn runs the command in a folder, where it must succeed, and gives what it prints.
func pipeIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := pipeCmd(dir, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pipe %q: %v\n%s%s", args, err, out, stderr.String())
	}
	return string(out)
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
