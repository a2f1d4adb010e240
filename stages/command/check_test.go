package command

import (
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
)

func TestCheckWithoutPlaceOrScript(t *testing.T) {
	span := source.Span{File: "a.yaml", Start: source.Pos{Line: 3, Col: 5}}
	count := 0
	pass := stage.CheckPass{Span: span, Config: value.NewObject(), Report: func(d diag.Diagnostic) {
		if count++; d.Span.Start != span.Start || d.Span.File != span.File {
			t.Errorf("reported at %+v", d.Span)
		}
	}}
	New(nil).Check(&pass) // that it is missing is reported by its declaration
	if count != 0 {
		t.Errorf("%d diagnostics", count)
	}
	pass.Config.Set("script", "fi")
	New(nil).Check(&pass)
	if count != 1 {
		t.Errorf("%d diagnostics, want 1", count)
	}
}
