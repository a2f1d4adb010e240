package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
	"example.com/pipe/pipelines"
	"example.com/pipe/specs/contracts"
)

// project opens the project of the current folder. Without kinds it is for looking at things: nothing of
// it can be run.
func (a *app) project(ks []stage.Kind) (*engine.Project, error) {
	return engine.OpenProject(a.dir, a.projectOptions(ks))
}

func (a *app) projectOptions(ks []stage.Kind) engine.Options {
	onlyLook := ks == nil
	if onlyLook {
		ks = kinds(nil)
	}
	v, revision := buildVersion()
	if revision != "" {
		v += " " + revision
	}
	return engine.Options{
		Kinds: ks, Shipped: pipelines.Files, Contracts: contracts.Files, Environ: a.env, Now: a.now,
		Version: v, Command: "pipe " + strings.Join(a.args, " "), AllowMissingAgents: onlyLook,
	}
}

// ofProject gives an error of the engine its exit status. Where a run or pipeline is not there it names the folder
// that was taken for the project: often it is that which is not the one that was meant.
func ofProject(p *engine.Project, err error) error {
	var missing *engine.NotFoundError
	if errors.As(err, &missing) {
		return usagef("%w; the project is %q", err, p.Root)
	}
	return asStatus(err)
}

// inDir is a path as the current folder has it.
func (a *app) inDir(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// find finds a run and gives where it stands, without a lock.
func (a *app) find(p *engine.Project, ref string) (string, *view.Run, error) {
	id, err := p.Find(ref)
	if err != nil {
		return "", nil, ofProject(p, err)
	}
	v, err := viewOf(p, id)
	return id, v, err
}

// notBegun tells a run whose folder is being made from one that can't be read.
func notBegun(id string, err error) error {
	if isMissing(err) || errors.Is(err, journal.ErrNoHeader) {
		return usagef("run %s has not begun: %w", id, err)
	}
	return err
}

// viewOf gives where a run stands. One whose folder is being made has nothing to show yet; one without a
// record has a name.
func viewOf(p *engine.Project, id string) (*view.Run, error) {
	v, err := p.View(id)
	if err != nil {
		return nil, notBegun(id, err)
	}
	if v.Info().Run == "" {
		v.SetInfo(step.RunInfo{Run: id})
	}
	return v, nil
}
