package journal

import (
	"bytes"
	"hash/crc32"
	"strconv"
)

// Version is the "v" of every line that this package writes.
const Version = 1

// The file of the log and the folder of blobs, in a run's folder.
const (
	FileName = "events.jsonl"
	BlobDir  = "blobs"
)

const (
	sumKey  = `,"sum":"`
	sumTail = len(sumKey) + 8 + len(`"}`) // what seal adds to a line, without the line feed

	linePrefix   = `{"v":`
	headerMember = `,"type":"header",`
	seqMember    = `,"seq":`

	hexDigits = "0123456789abcdef"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// closing ends the line that the sum is of: a whole JSON object without the member "sum".
var closing = []byte{'}'}

// seal adds the sum to an object whose closing brace is not there yet, the brace, and the line feed.
func seal(b []byte) []byte {
	sum := lineSum(b)
	b = append(b, sumKey...)
	b = append(b, sum[:]...)
	return append(b, "\"}\n"...)
}

// lineSum returns the sum's text, for an object without its closing brace.
func lineSum(b []byte) [8]byte {
	crc := crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, closing)
	var text [8]byte
	for i := range text {
		text[i] = hexDigits[crc>>(28-4*i)&15]
	}
	return text
}

// unsealed returns the line without its sum and its closing brace; false if the sum is wrong or missing.
// Every byte of the line is either summed or compared.
func unsealed(line []byte) ([]byte, bool) {
	if len(line) < sumTail {
		return nil, false
	}
	body, tail := line[:len(line)-sumTail], line[len(line)-sumTail:]
	sum := lineSum(body)
	if string(tail[:len(sumKey)]) != sumKey || !bytes.Equal(tail[len(sumKey):len(sumKey)+8], sum[:]) ||
		string(tail[len(sumKey)+8:]) != `"}` {
		return nil, false
	}
	return body, true
}

// hasWholeLine says whether a torn tail begins with a line that is whole but for its line feed, followed by
// something else than the NULs that a file system may leave: then the line feed was damaged, and what it
// ended was promised to be there.
func hasWholeLine(tail []byte) bool {
	tail = bytes.TrimRight(tail, "\x00")
	for end := 0; ; {
		i := bytes.Index(tail[end:], []byte(sumKey))
		if i < 0 {
			return false
		}
		start := end + i
		if n := start + sumTail; n < len(tail) {
			if _, ok := unsealed(tail[:n]); ok {
				return true
			}
		}
		end = start + len(sumKey)
	}
}

// frame is what can be told of a line without decoding it.
type frame struct {
	v      int
	header bool
	seq    int64 // of a step
}

// parseFrame reads the first two members. Their order is part of the format: a line that passed its sum
// and begins otherwise was not written by this package.
func parseFrame(body []byte) (frame, bool) {
	rest, ok := bytes.CutPrefix(body, []byte(linePrefix))
	if !ok {
		return frame{}, false
	}
	v, rest, ok := cutInt(rest)
	if !ok {
		return frame{}, false
	}
	f := frame{v: int(v)}
	if bytes.HasPrefix(rest, []byte(headerMember)) {
		f.header = true
		return f, true
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(seqMember)); !ok {
		// Another version's second member is not known; that it is another version is all that matters.
		return f, f.v != Version
	}
	f.seq, _, ok = cutInt(rest)
	return f, ok
}

func cutInt(b []byte) (int64, []byte, bool) {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	i, err := strconv.ParseInt(string(b[:n]), 10, 64)
	return i, b[n:], err == nil
}
