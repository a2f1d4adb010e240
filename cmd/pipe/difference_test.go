package main

import (
	"strings"
	"testing"

	"example.com/pipe/engine"
)

func TestWriteDifference(t *testing.T) {
	long := strings.Repeat("the same ", 20)
	for _, c := range []struct{ name, recorded, decided, want string }{
		{"members", `{"type":"stage.started","stage":"fix","attempt":1,"env":{"A":"x"}}`, `{"type":"stage.started","stage":"fix","attempt":1,"brief":"b"}`,
			"  step 7, start: stage.started of fix differs\n    env\n      recorded: {\"A\":\"x\"}\n      decided:  nothing\n" +
				"    brief\n      recorded: nothing\n      decided:  \"b\"\n"},
		{"far into a text", `{"type":"stage.started","stage":"fix","brief":"` + long + `é and here"}`, `{"type":"stage.started","stage":"fix","brief":"` + long + `é but here"}`,
			"  step 7, start: stage.started of fix differs\n    brief\n      recorded: … the same the same the same the same é and here\"\n" +
				"      decided:  … the same the same the same the same é but here\"\n"},
		{"another record", `{"type":"stage.skipped","stage":"fix"}`, `{"type":"stage.started","stage":"fix"}`,
			"  step 7, start:\n    recorded: {\"type\":\"stage.skipped\",\"stage\":\"fix\"}\n    decided:  {\"type\":\"stage.started\",\"stage\":\"fix\"}\n"},
		{"no record", "", `{"type":"run.paused"}`, "  step 7, start:\n    recorded: nothing\n    decided:  {\"type\":\"run.paused\"}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			writeDifference(&out, &engine.Difference{Seq: 7, Event: "start", Recorded: c.recorded, Decided: c.decided})
			if out.String() != c.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), c.want)
			}
		})
	}
}
