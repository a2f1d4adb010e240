package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/feedback/taskfile"
	"example.com/pipe/engine/view"
	"example.com/pipe/engine/workspace"
)

// taskPlace says which feedback file is meant: one by its path, or that of a task.
type taskPlace struct {
	file, prd, name, task string
}

func (t *taskPlace) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.prd, "prd", "", "the `PRD` of the task, such as 001: the file is .tot-docs/PRD-NAME/task-TASK-feedback.md")
	f.StringVar(&t.task, "task", "", "the `TASK`, such as 1.1")
	f.StringVar(&t.name, "name", "", "the `NAME` of the feature, such as user-auth (default: that of the one folder of the PRD)")
}

// check looks at what was given together.
func (t *taskPlace) check(args []string) error {
	if len(args) > 0 {
		t.file = args[0]
	}
	switch {
	case t.file == "" && t.prd == "":
		return usagef("no file is named, expected FILE, or --prd PRD --task TASK")
	case t.file != "" && (t.prd != "" || t.name != ""):
		return usagef("%q and --prd or --name don't go together: both say which file is meant", t.file)
	case t.prd != "" && t.task == "":
		return usagef("--prd goes with --task TASK")
	}
	return nil
}

// path gives the path of a task's file, relative to the project. Of a PRD without a folder it is ErrNoFolder, as long as
// no name is given.
func (t *taskPlace) path(root string) (string, error) {
	name, err := t.name, error(nil)
	if name == "" {
		var folder string
		if folder, err = t.folder(root); err == nil {
			name = folder[len(t.prd)+1:]
		} else if !errors.Is(err, taskfile.ErrNoFolder) {
			return "", err
		} else {
			name = "name" // so that the other parts are looked at
		}
	}
	path, wrong := taskfile.Path(t.prd, name, t.task)
	if wrong != nil {
		return "", usagef("%w", wrong)
	}
	return path, err
}

// folder finds the one folder of the PRD.
func (t *taskPlace) folder(root string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(root, taskfile.Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for the folder of PRD %q: %w", t.prd, err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			names = append(names, e.Name())
		}
	}
	folder, err := taskfile.FindFolder(t.prd, names)
	if err == nil || errors.Is(err, taskfile.ErrNoFolder) {
		return folder, err
	}
	return "", usagef("%w; --name NAME says which one is meant", err)
}

// feedbackReadOptions are the options of `pipe feedback read`.
type feedbackReadOptions struct {
	*app
	taskPlace
	decision bool
}

func newFeedbackReadCmd(a *app) *cobra.Command {
	o := &feedbackReadOptions{app: a}
	cmd := &cobra.Command{
		Use:   "read FILE | --prd PRD --task TASK",
		Short: "Read the feedback file of a task, and say whether its loop goes on",
		Long: "Prints what the feedback file of a task says, as JSON; \"-\" is stdin. What was not taken for what it may have been\n" +
			"meant as is said on stderr. The exit status is 0 whatever the file says, also where it is missing or can't be read:\n" +
			"its status is UNKNOWN then, and the loop goes on.",
		Example: "  pipe feedback read --prd 001 --task 1.1\n" +
			"  case $(pipe feedback read --decision --prd 001 --task 1.1) in CONTINUE) ;; *) break ;; esac",
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.decision, "decision", false, "print only the decision: PASS, MAX_ATTEMPTS or CONTINUE")
	return cmd
}

func (o *feedbackReadOptions) run(context.Context) error {
	name, data, why, err := o.read()
	if err != nil {
		return err
	}
	var f taskfile.File
	warnings := []taskfile.Warning{{Text: why}}
	if why == "" {
		f, warnings = taskfile.Read(data)
	}
	o.warnAbout(name, warnings)
	if o.task != "" && f.Task != "" && taskfile.TaskID(f.Task) != taskfile.TaskID(o.task) {
		o.warnAbout(name, []taskfile.Warning{{Text: fmt.Sprintf("the title names task %q", f.Task)}})
	}
	if o.decision {
		_, decision := f.Exit()
		fmt.Fprintln(o.out, decision)
		return nil
	}
	b, err := f.JSON()
	if err != nil {
		return err
	}
	_, err = o.out.Write(b)
	return err
}

// read gives the bytes of the file, or why they can't be had: neither a missing file nor one that can't be read ends
// a loop.
func (o *feedbackReadOptions) read() (name string, data []byte, why string, err error) {
	if o.file != "" {
		data, why = o.readAny()
		return o.file, data, why, nil
	}
	p, err := o.project(nil)
	if err != nil {
		return "", nil, "", err
	}
	name, err = o.path(p.Root)
	if errors.Is(err, taskfile.ErrNoFolder) {
		return taskfile.Folder, nil, err.Error(), nil
	}
	if err != nil {
		return "", nil, "", err
	}
	data, err = workspace.ReadInside(p.Root, name, taskfile.MaxSize)
	return name, data, whyUnread(err), nil
}

// readAny reads a file wherever it lies, also a pipe.
func (o *feedbackReadOptions) readAny() (data []byte, why string) {
	in := o.in
	if o.file != "-" {
		f, err := os.Open(o.inDir(o.file))
		if err != nil {
			return nil, whyUnread(err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, taskfile.MaxSize+1))
	return data, whyUnread(err)
}

// whyUnread says why a file could not be read; "" without an error.
func whyUnread(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, workspace.ErrOutside):
		return "it is, or is reached through, a symbolic link, which is not followed"
	case errors.Is(err, workspace.ErrNotRegular):
		return "it is not a regular file"
	case errors.Is(err, workspace.ErrTooLarge):
		return fmt.Sprintf("the file is larger than %d bytes, which no feedback file is", taskfile.MaxSize)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return "it can't be read: " + err.Error()
}

// warnAbout says on stderr what is to be said about a file.
func (a *app) warnAbout(name string, warnings []taskfile.Warning) {
	for _, w := range warnings {
		at := name
		if w.Line > 0 {
			at += fmt.Sprintf(":%d", w.Line)
		}
		fmt.Fprintf(a.err, "%s: warning: %s\n", view.OneLine(at), view.OneLine(w.Text))
	}
}
