package taskfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Folder is where the folders of features lie, relative to the project.
const Folder = ".tot-docs"

// maxName is how long a part of a path may be, in bytes: three of them and what stands between them are names that
// every file system takes.
const maxName = 100

// Path gives where the feedback file of a task lies, relative to the project, with slashes:
// ".tot-docs/{prd}-{name}/task-{task}-feedback.md". A task that is called "task-1.1" is the task "1.1".
func Path(prd, name, task string) (string, error) {
	if err := CheckName("PRD", prd); err != nil {
		return "", err
	}
	if err := CheckName("name", name); err != nil {
		return "", err
	}
	file, err := FileName(task)
	return Folder + "/" + prd + "-" + name + "/" + file, err
}

// FileName gives the name of the feedback file of a task.
func FileName(task string) (string, error) {
	if err := CheckName("task", task); err != nil {
		return "", err
	}
	task = TaskID(task)
	if task == "" {
		return "", errors.New(`the task is "task-", which has no id behind it`)
	}
	return "task-" + task + "-feedback.md", nil
}

// TaskID is a task's id without the "task-" that files put before it.
func TaskID(task string) string { return strings.TrimPrefix(task, "task-") }

// CheckName says why a text can't be a part of a path, as what; it is data, and must not lead anywhere.
func CheckName(what, s string) error {
	var why string
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("the %s is empty", what)
	case len(s) > maxName:
		return fmt.Errorf("the %s %q is longer than %d bytes", what, clip(s, 40), maxName)
	case !utf8.ValidString(s):
		why = "is not UTF-8"
	case strings.ContainsAny(s, `/\`):
		why = `holds a "/" or "\"`
	case strings.Contains(s, ".."):
		why = `holds ".."`
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		why = "holds a character that can't be seen"
	case s != strings.TrimSpace(s):
		why = "begins or ends with a space"
	default:
		return nil
	}
	return fmt.Errorf("the %s %q %s, expected an id as in 001, user-auth or 1.1", what, s, why)
}

// ErrNoFolder says that no folder belongs to a PRD.
var ErrNoFolder = errors.New("there is no folder")

// FindFolder gives the one folder of a PRD among the names of the folders in Folder: the one that begins with the
// PRD and a dash. None is ErrNoFolder, several are an error that names them.
func FindFolder(prd string, names []string) (string, error) {
	if err := CheckName("PRD", prd); err != nil {
		return "", err
	}
	var found []string
	for _, name := range names {
		if feature, ok := strings.CutPrefix(name, prd+"-"); ok && feature != "" {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return "", fmt.Errorf(`%w "%s/%s-…"`, ErrNoFolder, Folder, prd)
	case 1:
		return found[0], nil
	}
	shown := strings.Join(found[:min(len(found), 5)], ", ")
	if len(found) > 5 {
		shown += fmt.Sprintf(" and %d more", len(found)-5)
	}
	return "", fmt.Errorf("PRD %q has several folders in %s: %s", prd, Folder, shown)
}
