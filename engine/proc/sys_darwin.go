package proc

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Subreaper does nothing here: macOS hands orphans to launchd. What a stage leaves behind is found by a look
// through all processes, and our own death doesn't end our processes; the next resume does (EndRun).
func Subreaper() error { return nil }

// onFirstThread doesn't matter here, since nobody hands us orphans.
func onFirstThread() bool { return false }

// groupOfItsOwn are the attributes of a main process. There are no descriptors of processes here.
func groupOfItsOwn(*int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// newPipe makes a pipe that no child inherits by chance: none may be started before it is marked.
func newPipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return p[0], p[1], nil
}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(sig))
}

// awaitExit waits until a child has ended, and leaves it unreaped. Waitid is no way to do it: here it also
// returns when a process was stopped.
func awaitExit(pid int) error {
	kq, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(kq)
	var ev unix.Kevent_t
	unix.SetKevent(&ev, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	ev.Fflags = unix.NOTE_EXIT
	got := make([]unix.Kevent_t, 1)
	changes := []unix.Kevent_t{ev}
	for {
		n, err := unix.Kevent(kq, changes, got, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			changes = []unix.Kevent_t{ev} // adding it twice is adding it once
		case errors.Is(err, unix.ESRCH):
			return nil // our own unreaped child: it has ended already
		case err != nil:
			return err
		case n > 0 && got[0].Flags&unix.EV_ERROR != 0 && got[0].Data != int64(unix.ESRCH):
			return syscall.Errno(got[0].Data)
		case n > 0:
			return nil
		}
	}
}

// reap takes the status of a child that has ended.
func reap(pid int) (syscall.WaitStatus, error) {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, 0, nil)
		if !errors.Is(err, syscall.EINTR) {
			return status, err
		}
	}
}

// nothingLeft can't be answered cheaply here.
func nothingLeft(*family) bool { return false }

// isOrphan: nobody is handed to us.
func isOrphan(*process) bool { return false }

// reapOrphans has nothing to do: launchd reaps them.
func reapOrphans() {}

// stateZombie is SZOMB.
const stateZombie = 5

func fromKinfo(k *unix.KinfoProc) process {
	start := k.Proc.P_starttime
	return process{
		processKey: processKey{pid: int(k.Proc.P_pid), start: uint64(start.Sec)*1e6 + uint64(start.Usec)},
		ppid:       int(k.Eproc.Ppid), pgid: int(k.Eproc.Pgid), zombie: k.Proc.P_stat == stateZombie,
	}
}

// processes reads the process table.
func processes() ([]process, error) {
	table, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("looking for processes: %w", err)
	}
	ps := make([]process, 0, len(table))
	for i := range table {
		ps = append(ps, fromKinfo(&table[i]))
	}
	return ps, nil
}

// readProcess reads an entry of the process table: false if it is gone.
func readProcess(pid int) (process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, false
	}
	return fromKinfo(k), true
}

// environ returns the environment that a process was started with; nil if it is gone, or not ours to read.
func environ(p *process) []byte {
	data, err := unix.SysctlRaw("kern.procargs2", p.pid)
	if err != nil {
		return nil
	}
	return parseProcArgs(data)
}

// signalProcess signals a process, unless its pid belongs to another by now.
func signalProcess(p *process, sig syscall.Signal) {
	if now, ok := readProcess(p.pid); ok && now.processKey == p.processKey {
		_ = unix.Kill(p.pid, sig)
	}
}
