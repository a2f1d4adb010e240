package driver

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// cleanNames are what "environment: clean" leaves of our own environment.
var cleanNames = []string{"PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER"}

// baseEnviron is what every process of a run gets of our own environment: all but PIPE_ variables, which
// are ours to set, and CLAUDECODE, by which an agent would take itself for one that runs inside another.
func baseEnviron(own []string, clean bool) []string {
	out := make([]string, 0, len(own))
	for _, kv := range own {
		name, _, ok := strings.Cut(kv, "=")
		switch {
		case !ok || name == "" || name == "CLAUDECODE" || strings.HasPrefix(name, "PIPE_"):
		case clean && !slices.Contains(cleanNames, name):
		default:
			out = append(out, kv)
		}
	}
	return slices.Clip(out)
}

// outerRuns names the runs of which our own process is part, so that our processes are found as theirs too.
func outerRuns(own []string) []string {
	runs := strings.TrimSpace(proc.Getenv(own, proc.OuterVar) + " " + proc.Getenv(own, proc.RunVar))
	if runs == "" {
		return nil
	}
	return []string{proc.OuterVar + "=" + runs}
}

// environ is the whole environment of one try: ours, what the stage sets over it, and the PIPE_ variables.
func (d *Driver) environ(s *step.StageStarted, f *folder) []string {
	out := make([]string, 0, len(d.env)+s.Env.Len()+16)
	for _, kv := range d.env {
		name, _, _ := strings.Cut(kv, "=")
		if _, set := s.Env.Get(name); !set {
			out = append(out, kv)
		}
	}
	for name, v := range s.Env.All() {
		if !strings.HasPrefix(name, "PIPE_") {
			out = append(out, name+"="+text(v))
		}
	}
	if s.Refine != nil {
		out = append(out, "PIPE_REFINE_ATTEMPT="+strconv.Itoa(s.Refine.Attempt), "PIPE_REFINE_MAX="+strconv.Itoa(s.Refine.Max))
	}
	if s.FeedbackFile != "" {
		out = append(out, "PIPE_FEEDBACK_FILE="+filepath.Join(d.opt.Workspace.Root, filepath.FromSlash(s.FeedbackFile)))
	}
	return append(out,
		"PIPE_RUN_ID="+d.info.Run,
		"PIPE_EFFECT="+s.Effect,
		"PIPE_TASK_ID="+d.info.TaskID,
		"PIPE_PIPELINE="+d.info.Pipeline,
		"PIPE_STAGE="+s.Stage,
		"PIPE_ITERATION="+strconv.Itoa(s.Iteration),
		"PIPE_ATTEMPT="+strconv.Itoa(s.Attempt),
		"PIPE_WORKSPACE="+d.opt.Workspace.Root,
		"PIPE_IDEMPOTENCY_KEY="+s.Key,
		"PIPE_INPUT="+f.path(inputName),
		"PIPE_BRIEF="+f.path(briefName),
		"PIPE_OUTPUT="+f.path(outputName),
		"PIPE_FEEDBACK="+f.path(feedbackName),
		"PIPE_STAGE_DIR="+f.path(scratchName),
		"PIPE_SESSION="+d.sessionDir(),
	)
}

// text is a value of Started.Env as a process gets it.
func text(v value.Value) string {
	s, err := value.Format(v)
	if err != nil {
		return ""
	}
	return s
}
