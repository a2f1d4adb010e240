package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/specs"
)

// ContractsDir is the folder of a project's contracts; stateContracts is the one beside the runs.
const (
	ContractsDir   = "specs/contracts"
	stateContracts = workspace.StateDir + "/contracts"
)

// contractExts are the endings of contracts' files. In one folder a name has one of them.
var contractExts = [...]string{".yaml", ".yml", ".md"}

// contractPlaces gives the folders in which contracts are looked up, in this order.
func (p *Project) contractPlaces() []place {
	root := os.DirFS(p.Root)
	out := []place{
		{Entry{File: ContractsDir}, root, ContractsDir},
		{Entry{File: stateContracts}, root, stateContracts},
	}
	if p.opt.Contracts != nil {
		out = append(out, place{Entry{File: "shipped/contracts", Shipped: true}, p.opt.Contracts, "."})
	}
	return out
}

// Contracts lists the contracts that stages can name, by name. One of the project hides a shipped one of the
// same name.
func (p *Project) Contracts() ([]Entry, error) {
	var out []Entry
	for _, dir := range p.contractPlaces() {
		entries, err := fs.ReadDir(dir.base, dir.path)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, fmt.Errorf("listing contracts in %q: %w", dir.File, bareError(err))
		}
		before := len(out)
		for _, e := range entries {
			name, ok := contractName(e.Name())
			if !ok || e.IsDir() || slices.ContainsFunc(out[:before], func(o Entry) bool { return o.Name == name }) {
				continue
			}
			out = append(out, Entry{Name: name, File: path.Join(dir.File, e.Name()), Shipped: dir.Shipped})
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// contractName gives the name of the contract in a file. What explains a folder is none.
func contractName(file string) (string, bool) {
	name, ok := cutContractExt(file)
	return name, ok && !strings.EqualFold(name, "readme")
}

// cutContractExt gives the name of a file without one of the endings of contracts.
func cutContractExt(file string) (string, bool) {
	for _, ext := range contractExts {
		if name, ok := strings.CutSuffix(file, ext); ok && name != "" {
			return name, true
		}
	}
	return file, false
}

// findContract finds a contract by its name. Without a place and an error there is none.
func (p *Project) findContract(name string) (*place, error) {
	if strings.ContainsAny(name, `/\`) {
		return nil, nil
	}
	for _, at := range p.contractPlaces() {
		var found []string
		for _, ext := range contractExts {
			if file := path.Join(at.path, name+ext); fs.ValidPath(file) {
				if _, err := fs.Lstat(at.base, file); err == nil {
					found = append(found, name+ext)
				}
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			at.Name, at.File, at.path = name, path.Join(at.File, found[0]), path.Join(at.path, found[0])
			return &at, nil
		}
		return nil, fmt.Errorf("%s has %s of this name; keep one of them", at.File, strings.Join(found, " and "))
	}
	return nil, nil
}

// contractsOf finds the contracts that a pipeline names, and keeps their files among those that decide in it.
type contractsOf struct {
	*Project
	l *Loaded
}

// Contract implements compile.Contracts.
func (c contractsOf) Contract(name string) (*specs.Contract, diag.List, error) {
	at, err := c.findContract(name)
	if at == nil || err != nil {
		return nil, nil, err
	}
	b, err := c.read(*at, path.Base(at.path), specs.MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("%q can't be read: %w", at.File, err)
	}
	doc, diags := parseContract(c.l.keep("contract", at.File, c.original(*at), b, at.Shipped), at.Name)
	return doc, diags, nil
}

// ContractNames implements compile.Contracts.
func (c contractsOf) ContractNames() []string {
	entries, _ := c.Contracts() // a folder that can't be read has no names to suggest
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return slices.Compact(names)
}

// parseContract reads a contract and warns of one that is named otherwise than its file.
func parseContract(f *source.File, name string) (*specs.Contract, diag.List) {
	doc, diags := specs.ParseContract(f)
	if doc.Name != nil && doc.Name.Value != name {
		diags.Warnf(codeFileName, doc.Name.Span, "the name is %q and the file %q, and the file's name counts: stages write contract: %s",
			doc.Name.Value, path.Base(f.Name), name).Help = "give both the same name"
	}
	return doc, diags
}

// CheckedContract is a contract that was found, parsed and checked.
type CheckedContract struct {
	Diags  diag.List    // sorted
	Source *source.File // what the diagnostics point into
}

// CheckContract looks at a contract, by its name or by its path relative to dir, which has a slash or one of a
// contract's endings. The error is a *NotFoundError, or says that the name is ambiguous; what is wrong with
// the document, and that it can't be read, is in Diags.
func (p *Project) CheckContract(ref, dir string) (*CheckedContract, error) {
	at, err := p.contractAt(ref, dir)
	if err != nil {
		return nil, err
	}
	out := &CheckedContract{Source: source.NewFile(at.File, "")}
	b, err := p.read(*at, path.Base(at.path), specs.MaxSize)
	if err != nil {
		unreadable(&out.Diags, at.File, err)
		return out, nil
	}
	out.Source = source.NewFile(at.File, string(b))
	if dir := path.Dir(at.File); dir == ContractsDir || dir == stateContracts {
		if _, err := p.findContract(at.Name); err != nil {
			out.Diags.Errorf(codeFileName, out.Source.Span(0, 0), "contract %q: %v", at.Name, err)
		}
	}
	doc, diags := parseContract(out.Source, at.Name)
	out.Diags.Add(diags...)
	out.Diags.Add(compile.CheckContract(at.Name, doc)...)
	out.Diags = out.Diags.Sorted()
	return out, nil
}

// HasContract reports whether there is a contract of a name, or more than one.
func (p *Project) HasContract(name string) bool {
	at, err := p.findContract(name)
	return at != nil || err != nil
}

// IsContract reports whether a file is meant as a contract, and not as a pipeline or a text: it lies in a folder
// for contracts, or has what only a contract has.
func IsContract(file string) bool {
	if _, ok := contractName(filepath.Base(file)); !ok {
		return false
	}
	if dir, err := filepath.Abs(filepath.Dir(file)); err == nil && filepath.Base(dir) == path.Base(ContractsDir) {
		return true
	}
	b, err := workspace.ReadRegular(file, specs.MaxSize)
	return err == nil && specs.IsContract(source.NewFile(file, string(b)))
}

// contractAt finds a contract by its name or its path.
func (p *Project) contractAt(ref, dir string) (*place, error) {
	name, isFile := cutContractExt(path.Base(filepath.ToSlash(ref)))
	if !isFile && !strings.ContainsAny(ref, `/\`) {
		at, err := p.findContract(ref)
		switch {
		case err != nil:
			return nil, fmt.Errorf("contract %q: %w", ref, err)
		case at == nil:
			names := contractsOf{Project: p}.ContractNames()
			help := diag.Suggest(ref, names)
			if help == "" && len(names) > 0 {
				help = "there are " + strings.Join(names, ", ")
			}
			return nil, &NotFoundError{What: "contract", Ref: ref, Help: help}
		}
		return at, nil
	}
	at, err := p.atPath("contract", ref, dir, name)
	if err != nil {
		return nil, err
	}
	return &at, nil
}
