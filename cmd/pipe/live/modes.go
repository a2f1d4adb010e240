package live

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// modes are the settings of the terminal that are changed while the region stands: what is typed is not shown, it
// would be written into the region. Signals are sent by keys as before, and what is typed stays to be read.
type modes struct {
	mu     sync.Mutex
	before *unix.Termios // nil: nothing is changed
}

// set changes the settings; where that is impossible the region stands without.
func (m *modes) set(out *os.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fd := int(out.Fd())
	before, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil || m.before != nil {
		return
	}
	quiet := *before
	quiet.Lflag &^= unix.ECHO | unix.ECHONL
	if unix.IoctlSetTermios(fd, setModes, &quiet) == nil {
		m.before = before
	}
}

// restore sets them back. In the background it does not: they are those of whoever is in the foreground, and
// whoever sets them there is stopped.
func (m *modes) restore(out *os.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil && isForeground(out) {
		_ = unix.IoctlSetTermios(int(out.Fd()), setModes, m.before)
	}
	m.before = nil
}

// isForeground reports whether this process may draw on the terminal: the shell gives it to one group at a time.
func isForeground(out *os.File) bool {
	group, err := unix.IoctlGetInt(int(out.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return true // it is not the terminal of our session: nobody else there can be disturbed
	}
	return group == unix.Getpgrp()
}

// isWatched reports whether a shell is there that lets this process go on after it was stopped: one of our group
// has its parent in another group of the session. Without, the system lets no key stop a process.
func isWatched() bool {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := unix.Getppid(); pid > 1; pid = parentOfProcess(pid) {
		if s, err := unix.Getsid(pid); err != nil || s != session {
			return false
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			return err == nil
		}
	}
	return false
}

// sizeOf gives columns and lines of the terminal; 80 and 24 where it does not know.
func sizeOf(out *os.File) (width, height int) {
	size, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}
