package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
)

// The names of what lies in a stage folder. The two logs are written by the kind.
const (
	inputName    = "input.json"
	briefName    = "brief.md"
	outputName   = "output"
	feedbackName = "feedback"
	scratchName  = "scratch"
	StdoutName   = "stdout.log"
	StderrName   = "stderr.log"
)

// StagesDir is the folder of a run that holds the stage folders.
const StagesDir = "stages"

// protocol is the number of the form of input.json; fields are only added within it.
const protocol = 1

// FolderOf is the folder of a try, relative to the run's: "stages/parent/id.0/2.1".
func FolderOf(path string, iteration, attempt int) string {
	disk := strings.NewReplacer("[", ".", "]", "").Replace(path)
	return filepath.Join(StagesDir, filepath.FromSlash(disk), strconv.Itoa(iteration)+"."+strconv.Itoa(attempt))
}

// folder is the folder of one try.
type folder struct {
	run  string   // the run's folder, absolute
	rel  string   // relative to it
	root *os.Root // the folder, open from prepare to close: what a stage puts in its place is not read
}

func (f *folder) close() {
	if f.root != nil {
		f.root.Close()
	}
}

func (f *folder) path(name string) string { return filepath.Join(f.run, f.rel, name) }

// slash is a file of the folder relative to the run's, with slashes.
func (f *folder) slash(name string) string { return filepath.ToSlash(filepath.Join(f.rel, name)) }

// input is what PIPE_INPUT names. Effect tells a later process of ours whose folder this is.
type input struct {
	Protocol  int                      `json:"protocol"`
	Stage     string                   `json:"stage"`
	Kind      string                   `json:"kind"`
	Config    *value.Object            `json:"config"`
	Inputs    *value.Object            `json:"inputs"`
	Envelope  *envelope.Envelope       `json:"envelope"`            // null: no work is sent to the stage
	Discovery *envelope.DiscoveryInput `json:"discovery,omitempty"` // of a stage that only looks around

	Brief     string          `json:"brief"`
	OpenItems []feedback.Item `json:"open_items"`
	Deadline  *string         `json:"deadline"` // null: no limit
	Effect    string          `json:"effect"`
}

// shown is what a process finds of its kind in PIPE_INPUT.
type shown struct {
	kind   string
	config *value.Object
}

// prepare makes the folder of a try and makes it durable: a resume tells by it whether the try can have
// begun. What an interrupted try left in its place moves aside to "….lost-N".
func (f *folder) prepare(parents *parents, as shown, s *step.StageStarted, deadline time.Time) error {
	if err := parents.ensure(filepath.Dir(f.rel)); err != nil {
		return err
	}
	dir := filepath.Join(f.run, f.rel)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if err = moveAside(dir); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err != nil {
		return err
	}
	if f.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	if err := os.Mkdir(f.path(scratchName), 0o700); err != nil {
		return err
	}
	if err := f.write(as, s, deadline); err != nil {
		return err
	}
	return journal.SyncDir(filepath.Dir(dir))
}

// write puts the files there that a process is given. What it is to write (output, feedback, logs) is not
// made before it is written.
func (f *folder) write(as shown, s *step.StageStarted, deadline time.Time) error {
	in := input{
		Protocol: protocol, Stage: s.Stage, Kind: as.kind, Config: as.config, Inputs: orEmpty(s.Inputs),
		Envelope: s.Envelope, Discovery: s.Discovery, Brief: s.Brief, OpenItems: s.OpenItems, Effect: s.Effect,
	}
	if in.OpenItems == nil {
		in.OpenItems = []feedback.Item{}
	}
	if !deadline.IsZero() {
		at := step.At(deadline).String()
		in.Deadline = &at
	}
	b, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("writing %s: %w", inputName, err)
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{inputName, append(b, '\n')}, {briefName, []byte(s.Brief)}} {
		if err := writeNew(f.path(file.name), file.data); err != nil {
			return err
		}
	}
	return nil
}

// writeNew makes a file where there is none. It does without an os.File, which costs more than half of what a
// small file takes.
func writeNew(name string, data []byte) error {
	again := func(do func() (int, error)) (n int, err error) {
		for {
			if n, err = do(); !errors.Is(err, syscall.EINTR) {
				return n, err
			}
		}
	}
	fd, err := again(func() (int, error) {
		return syscall.Open(name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return &fs.PathError{Op: "create", Path: name, Err: err}
	}
	for len(data) > 0 && err == nil {
		var n int
		n, err = again(func() (int, error) { return syscall.Write(fd, data) })
		data = data[max(n, 0):]
	}
	if closing := syscall.Close(fd); err == nil && !errors.Is(closing, syscall.EINTR) {
		err = closing
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	return nil
}

func orEmpty(o *value.Object) *value.Object {
	if o == nil {
		return value.NewObject()
	}
	return o
}

// moveAside renames the folder of a try that our own death ended.
func moveAside(dir string) error {
	for n := 1; ; n++ {
		to := dir + ".lost-" + strconv.Itoa(n)
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !isMissing(err) {
			return err
		}
		return os.Rename(dir, to)
	}
}

// begun reports whether the try of an effect can have begun: its folder is there, and does not say that it
// belongs to another effect (a try that was lost before this one, whose folder nobody has moved aside yet).
func (f *folder) begun(effect string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(f.run, f.rel)); err != nil {
		if isMissing(err) {
			return false, nil
		}
		return false, err
	}
	b, err := workspace.ReadInside(f.run, f.slash(inputName), 1<<30)
	if err != nil {
		return true, nil
	}
	var in struct {
		Effect string `json:"effect"`
	}
	if err := json.Unmarshal(b, &in); err != nil || in.Effect == "" {
		return true, nil
	}
	return in.Effect == effect, nil
}
