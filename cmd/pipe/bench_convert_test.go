package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"syscall"
	"time"

	"example.com/pipe/engine/feedback/convert"
)

// sarifText is a log of static analysis of so many bytes, or a little more, in the form in which tools write it.
func sarifText(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint", "rules": [{"id": "R1"}]}}, "results": [`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `
        {
          "ruleId": "R%d",
          "level": "warning",
          "message": {"text": "Value number %d is never used, and \"quoted\" here."},
          "locations": [{"physicalLocation": {"artifactLocation": {"uri": "src/dir%d/file.go", "uriBaseId": "%%SRCROOT%%"}, "region": {"startLine": %d, "startColumn": 5, "endColumn": 9}}}],
          "partialFingerprints": {"primaryLocationLineHash": "%032x:1"},
          "properties": {"rank": 0.5, "seen": true}
        }`, i%50, i, i%100, i%1000+1, i)
	}
	b.WriteString("]}]}")
	return b.Bytes()
}

// benchConvert is making items of a report, against decoding it, and what it holds meanwhile.
func benchConvert(t *numbers) {
	const small, large = 5 << 20, 50 << 20
	text := sarifText(large)
	ratios, note := t.inTurns(func() spent {
		return t.spends(func() error { return convertSARIF(bytes.NewReader(text)) })
	}, func() spent {
		return t.spends(func() error {
			var v any
			return json.Unmarshal(text, &v)
		})
	})
	t.addRatios("items of a SARIF log of 50 MB / encoding/json", ratios, 3, note)
	var held [2]uint64
	for i, size := range []int{small, large} {
		before := heap()
		probe := &probe{in: bytes.NewReader(text[:size]), every: size / 8}
		if err := convertSARIF(probe); err == nil {
			t.b.Fatal("a log that breaks off was read")
		}
		held[i] = max(probe.peak, before) - before
	}
	ratio := float64(held[1]) / float64(held[0])
	t.add("  what is held while 50 MB are read / while 5 MB are", fmt.Sprintf("%.2f x (%s against %s)", ratio, megabytes(held[1]), megabytes(held[0])),
		"<= 1.5 x", ratio <= 1.5)
}

func convertSARIF(in io.Reader) error {
	_, err := convert.Convert(convert.SARIF, convert.Input{Stdout: in, ExitCode: 1})
	return err
}

// spends measures something that this process does.
func (t *numbers) spends(what func() error) spent {
	t.b.Helper()
	heap() // what was done before is not to be cleaned up meanwhile
	processor := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	cpu, began := processor(), time.Now()
	if err := what(); err != nil {
		t.b.Fatal(err)
	}
	return spent{time.Since(began), processor() - cpu}
}

// probe reads, and looks now and then at how much is alive.
type probe struct {
	in          io.Reader
	every, read int
	peak        uint64
}

func (p *probe) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	if p.read/p.every != (p.read+n)/p.every {
		p.peak = max(p.peak, heap())
	}
	p.read += n
	return n, err
}
