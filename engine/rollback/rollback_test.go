package rollback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/engine/workspace/undo"
)

// of makes a rollback with a strategy in a folder without git.
func of(t *testing.T, strategy plan.RollbackStrategy) *Rollback {
	t.Helper()
	ws, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ws.Store = filepath.Join(dir, "trees")
	return &Rollback{
		Run:     step.RunInfo{Run: "R", TaskID: "T", Pipeline: "p"},
		Node:    &plan.Node{ID: "s", Rollback: &plan.Rollback{Strategy: strategy, Description: "turn it off", Run: "undo it"}},
		Started: &step.RollbackStarted{Effect: "e9", Stage: "s"}, Workspace: ws,
		Dir: dir, Tries: filepath.Join(dir, "stages", "s"), Folder: filepath.Join(dir, "rollback", "e9"),
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLeft names the first files that can't be put back, and counts the others.
func TestLeft(t *testing.T) {
	r := of(t, plan.FileRestore)
	for n := range 7 {
		write(t, filepath.Join(r.Workspace.Root, fmt.Sprintf("f%d", n)))
	}
	base, err := undo.In(r.Workspace).Keep(t.Context(), workspace.ReadOptions{}, "R", "s")
	if err != nil {
		t.Fatal(err)
	}
	r.Started.Base = base.Hash
	for n := range 7 {
		name := filepath.Join(r.Workspace.Root, fmt.Sprintf("f%d", n))
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(name, "made")) // a report, so that it is no part of the tree
		r.Exclude = append(r.Exclude, fmt.Sprintf("f%d/made", n))
	}
	out, err := r.Undo(t.Context())
	want := `no file differs from what it was before the stage; 7 files could not be put back: "f0": a folder is in its place, with files that are ignored; `
	if err != nil || out.Class != string(stage.FailedCheck) || !strings.HasPrefix(out.Message, want) || !strings.Contains(out.Message, "; and 2 more") {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestForget removes the scratch folders of all tries, and nothing else of them.
func TestForget(t *testing.T) {
	r := of(t, plan.MemoryCleanup)
	gone := []string{"1.1/scratch/a", "2.1.lost-1/scratch/b", "2.1/scratch/c/d"}
	kept := []string{"1.1/stdout.log", "child/1.1/scratch/e", "2.1/brief.md"}
	for _, name := range slices.Concat(gone, kept) {
		write(t, filepath.Join(r.Tries, name))
	}
	out, err := r.Undo(t.Context())
	if err != nil || out.Class != "" || !strings.Contains(out.Message, "3 scratch folders") {
		t.Errorf("%+v, %v", out, err)
	}
	for _, name := range gone {
		if _, err := os.Stat(filepath.Join(r.Tries, filepath.Dir(name))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(r.Tries, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	if out, err := of(t, plan.MemoryCleanup).Undo(t.Context()); err != nil || out.Class != "" {
		t.Errorf("of a stage without tries: %+v, %v", out, err)
	}
}

// TestScript gives a script its environment, and tells where its logs are when it fails.
func TestScript(t *testing.T) {
	r := of(t, plan.RunScript)
	r.Environ = []string{"HOME=/home", "WORD=ours"}
	r.Started.Env = value.NewObject(value.Field{Name: "WORD", Value: "its own"}, value.Field{Name: "PIPE_STAGE", Value: "other"})
	var got *stage.Call
	r.Script = stage.Kind{Name: "command", Run: func(_ context.Context, call *stage.Call) (stage.Outcome, error) {
		got = call
		return stage.Outcome{Class: stage.Exit, ExitCode: 3, Message: "exit status 3"}, nil
	}}
	out, err := r.Undo(t.Context())
	if err != nil || out.Class != "exit" || out.Message != "exit status 3; its logs are in rollback/e9 of the run's folder" {
		t.Errorf("%+v, %v", out, err)
	}
	script, _ := got.Config.Get("script")
	if script != "undo it" || got.Key != "R/s/rollback" || got.StageDir != r.Folder || got.Dir != r.Workspace.Root {
		t.Errorf("call %+v", got)
	}
	for _, want := range []string{"HOME=/home", "WORD=its own", "PIPE_STAGE=s", "PIPE_RUN_ID=R", "PIPE_EFFECT=e9", "PIPE_STAGE_DIR=" + filepath.Join(r.Folder, Scratch)} {
		if !slices.Contains(got.Env, want) {
			t.Errorf("the environment lacks %q: %q", want, got.Env)
		}
	}
	if slices.Contains(got.Env, "WORD=ours") || slices.Contains(got.Env, "PIPE_STAGE=other") {
		t.Errorf("the environment holds what is set over, or may not be: %q", got.Env)
	}
}

func TestManual(t *testing.T) {
	out, err := of(t, plan.Manual).Undo(t.Context())
	if err != nil || out.Class != "" || out.Message != "to be done by hand: turn it off" {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestFailed gives each error the class of whose fault it is.
func TestFailed(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want stage.Class
	}{
		{t.Context(), fmt.Errorf("x: %w", undo.ErrConflict), stage.FailedCheck},
		{t.Context(), fmt.Errorf("x: %w", fs.ErrPermission), stage.PermissionDenied},
		{t.Context(), fmt.Errorf("x: %w", workspace.ErrUnknownTree), stage.Unavailable},
		{ended, undo.ErrConflict, stage.Cancelled},
	} {
		out := Failed(c.ctx, step.RolledBack{Message: "saved"}, c.err)
		if out.Class != string(c.want) || out.Message != c.err.Error()+"; saved" {
			t.Errorf("%v: %+v, want %s", c.err, out, c.want)
		}
	}
}
