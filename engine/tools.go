package engine

import (
	"os"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/toolchain"
)

// pluginPrefix is how the program of a plugin is called that pipe.yaml does not name.
const pluginPrefix = "pipe-stage-"

// findCommand finds a command of the project that pipe.yaml does not name.
func (p *Project) findCommand(dir, role string) (toolchain.Command, error) {
	return toolchain.Find(os.DirFS(p.Root), dir, role)
}

// findPlugin finds the program of a plugin in our PATH. It is looked for when a pipeline is compiled: a run keeps
// to the program that it was started with.
func (p *Project) findPlugin(name string) (string, error) {
	return proc.LookPath(pluginPrefix+name, p.Root, p.opt.Environ)
}
