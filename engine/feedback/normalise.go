package feedback

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Context is what a result is normalised against.
type Context struct {
	Root string // of the repository, absolute; empty: absolute paths can't be made relative and are dropped
	Dir  string // what relative paths of the items are relative to, itself relative to Root; empty: Root
	// Agent is given to items that name no source agent: the stage's agent, its tool, or its id.
	Agent string
	// LineText gives the text of a line of a file, empty if there is none; line 0 asks for none. With it
	// each item without a fingerprint gets one, so that a waiver ends when its line changes. May be nil.
	LineText func(file string, line int) string
	// Placed says that the items say themselves where they are: no line is looked for in their descriptions, which
	// quote what others wrote.
	Placed bool
}

// ItemError says which entry of a result can't be read, and why.
type ItemError struct {
	List  string // "feedback_items" or "replies"
	Index int    // from 0
	Field string // empty: the entry as a whole
	Why   string // what is wrong and what was expected
}

// Error is "feedback_items[2].severity: …".
func (e *ItemError) Error() string {
	at := fmt.Sprintf("%s[%d]", e.List, e.Index)
	if e.Field != "" {
		at += "." + e.Field
	}
	return at + ": " + e.Why
}

const itemsList, repliesList = "feedback_items", "replies"

func itemError(index int, field, why string, args ...any) *ItemError {
	return &ItemError{List: itemsList, Index: index, Field: field, Why: fmt.Sprintf(why, args...)}
}

// Normalise gives the result with each item checked and in its one form: severity and description there,
// file relative to the root with slashes (a path that leaves the repository is dropped and the item
// flagged), a line number found in the description if there is no other, a source agent. What only the
// engine says of an item (id, status, rounds, sources) is cleared. An item without severity or description
// is an *ItemError and makes the whole result void. Normalising twice gives the same.
func Normalise(r Result, c Context) (Result, error) {
	out := r
	out.Summary = strings.ToValidUTF8(strings.TrimSpace(r.Summary), "\uFFFD")
	out.Items = make([]Item, 0, len(r.Items))
	for i := range r.Items {
		item, err := normaliseItem(i, &r.Items[i], c)
		if err != nil {
			return Result{}, err
		}
		out.Items = append(out.Items, item)
	}
	out.Replies = slices.Clone(r.Replies)
	for i := range out.Replies {
		reply := &out.Replies[i]
		reply.ID, reply.Reason = strings.TrimSpace(reply.ID), cleanText(reply.Reason)
		if reply.ID == "" {
			return Result{}, &ItemError{repliesList, i, "id", "missing, expected the id of an item"}
		}
	}
	return out, nil
}

func normaliseItem(index int, in *Item, c Context) (Item, error) {
	item := Item{
		Severity: in.Severity, Line: in.Line, Description: cleanText(in.Description),
		SuggestedFix: cleanText(in.SuggestedFix), SourceAgent: cleanText(in.SourceAgent),
		GateID: cleanText(in.GateID), Category: cleanText(in.Category),
		Fingerprint: in.Fingerprint, Flags: slices.Clone(in.Flags), ID: cleanText(in.ID),
	}
	if item.Severity == UnknownSeverity || int(item.Severity) >= len(severityWords) {
		return Item{}, itemError(index, "severity", "missing, expected %s", severityWords.list())
	}
	if item.Description == "" {
		return Item{}, itemError(index, "description", "missing or empty, expected what is wrong")
	}
	file, why := cleanPath(in.File, c)
	item.File = file
	if why != "" {
		item.Flags = append(item.Flags, fmt.Sprintf("file %s dropped: %s", strconv.Quote(clip(in.File, 200)), why))
	}
	if item.Line < 0 {
		item.Flags = append(item.Flags, fmt.Sprintf("line %d dropped: lines count from 1", item.Line))
		item.Line = 0
	}
	if why != "" {
		item.Line = 0 // it is a line of the file that was dropped
	} else if item.Line == 0 && !c.Placed {
		item.Line = lineIn(item.Description, item.File)
	}
	if item.SourceAgent == "" {
		item.SourceAgent = cleanText(c.Agent)
	}
	if item.Fingerprint == "" && c.LineText != nil {
		item.Fingerprint = fingerprint(&item, c.LineText)
	}
	return item, nil
}

func cleanText(s string) string {
	return strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
}

// cleanPath gives the path relative to the root, with slashes; or empty and why it was dropped.
func cleanPath(file string, c Context) (cleaned, why string) {
	file = strings.TrimSpace(file)
	if file == "" {
		return "", ""
	}
	if strings.ToValidUTF8(file, "") != file {
		return "", "it is not UTF-8"
	}
	if strings.ContainsFunc(file, func(r rune) bool { return unicode.IsControl(r) || IsHidden(r) }) {
		return "", "it holds control characters"
	}
	file = strings.ReplaceAll(strings.TrimPrefix(file, "file://"), `\`, "/")
	if name := strings.TrimRight(file, "/ \t"); name != "" { // a folder, perhaps; cleaned twice it is the same
		file = name
	}
	const leaves = "it leaves the repository"
	switch {
	case strings.Contains(file, "://"):
		return "", leaves
	case len(file) > 1 && file[1] == ':' && isLetter(file[0]) && (len(file) == 2 || file[2] == '/'):
		return "", leaves // a drive of another system
	case path.IsAbs(file):
		root := path.Clean(strings.ReplaceAll(c.Root, `\`, "/"))
		rel, inside := strings.CutPrefix(path.Clean(file), strings.TrimSuffix(root, "/")+"/")
		if c.Root == "" || !inside || rel == "" {
			return "", leaves
		}
		return rel, ""
	}
	file = path.Clean(file)
	dir := path.Clean(strings.ReplaceAll(c.Dir, `\`, "/"))
	// A reviewer that works in a folder names files from there or from the root; a path that repeats the
	// folder is one from the root.
	if c.Dir != "" && dir != "." && file != dir && !strings.HasPrefix(file, dir+"/") {
		file = path.Join(dir, file)
	}
	if file == ".." || strings.HasPrefix(file, "../") || path.IsAbs(file) {
		return "", leaves
	}
	if file == "." {
		return "", "" // the repository as a whole
	}
	return file, ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

var (
	lineWord = regexp.MustCompile(`(?i)\blines?\s+#?(\d{1,9})\b`)
	fileLine = regexp.MustCompile(`([\pL\pN_./\\-]*[\pL\pN_-]\.[\pL][\pL\pN]*):(\d{1,9})\b`)
)

// lineIn finds a line number in a description: "line 42", or "x.go:42" if the item names no other file.
// The first of them counts; 0: none.
func lineIn(description, file string) int {
	at, line := len(description), 0
	if m := lineWord.FindStringSubmatchIndex(description); m != nil {
		at, line = m[0], number(description[m[2]:m[3]])
	}
	for _, m := range fileLine.FindAllStringSubmatchIndex(description, -1) {
		named := description[m[2]:m[3]]
		if m[0] < at && (file == "" || sameFile(named, file)) {
			return number(description[m[4]:m[5]])
		}
	}
	return line
}

// sameFile reports whether a description that names a file means this one: "auth.ts" is "src/auth.ts".
func sameFile(named, file string) bool {
	named = strings.TrimPrefix(path.Clean(strings.ReplaceAll(named, `\`, "/")), "/")
	return named == file || strings.HasSuffix(file, "/"+named) || strings.HasSuffix(named, "/"+file)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// fingerprint is the evidence of an item that no tool gave one: its words, file, and the text of the line.
func fingerprint(item *Item, lineText func(string, int) string) string {
	text := ""
	if item.File != "" && item.Line > 0 {
		text = strings.TrimSpace(lineText(item.File, item.Line))
	}
	return Fingerprint(item.Severity.String(), item.Description, item.File, text)
}

// Fingerprint joins what makes a finding the same in another round (rule or words, file, text of the line;
// never its number) into a short, stable text.
func Fingerprint(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
