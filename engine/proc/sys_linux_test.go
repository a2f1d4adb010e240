package proc

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " S 10 20 30 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9"
	for _, tc := range []struct {
		line string
		want process
		ok   bool
	}{
		{"7 (sh)" + rest, process{processKey{7, 4242}, 10, 20, false, false}, true},
		{"7 (a ) Z 1 1 (x)" + rest, process{processKey{7, 4242}, 10, 20, false, false}, true},
		{"7 (sh)" + strings.Replace(rest, " S ", " Z ", 1), process{processKey{7, 4242}, 10, 20, true, false}, true},
		{"7 (sh)" + strings.NewReplacer(" S ", " Z ", " 20 0 1 ", " 20 0 3 ").Replace(rest), process{processKey{7, 4242}, 10, 20, false, true}, true},
		{"7 (kthreadd)" + strings.Replace(rest, "4194560", "2129984", 1), process{}, false},
		{"7 (sh) S 1", process{}, false},
		{"7 sh", process{}, false},
		{"7 (sh)" + strings.Replace(rest, "4242", "x", 1), process{}, false},
		{"", process{}, false},
	} {
		got, ok := parseStat(7, []byte(tc.line))
		if ok != tc.ok || ok && got != tc.want {
			t.Errorf("%q: got %+v, %v", tc.line, got, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (sh) S 10 20 30 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9"))
	f.Fuzz(func(t *testing.T, line []byte) { parseStat(1, line) })
}

func TestOwnProcess(t *testing.T) {
	p, ok := readProcess(os.Getpid())
	if !ok || p.ppid != os.Getppid() || p.zombie || p.start == 0 {
		t.Errorf("%+v, %v", p, ok)
	}
	if !getsOrphans() {
		t.Error("we are no subreaper")
	}
	// Without the right start time it is somebody else, who must not be signalled.
	p.start++
	signalProcess(&p, 9)
}

func TestEntries(t *testing.T) {
	env := []byte("A=1\x00PIPE_RUN_ID=R1\x00X=PIPE_EFFECT=e1\x00EMPTY=\x00")
	for entry, want := range map[string]bool{"PIPE_RUN_ID=R1": true, "PIPE_RUN_ID=R": false, "PIPE_EFFECT=e1": false, "A=1": true} {
		if got := hasEntry(env, []byte(entry)); got != want {
			t.Errorf("%s: %v", entry, got)
		}
	}
	for name, want := range map[string]string{"PIPE_RUN_ID": "R1", "EMPTY": "", "PIPE": "-", "RUN_ID": "-"} {
		got, ok := entryValue(env, name)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestParseProcArgs(t *testing.T) {
	block := func(n int32, rest string) []byte {
		return append(binary.NativeEndian.AppendUint32(nil, uint32(n)), rest...)
	}
	for _, tc := range []struct {
		data []byte
		want string
	}{
		{block(2, "/bin/sh\x00\x00\x00\x00sh\x00-c\x00A=1\x00B=2\x00"), "A=1\x00B=2\x00"},
		{block(1, "/bin/sh\x00sh\x00"), ""},
		{block(3, "/bin/sh\x00sh\x00"), ""},
		{block(-1, "/bin/sh\x00sh\x00A=1\x00"), ""},
		{block(1, "/bin/sh"), ""},
		{[]byte("ab"), ""},
	} {
		if got := parseProcArgs(tc.data); string(got) != tc.want {
			t.Errorf("%q: got %q, want %q", tc.data, got, tc.want)
		}
	}
}
