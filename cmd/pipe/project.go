package main

import (
	"strings"

	"example.com/pipe/engine"
	"example.com/pipe/engine/stage"
	"example.com/pipe/pipelines"
)

// project opens the project of the current folder. Without kinds it is for looking at things: nothing of
// it can be run.
func (a *app) project(ks []stage.Kind) (*engine.Project, error) {
	if ks == nil {
		ks = kinds(nil)
	}
	v, revision := buildVersion()
	if revision != "" {
		v += " " + revision
	}
	return engine.OpenProject(a.dir, engine.Options{
		Kinds: ks, Shipped: pipelines.Files, Environ: a.env, Now: a.now,
		Version: v, Command: "pipe " + strings.Join(a.args, " "),
	})
}
