package proc

import "runtime"

// OffFirstThread calls fn on a thread that is not the program's first. Another part of the program that starts
// a process in a group of its own does it in fn: on the first thread such a process could not be told from an
// orphan, and would be reaped before who started it asks for its status.
func OffFirstThread(fn func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if !onFirstThread() {
		fn()
		return
	}
	done := make(chan struct{})
	go func() { // cannot get the thread that we hold
		defer close(done)
		OffFirstThread(fn)
	}()
	<-done
}
