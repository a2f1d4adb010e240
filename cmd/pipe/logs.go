package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/view"
)

// logsOptions are the options of `pipe logs`.
type logsOptions struct {
	*app
	ref    string
	stage  string
	follow bool
	all    bool
	raw    bool
}

func newLogsCmd(a *app) *cobra.Command {
	o := &logsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "logs RUN [STAGE]",
		Short: "Print what the stages of a run printed",
		Long: "Prints what the last try of each stage, or of one STAGE, printed. What a terminal would obey, and bytes\n" +
			"that are no text, are spelt out; --raw passes the bytes on as they are, to anything but a terminal.",
		Args: between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref, o.stage = args[0], second(args)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on as long as the run does")
	cmd.Flags().BoolVar(&o.all, "all", false, "every try, also those that were interrupted, not only the last")
	cmd.Flags().BoolVar(&o.raw, "raw", false, "the bytes as they are")
	return cmd
}

// logsPause is the time between two looks at files that grow.
const logsPause = 100 * time.Millisecond

func (o *logsOptions) run(ctx context.Context) error {
	if o.raw && o.outTerminal {
		return usagef("--raw does not go with a terminal, which would obey what stages printed")
	}
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	id, v, err := o.find(p, o.ref)
	if err != nil {
		return err
	}
	if err := isStage(v, o.stage); err != nil {
		return err
	}
	t := &logPrinter{app: o.app, raw: o.raw, all: o.all || o.follow, at: map[string]int64{}, lost: map[string]bool{}}
	if o.follow {
		err = o.untilSignal(ctx, func(ctx context.Context) error { return o.followRun(ctx, p, id, t) })
	} else {
		err = t.print(p, id, o.tries(v))
	}
	if t.open {
		fmt.Fprintln(t.out)
	}
	return err
}

// followRun prints what comes until nobody carries the run on.
func (o *logsOptions) followRun(ctx context.Context, p *engine.Project, id string, t *logPrinter) error {
	o.all = true // of a stage that is tried again, no try is left out
	seen := int64(0)
	v, err := p.ViewFrom(id, func(l journal.Line, _ *view.Run) { seen = l.Seq })
	if err != nil {
		return err
	}
	tail := journal.NewTail(p.RunDir(id))
	ticker := time.NewTicker(logsPause)
	defer ticker.Stop()
	for {
		_, held, err := p.Holder(id) // asked first: what a run writes as its last comes before its lock is free
		if err != nil {
			return err
		}
		err = tail.Next(func(l journal.Line) error {
			for _, rec := range l.Records {
				if l.Seq > seen {
					v.Apply(l.At, rec)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := t.print(p, id, o.tries(v)); err != nil || !held || o.out.gone() {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// tries gives what is printed, in the order of the plan.
func (o *logsOptions) tries(v *view.Run) []view.Try {
	paths := []string{o.stage}
	if o.stage == "" {
		paths = v.Paths()
	}
	var out []view.Try
	for _, path := range paths {
		tries := v.Tries(path)
		if !o.all && len(tries) > 1 {
			tries = tries[len(tries)-1:]
		}
		out = append(out, tries...)
	}
	return out
}

// lostMark, and a number from 1, ends the name of the folder of a try that was interrupted.
const lostMark = ".lost-"

// logPrinter prints log files, each from where it stopped.
type logPrinter struct {
	*app
	raw  bool
	all  bool             // also the tries that were interrupted
	at   map[string]int64 // by file: how much was printed
	lost map[string]bool  // folders of interrupted tries that were seen
	last string           // the file that was printed last
	open bool             // the last line has not ended
}

func (t *logPrinter) print(p *engine.Project, run string, tries []view.Try) error {
	for _, try := range tries {
		dir, title := folderOf(p, run, try), fmt.Sprintf("%s %d.%d", view.OneLine(try.Stage), try.Iteration, try.Attempt)
		if t.all {
			if err := t.printLost(dir, title); err != nil {
				return err
			}
		}
		if err := t.folder(dir, title); err != nil {
			return err
		}
	}
	return nil
}

// folder prints the logs of one try.
func (t *logPrinter) folder(dir, title string) error {
	for _, name := range []string{driver.StdoutName, driver.StderrName} {
		if err := t.file(filepath.Join(dir, name), title, name); err != nil {
			return err
		}
	}
	return nil
}

// printLost prints the tries of a folder that were interrupted, in their order.
func (t *logPrinter) printLost(dir, title string) error {
	for n := 1; ; n++ {
		mark := fmt.Sprintf("%s%d", lostMark, n)
		lost := dir + mark
		if _, err := os.Lstat(lost); isMissing(err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("look for an interrupted try: %w", err)
		}
		if !t.lost[lost] { // what was printed of it bore the name that the next try has now
			t.lost[lost] = true
			for _, name := range []string{driver.StdoutName, driver.StderrName} {
				t.at[filepath.Join(lost, name)] = t.at[filepath.Join(dir, name)]
				delete(t.at, filepath.Join(dir, name))
			}
		}
		if err := t.folder(lost, title+mark); err != nil {
			return err
		}
	}
}

// file prints what is new in a file, below a line that says whose it is.
func (t *logPrinter) file(path, title, name string) error {
	f, size, err := openLog(path)
	if f == nil {
		return err
	}
	defer f.Close()
	if size <= t.at[path] {
		return nil
	}
	if _, err := f.Seek(t.at[path], io.SeekStart); err != nil {
		return fmt.Errorf("read a log: %w", err)
	}
	t.head(path, title, name)
	if t.raw {
		n, err := io.Copy(t.out, f)
		t.at[path] += n
		return err
	}
	return t.copySafe(path, f)
}

// copySafe copies with everything spelt out that a terminal would obey.
func (t *logPrinter) copySafe(path string, f io.Reader) error {
	ends := &endsWriter{w: t.out}
	safe := &safeWriter{w: ends}
	n, err := io.Copy(safe, f)
	if err != nil {
		return fmt.Errorf("read a log: %w", err)
	}
	t.at[path] += n
	if err := safe.Flush(); err != nil {
		return err
	}
	t.open = ends.last != '\n'
	return nil
}

func (t *logPrinter) head(path, title, name string) {
	if t.last == path || t.raw {
		return
	}
	if t.open {
		fmt.Fprintln(t.out)
	}
	t.last, t.open = path, false
	stream := strings.TrimSuffix(name, ".log")
	fmt.Fprintf(t.out, "==> %s %s <==\n", title, stream)
}

// endsWriter remembers the last byte.
type endsWriter struct {
	w    io.Writer
	last byte
}

// Write implements io.Writer.
func (e *endsWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		e.last = p[len(p)-1]
	}
	return e.w.Write(p)
}

// tailLines gives the last lines of a file, without reading all of it. There is none where there is no file.
func tailLines(path string, most int) ([]string, error) {
	const reach = 16 << 10
	f, size, err := openLog(path)
	if f == nil {
		return nil, err
	}
	defer f.Close()
	from := max(0, size-reach)
	b, err := io.ReadAll(io.NewSectionReader(f, from, reach))
	if err != nil {
		return nil, fmt.Errorf("read a log: %w", err)
	}
	if from > 0 {
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:] // the first line is cut
		}
	}
	text := strings.TrimRight(string(b), "\n")
	if text == "" {
		return nil, nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-most):]
	for i := range lines {
		lines[i] = strings.TrimSuffix(strings.ToValidUTF8(lines[i], "\ufffd"), "\r")
	}
	return lines, nil
}

// openLog opens a log and gives its size. The file is nil if there is none, or if a stage put something else
// in its place: a link, or a pipe, whose opening would never come back.
func openLog(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open a log: %w", err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
