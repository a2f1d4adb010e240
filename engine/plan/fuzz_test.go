package plan

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// FuzzDecode throws bytes at Decode: what it takes can be dumped, and comes back the same.
func FuzzDecode(f *testing.F) {
	b, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	recorded, err := filepath.Glob("../../testdata/journals/*/frozen/plan.json")
	if err != nil || len(recorded) == 0 {
		f.Fatalf("no recorded plans: %v", err)
	}
	for _, name := range recorded {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"format":1,"graph":{"nodes":[{"id":"a","needs":[1]},{"id":"b"}]}}`))
	f.Add([]byte(`{"format":1,"inputs":[{"name":"x","type":{"kind":"list"},"default":[1,2.5,{"a":null}]}],"graph":{"nodes":[]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		p.Dump()
		once, err := p.Encode()
		if err != nil {
			t.Fatalf("a plan that was decoded can't be encoded: %v", err)
		}
		q, err := Decode(once)
		if err != nil {
			t.Fatalf("a plan that was encoded can't be decoded: %v", err)
		}
		if twice, err := q.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("plan.json changes in a round trip: %v\n%s\n%s", err, once, twice)
		}
	})
}
