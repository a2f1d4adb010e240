package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/view"
)

// completionOptions are the options of `pipe completion`.
type completionOptions struct{ *app }

func newCompletionCmd(a *app) *cobra.Command {
	o := completionOptions{a}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the script that completes command lines in a shell",
		Long: "Prints a script for the shell. It completes commands, flags, the names of pipelines, runs and their stages,\n" +
			"and the names of inputs. The one for bash needs the package bash-completion, loaded before it.",
		Example: "  source <(pipe completion bash)\n" +
			"  pipe completion zsh > \"${fpath[1]}/_pipe\"\n" +
			"  pipe completion fish > ~/.config/fish/completions/pipe.fish",
		Args:      between(1, 1),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE:      func(cmd *cobra.Command, args []string) error { return o.run(cmd.Root(), args[0]) },
	}
}

func (o completionOptions) run(root *cobra.Command, shell string) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(o.out, true)
	case "zsh":
		return root.GenZshCompletion(o.out)
	case "fish":
		return root.GenFishCompletion(o.out, true)
	}
	return usagef("unknown shell %q, expected bash, zsh or fish", shell)
}

// noFiles says that what was found is all there is.
const noFiles = cobra.ShellCompDirectiveNoFileComp

// complete gives the commands below root their completions, by the names of arguments in their usage.
func (a *app) complete(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		_, args, _ := strings.Cut(cmd.Use, " ")
		switch words := strings.Fields(args); {
		case len(cmd.ValidArgs) > 0 || len(words) == 0:
		case words[0] == "RUN":
			cmd.ValidArgsFunction = a.completeRun(words[1:])
		case strings.Contains(args, "FILE"):
			cmd.ValidArgsFunction = a.completePipeline
		}
		if cmd.Flags().Lookup("input") != nil {
			if err := cmd.RegisterFlagCompletionFunc("input", a.completeInput); err != nil {
				panic(err) // the flag was just looked up
			}
		}
	}
}

// completePipeline offers the pipelines of the project, and files beside them.
func (a *app) completePipeline(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	p, err := a.project(nil)
	if err != nil || len(given) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	entries, err := p.Pipelines()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []string
	for _, e := range entries {
		if view.OneLine(e.Name) == e.Name { // a shell shows candidates as they are
			out = append(out, e.Name)
		}
	}
	return out, cobra.ShellCompDirectiveDefault
}

// completeRun offers runs, the newest first, then what stands behind RUN in the usage: stages of the run, and
// words to choose from.
func (a *app) completeRun(more []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		p, err := a.project(nil)
		if err != nil {
			return nil, noFiles
		}
		if len(given) == 0 {
			ids, err := p.IDs()
			if err != nil {
				return nil, noFiles
			}
			slices.Reverse(ids)
			return append([]string{"last"}, ids...), noFiles
		}
		var out []string
		for _, word := range more {
			switch {
			case strings.Contains(word, "|"):
				out = append(out, strings.Split(word, "|")...)
			case strings.HasPrefix(word, "["):
				if _, v, err := a.find(p, given[0]); err == nil && len(given) == 1 {
					out = append(out, v.Paths()...)
				}
			}
		}
		return out, noFiles
	}
}

// completeInput offers the inputs of the pipeline that is to run.
func (a *app) completeInput(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	p, err := a.project(nil)
	if err != nil || len(given) == 0 {
		return nil, noFiles
	}
	l, err := p.Load(given[0], a.dir)
	if err != nil || l.Plan == nil {
		return nil, noFiles
	}
	var out []string
	for i := range l.Plan.Inputs {
		in := &l.Plan.Inputs[i]
		out = append(out, fmt.Sprintf("%s=\t%s", in.Name, view.OneLine(in.Description)))
	}
	return out, noFiles | cobra.ShellCompDirectiveNoSpace
}
