package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/taskfile"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/specs/data"
)

// feedbackWriteOptions are the options of `pipe feedback write`.
type feedbackWriteOptions struct {
	*app
	taskPlace
	from                            string
	status, attempt, summary        string
	critical, warnings, suggestions []string
	signOff                         bool
}

func newFeedbackWriteCmd(a *app) *cobra.Command {
	o := &feedbackWriteOptions{app: a}
	cmd := &cobra.Command{
		Use:   "write FILE | --prd PRD --task TASK",
		Short: "Write the feedback file of a task",
		Long: "Writes a feedback file, whole or not at all, below the project, and prints its path; \"-\" prints the file instead.\n" +
			"Texts are one line each, and nothing in them can be taken for a part of the file. A finding may end with its place,\n" +
			"as in 'the password is not checked - src/auth.go:42'. With --from the content is read as JSON, and options add to it:\n\n" +
			"  {\"status\": \"FAIL\", \"summary\": \"…\", \"critical\": [\"text - src/auth.go:42\",\n" +
			"   {\"description\": \"…\", \"file\": \"…\", \"line\": 7}], \"warnings\": [], \"suggestions\": []}\n\n" +
			"or a list or document of items, where a blocking one makes the status FAIL. A FAIL must say why, and a PASS has no\n" +
			"critical findings.",
		Example: "  pipe feedback write --prd 001 --task 1.1 --status FAIL --attempt 2/5 --critical 'no check - src/auth.go:42'\n" +
			"  pipe feedback write --prd 001 --task 1.1 --status PASS --sign-off\n" +
			"  ./validate --json | pipe feedback write --prd 001 --task 1.1 --from -",
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "read the content from `FILE`, as JSON; - is stdin")
	f.StringVar(&o.status, "status", "", "`PASS` or FAIL")
	f.StringVar(&o.attempt, "attempt", "", "the attempt, and how many there are, as `N/MAX`")
	f.StringVar(&o.summary, "summary", "", "`TEXT` in a line")
	f.StringArrayVar(&o.critical, "critical", nil, "a finding that must be fixed, as `TEXT`; may be repeated")
	f.StringArrayVar(&o.warnings, "warning", nil, "a finding that should be looked at, as `TEXT`; may be repeated")
	f.StringArrayVar(&o.suggestions, "suggestion", nil, "what could be better, as `TEXT`; may be repeated")
	f.BoolVar(&o.signOff, "sign-off", false, "sign the work off; goes with PASS")
	if err := cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions([]string{"PASS", "FAIL"}, noFiles)); err != nil {
		panic(err) // the flag was just made
	}
	return cmd
}

func (o *feedbackWriteOptions) run(context.Context) error {
	f, err := o.content()
	if err != nil {
		return err
	}
	if err := f.Check(); err != nil {
		return usagef("%w", err)
	}
	b := taskfile.Write(f)
	if o.file == "-" {
		_, err := o.out.Write(b)
		return err
	}
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	name, err := o.target(p.Root)
	if err != nil {
		return err
	}
	err = workspace.WriteInside(p.Root, name, b)
	switch {
	case errors.Is(err, workspace.ErrOutside), errors.Is(err, workspace.ErrNotRegular):
		return usagef("%q is not written: %s", name, whyUnread(err))
	case err != nil:
		return err
	}
	fmt.Fprintln(o.out, name)
	return nil
}

// target gives the path of the file that is written, relative to the project.
func (o *feedbackWriteOptions) target(root string) (string, error) {
	if o.prd == "" {
		rel, err := filepath.Rel(root, o.inDir(o.file))
		if dir, linked := filepath.EvalSymlinks(o.dir); linked == nil && !filepath.IsAbs(o.file) {
			rel, err = filepath.Rel(root, filepath.Join(dir, o.file)) // the project's root is a path without links
		}
		if err != nil || !filepath.IsLocal(rel) || rel == "." {
			return "", usagef("%q is not a file of the project %q", o.file, root)
		}
		if reserved := workspace.Reserved(filepath.ToSlash(rel)); reserved != "" {
			return "", usagef("%q lies in %s, where no feedback file may be", o.file, reserved)
		}
		return filepath.ToSlash(rel), nil
	}
	name, err := o.path(root)
	switch {
	case errors.Is(err, taskfile.ErrNoFolder):
		return "", usagef("%w; --name NAME makes it", err)
	case err != nil || o.name == "":
		return name, err
	}
	folder, err := o.folder(root)
	if err == nil && folder != o.prd+"-"+o.name {
		return "", usagef("PRD %q has the folder %q, and --name %q would make a second one", o.prd, folder, o.name)
	}
	return name, nil
}

// content puts together what the file says.
func (o *feedbackWriteOptions) content() (taskfile.File, error) {
	f, err := o.base()
	if err != nil {
		return f, err
	}
	if o.from == "" && o.status == "" {
		return f, usagef("--status is missing, expected PASS or FAIL")
	}
	if o.status != "" {
		if f.Status, err = taskfile.ParseStatus(o.status); err != nil {
			return f, usagef("--%w", err)
		}
	}
	if o.task != "" {
		f.Task = taskfile.TaskID(o.task)
	}
	if o.summary != "" {
		f.Summary = o.summary
	}
	if o.attempt != "" {
		if f.Attempt, f.MaxAttempts, err = readAttempt(o.attempt); err != nil {
			return f, err
		}
	}
	for _, list := range []struct {
		flag  string
		texts []string
		to    *[]taskfile.Issue
	}{{"critical", o.critical, &f.Critical}, {"warning", o.warnings, &f.Warnings}, {"suggestion", o.suggestions, &f.Suggestions}} {
		for _, text := range list.texts {
			if strings.TrimSpace(text) == "" {
				return f, usagef("--%s is empty, expected what is wrong", list.flag)
			}
			*list.to = append(*list.to, taskfile.NewIssue(text))
		}
	}
	f.SignedOff = f.SignedOff || o.signOff
	if f.Timestamp.IsZero() {
		f.Timestamp = o.now()
	}
	return f, nil
}

// base reads what --from names: an answer, or items.
func (o *feedbackWriteOptions) base() (taskfile.File, error) {
	if o.from == "" {
		return taskfile.File{}, nil
	}
	reader := feedbackReadOptions{app: o.app, taskPlace: taskPlace{file: o.from}}
	b, why := reader.readAny()
	if why == "" && len(b) > taskfile.MaxSize {
		why = whyUnread(workspace.ErrTooLarge)
	}
	if why != "" {
		return taskfile.File{}, usagef("--from %q: %s", o.from, why)
	}
	v, err := data.ReadJSON(b)
	if err != nil {
		return taskfile.File{}, usagef("--from %q: %w", o.from, err)
	}
	f, err := o.fromValue(v)
	if err != nil {
		return f, usagef("--from %q: %w", o.from, err)
	}
	return f, nil
}

func (o *feedbackWriteOptions) fromValue(v value.Value) (taskfile.File, error) {
	doc, isObject := v.(*value.Object)
	if _, items := doc.Get("feedback_items"); !isObject || items {
		r, err := feedback.ReadResult(v, "")
		if err != nil {
			return taskfile.File{}, err
		}
		return taskfile.FromItems(r), nil
	}
	if o.status != "" {
		doc = doc.Clone()
		doc.Set("status", o.status)
	}
	return taskfile.FromAnswer(doc)
}

// readAttempt reads "2/5" or "2".
func readAttempt(text string) (attempt, most int, err error) {
	n, max, both := strings.Cut(text, "/")
	attempt, err = strconv.Atoi(strings.TrimSpace(n))
	if err == nil && both {
		most, err = strconv.Atoi(strings.TrimSpace(max))
	}
	if err == nil && both && attempt > most && most > 0 {
		return 0, 0, usagef("--attempt %q: %d is more than %d, expected the number of the attempt and how many there are, as in 2/5", text, attempt, most)
	}
	if err != nil || attempt < 1 || both && most < attempt || attempt > 999_999 || most > 999_999 {
		return 0, 0, usagef("--attempt %q: expected the number of the attempt and how many there are, as in 2/5", text)
	}
	return attempt, most, nil
}
