package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/view"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/specs"
	"example.com/pipe/stages/command"
)

var starter *proc.Starter

func TestMain(m *testing.M) {
	if err := proc.Subreaper(); err != nil {
		panic(err)
	}
	starter = proc.NewStarter()
	code := m.Run()
	starter.Close()
	os.Exit(code)
}

// world is a run's folder, its workspace and its plan. Each of its processes is a call of live.
type world struct {
	t      *testing.T
	id     string // of the run; its own, since processes are found by it
	root   string // the workspace
	dir    string // of the run
	plan   *plan.Plan
	kinds  []stage.Kind
	inputs *value.Object
	stay   bool
	cache  string // the folder of the cache; "": none
	warned []string

	fail  func(seq int64) (before, after error) // an append that fails, before or after it is durable; nil: none does
	after func(journal.Line)                    // called with each durable step; may be nil
}

func newWorld(t *testing.T, yaml string, kinds ...stage.Kind) *world {
	t.Helper()
	w := &world{t: t, id: ulid.Make().String(), kinds: append(kinds, command.New(starter))}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.root, w.dir = filepath.Join(base, "space"), filepath.Join(base, "run")
	for _, dir := range []string{w.root, w.dir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := source.NewFile("p.yaml", yaml)
	doc, diags := specs.ParsePipeline(file)
	p, more := compile.Compile(doc, compile.Options{Kinds: w.kinds})
	diags.Add(more...)
	if diags.HasErrors() {
		t.Fatalf("%s", diags.Text(file))
	}
	w.plan = p
	return w
}

// breakable is a journal that fails when it is told to.
type breakable struct {
	w     *world
	inner *journal.Writer
}

func (b *breakable) Append(l journal.Line) error {
	var before, after error
	if b.w.fail != nil {
		before, after = b.w.fail(l.Seq)
	}
	if before != nil {
		return before
	}
	if err := b.inner.Append(l); err != nil {
		return err
	}
	return after
}

// process is what a process of ours is made of.
type process struct {
	driver  *driver.Driver
	machine *machine.Machine
	writer  *journal.Writer
	folded  int
}

// open makes a driver from what is on the disk.
func (w *world) open() *process {
	w.t.Helper()
	ws, err := workspace.Open(w.root)
	if err != nil {
		w.t.Fatal(err)
	}
	ws.Store = filepath.Join(w.dir, "trees")
	p := &process{machine: machine.New(w.plan, compile.NewEvaluator(), nil)}
	var log *journal.Log
	if _, err := os.Stat(filepath.Join(w.dir, journal.FileName)); err == nil {
		p.writer, log, err = journal.Open(w.dir)
		if err != nil {
			w.t.Fatal(err)
		}
	} else if p.writer, err = journal.Create(w.dir, journal.Header{Run: w.id}); err != nil {
		w.t.Fatal(err)
	}
	p.driver = driver.New(driver.Options{
		Plan: w.plan, Machine: p.machine, Journal: &breakable{w, p.writer}, Dir: w.dir, Workspace: ws,
		Kinds: w.kinds, Environ: os.Environ(), Now: time.Now, Stay: w.stay, Cache: w.cache,
		Notify: func(l journal.Line) {
			if w.after != nil {
				w.after(l)
			}
		},
		Warn: func(s string) { w.warned = append(w.warned, s) },
	})
	if log != nil {
		for l, err := range log.Lines() {
			if err != nil {
				w.t.Fatal(err)
			}
			for _, r := range l.Records {
				p.machine.Apply(r)
			}
			p.driver.Fold(l)
			p.folded++
		}
	}
	return p
}

// live is the life of one process of ours: it starts the run or resumes it.
func (w *world) live(ctx context.Context) (step.RunStatus, error) {
	w.t.Helper()
	p := w.open()
	var first step.Event = step.Resumed{At: step.At(time.Now())}
	if p.folded == 0 {
		info := step.RunInfo{Run: w.id, TaskID: "task-1", Pipeline: w.plan.Name, Jobs: 2}
		first = step.Start{At: step.At(time.Now()), Run: info, Inputs: w.inputs}
	}
	status, err := p.driver.Run(ctx, first)
	if closing := p.writer.Close(); err == nil && closing != nil {
		w.t.Errorf("closing the journal: %v", closing)
	}
	return status, err
}

// run is live that must go well.
func (w *world) run() step.RunStatus {
	w.t.Helper()
	status, err := w.live(w.t.Context())
	if err != nil {
		w.t.Fatalf("run: %v", err)
	}
	return status
}

// records gives all records of the journal.
func (w *world) records() []step.Record {
	w.t.Helper()
	var out []step.Record
	if _, err := journal.Read(w.dir, func(l journal.Line) error {
		out = append(out, l.Records...)
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// failure gives class and message of a stage that failed.
func (w *world) failure(path string) (class, message string) {
	w.t.Helper()
	for _, r := range w.records() {
		if f, ok := r.(step.StageFailed); ok && f.Stage == path {
			class, message = f.Class, f.Message
		}
	}
	return class, message
}

// state is what must be equal however often we died: statuses, iterations, outputs, items, tree; no times.
func (w *world) state() string {
	w.t.Helper()
	v := view.New(w.plan)
	if _, err := journal.Read(w.dir, func(l journal.Line) error {
		for _, r := range l.Records {
			v.Apply(l.At, r)
		}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	b, err := v.JSON()
	if err != nil {
		w.t.Fatal(err)
	}
	b = []byte(strings.ReplaceAll(string(b), w.id, "RUN"))
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		w.t.Fatal(err)
	}
	strip(doc)
	delete(doc, "budget") // counts tries, interrupted ones too
	text, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// strip takes out times.
func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"started_at", "finished_at", "duration_ms", "at", "asked_at", "raised_at"} {
			delete(v, name)
		}
		for _, e := range v {
			strip(e)
		}
	case []any:
		for _, e := range v {
			strip(e)
		}
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	name = filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// single is a pipeline of one stage, whose keys are given.
func single(keys string) string {
	lines := strings.Split(strings.TrimSpace(keys), "\n")
	return fmt.Sprintf("name: one\nversion: 1\nstages:\n  - id: s\n    %s\n", strings.Join(lines, "\n    "))
}

var errCrash = errors.New("the disk is gone")
