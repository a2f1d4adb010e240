package main

import (
	"errors"
	"fmt"
)

// The exit statuses. `pipe help exit-codes` tells people.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitOurs        = 3
	exitWaiting     = 4
	exitHeld        = 5
	exitInterrupted = 130 // SIGINT
	exitTerminated  = 143 // SIGTERM, SIGHUP
)

const exitCodesText = `The exit status of pipe:

  0    success
  1    the run failed or was cancelled, check found errors, an answer was refused, or a report is of no review
  2    wrong usage, or there is no such run, stage, pipeline or output
  3    a failure of pipe's own, such as a full disk or a damaged journal
  4    the run is paused, or waits for a person
  5    held by another process: the run, or the workspace
  130  stopped by Ctrl-C (SIGINT); the run can be resumed
  143  stopped by SIGTERM, or as its terminal closed; the run can be resumed
`

// statusError ends a command with a status. Without an error nothing is printed: it was said before.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// usagef is a mistake in the command line.
func usagef(format string, args ...any) error {
	return &statusError{exitUsage, fmt.Errorf(format, args...)}
}

// withStatus ends the command with a status and nothing more to say.
func withStatus(status int) error {
	if status == exitOK {
		return nil
	}
	return &statusError{status, nil}
}

// statusOf gives the exit status that an error stands for, and the error to print, if any.
func statusOf(err error) (int, error) {
	if err == nil {
		return exitOK, nil
	}
	if se, ok := errors.AsType[*statusError](err); ok {
		return se.status, se.err
	}
	return exitOurs, err
}
