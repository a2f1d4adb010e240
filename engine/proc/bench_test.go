package proc

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// BenchmarkRun compares Run with the least that starting a shell costs, and with the log files themselves as
// stdout and stderr.
func BenchmarkRun(b *testing.B) {
	path, err := exec.LookPath("bash")
	if err != nil {
		b.Fatal(err)
	}
	logs := func(b *testing.B) (string, string) {
		dir := b.TempDir()
		return filepath.Join(dir, "stdout.log"), filepath.Join(dir, "stderr.log")
	}
	b.Run("starter", func(b *testing.B) {
		s := newStarter(b)
		spec := bash("true", "e1", "R")
		spec.Stdout, spec.Stderr = logs(b)
		for b.Loop() {
			if res, err := s.Run(context.Background(), spec); err != nil || res.ExitCode != 0 {
				b.Fatal(res, err)
			}
		}
	})
	command := func() *exec.Cmd {
		cmd := exec.Command(path, "-c", "true")
		cmd.Env = testEnv("e1", "R")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return cmd
	}
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := command().Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec with files", func(b *testing.B) {
		stdout, stderr := logs(b)
		for b.Loop() {
			out, err := os.OpenFile(stdout, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			errOut, err := os.OpenFile(stderr, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			cmd := command()
			cmd.Stdout, cmd.Stderr = out, errOut
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			out.Close()
			errOut.Close()
		}
	})
}

// BenchmarkLook is one look through all processes, which a Run spares itself when it can.
func BenchmarkLook(b *testing.B) {
	f := family{marks: effectMarks(&Spec{Effect: "e1", Run: "nobody"})}
	for b.Loop() {
		if ps, err := matching(f.has); err != nil || len(ps) > 0 {
			b.Fatal(ps, err)
		}
	}
}
