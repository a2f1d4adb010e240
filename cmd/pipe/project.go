package main

import (
	"errors"
	"strings"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/view"
	"example.com/pipe/pipelines"
)

// project opens the project of the current folder. Without kinds it is for looking at things: nothing of
// it can be run.
func (a *app) project(ks []stage.Kind) (*engine.Project, error) {
	onlyLook := ks == nil
	if onlyLook {
		ks = kinds(nil)
	}
	v, revision := buildVersion()
	if revision != "" {
		v += " " + revision
	}
	return engine.OpenProject(a.dir, engine.Options{
		Kinds: ks, Shipped: pipelines.Files, Environ: a.env, Now: a.now,
		Version: v, Command: "pipe " + strings.Join(a.args, " "), AllowMissingAgents: onlyLook,
	})
}

// find finds a run and gives where it stands, without a lock.
func (a *app) find(p *engine.Project, ref string) (string, *view.Run, error) {
	id, err := p.Find(ref)
	if err != nil {
		return "", nil, asStatus(err)
	}
	v, err := viewOf(p, id)
	return id, v, err
}

// viewOf gives where a run stands. One whose folder is being made has nothing to show yet; one without a
// record has a name.
func viewOf(p *engine.Project, id string) (*view.Run, error) {
	v, err := p.View(id)
	switch {
	case isMissing(err), errors.Is(err, journal.ErrNoHeader):
		return nil, usagef("run %s has not begun: %w", id, err)
	case err != nil:
		return nil, err
	}
	if v.Info().Run == "" {
		v.SetInfo(machine.RunInfo{Run: id})
	}
	return v, nil
}
