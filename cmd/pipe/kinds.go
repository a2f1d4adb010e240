package main

import (
	"fmt"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/stages/agent"
	"example.com/pipe/stages/command"
	"example.com/pipe/stages/gate"
	"example.com/pipe/stages/merge"
	"example.com/pipe/stages/plugin"
)

// kinds lists the kinds of stages there are. Their processes are started by starter; for looking at
// pipelines it may be nil.
func kinds(starter *proc.Starter) []stage.Kind {
	return []stage.Kind{
		command.New(starter),
		agent.New(starter),
		plugin.New(starter),
		gate.New(starter),
		gate.NewCI(starter),
		gate.NewVerifiers(starter),
		merge.New(starter),
		merge.NewAssemble(starter),
	}
}

// withProcesses gives fn the kinds of stages, ready to run. On Linux what a stage leaves behind becomes our
// child, so that it can be ended.
func withProcesses(fn func([]stage.Kind) error) error {
	if err := proc.Subreaper(); err != nil {
		return fmt.Errorf("become the parent of what stages leave behind: %w", err)
	}
	growHeap(heapOfRun)
	starter := proc.NewStarter()
	defer starter.Close()
	return fn(kinds(starter))
}
