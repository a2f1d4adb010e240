package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// checkOptions are the options of `pipe check`.
type checkOptions struct {
	*app
	json  bool
	short bool
	files []string

	unattended bool
}

func newCheckCmd(a *app) *cobra.Command {
	o := &checkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "check [FILE | NAME | FOLDER]...",
		Short: "Look for mistakes in pipelines and contracts; without arguments, in all of the project",
		Long: "Looks for mistakes in pipelines and contracts, each a FILE, the NAME of one, or those of a FOLDER. A folder that\n" +
			"is a project stands for its pipelines, its contracts and its pipe.yaml; so does no argument, for the project of the\n" +
			"current folder.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.short, "short", false, "print one line for each mistake")
	cmd.Flags().BoolVar(&o.unattended, "unattended", false, "look at what `pipe run --unattended` would run: nobody is there to answer")
	return cmd
}

// target is one thing to look at: a pipeline or a contract of a project, or its pipe.yaml where there is no ref.
type target struct {
	project  *engine.Project
	ref      string
	contract bool
}

func (o *checkOptions) run(context.Context) error {
	p, err := o.open(o.dir)
	if err != nil {
		return err
	}
	targets, err := o.targets(p)
	if err != nil {
		return err
	}
	var diags diag.List
	diags.Add(p.Diags...)
	if len(o.files) == 0 {
		diags.Add(p.Strays()...)
	}
	var files []*source.File
	var seen counts
	for _, t := range targets {
		ds, of, err := o.look(t, &seen)
		if err != nil {
			return err
		}
		diags.Add(ds...)
		files = append(files, of...)
	}
	if err := o.print(diags, files, seen.String()); err != nil {
		return err
	}
	if diags.HasErrors() {
		return withStatus(exitFailed)
	}
	return nil
}

// open opens the project of a folder, to be looked at as a run would look at it.
func (o *checkOptions) open(dir string) (*engine.Project, error) {
	opt := o.projectOptions(nil)
	opt.Unattended = o.unattended
	return engine.OpenProject(dir, opt)
}

// look looks at one thing, and counts it.
func (o *checkOptions) look(t target, seen *counts) (diag.List, []*source.File, error) {
	if t.ref == "" {
		return t.project.Diags, []*source.File{t.project.ConfigSource()}, nil
	}
	if !t.contract {
		l, err := t.project.Load(t.ref, o.dir)
		if err == nil {
			seen.pipelines++
			return l.Diags, l.Sources, nil
		}
		var missing *engine.NotFoundError
		if !errors.As(err, &missing) || !t.project.HasContract(t.ref) {
			return nil, nil, ofProject(t.project, err)
		}
	}
	c, err := t.project.CheckContract(t.ref, o.dir)
	if err != nil {
		return nil, nil, ofProject(t.project, err)
	}
	seen.contracts++
	return c.Diags, []*source.File{c.Source}, nil
}

// counts is what was looked at.
type counts struct{ pipelines, contracts int }

// String says it; beside pipelines and contracts, pipe.yaml goes without saying.
func (c counts) String() string {
	switch {
	case c.pipelines == 0 && c.contracts == 0:
		return engine.ConfigFile
	case c.contracts == 0:
		return plural(c.pipelines, "pipeline")
	case c.pipelines == 0:
		return plural(c.contracts, "contract")
	}
	return plural(c.pipelines, "pipeline") + " and " + plural(c.contracts, "contract")
}

// targets names what to look at. A folder stands for the pipelines in it, that of a project for all of the project.
func (o *checkOptions) targets(p *engine.Project) ([]target, error) {
	if len(o.files) == 0 {
		found, err := allOf(p)
		if err == nil && !hasPipelines(found) && !p.Diags.HasErrors() && len(p.Strays()) == 0 {
			return nil, noPipelines(p.Root)
		}
		return found, err
	}
	var out []target
	for _, f := range o.files {
		path := o.inDir(f)
		switch {
		case isFolder(path):
			found, err := o.inFolder(p, path)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		case filepath.Base(path) == engine.ConfigFile && exists(path):
			of, err := o.open(filepath.Dir(path))
			if err != nil {
				return nil, err
			}
			out = append(out, target{project: of})
		default:
			out = append(out, target{p, f, engine.IsContract(path) || strings.HasSuffix(f, ".md")})
		}
	}
	return out, nil
}

// allOf names pipe.yaml, if there is one, and the pipelines and contracts of a project.
func allOf(p *engine.Project) ([]target, error) {
	var out []target
	if exists(filepath.Join(p.Root, engine.ConfigFile)) {
		out = append(out, target{project: p})
	}
	entries, err := p.Pipelines()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Shipped {
			out = append(out, target{project: p, ref: e.Name})
		}
	}
	if entries, err = p.Contracts(); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Shipped { // by its path: of two with one name each is looked at
			out = append(out, target{p, filepath.Join(p.Root, filepath.FromSlash(e.File)), true})
		}
	}
	return out, nil
}

// inFolder names what a folder stands for.
func (o *checkOptions) inFolder(p *engine.Project, path string) ([]target, error) {
	var out []target
	of, err := o.open(path)
	if err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("look into %q: %w", path, err)
	}
	if of.Root == root {
		if out, err = allOf(of); err != nil || hasPipelines(out) {
			return out, err
		}
	}
	for _, dir := range []string{".", engine.PipelinesDir, filepath.Base(engine.ContractsDir), filepath.FromSlash(engine.ContractsDir)} {
		if dir = filepath.Join(path, dir); !isFolder(dir) {
			continue
		}
		found, err := filesIn(p, dir)
		if err != nil {
			return nil, err
		}
		if out = append(out, found...); dir == filepath.Clean(path) && len(found) > 0 {
			return out, nil
		}
	}
	if !hasPipelines(out) {
		return nil, noPipelines(path)
	}
	return out, nil
}

func hasPipelines(targets []target) bool {
	return slices.ContainsFunc(targets, func(t target) bool { return t.ref != "" })
}

func noPipelines(dir string) error {
	return usagef("no pipelines found in %q (looked in %s/ and .pipe/%s/)", dir, engine.PipelinesDir, engine.PipelinesDir)
}

func exists(path string) bool {
	_, err := os.Lstat(path) // a link that leads nowhere is to be reported
	return err == nil
}

// filesIn lists the pipelines and contracts of a folder, sorted by name.
func filesIn(p *engine.Project, dir string) ([]target, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list what is in %q: %w", dir, err)
	}
	var out []target
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name)
		contract := !e.IsDir() && engine.IsContract(path)
		if contract || strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".test.yaml") && name != engine.ConfigFile && !e.IsDir() {
			out = append(out, target{p, path, contract})
		}
	}
	return out, nil
}

func (o *checkOptions) print(diags diag.List, files []*source.File, checked string) error {
	switch {
	case o.json:
		b, err := diags.JSON()
		if err != nil {
			return err
		}
		fmt.Fprintf(o.out, "%s\n", b)
	case o.short:
		fmt.Fprint(o.out, diags.Short())
	default:
		fmt.Fprint(o.out, diags.Text(files...))
		fmt.Fprintln(o.err, summary(diags, checked))
	}
	return nil
}

func summary(diags diag.List, checked string) string {
	ds := diags.Sorted()
	text := checked + " checked"
	if len(ds) == 0 {
		return text + ", nothing found"
	}
	return fmt.Sprintf("%s: %s, %s", text, plural(ds.Count(diag.Error), "error"), plural(ds.Count(diag.Warning), "warning"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// isMissing reports whether a file is not there.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
