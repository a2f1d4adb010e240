package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// childFillTmpfs mounts a small file system over dir/disk, seen by itself alone, fills it, makes space and
// goes on there.
func childFillTmpfs(dir string) int {
	disk := filepath.Join(dir, "disk")
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		fmt.Println("no mount:", err)
		return 3
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		fmt.Println("no mount:", err)
		return 3
	}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 400<<10), 0o600); err != nil {
		fmt.Println(err)
		return 1
	}
	run := filepath.Join(disk, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		fmt.Println(err)
		return 1
	}
	if status := childFill(run, true); status != 0 {
		return status
	}
	before, _, err := seqs(run)
	if err != nil {
		fmt.Println("read:", err)
		return 1
	}
	// Opening needs no space.
	w, _, err := Open(run)
	if err != nil {
		fmt.Println("open:", err)
		return 1
	}
	if err := os.Remove(ballast); err != nil {
		fmt.Println(err)
		return 1
	}
	if err := w.Append(lineOf(int64(len(before)) + 1)); err != nil {
		fmt.Println("append:", err)
		return 1
	}
	after, _, err := seqs(run)
	fmt.Printf("%d then %d, %v\n", len(before), len(after), err)
	return 0
}

// TestFullDisk fills a file system of a megabyte, in a name space of its own. Where the system allows nobody
// to mount, the device that is always full stands in for it.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "disk"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := child(t, "fill-tmpfs "+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || (cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 3) {
		t.Logf("nothing can be mounted here (%v %s): /dev/full instead", err, out)
		alwaysFull(t)
		return
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	steps, message := filled(t, out)
	if steps < 5 || !strings.Contains(message, "the disk is full") {
		t.Errorf("%d steps, then %q", steps, message)
	}
	if want := fmt.Sprintf("\n%d then %d, <nil>\n", steps, steps+1); !strings.HasSuffix(string(out), want) {
		t.Errorf("the child says %q, want %q at its end", out, want)
	}
}

func TestDeviceThatIsAlwaysFull(t *testing.T) { alwaysFull(t) }

func alwaysFull(t *testing.T) {
	t.Helper()
	w, dir := create(t)
	if err := w.Append(lineOf(1)); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.f.Close()
	w.f = full
	if err := w.Append(lineOf(2)); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("got %v", err)
	}
	goesOn(t, dir, 1)
}
