package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// outputOptions are the options of `pipe output`.
type outputOptions struct {
	*app
	name string
}

// maxOutput is how much a stage may write to PIPE_OUTPUT.
const maxOutput = 1 << 20

func newOutputCmd(a *app) *cobra.Command {
	o := &outputOptions{app: a}
	return &cobra.Command{
		Use:   "output NAME",
		Short: "In a stage: write stdin as the value of an output, whatever is in it",
		Example: "  git log -1 --format=%B | pipe output message\n" +
			"  printf %s \"$count\" | pipe output count",
		Long: "Writes stdin to the file that PIPE_OUTPUT names, as the value of output NAME. Nothing in the value is\n" +
			"read as a name or a mark. One line end at the end of the value is dropped, as a shell's $(…) does.",
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
}

var outputName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func (o *outputOptions) run(context.Context) error {
	if !outputName.MatchString(o.name) {
		return usagef("%q can't be the name of an output, expected letters, digits, \"_\" and \"-\"", o.name)
	}
	path := o.getenv("PIPE_OUTPUT")
	if path == "" {
		return usagef("PIPE_OUTPUT is not set: `pipe output` works inside a stage of a run")
	}
	v, err := io.ReadAll(io.LimitReader(o.in, maxOutput+1))
	if err != nil {
		return fmt.Errorf("read the value of %q from stdin: %w", o.name, err)
	}
	if len(v) > maxOutput {
		return usagef("the value of %q is over %d bytes, which is the most that a stage may give", o.name, maxOutput)
	}
	if !utf8.Valid(v) {
		return usagef("the value of %q is not UTF-8 text", o.name)
	}
	block, err := outputBlock(o.name, bytes.TrimSuffix(v, []byte("\n")))
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open PIPE_OUTPUT: %w", err)
	}
	if _, err := f.Write(block); err != nil {
		f.Close()
		return fmt.Errorf("write output %q: %w", o.name, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write output %q: %w", o.name, err)
	}
	return nil
}

// outputBlock gives `name<<MARK`, the value and the mark as one piece, so that stages that write side by
// side don't mix. The mark is one that the value can't hold by design or by chance.
func outputBlock(name string, v []byte) ([]byte, error) {
	var random [12]byte
	for {
		if _, err := rand.Read(random[:]); err != nil {
			return nil, fmt.Errorf("make a mark: %w", err)
		}
		mark := "EOF_" + hex.EncodeToString(random[:])
		if bytes.Contains(v, []byte(mark)) {
			continue
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "%s<<%s\n", name, mark)
		b.Write(v)
		fmt.Fprintf(&b, "\n%s\n", mark)
		return b.Bytes(), nil
	}
}
