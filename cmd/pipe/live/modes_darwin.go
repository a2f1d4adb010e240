package live

import "golang.org/x/sys/unix"

const (
	getModes = unix.TIOCGETA
	setModes = unix.TIOCSETA
)

// parentOfProcess gives the parent of a process; 0: not known.
func parentOfProcess(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}
