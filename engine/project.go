package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/tiktoken-go/tokenizer/codec"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/specs"
)

// The names of files and folders of a project.
const (
	ConfigFile    = "pipe.yaml"
	PipelinesDir  = "pipelines"
	runsDir       = "runs"
	cacheDir      = "cache"
	workspaceLock = "workspace.lock"
	runLock       = "lock"
	pipelineExt   = ".yaml"
)

// Options is what an engine gets from outside.
type Options struct {
	Kinds     []stage.Kind     // the kinds of stages; only Run, Resume and Answer call them
	Shipped   fs.FS            // the pipelines that come with the program: NAME.yaml and their prompts; may be nil
	Contracts fs.FS            // the contracts that come with the program: NAME.md; may be nil
	Environ   []string         // our own environment
	Now       func() time.Time // nil: time.Now
	NewID     func() string    // ULIDs, ascending; nil: made from Now and the system's randomness
	Version   string           // of the program, for the journal's header
	Command   string           // how the program was called, for who meets a lock that it holds

	// Unattended says that nobody is there to be asked: an approval must say what holds without an answer.
	Unattended bool

	// AllowMissingAgents makes a warning of an agent that pipe.yaml lacks, in a shipped pipeline or where
	// pipe.yaml has no agents at all, and in a shipped one of a command that the project lacks: pipelines are
	// checked apart from the project that will run them. Such a pipeline can't be run.
	AllowMissingAgents bool
}

// Project is a folder with pipelines and runs.
type Project struct {
	Root   string         // absolute, without symbolic links
	State  string         // absolute; holds the folder of runs
	Config *specs.Project // pipe.yaml; empty where there is none
	Diags  diag.List      // what is wrong with pipe.yaml

	opt    Options
	tokens func(string) int
	config []byte // the text of pipe.yaml; nil: there is none
}

// OpenProject finds the project of a folder: the nearest folder upwards that holds pipe.yaml or .pipe, else
// the top of the git work tree, else the folder itself. Mistakes in pipe.yaml are in Diags: they don't keep
// anybody from looking at runs.
func OpenProject(dir string, opt Options) (*Project, error) {
	root, err := workspace.FindRoot(dir)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("find the project of %q: %w", dir, err)
	}
	p := &Project{Root: root, opt: opt, Config: &specs.Project{}, tokens: newTokenCounter()}
	if p.opt.Now == nil {
		p.opt.Now = time.Now
	}
	if p.opt.NewID == nil {
		p.opt.NewID = newIDs(p.opt.Now)
	}
	b, err := workspace.ReadRegular(filepath.Join(root, ConfigFile), specs.MaxSize)
	switch {
	case err == nil:
		p.config = b
		p.Config, p.Diags = specs.ParseProject(p.ConfigSource())
	case !errors.Is(err, fs.ErrNotExist):
		unreadable(&p.Diags, ConfigFile, err)
	}
	p.State = filepath.Join(root, workspace.StateDir)
	if s := p.Config.State; s != nil && s.Value != "" {
		p.State = s.Value
		if !filepath.IsAbs(p.State) {
			p.State = filepath.Join(root, filepath.FromSlash(p.State))
		}
	}
	return p, nil
}

// ConfigSource is the text of pipe.yaml, for what is shown of it; empty where there is none that can be read.
func (p *Project) ConfigSource() *source.File { return source.NewFile(ConfigFile, string(p.config)) }

// newIDs gives ULIDs that ascend also within a millisecond.
func newIDs(now func() time.Time) func() string {
	entropy := &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(ulid.DefaultEntropy(), 0)}
	return func() string { return ulid.MustNew(ulid.Timestamp(now()), entropy).String() }
}

// newTokenCounter counts o200k_base tokens. The table costs tens of milliseconds and is made when it is
// first asked for. A text that the tokenizer refuses counts by its bytes, which are never fewer.
func newTokenCounter() func(string) int {
	table := sync.OnceValue(codec.NewO200kBase)
	return func(s string) int {
		n, err := table().Count(s)
		if err != nil {
			return len(s)
		}
		return n
	}
}

func (p *Project) now() step.Instant { return step.At(p.opt.Now()) }

// runsPath is the folder that holds the runs.
func (p *Project) runsPath() string { return filepath.Join(p.State, runsDir) }

// RunDir is the folder of a run, by its id.
func (p *Project) RunDir(id string) string { return filepath.Join(p.runsPath(), id) }

// prepareState makes the folders of our own state. None of it belongs into version control.
func (p *Project) prepareState() error {
	if err := os.MkdirAll(p.runsPath(), 0o700); err != nil {
		return fmt.Errorf("making the folder of runs: %w", err)
	}
	for _, dir := range []string{filepath.Join(p.Root, workspace.StateDir), p.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making %q: %w", dir, err)
		}
		if dir == p.State && dir != filepath.Join(p.Root, workspace.StateDir) && !p.stateInside() {
			continue // a folder elsewhere may hold other things
		}
		name := filepath.Join(dir, ".gitignore")
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			if err := journal.WriteFile(name, []byte("*\n"), false); err != nil {
				return err
			}
		}
	}
	return nil
}

// stateInside reports whether the state lies in the workspace.
func (p *Project) stateInside() bool {
	rel, err := filepath.Rel(p.Root, p.State)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// stateExcluded is what a tree must leave out beside .pipe.
func (p *Project) stateExcluded() []string {
	if !p.stateInside() {
		return nil
	}
	rel, err := filepath.Rel(p.Root, p.State)
	if err != nil || rel == workspace.StateDir {
		return nil
	}
	return []string{filepath.ToSlash(rel)}
}

// getenv gives a variable of our environment; the last one counts.
func (p *Project) getenv(name string) string {
	for i := len(p.opt.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(p.opt.Environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}
