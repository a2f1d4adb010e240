package toolchain

// goTools are the commands of a Go module.
func goTools(f folder) (*tools, error) {
	if !f.has("go.mod") {
		return nil, nil
	}
	return &tools{kind: "Go", mark: "go.mod", commands: []Command{
		{Role: "test", Script: "go test -json ./...", Format: "go-test"},
		{Role: "lint", Script: "go vet ./...", Format: "go-vet"},
		{Role: "build", Script: "go build ./...", Format: "go-vet"}, // a compiler speaks as vet does
		{Role: "bench", Script: "go test -json -run '^$' -bench . -benchmem ./...", Format: "go-test"},
	}}, nil
}
