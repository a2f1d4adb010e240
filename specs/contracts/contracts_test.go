package contracts_test

import (
	"io/fs"
	"strings"
	"testing"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
	"example.com/pipe/specs/contracts"
)

// Each contract that comes with the program is one without mistakes, under the name of its file.
func TestShipped(t *testing.T) {
	files, err := fs.Glob(contracts.Files, "*")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(files, " "); got != "cross-stage-feedback.md task-feedback-reader.md todo-loop-enforcement.md" {
		t.Errorf("the contracts are %s", got)
	}
	for _, file := range files {
		b, err := fs.ReadFile(contracts.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		f := source.NewFile(file, string(b))
		doc, diags := specs.ParseContract(f)
		name := strings.TrimSuffix(file, ".md")
		diags.Add(compile.CheckContract(name, doc)...)
		if len(diags) > 0 {
			t.Errorf("%s", diags.Text(f))
		}
		if doc.Name == nil || doc.Name.Value != name {
			t.Errorf("%s has another name", file)
		}
		if doc.Description == nil || doc.Version == nil || doc.Cacheable == nil || len(doc.PreChecks) == 0 || len(doc.PostChecks) == 0 {
			t.Errorf("%s lacks a part", file)
		}
	}
}
