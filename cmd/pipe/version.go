package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/view"
)

// versionOptions are the options of `pipe version`.
type versionOptions struct {
	*app
	json bool
}

func newVersionCmd(a *app) *cobra.Command {
	o := &versionOptions{app: a}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  between(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (o *versionOptions) run(context.Context) error {
	v, revision := buildVersion()
	if !o.json {
		fmt.Fprintf(o.out, "pipe %s", v)
		if revision != "" {
			fmt.Fprintf(o.out, " (%s)", revision)
		}
		fmt.Fprintf(o.out, " %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return nil
	}
	b, err := view.Marshal(struct {
		Version  int    `json:"version"`
		Pipe     string `json:"pipe"`
		Revision string `json:"revision,omitempty"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
	}{1, v, revision, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
	if err != nil {
		return err
	}
	_, err = o.out.Write(b)
	return err
}

// buildVersion gives the module's version and the revision that the program was built from, as far as the
// build knows them.
func buildVersion() (version, revision string) {
	version = "devel"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, ""
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)] + revision
		case s.Key == "vcs.modified" && s.Value == "true":
			revision += "+changes"
		}
	}
	return version, revision
}
