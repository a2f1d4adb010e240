package live

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// paints is how often a second the region may be drawn; that it is rarely drawn more than ten times is for who
// sends frames to see to.
const paints = 20

// model is the region as bubbletea sees it.
type model struct {
	look          *look
	frame         *Frame // nil: none came yet
	width, height int
	ended         bool
}

// endMsg takes the region away.
type endMsg struct{}

// ownShape leaves the cursor in the shape that the terminal gives it: of it, bubbletea makes the style 0, with which
// it begins, so that it never sets another one.
const ownShape tea.CursorShape = -1

// Init implements tea.Model.
func (m model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case *Frame:
		m.frame = msg
	case endMsg:
		m.ended = true
	}
	return m, nil
}

// View implements tea.Model. The cursor stands at the region's first character: a terminal that wraps lines anew
// when it becomes narrower moves what is below a cursor and leaves it with its text, so that the region is found
// again where it begins. It stays visible, so that there is nothing to show again when this process is killed.
func (m model) View() tea.View {
	v := tea.View{DisableBracketedPasteMode: true, Cursor: &tea.Cursor{Shape: ownShape}}
	if !m.ended && m.frame != nil && m.width > 0 {
		v.Content = strings.Join(m.frame.region(m.width, m.height, m.look), "\n")
	}
	return v
}

// program is the region while it is on the terminal.
type program struct {
	tea  *tea.Program
	tty  *tty
	done chan struct{} // closed when it is no longer on the terminal
}

// begin puts the region on the terminal.
func begin(out *os.File, env []string, colour bool, first *Frame) *program {
	t := &tty{File: out}
	profile := colorprofile.ANSI
	if !colour {
		profile = colorprofile.ASCII
	}
	p := &program{tty: t, done: make(chan struct{})}
	p.tea = tea.NewProgram(model{look: newLook(), frame: first},
		tea.WithInput(nil), tea.WithOutput(t), tea.WithEnvironment(env), tea.WithFPS(paints),
		tea.WithColorProfile(profile), // asked for, it would start a tmux to ask
		tea.WithoutSignalHandler())
	go func() {
		defer close(p.done)
		_, _ = p.tea.Run() // whatever ended it: the lines go on without it
	}()
	return p
}

// ended reports whether the region went by itself: the terminal can't be used.
func (p *program) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// isPainted reports whether the region stands: before that, nothing can be put above it.
func (p *program) isPainted() bool { return p.tty.painted.Load() }

func (p *program) show(f *Frame) { p.tea.Send(f) }

// print puts lines above the region, in order. So many at a time as have room there: of more, the region would be
// pushed out of the screen.
func (p *program) print(lines []string, width, height int) {
	room := max(1, height-maxRows(height))
	var rows []string
	for _, l := range lines {
		rows = append(rows, cut(l, width-1)...)
	}
	for len(rows) > 0 {
		n := min(room, len(rows))
		p.tea.Send(tea.Println(strings.Join(rows[:n], "\n"))())
		rows = rows[n:]
	}
}

// end takes the region off the terminal, behind all that was printed.
func (p *program) end() {
	p.tea.Send(endMsg{})
	p.tea.Quit()
	<-p.done
}

// cut breaks a line into rows that are not wider than this: where the terminal did it, nobody could say how many
// there are, since terminals differ in how wide they take some characters to be.
func cut(line string, width int) []string {
	line = strings.ReplaceAll(line, "\t", "    ")
	if line == "" {
		return []string{" "} // bubbletea drops an empty text
	}
	if width < 1 || cells(line) <= width {
		return []string{line}
	}
	for w := width; ; w-- {
		rows := strings.Split(ansi.Hardwrap(ansi.HardwrapWc(line, w, true), w, true), "\n")
		if w == 1 || !slices.ContainsFunc(rows, func(r string) bool { return cells(r) > width }) {
			return rows
		}
	}
}

// tty is the terminal as bubbletea writes to it.
type tty struct {
	*os.File
	painted atomic.Bool // something was drawn
}

// Write implements io.Writer. Each call is one change of the screen: a terminal that can is told to show it as one,
// and the others do not know these two codes and pass over them.
func (t *tty) Write(b []byte) (int, error) {
	defer t.painted.Store(true)
	whole := make([]byte, 0, len(b)+len(ansi.SetModeSynchronizedOutput)+len(ansi.ResetModeSynchronizedOutput))
	whole = append(whole, ansi.SetModeSynchronizedOutput...)
	whole = append(whole, b...)
	whole = append(whole, ansi.ResetModeSynchronizedOutput...)
	if _, err := t.File.Write(whole); err != nil {
		return 0, err
	}
	return len(b), nil
}
