package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Subreaper makes the kernel hand the orphans of our processes to us, so that what a stage leaves behind
// can be seen without looking through all processes. cmd/pipe calls it once, first of all. From then on the
// rest of the program starts processes only in our own process group, or in OffFirstThread: any other may be
// taken for an orphan, and reaped.
func Subreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the reaper of orphans: %w", err)
	}
	return nil
}

// getsOrphans reports whether orphans are handed to us: Subreaper was called, or we are the first process.
func getsOrphans() bool {
	var is int32
	_, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&is)), 0)
	return errno == 0 && is != 0 || os.Getpid() == 1
}

func onFirstThread() bool { return unix.Gettid() == os.Getpid() }

// groupOfItsOwn are the attributes of a main process. The kernel sets pidfd to a descriptor that becomes
// readable at its end, if it can.
func groupOfItsOwn(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: pidfd}
}

func newPipe() (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p[0], p[1], err
}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(sig))
}

// awaitExit waits until a child has ended, and leaves it unreaped.
func awaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
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

// nothingLeft reports cheaply, without looking through all processes, that nothing of a family whose main
// process has ended is left. The kernel hands orphans to our first thread. So each process of the family
// has an ancestor there (or is there); if all of those certainly belong to others, there is none.
func nothingLeft(f *family) bool {
	if !getsOrphans() {
		return false
	}
	pids, ok := orphans()
	if !ok {
		return false // a kernel without such lists
	}
	for _, pid := range pids {
		p, ok := readProcess(pid)
		if !ok || p.zombie && reapOrphan(&p) {
			continue
		}
		if f.has(&p) || !ofAnother(&p) {
			return false
		}
	}
	return true
}

// ofAnother reports whether an orphan belongs to another effect, or to nobody: a process in our own group
// is one that another part of the program started, or had before.
func ofAnother(p *process) bool {
	if p.zombie || p.pgid == syscall.Getpgrp() {
		return true
	}
	effect, ok := entryValue(environ(p), EffectVar)
	return ok && effect != ""
}

// orphans lists the children of our first thread: false if the kernel has no such list.
func orphans() ([]int, bool) {
	pid := strconv.Itoa(os.Getpid())
	data, ok := readProc("/proc/" + pid + "/task/" + pid + "/children")
	if !ok {
		return nil, false
	}
	var pids []int
	for _, field := range bytes.Fields(data) {
		if n, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, n)
		}
	}
	return pids, true
}

// isOrphan reports whether a process was handed to us.
func isOrphan(p *process) bool {
	if p.ppid != os.Getpid() || p.pgid == syscall.Getpgrp() || !getsOrphans() {
		return false
	}
	pids, _ := orphans()
	return slices.Contains(pids, p.pid)
}

// reapOrphans reaps the orphans that have ended.
func reapOrphans() {
	pids, _ := orphans()
	for _, pid := range pids {
		if p, ok := readProcess(pid); ok && p.zombie {
			reapOrphan(&p)
		}
	}
}

// reapOrphan reaps a zombie among the children of our first thread, if it is an orphan that was handed to
// us. One in our own process group may be somebody's who waits for it.
func reapOrphan(p *process) bool {
	if p.pgid == syscall.Getpgrp() {
		return false
	}
	pid, err := syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
	return err == nil && pid == p.pid
}

// processes reads the process table, without the kernel's own threads.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("looking for processes: %w", err)
	}
	var ps []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			ps = append(ps, p)
		}
	}
	return ps, nil
}

// kernelThread is PF_KTHREAD of a process's flags.
const kernelThread = 0x00200000

// readProcess reads an entry of the process table: false if it is gone, or a thread of the kernel.
func readProcess(pid int) (process, bool) {
	var buf [512]byte
	stat, err := readSmall("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, stat)
}

// parseStat reads the line of /proc/PID/stat: pid (comm) state ppid pgrp session tty tpgid flags … the 20th
// field is the number of threads, the 22nd the start time. The name in parentheses may hold anything, parentheses included.
func parseStat(pid int, stat []byte) (process, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 20 || len(fields[0]) != 1 {
		return process{}, false
	}
	var bad bool
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(string(fields[i]), 10, 64)
		bad = bad || err != nil
		return n
	}
	p := process{processKey: processKey{pid: pid, start: number(19)}, ppid: int(number(1)), pgid: int(number(2))}
	if state := fields[0][0]; state == 'Z' || state == 'X' {
		// The state is the first thread's. It may have ended alone.
		p.headless = number(17) > 1
		p.zombie = !p.headless
	}
	return p, !bad && number(6)&kernelThread == 0
}

// environ returns the environment that a process was started with; nil if it is gone, or not ours to read.
func environ(p *process) []byte {
	dir := "/proc/" + strconv.Itoa(p.pid)
	if !p.headless {
		return readEnviron(dir)
	}
	threads, _ := os.ReadDir(dir + "/task") // a process that is gone has none
	for _, t := range threads {
		if env := readEnviron(dir + "/task/" + t.Name()); len(env) > 0 {
			return env
		}
	}
	return nil
}

func readEnviron(dir string) []byte {
	env, _ := readProc(dir + "/environ")
	return env
}

// readProc reads a file of the kernel's without the cost of an os.File: false if it can't be opened.
func readProc(name string) ([]byte, bool) {
	f, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(f)
	buf := make([]byte, 0, 1<<10)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := unix.Read(f, buf[len(buf):cap(buf)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return buf, true
		}
		buf = buf[:len(buf)+n]
	}
}

// readSmall reads the beginning of a file without the cost of an os.File.
func readSmall(name string, buf []byte) ([]byte, error) {
	f, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(f)
	for {
		n, err := unix.Read(f, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		return buf[:max(n, 0)], err
	}
}

// signalProcess signals a process, and nobody who got its pid in the meantime: the descriptor holds on to
// one process, and the start time says whether it is the one that was found. Kernels without descriptors
// for processes are trusted not to reuse a pid within microseconds.
func signalProcess(p *process, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil && !errors.Is(err, unix.ENOSYS) {
		return // gone
	}
	if err == nil {
		defer unix.Close(fd)
	}
	if now, ok := readProcess(p.pid); !ok || now.processKey != p.processKey {
		return
	}
	if err != nil {
		_ = unix.Kill(p.pid, sig)
		return
	}
	_ = unix.PidfdSendSignal(fd, sig, nil, 0)
}
