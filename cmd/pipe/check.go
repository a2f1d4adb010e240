package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
}

func newCheckCmd(a *app) *cobra.Command {
	o := &checkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "check [FILE | NAME | FOLDER]...",
		Short: "Look for mistakes in pipelines; without arguments, in all of the project",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.short, "short", false, "print one line for each mistake")
	return cmd
}

func (o *checkOptions) run(context.Context) error {
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	refs, err := o.refs(p)
	if err != nil {
		return err
	}
	var diags diag.List
	diags.Add(p.Diags...)
	diags.Add(p.Strays()...)
	var files []*source.File
	for _, ref := range refs {
		l, err := p.Load(ref, o.dir)
		if err != nil {
			return asStatus(err)
		}
		diags.Add(l.Diags...)
		files = append(files, l.Sources...)
	}
	if err := o.print(diags, files, len(refs)); err != nil {
		return err
	}
	if diags.HasErrors() {
		return withStatus(exitFailed)
	}
	return nil
}

// refs names the pipelines to look at. A folder stands for the pipelines in it.
func (o *checkOptions) refs(p *engine.Project) ([]string, error) {
	if len(o.files) == 0 {
		entries, err := p.Pipelines()
		if err != nil {
			return nil, err
		}
		var refs []string
		for _, e := range entries {
			if !e.Shipped {
				refs = append(refs, e.Name)
			}
		}
		return refs, nil
	}
	var refs []string
	for _, f := range o.files {
		path := f
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.dir, path)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			refs = append(refs, f)
			continue
		}
		found, err := pipelinesIn(path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, usagef("there are no pipelines in %q, expected files named *.yaml", f)
		}
		refs = append(refs, found...)
	}
	return refs, nil
}

// pipelinesIn lists the pipelines of a folder, sorted by name.
func pipelinesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the pipelines in %q: %w", dir, err)
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".test.yaml") && name != engine.ConfigFile && !e.IsDir() {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out, nil
}

func (o *checkOptions) print(diags diag.List, files []*source.File, n int) error {
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
		fmt.Fprintln(o.err, summary(diags, n))
	}
	return nil
}

func summary(diags diag.List, n int) string {
	ds := diags.Sorted()
	text := plural(n, "pipeline") + " checked"
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
