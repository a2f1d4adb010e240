//go:build linux

package sweep

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// diskSize is that of the file system that fills up, in bytes.
const diskSize = 1 << 20

// mountDisk mounts a small file system until the test is over.
func mountDisk(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		t.Fatalf("mounting a file system of %d bytes: %v", diskSize, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// mayMount reports whether this process may mount.
func mayMount(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4096")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return false
	}
	if err == nil {
		err = unix.Unmount(dir, unix.MNT_DETACH)
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

// inNamespace runs the test again where it may mount: as root of a user namespace.
func inNamespace(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const mark = "SWEEP_IN_NAMESPACE"
	if os.Getenv(mark) != "" {
		t.Fatal("mounting is not permitted, not even as root of a user namespace of its own")
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", self, "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), mark+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("mounting is not permitted; in a user namespace of its own: %v\n%s", err, out)
	}
	fmt.Printf("%s", out)
}

// fill leaves free pages on the disk, and gives the function that makes space again.
func fill(t *testing.T, disk string, free int) func() {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs(disk, &fs); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(disk, "filler")
	if err := os.WriteFile(name, make([]byte, (int(fs.Bavail)-free)*int(fs.Bsize)), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk runs the pipeline on a disk that is full after ever more pages.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if !mayMount(t) {
		inNamespace(t)
		return
	}
	p := newProject(t, mountDisk(t))
	p.begin(t)
	p.settle(t)
	ref := p.final(t)
	pages := used(t, p.state)
	for free := range pages + 1 {
		t.Run(fmt.Sprintf("free-%03d-pages", free), func(t *testing.T) {
			t.Parallel()
			p := newProject(t, mountDisk(t))
			p.fillUp(t, free, ref)
		})
	}
	fmt.Printf("levels of a full disk: %d\n", pages+1)
}

// used is how many pages of the disk are used.
func used(t *testing.T, disk string) int {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs(disk, &fs); err != nil {
		t.Fatal(err)
	}
	return int(fs.Blocks - fs.Bfree)
}

// fillUp runs the pipeline on a disk with few free pages, until it stops, makes space, and goes on.
func (p *project) fillUp(t *testing.T, free int, ref string) {
	t.Helper()
	makeSpace := fill(t, p.state, free)
	status, out := p.pipe(t, p.runArgs()...)
	if status == 4 {
		status, out = p.pipe(t, p.answerArgs()...)
	}
	if status == 0 {
		t.Logf("%d pages were enough", free)
	} else {
		p.checkStopped(t, status, out)
	}
	if status == 3 && len(p.runs(t)) > 0 { // a resume that comes too early does no harm
		if status, out := p.pipe(t, "resume", "last"); status != 4 && status != 0 {
			p.checkStopped(t, status, out)
		}
	}
	before := p.journal(t)
	makeSpace()
	p.settle(t)
	p.check(t, ref, before)
}

// checkStopped looks at a run that the disk stopped: it says so, and what to do, and leaves nothing behind.
func (p *project) checkStopped(t *testing.T, status int, out string) {
	t.Helper()
	if status != 3 {
		t.Errorf("status %d, expected 3", status)
	}
	wants := []string{p.state, "the disk is full", "make space", "pipe resume"}
	if strings.Contains(out, "the run did not begin") {
		wants = []string{p.state, "no space left on device", "make space", "start the run again"}
		if left := p.runs(t); len(left) > 0 {
			t.Errorf("the run did not begin, and left %v", left)
		}
	}
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("the message lacks %q", want)
		}
	}
	for _, id := range p.runs(t) {
		if list := processes(t, id); len(list) > 0 {
			t.Errorf("processes are left: %v", list)
		}
	}
	if len(p.journal(t)) > 0 {
		if status, out := p.pipe(t, "doctor", "--run", "last"); status != 0 {
			t.Errorf("pipe doctor --run: status %d\n%s", status, out)
		}
	}
	if t.Failed() {
		t.Logf("the command printed:\n%s", out)
	}
}
