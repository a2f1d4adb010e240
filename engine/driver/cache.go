package driver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
)

// cacheFormat is the version of what a key is made of and of what an entry means: another one finds nothing.
const cacheFormat = 1

// What a cache may take. The entries that were used longest ago go first.
const (
	maxEntry   = 4 << 20 // bytes of one
	maxEntries = 2000
	maxCache   = 128 << 20 // bytes of all
)

// cache keeps what stages gave, each in a file "<key>.json". Several processes may use its folder at once:
// entries are written whole and never changed.
type cache struct {
	dir  string // "": there is none
	most int    // entries
	size int64  // bytes of all
}

func (d *Driver) cache() cache { return cache{dir: d.opt.Cache, most: maxEntries, size: maxCache} }

// entry is a file of the cache. Outcome is a step.StageEnded; Sum is of its bytes.
type entry struct {
	Version int             `json:"version"`
	Sum     string          `json:"sum"`
	Outcome json.RawMessage `json:"outcome"`
}

// cacheKey is all that an execution depends on, as far as we know of it.
type cacheKey struct {
	Format  int             `json:"format"`
	Node    *plan.Node      `json:"node"`
	Inputs  *value.Object   `json:"inputs"`
	Env     *value.Object   `json:"env"`
	With    *value.Object   `json:"with"`
	Dir     string          `json:"dir"`
	Prompt  string          `json:"prompt"`
	Brief   string          `json:"brief"`
	Items   []feedback.Item `json:"items"`
	Tree    string          `json:"tree"`
	Clean   bool            `json:"clean"`   // "environment: clean"
	Outside []string        `json:"outside"` // what is no part of the tree
}

// cacheKey names the execution. Of the node it leaves out what stands in the key as a value, what is decided
// before or after the execution, and where in its file the stage stands.
func (t *try) cacheKey() (string, error) {
	n := *t.node
	n.At, n.Description, n.Needs, n.When, n.Loop, n.ForEach, n.Approval = plan.Node{}.At, "", nil, nil, nil, nil, nil
	n.Inputs, n.Env, n.With, n.Dir, n.Prompt, n.AllowedPaths = nil, nil, nil, nil, nil, nil
	n.PreChecks, n.PostChecks, n.Retry, n.OnInterrupt, n.ContinueOnError = nil, nil, plan.Retry{}, 0, false
	n.Outputs = slices.Clone(n.Outputs)
	for i := range n.Outputs {
		n.Outputs[i].At, n.Outputs[i].Description = plan.Param{}.At, ""
	}
	b, err := json.Marshal(cacheKey{
		Format: cacheFormat, Node: &n, Inputs: t.s.Inputs, Env: t.s.Env, With: t.s.With, Dir: t.s.Dir,
		Prompt: t.s.Prompt, Brief: t.s.Brief, Items: t.s.OpenItems, Tree: t.s.Base,
		Clean: t.d.opt.CleanEnv, Outside: t.d.Excluded(),
	})
	if err != nil {
		return "", fmt.Errorf("naming what a cache keeps: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// recall gives what an equal execution gave, if the cache has it. Only a first try asks: what an earlier one
// did to the workspace is not known. The tree is read again, since another stage may have changed it since the
// machine had it read.
func (t *try) recall(ctx, work context.Context) (*step.StageEnded, error) {
	if t.d.opt.Cache == "" || t.node == nil || !t.node.Cache || t.s.Base == "" || t.s.Attempt != 1 || ctx.Err() != nil {
		return nil, nil
	}
	if _, err := os.Lstat(t.f.path("")); !isMissing(err) {
		return nil, nil // interrupted before
	}
	var err error
	if t.key, err = t.cacheKey(); err != nil {
		return nil, err
	}
	ended := t.d.cache().get(t.key, t.d.opt.Now())
	if ended == nil {
		return nil, nil
	}
	if _, err := readOutputs(t.node.Outputs, ended.Outputs, nil); err != nil || t.isReview() && ended.Result == nil {
		t.d.cache().drop(t.key)
		return nil, nil
	}
	if ended.Tree, err = t.tree(work); err != nil || ended.Tree.Hash != t.s.Base {
		return nil, err
	}
	ended.Cached = true
	return ended, nil
}

// keep puts what the try gave into the cache, if it ended well and changed nothing. The text says why it could
// not be kept, which is no failure of the stage.
func (t *try) keep(ended *step.StageEnded) string {
	if t.key == "" || ended.Class != string(stage.OK) || ended.Tree == nil || ended.Tree.Hash != t.s.Base {
		return ""
	}
	kept := step.StageEnded{ExitCode: ended.ExitCode, Outputs: ended.Outputs, Result: ended.Result, Diagnosis: ended.Diagnosis}
	if err := t.d.cache().put(t.key, kept, t.d.opt.Now()); err != nil {
		return fmt.Sprintf("what stage %q gave can't be cached: %v", t.s.Stage, err)
	}
	return ""
}

func (c cache) path(key string) string { return filepath.Join(c.dir, key+".json") }

func (c cache) drop(key string) {
	_ = os.Remove(c.path(key)) // a damaged entry that stays is read and found damaged again
}

// get reads an entry. A damaged one is removed.
func (c cache) get(key string, now time.Time) *step.StageEnded {
	b, err := workspace.ReadInside(c.dir, key+".json", 2*maxEntry)
	if isMissing(err) {
		return nil
	}
	var ended step.StageEnded
	if err == nil {
		ended, err = readEntry(b)
	}
	if err != nil {
		c.drop(key)
		return nil
	}
	_ = os.Chtimes(c.path(key), now, now) // it only says what may go first
	return &ended
}

func readEntry(b []byte) (step.StageEnded, error) {
	var e entry
	if err := json.Unmarshal(b, &e); err != nil {
		return step.StageEnded{}, err
	}
	if sum := sha256.Sum256(e.Outcome); e.Version != cacheFormat || hex.EncodeToString(sum[:]) != e.Sum {
		return step.StageEnded{}, errors.New("it is not what was written")
	}
	ev, err := step.UnmarshalEvent(e.Outcome)
	if err != nil {
		return step.StageEnded{}, err
	}
	ended, ok := ev.(step.StageEnded)
	if !ok {
		return step.StageEnded{}, fmt.Errorf("want the end of a stage, got %q", ev.EventType())
	}
	return ended, nil
}

// put writes an entry, durably. One that is too large is not kept.
func (c cache) put(key string, ended step.StageEnded, now time.Time) error {
	b, err := step.MarshalEvent(ended)
	if err != nil || len(b) > maxEntry {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	// Written by hand: the sum is of the bytes that stand there.
	text := fmt.Appendf(nil, "{\"version\":%d,\"sum\":%q,\"outcome\":%s}\n", cacheFormat, hex.EncodeToString(sum[:]), b)
	if err := journal.WriteFile(c.path(key), text, true); err != nil {
		return err
	}
	return c.prune(now)
}

// isEntry reports whether a file of this name is an entry, or one that is half written.
func isEntry(name string) bool {
	key, _, ok := strings.Cut(strings.TrimPrefix(name, "."), ".json")
	b, err := hex.DecodeString(key)
	return ok && err == nil && len(b) == sha256.Size
}

// halfEntry is the age at which an entry that never got its name counts as left by a process that was killed.
const halfEntry = time.Hour

// prune removes what is too much, and what killed processes left.
func (c cache) prune(now time.Time) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var kept []fs.FileInfo
	var size int64
	for _, e := range entries {
		info, err := e.Info()
		if isMissing(err) {
			continue // another process was faster
		}
		if err != nil {
			return err
		}
		switch half := strings.HasPrefix(e.Name(), "."); {
		case !isEntry(e.Name()): // a person's, or of another folder, to which a stage made a link
		case !half:
			kept = append(kept, info)
			size += info.Size()
		case now.Sub(info.ModTime()) > halfEntry:
			_ = os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
	if len(kept) <= c.most && size <= c.size {
		return nil
	}
	// sorted: what was used longest ago comes first
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for n := len(kept); len(kept) > 1 && (n > c.most || size > c.size); n-- {
		if err := os.Remove(filepath.Join(c.dir, kept[0].Name())); err != nil && !isMissing(err) {
			return err
		}
		size -= kept[0].Size()
		kept = kept[1:]
	}
	return nil
}
