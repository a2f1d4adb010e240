package specs

import (
	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
	"example.com/pipe/specs/read"
)

// Task is task: what a run works on.
type Task struct {
	Key      *source.Scalar
	Body     *source.Scalar
	BodyFile *source.Scalar
	Repos    []*source.Scalar
	Span     source.Span
}

// task reads task.
func (r *reader) task(n *yaml.Node) *Task {
	t := &Task{Span: r.Doc.Whole(n)}
	const what = `"task"`
	fs, ok := readKeys(r, n, what, taskKeys, t)
	if !ok {
		return nil
	}
	if !has(fs, "key") {
		r.Missing(n, t.Span, what, "key", `say by what the task is known: key: "${{ inputs.issue }}"`)
	}
	body, file := find(fs, "body"), find(fs, "body_file")
	switch {
	case body != nil && file != nil:
		r.conflict(file, body, what, "give the text of the task once")
	case body == nil && file == nil:
		r.Missing(n, t.Span, what, "body", `give the text of the task: body: "${{ inputs.task }}", or body_file with a file that holds it`)
	}
	return t
}

var taskKeys = []key[Task]{
	{"key", aText, Required, "by what the task is known, such as the number of an issue; may hold `${{ }}`",
		func(r *reader, n *yaml.Node, t *Task) { t.Key = r.Filled(n, `"key" of "task"`) }},
	{"body", aText, "", "its text; may hold `${{ }}`. A list under a heading \"Acceptance criteria\" is told to stages apart",
		func(r *reader, n *yaml.Node, t *Task) { t.Body = r.Filled(n, `"body" of "task"`) }},
	{"body_file", aText, "", "in place of `body`: a file of the workspace that holds it; may hold `${{ }}`",
		func(r *reader, n *yaml.Node, t *Task) { t.BodyFile = r.Filled(n, `"body_file" of "task"`) }},
	{"repos", someTexts, "", "the repositories that it concerns; may hold `${{ }}`",
		func(r *reader, n *yaml.Node, t *Task) {
			ok := r.List(n, `"repos" of "task"`, "names of repositories", func(n *yaml.Node) {
				if s := r.Filled(n, `an entry of "repos"`); s != nil {
					t.Repos = append(t.Repos, s)
				}
			})
			if !ok && read.IsString(n) {
				r.Advise("write it as a list: repos: [" + read.Short(n.Value) + "]")
			}
		}},
}
