//go:build linux

package hold

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"example.com/pipe/cmd/pipe/built"
)

// The bounds within which the command answers, whatever a file is: processor time, since the time of the
// clock depends on what else goes on, and memory.
const (
	mostTime   = 2 * time.Second
	mostMemory = 512 << 10 // KiB
	patience   = 30 * time.Second
)

// use is a place in which a file is handed to the command, at "hostile".
type use string

const (
	asPipeline use = "pipeline" // pipe check and pipe run
	asConfig   use = "config"   // pipe.yaml
	asPrompt   use = "prompt"   // a prompt_file
	asInputs   use = "inputs"   // --inputs, a YAML file
	asJSON     use = "json"     // --inputs, a JSON file
	asOutput   use = "output"   // what a stage leaves in PIPE_OUTPUT
	asFeedback use = "feedback" // what a review leaves in PIPE_FEEDBACK
)

var allUses = []use{asPipeline, asConfig, asPrompt, asInputs, asJSON, asOutput, asFeedback}

// hostile is a file that somebody may hand over.
type hostile struct {
	text string
	make func(t *testing.T, path string) // where it is no text
	fine []use                           // what it is all right for

	secret bool // that it can't be read depends on who asks
}

const whole = "name: p\nversion: 1\nstages: [{id: a, run: 'true'}]\n"

// corpus is the files. As a pipeline, those that are texts begin like one.
func corpus() map[string]hostile {
	alias := "{a0: &a0 [x, x]"
	merge := "{m0: &m0 {k: v}"
	for i := 1; i < 30; i++ {
		alias += fmt.Sprintf(", a%d: &a%d [%s]", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9)+"x")
		merge += fmt.Sprintf(", m%d: &m%d {<<: [%s]}", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*m%d, ", i-1), 9), ", "))
	}
	var wide []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + whole)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	deep := func(open, end string) string { return strings.Repeat(open, 10_000) + strings.Repeat(end, 10_000) }
	text := []use{asPrompt} // a prompt may be any text
	return map[string]hostile{
		"alias bomb":       {text: "x: " + alias + "}\n", fine: text},
		"merge bomb":       {text: "x: " + merge + "}\n", fine: text},
		"anchor in itself": {text: "x: &a [*a]\n", fine: text},
		"anchors in rings": {text: "x: &a {b: &b [*a, *b]}\n", fine: text},
		"merge of itself":  {text: "x: &a {<<: *a}\n", fine: text},
		"deep lists":       {text: "x: " + deep("[", "]") + "\n", fine: text},
		"deep mappings":    {text: "x: " + deep("{x: ", "}") + "\n", fine: text},
		"deep JSON":        {text: `{"x": ` + deep("[", "]") + "}\n", fine: text},
		"deep dashes":      {text: "x:\n" + strings.Repeat("- ", 10_000) + "x\n", fine: text},
		"deep script":      {text: "stages: [{id: a, rum: x, run: '" + strings.Repeat("(", 100_000) + "'}]\n", fine: text},
		"deep expression":  {text: "stages: [{id: a, run: x, when: '" + strings.Repeat("(", 16_000) + "'}]\n", fine: text},
		"many mistakes":    {text: strings.Repeat("x: y\n", 140_000), fine: text},
		"many values":      {text: "x: [" + strings.Repeat("1,", 290_000) + "]\n", fine: text},
		"many keys":        {text: "x: " + numbered("k%d: [1]\n", 70_000, "{", "}") + "\n", fine: text},
		"escapes":          {text: `x: "` + strings.Repeat(`\n`, 4_000_000), fine: nil},
		"binary":           {text: strings.Repeat("\x00\x01\xff\xfe", 2_000_000)},
		"8 MB of quotes":   {text: "x: " + strings.Repeat("'", 8_000_000)},
		"100 MB": {make: func(t *testing.T, path string) {
			if err := errors.Join(os.WriteFile(path, []byte(whole), 0o644), os.Truncate(path, 100_000_000)); err != nil {
				t.Fatal(err)
			}
		}},
		"NUL bytes":       {text: "x: a\x00b\n"},
		"not UTF-8":       {text: "x: \xe4\xf6\xfc\n"},
		"UTF-16":          {text: string(wide)},
		"byte order mark": {text: "\ufeffx: [\n", fine: text},
		"CRLF":            {text: "x: 1\r\ny: [\r\n", fine: text},
		"lone CR":         {text: "x: 1\ry: [\r", fine: text},
		"empty":           {text: "", fine: []use{asConfig, asOutput}},
		"only comments":   {text: "# nothing\n# at all\n", fine: []use{asConfig, asPrompt}},
		"only blanks":     {text: " \n\n \n", fine: []use{asConfig}},
		"two documents":   {text: "x: 1\n---\nx: 2\n", fine: text},
		"directory":       {make: func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o755)) }},
		"named pipe":      {make: func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o644)) }},
		"device":          {make: link("/dev/zero")},
		"terminal":        {make: link("/dev/tty")},
		"link to nothing": {make: link("none")},
		"link to itself":  {make: func(t *testing.T, path string) { link(filepath.Base(path))(t, path) }},
		"link to a pipe": {make: func(t *testing.T, path string) {
			must(t, syscall.Mkfifo(path+".pipe", 0o644))
			link(path+".pipe")(t, path)
		}},
		"socket":            {make: listen},
		"unreadable memory": {make: link("/proc/self/mem")},
		"no permission": {secret: true, make: func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(whole), 0o000))
		}},
	}
}

func numbered(format string, n int, open, end string) string {
	var b strings.Builder
	b.WriteString(open)
	for i := range n {
		fmt.Fprintf(&b, strings.TrimSpace(format)+", ", i)
	}
	b.WriteString(end)
	return b.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func link(to string) func(*testing.T, string) {
	return func(t *testing.T, path string) { must(t, os.Symlink(to, path)) }
}

// listen makes a socket. It is made in a folder with a short name, since the name of a socket is bounded.
func listen(t *testing.T, path string) {
	dir, err := os.MkdirTemp("", "s")
	must(t, err)
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	t.Cleanup(func() { l.Close() })
	must(t, os.Rename(filepath.Join(dir, "s"), path))
}

// TestHostileFiles hands files to the command, in each place in which it reads one: it ends in a diagnostic
// that names the file, and the line and column of a text, within bounds of time and memory.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for name, h := range corpus() {
		for _, u := range allUses {
			if h.make != nil && (u == asOutput || u == asFeedback) && name != "100 MB" {
				continue // a copy of it is a text or never ends; see the tests of engine/driver
			}
			t.Run(name+" as "+string(u), func(t *testing.T) {
				t.Parallel()
				h.try(t, u)
			})
		}
	}
}

// try hands the file over.
func (h hostile) try(t *testing.T, u use) {
	p := newPlace(t, "pipelines/p.yaml", whole)
	path := map[use]string{
		asPipeline: "pipelines/hostile.yaml", asConfig: "pipe.yaml", asPrompt: "pipelines/hostile.md",
		asInputs: "hostile.yaml", asJSON: "hostile.json", asOutput: "hostile", asFeedback: "hostile",
	}[u]
	must(t, os.RemoveAll(p.path(path)))
	if h.make != nil {
		h.make(t, p.path(path))
	} else {
		p.write(path, h.text)
	}
	place := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(path) + `:\d+:\d+: error: .* \[[a-z-]+\]$`)
	commands := [][]string{{"check"}, {"run", path}}
	switch u {
	case asConfig:
		commands = [][]string{{"check", path}, {"run", "p"}}
	case asPrompt:
		p.write("pipe.yaml", "agents: {a: {command: ['true']}}\n")
		p.write("pipelines/p.yaml", "name: p\nversion: 1\nstages: [{id: a, agent: a, prompt_file: hostile.md}]\n")
		place = regexp.MustCompile(`(?m)^pipelines/(p\.yaml:3:\d+|hostile\.md:\d+:\d+): error: .* \[[a-z-]+\]$`)
		commands = [][]string{{"check"}, {"run", "p"}}
		if h.isFine(u) {
			commands = commands[:1] // there is no agent
		}
	case asInputs, asJSON:
		p.write("pipelines/p.yaml", whole+"inputs: {x: {type: string, required: false}}\n")
		place = regexp.MustCompile(`(--inputs.*|in ".*)\b` + regexp.QuoteMeta(path) + `(:\d+:\d+: .|": .|: the document has .|": the inputs are x|", did you mean)`)
		commands = [][]string{{"run", "p", "--inputs", path}}
	case asOutput:
		p.write("pipelines/p.yaml", "name: p\nversion: 1\nstages: [{id: a, run: 'cat hostile >> \"$PIPE_OUTPUT\"', outputs: {y: {type: string, required: false}}}]\n")
		place = regexp.MustCompile(`PIPE_OUTPUT: .*(line \d+|\d+:\d+: |larger)`)
		commands = [][]string{{"run", "p"}}
	case asFeedback:
		p.write("pipelines/p.yaml", "name: p\nversion: 1\nstages: [{id: a, role: review, run: 'cat hostile > \"$PIPE_FEEDBACK\"'}]\n")
		place = regexp.MustCompile(`\$PIPE_FEEDBACK names( can't be read)?: (\d+:\d+: .|it is larger|the document (is empty|has)|.*feedback_items)`)
		commands = [][]string{{"run", "p"}}
	}
	if isFolder(p.path(path)) && (u == asPipeline || u == asConfig) {
		commands[0] = []string{"check", path} // a folder stands for the pipelines in it
		place = regexp.MustCompile(regexp.QuoteMeta(path))
	}
	for _, args := range commands {
		r := h.bounded(p, args...)
		switch text := r.out + r.err; {
		case strings.Contains(text, "goroutine "):
			t.Errorf("%q breaks: %s", args, r)
		case h.isFine(u):
			if r.status != 0 {
				t.Errorf("%q: it is all right for that: %s", args, r)
			}
		case r.status == 0 || !place.MatchString(text):
			t.Errorf("%q does not say where, by %s: %s", args, place, r)
		}
	}
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func (h hostile) isFine(u use) bool {
	for _, f := range h.fine {
		if f == u {
			return true
		}
	}
	return false
}

// bounded runs the command to its end, with an eye on what it takes. One that takes all that it can get is
// stopped by the system before it hurts.
func (h hostile) bounded(p *place, args ...string) *result {
	p.t.Helper()
	cmd := p.cmd(args...)
	cmd.Args = append([]string{"sh", "-c", `ulimit -v 4194304; exec "$0" "$@"`, cmd.Path}, args...)
	cmd.Path = "/bin/sh"
	if h.secret && os.Geteuid() == 0 {
		asNobody(p, cmd) // for root there is no file without permission
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	must := func(err error) {
		if err != nil {
			p.t.Fatalf("%q: %v", args, err)
		}
	}
	must(cmd.Start())
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // the status is looked at
	r := &result{out.String(), stderr.String(), statusOf(cmd), rusage(cmd)}
	if !late.Stop() {
		p.t.Fatalf("%q does not end: %s", args, r)
	}
	if took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); took > mostTime {
		p.t.Errorf("%q takes %s of the processor, more than %s", args, took, mostTime)
	}
	if r.usage.Maxrss > mostMemory {
		p.t.Errorf("%q takes %d MB of memory, more than %d", args, r.usage.Maxrss>>10, mostMemory>>10)
	}
	return r
}

// asNobody runs a command as a user who may do nothing but look at the project, and make runs of it.
func asNobody(p *place, cmd *exec.Cmd) {
	p.t.Helper()
	const nobody = 65534
	state, above := p.path(".pipe"), filepath.Dir(p.dir)
	for _, err := range []error{
		os.MkdirAll(state, 0o777), os.Chmod(state, 0o777), os.Chmod(above, 0o755), os.Chmod(filepath.Dir(above), 0o755),
		os.Chmod(p.program, 0o755),
	} {
		if err != nil {
			p.t.Fatal(err)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// TestInputsOfACommand reads inputs from what the shell has opened: that is a pipe, and somebody writes to it.
func TestInputsOfACommand(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		built.Missing(t, "bash")
	}
	p := newPlace(t, "pipelines/p.yaml", "name: p\nversion: 1\ninputs: {x: string}\nstages: [{id: a, run: 'echo \"got $X\"', env: {X: '${{ inputs.x }}'}}]\n")
	for _, script := range []string{
		`pipe run p --inputs <(sleep 0.1; echo "x: from a command")`,
		`echo "x: from a command" | pipe run p --inputs /dev/stdin`,
		`echo "x: from a command" | pipe run p --inputs -`,
	} {
		cmd := p.cmd()
		cmd.Path, cmd.Args = bash, []string{"bash", "-c", script}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
		p.says(p.want(0, "logs", "last", "a"), "got from a command")
	}
}
