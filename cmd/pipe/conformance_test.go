package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine"
	"example.com/pipe/engine/diag"
	"example.com/pipe/specs"
)

// conformance is a project with a document for each key of the language that uses it well, good/SECTION/KEY.yaml,
// and one that does not, bad/SECTION/KEY.yaml, whose lines say what is wrong with them.
var conformance = filepath.Join(repository, "testdata", "conformance")

// keyCase is the document of a key. It is looked at as pipe check looks at it.
type keyCase struct {
	section, key, kind string
	file               string // in conformance, with slashes
}

func (c *keyCase) name() string { return c.kind + "/" + c.section + "/" + c.key }

// ofProject reports whether the document is a pipe.yaml.
func (c *keyCase) ofProject() bool {
	return slices.Contains([]string{"project", "agent", "command", "plugin"}, c.section)
}

// caseFile names the document of a key, in a way that its own name may have too; pipe.yaml is the project's.
func caseFile(kind, section, key string) string {
	if key == "pipe" {
		key = "pipe-release"
	}
	return strings.ReplaceAll(kind+"/"+section+"/"+key+".yaml", "_", "-")
}

func keyCases() []*keyCase {
	var out []*keyCase
	for _, kind := range []string{"good", "bad"} {
		for _, s := range specs.Reference() {
			for _, k := range s.Keys {
				out = append(out, &keyCase{s.Name, k.Name, kind, caseFile(kind, s.Name, k.Name)})
			}
		}
	}
	return out
}

// TestConformance lets pipe check look at a good and a bad document of each key: of the good one there is
// nothing to say, and each thing that is said of the bad one is wanted by the line on which it stands.
func TestConformance(t *testing.T) {
	cases := keyCases()
	var files []string // but for those that only count under the name pipe.yaml
	for _, c := range cases {
		_, err := os.Stat(filepath.Join(conformance, filepath.FromSlash(c.file)))
		if err == nil && !c.ofProject() {
			files = append(files, c.file)
		}
	}
	found := checkFiles(t, conformance, files...)
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(conformance, filepath.FromSlash(c.file)))
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			if !usesKey(t, text, c.section, c.key) {
				t.Errorf("%s does not use the key %q of a %s", c.file, c.key, c.section)
			}
			if strings.Contains(text, "# want ") != (c.kind == "bad") {
				t.Errorf("a %s document wants diagnostics, or a bad one wants none", c.kind)
			}
			ds := found[c.file]
			if c.ofProject() {
				dir := t.TempDir()
				writeInto(t, filepath.Join(dir, "pipe.yaml"), text)
				ds = checkFiles(t, dir, "pipe.yaml")["pipe.yaml"]
			}
			compareWants(t, text, ds)
		})
		delete(found, c.file)
	}
	for file, ds := range found { // the order of a test's complaints is of no matter
		t.Errorf("%s, which is no document of a key: %s", file, ds.Text())
	}
}

// TestConformanceFiles asks for a key for each document in the folders of keys.
func TestConformanceFiles(t *testing.T) {
	known := map[string]bool{"good/stage/prompts/fix.md": true}
	for _, c := range keyCases() {
		known[c.file] = true
	}
	root := os.DirFS(conformance)
	for _, kind := range []string{"good", "bad"} {
		err := fs.WalkDir(root, kind, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !known[path] {
				t.Errorf("%s is of no key that the language has", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkFiles gives what pipe check says of files, by the file of which it says it.
func checkFiles(t *testing.T, dir string, files ...string) map[string]diag.List {
	t.Helper()
	out, err := pipeCmd(dir, append([]string{"check", "--json"}, files...)...).Output()
	if err != nil && exitStatus(err) != exitFailed {
		t.Fatalf("pipe check: %v\n%s", err, out)
	}
	var doc struct{ Diagnostics diag.List }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("pipe check --json: %v\n%s", err, out)
	}
	found := map[string]diag.List{}
	for _, d := range doc.Diagnostics {
		found[d.Span.File] = append(found[d.Span.File], d)
	}
	return found
}

// usesKey reports whether a document has a key of a section at a place where the language has it.
func usesKey(t *testing.T, text, section, key string) bool {
	t.Helper()
	doc := parseYAML(t, text)
	n, _ := findKey(doc, section, key)
	return n != nil
}

func parseYAML(t *testing.T, text string) *yaml.Node {
	t.Helper()
	doc := &yaml.Node{}
	if err := yaml.Unmarshal([]byte(text), doc); err != nil || len(doc.Content) == 0 {
		t.Fatalf("%v\n%s", err, text)
	}
	return doc.Content[0]
}

// findKey finds a key of a section at a place where the language has it: the mapping, and the key's place in it.
func findKey(doc *yaml.Node, section, key string) (*yaml.Node, int) {
	inner := map[string]map[string]string{} // of each section and key, the section of what the key holds
	for _, s := range specs.Reference() {
		inner[s.Name] = map[string]string{}
		for _, k := range s.Keys {
			inner[s.Name][k.Name] = k.Value.Keys
		}
	}
	var look func(n *yaml.Node, in string) (*yaml.Node, int)
	look = func(n *yaml.Node, in string) (*yaml.Node, int) {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode {
				if i%2 == 0 {
					continue
				}
				name := n.Content[i-1].Value
				of, known := inner[in][name]
				if known && in == section && name == key {
					return n, i - 1
				}
				if known && of != "" {
					if at, k := look(c, of); at != nil {
						return at, k
					}
				}
			}
			if at, k := look(c, in); at != nil { // an entry of a list, or what stands under a name
				return at, k
			}
		}
		return nil, 0
	}
	for _, in := range []string{"pipeline", "contract", "project"} {
		if n, k := look(doc, in); n != nil {
			return n, k
		}
	}
	return nil, 0
}

// literalDefault is a default that can stand in a document.
var literalDefault = regexp.MustCompile(`^(true|false|\d+[smh]?)$`)

// unsaid are keys without which a plan shows nothing, though it means the default.
var unsaid = []string{"workspace", "on_escalation", "when", "on_reject"}

// besides are keys that are required beside others, or in the place of others.
var besides = []string{
	"stage/run", "stage/agent", "stage/prompt", "stage/prompt_file", "stage/command", "stage/uses", "stage/pipeline",
	"stage/refine_loop", "feedback/path", "feedback/pattern", "command/path", "command/pattern", "task/body", "task/body_file",
	"rollback/run", "rollback/description",
}

// TestConformanceDefaults holds what the reference says of defaults to the good documents. Without a required key
// they must lack it, and without another they must not; they must mean what they mean with the default in its place.
func TestConformanceDefaults(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(conformance)); err != nil {
		t.Fatal(err)
	}
	required, literal := 0, 0
	for _, s := range specs.Reference() {
		for _, k := range s.Keys {
			text := readDoc(t, filepath.Join(conformance, filepath.FromSlash(caseFile("good", s.Name, k.Name))))
			without := looked(t, dir, s.Name, k.Name, edited(t, text, s.Name, k.Name, ""))
			isRequired := k.Default == specs.Required
			if lacks(without.Diags, k.Name) != isRequired && !slices.Contains(besides, s.Name+"/"+k.Name) {
				t.Errorf("the key %q of a %s is required: %v; without it: %s", k.Name, s.Name, isRequired, without.Diags.Text())
			}
			switch {
			case isRequired:
				required++
			case slices.Contains(unsaid, k.Name): // its plan shows that nothing was said
			case literalDefault.MatchString(k.Default), slices.Contains(k.Value.Words, k.Default):
				literal++
				with := looked(t, dir, s.Name, k.Name, edited(t, text, s.Name, k.Name, k.Default))
				if with.Plan == nil || without.Plan == nil {
					t.Errorf("the key %q of a %s: %s%s", k.Name, s.Name, with.Diags.Text(), without.Diags.Text())
				} else if a, b := dumped(with), dumped(without); a != b {
					t.Errorf("the key %q of a %s has another default than %q:\n%s\n%s", k.Name, s.Name, k.Default, a, b)
				}
			}
		}
	}
	if required < 10 || literal < 10 {
		t.Errorf("%d required keys and %d literal defaults; expected more", required, literal)
	}
}

// edited gives a document with another value of a key, or with "" without it.
func edited(t *testing.T, text, section, key, value string) string {
	t.Helper()
	doc := parseYAML(t, text)
	n, k := findKey(doc, section, key)
	if value == "" {
		n.Content = slices.Delete(n.Content, k, k+2)
	} else {
		n.Content[k+1] = parseYAML(t, value)
	}
	b, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// looked gives what is found in a document in the place of that of a key, in a copy of the project.
func looked(t *testing.T, dir, section, key, text string) *engine.Loaded {
	t.Helper()
	c := keyCase{section: section, key: key, file: caseFile("good", section, key)}
	if c.ofProject() {
		c.file, dir = engine.ConfigFile, t.TempDir()
	}
	writeInto(t, filepath.Join(dir, filepath.FromSlash(c.file)), text)
	p, err := engine.OpenProject(dir, (&app{}).projectOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	switch contract := engine.IsContract(filepath.Join(dir, filepath.FromSlash(c.file))); {
	case c.ofProject():
		return &engine.Loaded{Diags: p.Diags}
	case contract:
		l, err := p.CheckContract(c.file, dir)
		if err != nil {
			t.Fatal(err)
		}
		return &engine.Loaded{Diags: l.Diags}
	}
	l, err := p.Load(c.file, dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lacks reports whether a key is said to be missing.
func lacks(ds diag.List, key string) bool {
	return slices.ContainsFunc(ds, func(d diag.Diagnostic) bool {
		return d.Code == "missing-key" && strings.Contains(d.Message, strconv.Quote(key))
	})
}

// dumped is a plan without its places.
func dumped(l *engine.Loaded) string {
	return regexp.MustCompile(`@\d+:\d+(-\d+:\d+)?`).ReplaceAllString(l.Plan.Dump(), "")
}

var (
	wantComment = regexp.MustCompile(`# want((?: "(?:[^"\\]|\\.)*")+)\s*$`)
	quotedText  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// compareWants holds diagnostics against what the lines of a document want: a part of
// "severity: message [code]; help".
func compareWants(t *testing.T, text string, ds diag.List) {
	t.Helper()
	wants := map[int][]string{}
	for i, line := range strings.Split(text, "\n") {
		if m := wantComment.FindStringSubmatch(line); m != nil {
			for _, q := range quotedText.FindAllString(m[1], -1) {
				w, err := strconv.Unquote(q)
				if err != nil {
					t.Fatalf("line %d: %s: %v", i+1, q, err)
				}
				wants[i+1] = append(wants[i+1], w)
			}
		}
	}
	for _, d := range ds {
		full := fmt.Sprintf("%s: %s [%s]; %s", d.Severity, d.Message, d.Code, d.Help)
		line := d.Span.Start.Line
		k := slices.IndexFunc(wants[line], func(w string) bool { return strings.Contains(full, w) })
		if k < 0 {
			t.Errorf("%d:%d: nobody wants %s", line, d.Span.Start.Col, full)
			continue
		}
		wants[line] = slices.Delete(wants[line], k, k+1)
	}
	for line, left := range wants { // the order of a test's complaints is of no matter
		for _, w := range left {
			t.Errorf("line %d wants %q, which is not reported", line, w)
		}
	}
}
