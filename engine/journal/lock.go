package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"example.com/pipe/engine/step"
)

// Holder says who holds a lock: one JSON line in the lock's file.
type Holder struct {
	PID     int          `json:"pid"`  // 0: of this process, for Acquire; unknown, in what is read
	Host    string       `json:"host"` // "": of this machine, for Acquire
	Run     string       `json:"run,omitempty"`
	Command string       `json:"command,omitempty"` // "pipe resume 01J…"
	At      step.Instant `json:"at"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "a process that did not write its name"
	}
	text := fmt.Sprintf("process %d on %s", h.PID, h.Host)
	if h.Command != "" {
		text += fmt.Sprintf(" (%s)", h.Command)
	}
	if h.Run != "" {
		text += fmt.Sprintf(", run %s", h.Run)
	}
	return text + ", since " + h.At.String()
}

// HeldError is ErrHeld with the holder.
type HeldError struct {
	Path   string
	Holder Holder
}

func (e *HeldError) Error() string { return fmt.Sprintf("%q is held by %s", e.Path, e.Holder) }

// Is makes a HeldError an ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// A lock that is held while its file names nobody alive was taken a moment ago, or is being looked at by
// HeldBy: wait this often for this long before believing it.
const (
	lockTries = 20
	lockPause = 5 * time.Millisecond
)

// maxHolder bounds what is read of a lock's file.
const maxHolder = 64 << 10

// Lock is held until Release, or until the process ends, however it ends. Processes that it starts don't
// inherit it.
type Lock struct{ fl *flock.Flock }

// Acquire takes the lock at path, or returns a HeldError without waiting for it. The folder must exist; the
// file is made, and stays for ever. A run's lock is "lock" in its folder; ".pipe/workspace.lock" is the one
// of a workspace.
func Acquire(path string, who Holder) (*Lock, error) {
	if who.PID == 0 {
		who.PID = os.Getpid()
	}
	if who.Host == "" {
		who.Host = hostname()
	}
	for try := 1; ; try++ {
		fl := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(fileMode))
		ok, err := fl.TryLock()
		if err != nil {
			return nil, storage("lock", path, err)
		}
		if !ok {
			fl.Close()
			holder, err := readHolder(path)
			if err != nil {
				return nil, err
			}
			if try == lockTries || alive(holder) {
				return nil, &HeldError{Path: path, Holder: holder}
			}
			time.Sleep(lockPause)
			continue
		}
		// The file may have been deleted and made anew (git clean) between open and lock: then this is the
		// lock of a file that nobody else will ever find.
		if same, err := stillThere(fl, path); err != nil || !same {
			fl.Close()
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := writeHolder(path, who); err != nil {
			fl.Close()
			return nil, err
		}
		return &Lock{fl: fl}, nil
	}
}

// Release gives the lock back. The file stays, empty.
func (l *Lock) Release() error {
	path := l.fl.Path()
	var err error
	if same, _ := stillThere(l.fl, path); same {
		err = os.Truncate(path, 0)
	}
	if unlock := l.fl.Close(); err == nil {
		err = unlock
	}
	if err != nil {
		return storage("unlock", path, err)
	}
	return nil
}

// HeldBy says who holds the lock at path, and whether anybody does, without taking it from anybody. A lock
// whose file does not exist is not held.
func HeldBy(path string) (Holder, bool, error) {
	for try := 1; ; try++ {
		fl := flock.New(path, flock.SetFlag(os.O_RDONLY))
		free, err := fl.TryRLock()
		if errors.Is(err, fs.ErrNotExist) {
			return Holder{}, false, nil
		}
		if err != nil {
			return Holder{}, false, fmt.Errorf("look at the lock %q: %w", path, bare(err))
		}
		// A shared lock keeps an Acquire out, which waits for such a moment to pass.
		if err := fl.Close(); err != nil || free {
			return Holder{}, false, err
		}
		holder, err := readHolder(path)
		if err != nil {
			return Holder{}, false, err
		}
		if try == lockTries || alive(holder) {
			return holder, true, nil
		}
		time.Sleep(lockPause)
	}
}

// stillThere says whether the path leads to the file that is locked.
func stillThere(fl *flock.Flock, path string) (bool, error) {
	locked, err := fl.Stat()
	if err != nil {
		return false, storage("look at", path, err)
	}
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, storage("look at", path, err)
	}
	return os.SameFile(locked, now), nil
}

// writeHolder writes the new line over the old one in one go, and cuts the rest off: a reader, who reads the
// first line, finds either.
func writeHolder(path string, who Holder) error {
	line, err := json.Marshal(who)
	if err != nil {
		return fmt.Errorf("write the holder of the lock %q: %w", path, err)
	}
	line = append(line, '\n')
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return storage("write", path, err)
	}
	_, err = f.WriteAt(line, 0)
	if err == nil {
		err = f.Truncate(int64(len(line)))
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return storage("write", path, err)
	}
	return nil
}

// readHolder returns the zero Holder if the file says nothing that can be understood.
func readHolder(path string) (Holder, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, nil
	}
	if err != nil {
		return Holder{}, fmt.Errorf("read the lock %q: %w", path, bare(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHolder))
	if err != nil {
		return Holder{}, fmt.Errorf("read the lock %q: %w", path, bare(err))
	}
	line, _, whole := bytes.Cut(text, []byte{'\n'})
	var h Holder
	if !whole || json.Unmarshal(line, &h) != nil {
		return Holder{}, nil
	}
	return h, nil
}

// alive says whether the named process may still run. Of another machine's nothing is known.
func alive(h Holder) bool {
	if h.PID <= 0 || h.Host != hostname() {
		return h.PID > 0
	}
	err := syscall.Kill(h.PID, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
