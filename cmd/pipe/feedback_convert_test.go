package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestConvertInATerminal does not wait for a person to type a report.
func TestConvertInATerminal(t *testing.T) {
	var out, errs bytes.Buffer
	a := &app{in: strings.NewReader("[]"), out: &output{w: &out}, err: &output{w: &errs}, dir: t.TempDir(), inTerminal: true}
	o := &convertOptions{app: a, from: "eslint", to: "items"}
	status, err := statusOf(o.run(t.Context()))
	if status != exitUsage || err == nil || !strings.HasPrefix(err.Error(), "there is no report: stdin is a terminal; name its FILE") || out.Len() > 0 {
		t.Errorf("status %d, %v, printed %q", status, err, out.String())
	}
}
