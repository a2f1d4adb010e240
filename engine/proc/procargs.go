package proc

import (
	"bytes"
	"encoding/binary"
)

// parseProcArgs takes the environment block out of what macOS tells of a process (kern.procargs2): the
// number of arguments, the path of the program, NULs up to a word's end, the arguments, the environment.
// Nil if there is none, or we may not see it.
func parseProcArgs(data []byte) []byte {
	if len(data) < 4 {
		return nil
	}
	args := int(int32(binary.NativeEndian.Uint32(data)))
	_, rest, ok := bytes.Cut(data[4:], []byte{0})
	if !ok || args < 0 {
		return nil
	}
	rest = bytes.TrimLeft(rest, "\x00")
	for range args {
		if _, rest, ok = bytes.Cut(rest, []byte{0}); !ok {
			return nil
		}
	}
	return rest
}
