package specs

import "example.com/pipe/engine/source"

// Project is the syntax tree of pipe.yaml.
type Project struct {
	File        *source.File
	Agents      []*Agent
	Commands    []*Command
	Plugins     []*Plugin
	Environment *Leaf[string] // "" or clean
	State       *Leaf[string] // folder of the runs
}

// Agent is an entry of pipe.yaml's agents.
type Agent struct {
	Name    Leaf[string]
	Command []Leaf[string]
	Output  *Leaf[string] // json or text
	Span    source.Span
}

// Command is an entry of pipe.yaml's commands: a script by its role, with the form of its report.
type Command struct {
	Name     Leaf[string]
	Run      *source.Scalar // nil: it was reported as wrong
	Feedback *Feedback      // nil: the command says nothing of its report, so it is only a script
	Span     source.Span
}

// Plugin is an entry of pipe.yaml's plugins: a program that carries out stages, by the name that uses gives.
type Plugin struct {
	Name    Leaf[string]
	Command []Leaf[string]
	Result  *Leaf[string] // stdout, or nil: the files of PIPE_OUTPUT and PIPE_FEEDBACK
	Span    source.Span
}
