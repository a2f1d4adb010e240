package proc

import "time"

// The variables by which a process and all its descendants are known.
const (
	RunVar    = "PIPE_RUN_ID"
	EffectVar = "PIPE_EFFECT"
	OuterVar  = "PIPE_OUTER_RUNS" // ids of the runs that a run was started within, parted by spaces
)

// DefaultGrace is the time between SIGTERM and SIGKILL.
const DefaultGrace = 5 * time.Second

// Spec says what to start.
type Spec struct {
	// Path is the program: a path, or a bare name that is looked up in the PATH of Env. A relative path, and
	// a relative entry of PATH, is relative to Dir.
	Path string
	Args []string // without the program's own name
	Env  []string // the whole environment; holds RunVar and EffectVar
	Dir  string   // absolute

	Stdin          string // a file; "": /dev/null
	Stdout, Stderr string // log files, created at the first byte or appended to; "": only head and tail are kept; may be the same
	Heading        string // written into each log file before the first byte that goes there; no part of an Output

	Effect, Run string        // the values of EffectVar and RunVar in Env; without them only the group is known
	Grace       time.Duration // 0: DefaultGrace
}

// Result says how a process ended.
type Result struct {
	Started  bool
	ExitCode int    // -1: ended by a signal, or not started
	Signal   string // "SIGKILL"; "": ended by itself

	// Stopped is why we stopped it: the cause of the context's end. Nil: the main process ended by itself,
	// before the context did.
	Stopped error

	Stdout, Stderr  Output
	KilledLeftovers int // leftovers that had to be ended
}

// Output is what a process wrote to one of its streams.
type Output struct {
	Head, Tail []byte // the first and the last HeadTail bytes at most; together they never repeat a byte
	Size       int64  // of everything; Head and Tail are all of it if it is no more than their lengths
}

// HeadTail is the greatest length of an Output's Head, and of its Tail, in bytes.
const HeadTail = 64 << 10
