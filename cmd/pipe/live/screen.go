package live

import (
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// pause is the time between two looks at what there is to show.
const pause = 100 * time.Millisecond

// leaveTime is how long Leave waits for a terminal that takes nothing.
const leaveTime = 500 * time.Millisecond

// Options say what is shown, and where.
type Options struct {
	Out    *os.File // the terminal
	Env    []string // TERM is read from it
	Colour bool
	Frame  func() Frame // what to show now; called by one goroutine at a time
}

// Screen is the terminal while a run is shown on it. The region comes up with the first look at the run, so that a
// run that is over at once leaves nothing but its lines.
type Screen struct {
	opt   Options
	modes modes

	mu      sync.Mutex
	up      bool    // the region stands, or is about to
	waiting []piece // what was written since, and is to be shown above it

	program *program  // of the region that stands; owned by the goroutine of the screen
	broken  bool      // a region can't be had; owned by the same
	shown   time.Time // when it was last given a frame
	busy    bool      // stages run: what they print is looked at
	changed atomic.Bool

	stop     chan struct{}
	stopOnce sync.Once
	done     chan struct{}
}

// piece is something that was written, and where it goes without a region.
type piece struct {
	text string
	to   io.Writer
}

// Start shows a run on a terminal. The screen must be closed.
func Start(o Options) *Screen {
	s := &Screen{opt: o, stop: make(chan struct{}), done: make(chan struct{})}
	s.changed.Store(true)
	go s.run()
	return s
}

// Changed says that there is something new to show.
func (s *Screen) Changed() { s.changed.Store(true) }

// Shows reports whether the region stands or may come up at once: what it shows need not be written as well.
func (s *Screen) Shows() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up || isForeground(s.opt.Out)
}

// Close takes the region away, after all that was written stands above it, and sets the terminal back.
func (s *Screen) Close() {
	s.stopOnce.Do(func() { close(s.stop) })
	<-s.done
}

// Leave closes, but does not wait long: the process is about to end.
func (s *Screen) Leave() {
	s.stopOnce.Do(func() { close(s.stop) })
	select {
	case <-s.done:
	case <-time.After(leaveTime):
		s.modes.restore(s.opt.Out)
	}
}

// Writer gives a writer whose text comes above the region while that stands, and goes to this one while it does not.
func (s *Screen) Writer(to io.Writer) io.Writer { return &stream{s, to} }

type stream struct {
	screen *Screen
	to     io.Writer
}

// Write implements io.Writer.
func (w *stream) Write(b []byte) (int, error) {
	w.screen.mu.Lock()
	defer w.screen.mu.Unlock()
	if !w.screen.up {
		return w.to.Write(b)
	}
	w.screen.waiting = append(w.screen.waiting, piece{string(b), w.to})
	return len(b), nil
}

// run is the goroutine that owns the region.
func (s *Screen) run() {
	defer close(s.done)
	stops := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(stops, syscall.SIGTSTP)
		defer signal.Stop(stops)
	}
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	defer s.lower()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-stops:
			s.lower()
			stopSelf(resumed)
		case <-resumed: // something stopped us and wrote on the terminal
			s.lower()
		case <-ticker.C:
			s.look()
		}
	}
}

// stopSelf stops the process, as Ctrl-Z does where nobody catches it, and comes back when it goes on. It takes the
// signal that nobody can catch: the runtime never gives the other one up again.
func stopSelf(resumed chan os.Signal) {
	if !isWatched() || syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) != nil {
		return
	}
	select {
	case <-resumed:
	case <-time.After(time.Second): // the first process of a container is not stopped
	}
}

// look brings the terminal up to date.
func (s *Screen) look() {
	switch foreground := isForeground(s.opt.Out); {
	case s.program != nil && (!foreground || s.program.ended()):
		s.broken = s.broken || s.program.ended()
		s.lower()
		return
	case s.program == nil && (!foreground || s.broken):
		return
	case s.program == nil:
		s.raise()
		return
	}
	if !s.program.isPainted() {
		return
	}
	s.flush()
	if s.changed.Swap(false) || s.busy || time.Since(s.shown) >= time.Second {
		s.program.show(s.frame())
	}
}

func (s *Screen) frame() *Frame {
	f := s.opt.Frame()
	s.shown = time.Now()
	s.busy = slices.ContainsFunc(f.Stages, isRunning)
	return &f
}

// raise puts the region on the terminal.
func (s *Screen) raise() {
	s.mu.Lock()
	s.up = true
	s.mu.Unlock()
	s.modes.set(s.opt.Out)
	s.program = begin(s.opt.Out, s.opt.Env, s.opt.Colour, s.frame())
}

// flush puts what was written above the region. A line that has not ended waits for its end.
func (s *Screen) flush() {
	s.mu.Lock()
	var text strings.Builder
	for _, p := range s.waiting {
		text.WriteString(p.text)
	}
	whole := text.String()
	end := strings.LastIndexByte(whole, '\n')
	if end < 0 {
		s.mu.Unlock()
		return
	}
	var rest []piece
	if left := whole[end+1:]; left != "" {
		rest = []piece{{left, s.waiting[len(s.waiting)-1].to}}
	}
	s.waiting = rest
	s.mu.Unlock()
	width, height := sizeOf(s.opt.Out)
	s.program.print(strings.Split(whole[:end], "\n"), width, height)
}

// lower takes the region off the terminal: from then on, text goes there directly.
func (s *Screen) lower() {
	if s.program == nil {
		return
	}
	if s.program.isPainted() && !s.program.ended() {
		s.flush()
	}
	s.program.end()
	s.program = nil
	s.modes.restore(s.opt.Out)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.waiting {
		_, _ = io.WriteString(p.to, p.text) // a terminal that is gone takes nothing, and nobody is there to tell
	}
	s.waiting, s.up = nil, false
}
