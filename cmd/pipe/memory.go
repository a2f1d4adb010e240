package main

import (
	"os"
	"runtime/debug"
)

// How much the heap grows, in percent of what is alive, before it is collected. Most commands are over before
// a collection pays: a fifth of the time of `pipe check` went into them. A command that carries a run out
// lives long, beside the processes of its stages, and keeps to Go's own measure.
const (
	heapOfCommand = 400
	heapOfRun     = 100
)

// growHeap says how much the heap may grow. Who sets GOGC has said it.
func growHeap(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
