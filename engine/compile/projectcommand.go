package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/toolchain"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// projectCommand is the command of the project that a stage runs.
type projectCommand struct {
	script   string
	at       *source.Scalar // the script as pipe.yaml has it; nil: it was found
	feedback *plan.Feedback // how its report is read; nil: as that of a script
	unread   string         // found, and its report can't be read: why
}

// reads gives how the report of a command is read; nil: it is not.
func (c *projectCommand) reads() *plan.Feedback {
	if c == nil {
		return nil
	}
	return c.feedback
}

// findCommand finds the command that a stage names: in pipe.yaml, else by the kind of the project. What it
// reports says what the stage is for, so it is found before roles are given.
func (c *compiler) findCommand(s *stageInfo) {
	name := s.syn.Command
	if name == nil {
		return
	}
	for _, cmd := range c.opt.Commands {
		if cmd.Name.Value == name.Value {
			s.command = c.namedCommand(cmd)
			return
		}
	}
	found, err := c.lookForCommand(s)
	if err != nil {
		c.missingCommand(s, err)
		return
	}
	s.command = &projectCommand{script: found.Script, unread: found.Why}
	if found.Format == "" {
		return
	}
	fb := &plan.Feedback{Format: found.Format, Path: found.Path, Pattern: found.Pattern, OKExitCodes: found.OKExitCodes}
	if fb.OKExitCodes == nil {
		fb.OKExitCodes = fixed.ExitCodes(fb.Format)
	}
	s.command.feedback = fb
}

// namedCommand takes a command of pipe.yaml.
func (c *compiler) namedCommand(cmd *specs.Command) *projectCommand {
	if cmd.Run == nil {
		return nil // it was reported
	}
	templateInRun(cmd.Run, &c.diags, func() string { return "the stage that runs the command can give it values through env" })
	return &projectCommand{script: cmd.Run.Text, at: cmd.Run, feedback: fixed.Feedback(cmd.Feedback, nil, &c.diags)}
}

// lookForCommand finds a command by what stands in the folder in which the stage works.
func (c *compiler) lookForCommand(s *stageInfo) (toolchain.Command, error) {
	dir := "."
	if d := s.syn.Dir; d != nil && d.Text != "" {
		if expr.HasExpr(d.Text) {
			return toolchain.Command{}, fmt.Errorf("pipe.yaml has no command %q, and none can be found in a folder that is known only when the stage starts", s.syn.Command.Value)
		}
		dir = d.Text
	}
	if c.opt.FindCommand == nil {
		return toolchain.Command{}, fmt.Errorf("pipe.yaml has no command %q", s.syn.Command.Value)
	}
	found, err := c.opt.FindCommand(dir, s.syn.Command.Value)
	if err != nil {
		return found, fmt.Errorf("pipe.yaml has no command %q, and %w", s.syn.Command.Value, err)
	}
	return found, nil
}

// missingCommand reports a command that is not there, with the lines to add.
func (c *compiler) missingCommand(s *stageInfo, why error) {
	if c.opt.ConfigUnread {
		return
	}
	name := s.syn.Command.Value
	var names []string
	for _, cmd := range c.opt.Commands {
		names = append(names, cmd.Name.Value)
	}
	var none *toolchain.NotFoundError
	if errors.As(why, &none) {
		names = append(names, none.Roles...)
	}
	report := c.diags.Errorf
	if c.opt.AllowMissingCommands {
		report = c.diags.Warnf
	}
	d := report(CodeUnknownCommand, s.syn.Command.Span, "%v", why)
	var many *toolchain.AmbiguousError
	lines := "{run: make " + name + ", format: junit, path: report.xml}"
	if errors.As(why, &many) {
		lines = commandLine(&many.Commands[0])
	}
	d.Help = "name it in pipe.yaml:\ncommands:\n  " + name + ": " + lines
	if near := diag.Suggest(name, names); near != "" {
		d.Help = near + " or " + d.Help
	}
}

// commandLine is a command as pipe.yaml has it.
func commandLine(cmd *toolchain.Command) string {
	script := quoteYAML(cmd.Script)
	if strings.Contains(cmd.Script, "\n") {
		script = "make " + cmd.Role
	}
	out := "{run: " + script
	if cmd.Format != "" {
		out += ", format: " + cmd.Format
	}
	if cmd.Path != "" {
		out += ", path: " + cmd.Path
	}
	if cmd.Pattern != "" {
		out += ", pattern: " + quoteYAML(cmd.Pattern)
	}
	if cmd.OKExitCodes != nil {
		out += ", ok_exit_codes: [" + strings.Trim(strings.ReplaceAll(fmt.Sprint(cmd.OKExitCodes), " ", ", "), "[]") + "]"
	}
	return out + "}"
}

// reports tells whether the report of a stage's command is read. The stage's own feedback comes first, and a
// stage that is said to be no review, or that a loop leads to, is taken for a script: its exit status counts.
func (s *stageInfo) reports() bool {
	if s.command == nil || s.command.feedback == nil || s.syn.Feedback != nil {
		return false
	}
	if s.syn.Loop != nil {
		return true
	}
	if s.syn.Role != nil && s.syn.Role.Value != plan.Review.String() {
		return false
	}
	return !s.targeted && !slices.Contains(implementing, s.node.ID)
}

// runCommand compiles a stage that runs a command of the project.
func (c *compiler) runCommand(i int) {
	s := c.stages[i]
	n := s.node
	n.Kind = kindCommand
	n.Config = value.NewObject()
	if s.command == nil {
		return
	}
	n.Config.Set("script", s.command.script)
	if s.reports() {
		n.Feedback = s.command.feedback
	}
	if s.command.unread != "" && (s.syn.Loop != nil || s.isPart()) && s.syn.Feedback == nil {
		name, loop := s.syn.Command.Value, s.Span
		if s.syn.Loop != nil {
			loop = s.syn.Loop.Span
		}
		d := c.diags.Errorf(CodeUnknownCommand, s.syn.Command.Span, "%s sends back what the command %q finds, and it can't be read: %s", c.known.Label(i), name, s.command.unread)
		d.Related = []diag.Related{{Span: loop, Message: "its loop is here"}}
		d.Help = "name the command with the format of its report in pipe.yaml:\ncommands:\n  " + name +
			": {run: " + quoteYAML(s.command.script) + ", format: junit, path: report.xml}"
	}
	c.checkKind(s, kindCommand, "script", s.command.at, s.syn.Command.Span)
}
