package machine_test

import (
	"os"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback/envelope"
)

// TestEverySourceOccurs fails when a source of envelopes has no way to occur in a run: the script plays each of them.
func TestEverySourceOccurs(t *testing.T) {
	script, err := os.ReadFile("testdata/scripts/envelope.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range envelope.Sources() {
		if !strings.Contains(string(script), "envelope="+string(s)+"(") {
			t.Errorf("no stage of the script is handed an envelope from %q", s)
		}
	}
}
