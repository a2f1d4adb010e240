package live

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	getModes = unix.TCGETS
	setModes = unix.TCSETS
)

// parentOfProcess gives the parent of a process; 0: not known.
func parentOfProcess(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // the name before it may hold anything
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0
	}
	return parent
}
