package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/pipe/engine/check"
	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/specs"
)

// NotFoundError says that there is no such run, pipeline or contract.
type NotFoundError struct {
	What string // "pipeline", "contract", "run"
	Ref  string
	Help string // what there is instead, what to do
}

// Error implements error.
func (e *NotFoundError) Error() string {
	msg := fmt.Sprintf("there is no %s %q", e.What, e.Ref)
	if e.Help != "" {
		msg += "; " + e.Help
	}
	return msg
}

// Loaded is a pipeline that was found, parsed, compiled and checked.
type Loaded struct {
	Name    string     // as it was asked for, or the file's
	File    string     // as diagnostics name it: relative to the project, or "shipped/NAME.yaml"
	Shipped bool       // it comes with the program
	Plan    *plan.Plan // nil if it has errors
	Doc     *specs.Pipeline
	Diags   diag.List      // of pipe.yaml and the pipeline, sorted; errors keep it from running
	Sources []*source.File // pipe.yaml, the pipeline, its prompts: what the diagnostics point into

	frozen []frozenFile // what a run of it keeps
}

// Entry is a pipeline that can be run by its name, or a contract that stages can name.
type Entry struct {
	Name    string
	File    string // as Loaded.File
	Shipped bool
}

// place is where a pipeline or a contract was found.
type place struct {
	Entry
	base fs.FS  // what its files are read from
	path string // in base, with slashes
}

// Pipelines lists the pipelines that can be run by name, by name. One of the project hides a shipped one of
// the same name.
func (p *Project) Pipelines() ([]Entry, error) {
	seen := map[string]bool{}
	var out []Entry
	for _, dir := range p.places() {
		entries, err := fs.ReadDir(dir.base, dir.path)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, fmt.Errorf("listing pipelines in %q: %w", dir.File, err)
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), pipelineExt)
			if !ok || e.IsDir() || strings.HasSuffix(name, ".test") || seen[name] {
				continue
			}
			seen[name] = true
			out = append(out, Entry{Name: name, File: path.Join(dir.File, e.Name()), Shipped: dir.Shipped})
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// places gives the folders in which names are looked up, in this order.
func (p *Project) places() []place {
	root := os.DirFS(p.Root)
	out := []place{
		{Entry{File: PipelinesDir}, root, PipelinesDir},
		{Entry{File: workspace.StateDir + "/" + PipelinesDir}, root, workspace.StateDir + "/" + PipelinesDir},
	}
	if p.opt.Shipped != nil {
		out = append(out, place{Entry{File: "shipped", Shipped: true}, p.opt.Shipped, "."})
	}
	return out
}

// find finds a pipeline by its name, or by a path, which has a slash or ends in ".yaml" and is relative to
// dir.
func (p *Project) find(ref, dir string) (place, error) {
	if strings.ContainsRune(ref, '/') || strings.HasSuffix(ref, pipelineExt) {
		return p.atPath("pipeline", ref, dir, strings.TrimSuffix(filepath.Base(ref), pipelineExt))
	}
	for _, at := range p.places() {
		file := path.Join(at.path, ref+pipelineExt)
		if !fs.ValidPath(file) {
			break
		}
		if _, err := fs.Lstat(at.base, file); err == nil {
			at.Name, at.File, at.path = ref, path.Join(at.File, ref+pipelineExt), file
			return at, nil
		}
	}
	return place{}, p.noPipeline(ref)
}

// atPath gives the place of a file, by its path relative to dir. What it is meant as, and its name, are given.
func (p *Project) atPath(what, ref, dir, name string) (place, error) {
	file := ref
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return place{}, &NotFoundError{What: what, Ref: ref, Help: fmt.Sprintf("no file %q", file)}
	}
	shown := file
	if rel, err := filepath.Rel(p.Root, file); err == nil && filepath.IsLocal(rel) {
		shown = rel
	}
	return place{Entry{Name: name, File: filepath.ToSlash(shown)}, os.DirFS(filepath.Dir(file)), filepath.Base(file)}, nil
}

func (p *Project) noPipeline(ref string) error {
	entries, err := p.Pipelines()
	if err != nil {
		return err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	for _, dir := range p.places() {
		if file := path.Join(dir.path, ref+".yml"); fs.ValidPath(file) && !dir.Shipped {
			if _, err := fs.Stat(dir.base, file); err == nil {
				return &NotFoundError{What: "pipeline", Ref: ref, Help: fmt.Sprintf("%q is none by its name: pipelines end in %s", file, pipelineExt)}
			}
		}
	}
	help := diag.Suggest(ref, names)
	if help == "" && len(names) > 0 {
		help = "there are " + strings.Join(names, ", ")
	} else if help == "" {
		help = fmt.Sprintf("expected %s/%s%s", PipelinesDir, ref, pipelineExt)
	}
	return &NotFoundError{What: "pipeline", Ref: ref, Help: help}
}

// Load finds a pipeline by its name, or by its path relative to dir ("": the project), parses, compiles and
// checks it. The error is a *NotFoundError or one of listing what there is; what is wrong with the document,
// and that it can't be read, is in Diags.
func (p *Project) Load(ref, dir string) (*Loaded, error) {
	if dir == "" {
		dir = p.Root
	}
	at, err := p.find(ref, dir)
	if err != nil {
		return nil, err
	}
	l := &Loaded{Name: at.Name, File: at.File, Shipped: at.Shipped}
	if p.config != nil {
		l.keep("config", ConfigFile, ConfigFile, p.config, false)
	}
	b, err := p.read(at, path.Base(at.path), specs.MaxSize)
	if err != nil {
		l.Doc = new(specs.Pipeline)
		l.Diags.Add(p.Diags...)
		unreadable(&l.Diags, at.File, err)
		return l, nil
	}
	file := l.keep("pipeline", at.File, p.original(at), b, at.Shipped)
	doc, diags := specs.ParsePipeline(file)
	l.Doc = doc
	compiled, more := compile.Compile(doc, compile.Options{
		Kinds: p.opt.Kinds, Agents: p.Config.Agents,
		PromptFile: func(name string) (*source.File, error) { return p.prompt(l, at, name) },
		Contracts:  contractsOf{p, l},
		Pipeline:   p.children(l, at),
		Unattended: p.opt.Unattended, Version: release(p.opt.Version),

		Commands: p.Config.Commands, FindCommand: p.findCommand,
		Plugins: p.Config.Plugins, FindPlugin: p.findPlugin,

		AllowMissingAgents:   p.allowMissingAgents(at),
		AllowMissingCommands: p.opt.AllowMissingAgents && at.Shipped,
		ConfigUnread:         p.Diags.HasErrors(),
	})
	l.Diags.Add(p.Diags...)
	l.Diags.Add(diags...)
	l.otherName(doc)
	l.Diags.Add(more...)
	if !l.Diags.HasErrors() {
		l.Plan = compiled
		l.Diags.Add(check.Check(compiled, doc)...)
	}
	l.Diags = l.Diags.Sorted()
	return l, nil
}

// codes of what is odd about the files of pipelines.
const (
	codeFileName   diag.Code = "file-name"
	codeFileType   diag.Code = "file-type"
	codeUnreadable diag.Code = "file-unreadable"
)

// unreadable reports a file that can't be read.
func unreadable(diags *diag.List, name string, err error) {
	diags.Errorf(codeUnreadable, source.NewFile(name, "").Span(0, 0), "%q can't be read: %v", name, err)
}

// otherName warns of a pipeline that is run by another name than it gives itself.
func (l *Loaded) otherName(doc *specs.Pipeline) {
	dir := path.Base(path.Dir(l.File))
	if l.Shipped || dir != PipelinesDir || doc.Name == nil || doc.Name.Value == l.Name {
		return
	}
	l.Diags.Warnf(codeFileName, doc.Name.Span, "the name is %q and the file %q, and the file's name counts: it is run as \"pipe run %s\"",
		doc.Name.Value, path.Base(l.File), l.Name).Help = "give both the same name"
}

// Strays warns of files of the project that look like pipelines and are none by their names.
func (p *Project) Strays() diag.List {
	var out diag.List
	for _, dir := range p.places() {
		entries, err := fs.ReadDir(dir.base, dir.path)
		if err != nil || dir.Shipped {
			continue // Pipelines reports it
		}
		for _, e := range entries {
			file := path.Join(dir.File, e.Name())
			if e.IsDir() && strings.HasSuffix(e.Name(), pipelineExt) {
				out.Warnf(codeFileType, source.NewFile(file, "").Span(0, 0), "%q is a folder, and no pipeline", file)
			}
			if name, ok := strings.CutSuffix(e.Name(), ".yml"); ok && !e.IsDir() {
				out.Warnf(codeFileType, source.NewFile(file, "").Span(0, 0), "%q is no pipeline by its name: pipelines end in %s", file, pipelineExt).
					Help = fmt.Sprintf("rename it to %s%s", name, pipelineExt)
			}
		}
	}
	return out
}

// release gives the version in what a program says of itself: "v0.4.1 0123abc" is built from a commit.
func release(version string) string {
	first, _, _ := strings.Cut(version, " ")
	return first
}

// allowMissingAgents reports whether a pipeline may name agents that pipe.yaml lacks.
func (p *Project) allowMissingAgents(at place) bool {
	return p.opt.AllowMissingAgents && (at.Shipped || len(p.Config.Agents) == 0)
}

// children finds the pipelines that one at a place runs: by their names as Load does, or by paths relative to
// its own file. They are frozen with it.
func (p *Project) children(l *Loaded, from place) func(ref string) (*compile.Child, error) {
	return func(ref string) (*compile.Child, error) {
		at, err := p.findBeside(from, ref)
		if err != nil {
			return nil, err
		}
		b, err := p.read(at, path.Base(at.path), specs.MaxSize)
		if err != nil {
			return nil, fmt.Errorf("pipeline %q can't be read: %w", at.File, err)
		}
		file := l.keep("pipeline", at.File, p.original(at), b, at.Shipped)
		doc, diags := specs.ParsePipeline(file)
		return &compile.Child{
			Name: at.Name, Doc: doc, Diags: diags,
			PromptFile:         func(name string) (*source.File, error) { return p.prompt(l, at, name) },
			Pipeline:           p.children(l, at),
			AllowMissingAgents: p.allowMissingAgents(at), AllowMissingCommands: p.opt.AllowMissingAgents && at.Shipped,
		}, nil
	}
}

// findBeside is find for a pipeline that another one names.
func (p *Project) findBeside(from place, ref string) (place, error) {
	if !strings.ContainsRune(ref, '/') && !strings.HasSuffix(ref, pipelineExt) {
		return p.find(ref, "")
	}
	if !from.Shipped {
		dir := filepath.FromSlash(path.Dir(from.File))
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Root, dir)
		}
		return p.find(ref, dir)
	}
	at := place{Entry{strings.TrimSuffix(path.Base(ref), pipelineExt), path.Join(path.Dir(from.File), ref), true},
		from.base, path.Join(path.Dir(from.path), ref)}
	if _, err := fs.Stat(at.base, at.path); err != nil {
		return place{}, &NotFoundError{What: "pipeline", Ref: ref, Help: fmt.Sprintf("no file %q", at.File)}
	}
	return at, nil
}

// original is the path by which a resume finds a file of a pipeline again; "" for a shipped one.
func (p *Project) original(at place) string {
	if at.Shipped {
		return ""
	}
	return at.File
}

// prompt reads a prompt_file, whose name is relative to the pipeline.
func (p *Project) prompt(l *Loaded, at place, name string) (*source.File, error) {
	if path.IsAbs(name) {
		return nil, errors.New("it must be relative to the pipeline")
	}
	b, err := p.read(at, name, maxPrompt)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(b)) == "" {
		return nil, errors.New("it is empty, expected the text of a prompt")
	}
	shown := path.Join(path.Dir(at.File), name)
	original := shown
	if at.Shipped {
		original = ""
	}
	f := l.keep("prompt", shown, original, b, at.Shipped)
	l.Diags.Add(specs.CheckText(f)...)
	return f, nil
}

// maxPrompt is the size that a prompt_file may have, in bytes: more than any agent reads.
const maxPrompt = 1 << 20

// read reads a file of at most max bytes, whose name is relative to the folder of a pipeline. The error does
// not name it.
func (p *Project) read(at place, name string, max int64) ([]byte, error) {
	if at.Shipped {
		b, err := fs.ReadFile(at.base, path.Join(path.Dir(at.path), name))
		return b, bareError(err)
	}
	file := filepath.FromSlash(path.Join(path.Dir(at.File), name))
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.Root, file)
	}
	return workspace.ReadRegular(file, max)
}

// keep takes a file among those that a run freezes.
func (l *Loaded) keep(kind, name, original string, b []byte, shipped bool) *source.File {
	for i, f := range l.frozen {
		if f.Kind == kind && f.Name == name {
			return l.Sources[i]
		}
	}
	f := source.NewFile(name, string(b))
	l.frozen = append(l.frozen, newFrozenFile(kind, name, original, b, shipped))
	l.Sources = append(l.Sources, f)
	return f
}

// bareError takes the operation and the path off an error of reading a file; the caller names both.
func bareError(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
