// Command floor does the least that a job needs, so that `make bench` can say how many times as long pipe takes:
//
//	floor stages N WIDTH FILE    runs the shell N times, WIDTH at once, with two fsyncs of FILE for each
//	floor yaml FILE              parses FILE with yaml.v3
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"gopkg.in/yaml.v3"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "stages":
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		width, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return stages(n, width, args[3])
	case len(args) == 2 && args[0] == "yaml":
		text, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		var root yaml.Node
		return yaml.Unmarshal(text, &root)
	}
	return fmt.Errorf("usage: floor stages N WIDTH FILE | floor yaml FILE")
}

// line is as long as what the journal has of a stage.
var line = make([]byte, 600)

// stages runs n shells. The two fsyncs are those without which nobody could say that a stage was about to
// start, and that it had ended.
func stages(n, width int, name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	shell, err := exec.LookPath("bash")
	if err != nil {
		return err
	}
	durable := func() error {
		if _, err := f.Write(line); err != nil {
			return err
		}
		return f.Sync()
	}
	one := func() error {
		if err := durable(); err != nil {
			return err
		}
		cmd := exec.Command(shell, "-euo", "pipefail", "-c", "true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Run(); err != nil {
			return err
		}
		return durable()
	}
	var left atomic.Int64
	left.Store(int64(n))
	failed := make([]error, width)
	var workers sync.WaitGroup
	for w := range width {
		workers.Go(func() {
			for left.Add(-1) >= 0 && failed[w] == nil {
				failed[w] = one()
			}
		})
	}
	workers.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}
