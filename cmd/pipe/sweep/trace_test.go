//go:build linux

package sweep

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// traced is how a traced command ended.
type traced struct {
	killed bool // by us, at the point
	status int  // its exit status; -1: it was killed
}

// call is a system call of the command's that is looked at, before or after the kernel carries it out.
type call struct {
	pid   int
	nr    uint64
	args  [6]uint64
	sort  string // see sortOf
	after bool
	made  int // after a start: the new process
}

// trace runs a command under ptrace to its end, unless kill says for a system call of a sort (see sortOf) that
// this is the moment; then SIGKILL comes while the thread stands still there. All threads of the command are
// followed and none of the processes that it starts: those are made by vfork, which is not asked for.
func trace(argv, env []string, dir string, out *os.File, kill func(call) bool) (traced, error) {
	runtime.LockOSThread() // ptrace obeys the thread that started the command
	defer runtime.UnlockOSThread()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return traced{}, err
	}
	defer null.Close()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir: dir, Env: env, Files: []uintptr{null.Fd(), out.Fd(), out.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true}, // the group is what is waited for
	})
	if errors.Is(err, unix.EPERM) {
		return traced{}, fmt.Errorf("start %q: ptrace is not permitted here, and the sweep can't do without: %w", argv, err)
	}
	if err != nil {
		return traced{}, fmt.Errorf("start %q: %w", argv, err)
	}
	t := &tracer{pid: pid, kill: kill, begun: map[int]*call{pid: nil}}
	if err := t.attach(); err != nil {
		return traced{}, errors.Join(err, unix.Kill(pid, unix.SIGKILL))
	}
	return t.follow()
}

// tracer follows one command.
type tracer struct {
	pid   int
	kill  func(call) bool
	begun map[int]*call // of each thread, the call that it is in

	out traced
	err error
}

// attach waits until the command stands at its first instruction.
func (t *tracer) attach() error {
	_, ws, err := t.wait()
	if err != nil {
		return err
	}
	if !ws.Stopped() || ws.StopSignal() != unix.SIGTRAP {
		return fmt.Errorf("a traced command must stop at its start, got wait status %#x", int(ws))
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(t.pid, options); err != nil {
		return fmt.Errorf("ptrace options: %w", err)
	}
	return unix.PtraceSyscall(t.pid, 0)
}

// wait waits for the command's threads and for nothing else: this thread may have children of other tests'.
func (t *tracer) wait() (tid int, ws unix.WaitStatus, err error) {
	for {
		tid, err = unix.Wait4(-t.pid, &ws, unix.WALL|unix.WNOTHREAD, nil)
		if !errors.Is(err, unix.EINTR) {
			return tid, ws, err
		}
	}
}

// follow takes stops until no thread is left.
func (t *tracer) follow() (traced, error) {
	for {
		tid, ws, err := t.wait()
		if errors.Is(err, unix.ECHILD) {
			return t.out, t.err
		}
		if err != nil {
			return t.out, err
		}
		if !ws.Stopped() {
			delete(t.begun, tid)
			if tid == t.pid {
				t.out.status = ws.ExitStatus()
			}
			continue
		}
		deliver := t.stopped(tid, ws)
		if err := unix.PtraceSyscall(tid, deliver); err != nil && !errors.Is(err, unix.ESRCH) {
			t.fail(err)
		}
	}
}

// fail ends the command because the sweep itself does not work.
func (t *tracer) fail(err error) {
	if t.err == nil {
		t.err = err
		_ = unix.Kill(t.pid, unix.SIGKILL) // it may be gone
	}
}

// stopped looks at a stop and gives the signal that the thread is to get.
func (t *tracer) stopped(tid int, ws unix.WaitStatus) int {
	_, known := t.begun[tid]
	if !known {
		t.begun[tid] = nil
	}
	switch sig := ws.StopSignal(); {
	case sig == unix.SIGTRAP|0x80:
		if err := t.syscall(tid); err != nil && !errors.Is(err, unix.ESRCH) {
			t.fail(err)
		}
		return 0
	case sig == unix.SIGTRAP && ws.TrapCause() > 0: // it made a thread
		return 0
	case sig == unix.SIGSTOP && !known: // a new thread begins so
		return 0
	default:
		return int(sig)
	}
}

// syscall looks at a system call, before or after.
func (t *tracer) syscall(tid int) error {
	info, err := syscallInfo(tid)
	if err != nil {
		return err
	}
	c := t.begun[tid]
	t.begun[tid] = nil
	switch info.op {
	case opEntry:
		c = &call{pid: t.pid, nr: info.union[0], args: [6]uint64(info.union[1:7])}
		if c.sort, err = sortOf(*c); err != nil || c.sort == "" {
			return err
		}
		t.begun[tid] = c
	case opExit:
		if c == nil {
			return nil
		}
		c.after = true
		if info.union[1]&0xff != 0 {
			return nil // it failed: the kernel did nothing, or it will be made anew
		}
		c.made = int(info.union[0])
	default:
		return nil
	}
	if t.out.killed || t.err != nil || !t.kill(*c) {
		return nil
	}
	t.out.killed = true
	return unix.Kill(t.pid, unix.SIGKILL)
}

const (
	ptraceGetSyscallInfo = 0x420e
	opEntry              = 1
	opExit               = 2
)

// info is the kernel's struct ptrace_syscall_info, the same on all processors.
type info struct {
	op    uint8
	_     [3]uint8
	_     uint32
	_     [2]uint64
	union [8]uint64 // entry: number, arguments; exit: result, whether it is an error
}

func syscallInfo(tid int) (info, error) {
	var i info
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, ptraceGetSyscallInfo, uintptr(tid), unsafe.Sizeof(i),
		uintptr(unsafe.Pointer(&i)), 0, 0)
	if errno != 0 {
		return i, fmt.Errorf("ptrace: look at a system call: %w", errno)
	}
	return i, nil
}

// fd names the file behind a descriptor of the command.
func (c *call) fd() string {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", c.pid, int32(c.args[0])))
	if err != nil {
		return "" // closed, or another error that the call itself will get
	}
	return name
}

// text reads a string of the command's memory.
func (c *call) text(addr uint64) (string, error) {
	b, err := c.memory(addr, unix.PathMax)
	if err != nil {
		return "", err
	}
	text, _, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return "", fmt.Errorf("no path at %#x", addr)
	}
	return string(text), nil
}

// memory reads at most n bytes.
func (c *call) memory(addr uint64, n int) ([]byte, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", c.pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	got, err := f.ReadAt(b, int64(addr))
	if got == 0 {
		return nil, err
	}
	return b[:got], nil
}

// spawns reports whether the call starts a process, rather than a thread.
func (c *call) spawns() (bool, error) {
	flags := c.args[0]
	switch c.nr {
	case unix.SYS_CLONE:
	case unix.SYS_CLONE3:
		b, err := c.memory(flags, 8)
		if err != nil || len(b) < 8 {
			return false, err
		}
		flags = binary.NativeEndian.Uint64(b)
	default:
		return false, nil
	}
	return flags&unix.CLONE_THREAD == 0, nil
}
