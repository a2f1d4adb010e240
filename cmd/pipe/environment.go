package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/view"
)

// finding is what doctor found out about one thing.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Help string `json:"help,omitempty"` // what to do
}

// checkMachine looks at all that runs need of a machine.
func (o *doctorOptions) checkMachine(ctx context.Context, p *engine.Project) error {
	list := []finding{
		checkSystem(),
		o.checkShell(),
		o.checkGit(ctx),
		checkProject(p),
		checkState(p),
		checkProcesses(),
	}
	list = append(list, o.checkPrograms(p)...)
	bad := 0
	for _, f := range list {
		if !f.OK {
			bad++
		}
	}
	if o.json {
		b, err := view.Marshal(struct {
			Version  int       `json:"version"`
			OK       bool      `json:"ok"`
			Findings []finding `json:"findings"`
		}{1, bad == 0, list})
		if err != nil {
			return err
		}
		if _, err := o.out.Write(b); err != nil {
			return err
		}
	} else {
		o.writeFindings(list)
	}
	if bad > 0 {
		return withStatus(exitFailed)
	}
	return nil
}

func (o *doctorOptions) writeFindings(list []finding) {
	for _, f := range list {
		word := "ok "
		if !f.OK {
			word = "bad"
		}
		fmt.Fprintf(o.out, "%s  %-10s %s\n", word, f.What, view.OneLine(f.Text))
		if f.Help != "" {
			fmt.Fprintf(o.out, "     %-10s %s\n", "", view.OneLine(f.Help))
		}
	}
}

func checkSystem() finding {
	f := finding{What: "system", Text: runtime.GOOS + "/" + runtime.GOARCH}
	switch runtime.GOOS {
	case "linux", "darwin":
		f.OK = true
	default:
		f.Help = "pipe runs on Linux and macOS"
	}
	return f
}

func (o *doctorOptions) checkShell() finding {
	for _, name := range []string{"bash", "sh"} {
		if path, err := proc.LookPath(name, o.dir, o.env); err == nil {
			f := finding{What: "shell", OK: true, Text: path}
			if name == "sh" {
				f.Help = "there is no bash: scripts run with sh -eu, in which a failure in the middle of a pipeline of commands passes unseen"
			}
			return f
		}
	}
	return finding{What: "shell", Text: "neither bash nor sh is in PATH", Help: "install bash"}
}

func (o *doctorOptions) checkGit(ctx context.Context) finding {
	path, err := proc.LookPath("git", o.dir, o.env)
	if err != nil {
		return finding{What: "git", OK: true, Text: "not in PATH", Help: "without git, the state of the workspace is found by reading all of its files"}
	}
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.Env = o.env
	out, err := cmd.Output()
	if err != nil {
		return finding{What: "git", Text: fmt.Sprintf("%s does not run: %v", path, err), Help: "repair the installation of git"}
	}
	return finding{What: "git", OK: true, Text: strings.TrimSpace(string(out))}
}

func checkProject(p *engine.Project) finding {
	if p.Diags.HasErrors() {
		return finding{What: "project", Text: p.Root + ": " + engine.ConfigFile + " has errors", Help: "see `pipe check`"}
	}
	return finding{What: "project", OK: true, Text: p.Root}
}

// checkState writes, syncs and removes a file where runs are kept, and takes a lock there.
func checkState(p *engine.Project) finding {
	f := finding{What: "state", Text: p.State}
	dir := p.State
	if _, err := os.Stat(dir); isMissing(err) {
		dir = p.Root // the state is made there by the first run
	}
	err := tryState(dir)
	if err != nil {
		f.Text, f.Help = fmt.Sprintf("%s: %v", p.State, err), "runs are kept there: make it writable, on a disk that takes locks and syncs"
		return f
	}
	f.OK = true
	return f
}

func tryState(dir string) (err error) {
	tmp, err := os.MkdirTemp(dir, ".pipe-doctor-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := journal.WriteFile(filepath.Join(tmp, "file"), []byte("x"), true); err != nil {
		return err
	}
	lock, err := journal.Acquire(filepath.Join(tmp, "lock"), journal.Holder{})
	if err != nil {
		return err
	}
	return lock.Release()
}

// checkProcesses asks whether the processes of a run could be found: it looks for those of a run that
// there is not.
func checkProcesses() finding {
	if _, err := proc.CarriesRun("none"); err != nil {
		return finding{What: "processes", Text: fmt.Sprintf("can't be looked through: %v", err),
			Help: "what a run leaves behind can't be ended; on Linux, mount /proc"}
	}
	return finding{What: "processes", OK: true, Text: "can be looked through"}
}

// checkPrograms asks for the program of each agent and plugin of pipe.yaml.
func (o *doctorOptions) checkPrograms(p *engine.Project) []finding {
	out := make([]finding, 0, len(p.Config.Agents)+len(p.Config.Plugins))
	for _, a := range p.Config.Agents {
		if len(a.Command) > 0 { // else a mistake in pipe.yaml, which check reports
			out = append(out, o.checkProgram(p, "agent", a.Name.Value, a.Command[0].Value))
		}
	}
	for _, pl := range p.Config.Plugins {
		if len(pl.Command) > 0 {
			out = append(out, o.checkProgram(p, "plugin", pl.Name.Value, pl.Command[0].Value))
		}
	}
	return out
}

// checkProgram asks for one program, as a start in the workspace would.
func (o *doctorOptions) checkProgram(p *engine.Project, what, name, program string) finding {
	path, err := proc.Startable(program, p.Root, o.env)
	if err != nil {
		return finding{What: what, Text: fmt.Sprintf("%s: %v", name, err),
			Help: fmt.Sprintf("install it, or change %ss.%s in %s", what, name, engine.ConfigFile)}
	}
	return finding{What: what, OK: true, Text: name + ": " + path}
}
