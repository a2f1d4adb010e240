package merge

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
)

func TestMain(m *testing.M) {
	if err := proc.Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// repo is a repository in a folder of the test's own, with a branch main that has a few files.
type repo struct {
	t   *testing.T
	dir string
	env []string
	n   int // of calls
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "shop")}
	r.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(r.dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.dir),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	r.write(".gitignore", ".pipe\n")
	r.write("cart.txt", "one\ntwo\nthree\n")
	r.write("till.txt", "till\n")
	r.commit("first")
	return r
}

func (r *repo) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit(message string) {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", message)
}

// branch makes a branch from main whose commits change files, and goes back to main. A text "-" removes a file.
func (r *repo) branch(name string, files ...string) {
	r.t.Helper()
	r.git("checkout", "-q", "--detach", "main")
	for i := 0; i < len(files); i += 2 {
		if files[i+1] == "-" {
			r.git("rm", "-q", files[i])
		} else {
			r.write(files[i], files[i+1])
		}
		r.commit("change " + files[i])
	}
	r.git("update-ref", "refs/heads/"+name, "HEAD")
	r.git("checkout", "-q", "main")
}

func (r *repo) call(fields ...value.Field) *stage.Call {
	r.t.Helper()
	r.n++
	dir := filepath.Join(r.dir, ".pipe", "runs", "r", "stages", "merge", fmt.Sprint(r.n, ".1"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	run := fmt.Sprintf("%s-%d", r.t.Name(), os.Getpid())
	return &stage.Call{
		Run: run, Effect: "e1", Stage: "merge", Iteration: r.n, Attempt: 1, Config: value.NewObject(fields...),
		Env:       append(slices.Clone(r.env), "PIPE_EFFECT=e1", "PIPE_RUN_ID="+run, "STAGE_DIR="+dir),
		Workspace: r.dir, Dir: r.dir, StageDir: dir,
	}
}

func config(from, into, resolve string) []value.Field {
	out := []value.Field{{Name: "from", Value: from}, {Name: "into", Value: into}}
	if resolve != "" {
		out = append(out, value.Field{Name: "resolve", Value: resolve})
	}
	return out
}

func start(t *testing.T, kind func(*proc.Starter) stage.Kind) stage.Kind {
	starter := proc.NewStarter()
	t.Cleanup(starter.Close)
	return kind(starter)
}

// run runs a call and holds it to what every end has in common: nothing is left of the trial.
func (r *repo) run(ctx context.Context, kind stage.Kind, call *stage.Call) stage.Outcome {
	r.t.Helper()
	before := r.git("symbolic-ref", "HEAD")
	out, err := kind.Run(ctx, call)
	if err != nil {
		r.t.Fatal(err)
	}
	r.isClean(call)
	if after := r.git("symbolic-ref", "HEAD"); after != before {
		r.t.Errorf("%s is checked out, and it was %s", after, before)
	}
	return out
}

// isClean looks for what a merge could have left: a worktree, a lock, the state of a merge.
func (r *repo) isClean(call *stage.Call) {
	r.t.Helper()
	if list := r.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		r.t.Errorf("a worktree is left:\n%s", list)
	}
	for _, pattern := range []string{".git/worktrees", ".git/*.lock", ".git/refs/heads/*.lock", ".git/*MERGE*", ".git/SQUASH_MSG"} {
		if left, err := filepath.Glob(filepath.Join(r.dir, pattern)); err != nil || len(left) > 0 {
			r.t.Errorf("left: %v, %v", left, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(call.StageDir, "merge-*")); err != nil || len(left) > 0 {
		r.t.Errorf("left: %v, %v", left, err)
	}
}

func commitOf(out stage.Outcome) string {
	v, _ := out.Outputs.Get("commit")
	text, _ := v.(string)
	return text
}

func TestMerge(t *testing.T) {
	kind := start(t, New)
	for _, from := range []string{"feature", "-feature", "a/b", "quo'te\"$(touch-pwned)", "ünï-日本", "feature\u202e"} {
		r := newRepo(t)
		r.branch(from, "new.txt", "new\n", "cart.txt", "one\n2\nthree\n")
		r.branch("release", "other.txt", "other\n")
		out := r.run(context.Background(), kind, r.call(config(from, "release", "")...))
		if out.Class != stage.OK || out.Result == nil || len(out.Result.Items) != 0 || out.Diagnosis != nil || commitOf(out) != r.git("rev-parse", "release") {
			t.Errorf("%q: %+v", from, out)
			continue
		}
		if got := r.git("log", "--format=%s|%P", "-1", "release"); got != "Merge branch '"+from+"' into release|"+r.git("rev-parse", "release~1") {
			t.Errorf("%q: the commit is %q", from, got)
		}
		if got := r.git("-c", "core.quotePath=false", "ls-tree", "--name-only", "release"); got != ".gitignore\ncart.txt\nnew.txt\nother.txt\ntill.txt" {
			t.Errorf("%q: the tree is %q", from, got)
		}
		if got := r.git("status", "--porcelain"); got != "" {
			t.Errorf("%q: the workspace changed: %s", from, got)
		}
	}
}

// TestMergeIntoWhatIsCheckedOut: the files of the workspace follow; untracked ones stay.
func TestMergeIntoWhatIsCheckedOut(t *testing.T) {
	kind := start(t, New)
	r := newRepo(t)
	r.branch("feature", "new.txt", "new\n", "till.txt", "-")
	r.write("mine.txt", "mine\n")
	call := r.call(append(config("feature", "main", ""), value.Field{Name: "message", Value: "# Add it\n\nbody\n"})...)
	out := r.run(context.Background(), kind, call)
	if out.Class != stage.OK || commitOf(out) != r.git("rev-parse", "HEAD") || r.git("log", "-1", "--format=%B") != "# Add it\n\nbody" {
		t.Errorf("%+v", out)
	}
	if got := r.git("status", "--porcelain"); got != "?? mine.txt" {
		t.Errorf("the workspace is %q", got)
	}
	head := r.git("rev-parse", "HEAD")
	again := r.run(context.Background(), kind, r.call(config("feature", "main", "")...))
	if again.Class != stage.OK || commitOf(again) != head || r.git("rev-parse", "HEAD") != head {
		t.Errorf("merged a second time: %+v", again)
	}
}

func TestMergeRefuses(t *testing.T) {
	kind := start(t, New)
	for name, c := range map[string]struct {
		from, into, want string
		prepare          func(*repo)
	}{
		"changes":          {"feature", "main", `"cart.txt" and maybe more has changes that are not committed`, func(r *repo) { r.write("cart.txt", "mine\n") }},
		"staged":           {"feature", "main", `"new" and maybe more has changes`, func(r *repo) { r.write("new", "mine\n"); r.git("add", "new") }},
		"untracked in way": {"feature", "main", "untracked working tree files would be overwritten", func(r *repo) { r.write("new.txt", "mine\n") }},
		"elsewhere":        {"feature", "release", `the branch "release" is checked out in`, func(r *repo) { r.git("worktree", "add", "-q", "../elsewhere", "release") }},
		"no from":          {"nosuch", "main", `"from": the repository has no branch "nosuch"`, nil},
		"no into":          {"feature", "nosuch", `"into": the repository has no branch "nosuch"`, nil},
		"empty":            {"", "main", `"from" is empty, expected the name of a branch`, nil},
		"expression":       {"main~1", "main", `"from" is "main~1", which can be no branch's name`, nil},
		"commit":           {"feature^{commit}", "main", "which can be no branch's name", nil},
		"line feed":        {"a\nb", "main", `is "a\nb", which can be no branch's name`, nil},
		"option":           {"--upload-pack=x", "main", `the repository has no branch "--upload-pack=x"`, nil},
		"itself":           {"main", "main", `"main" can't be merged into itself`, nil},
		"remote":           {"feature", "origin/main", `"origin/main" is a branch of a remote`, func(r *repo) { r.git("update-ref", "refs/remotes/origin/main", "main") }},
		"unrelated":        {"island", "main", "refusing to merge unrelated histories", func(r *repo) { r.island() }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.branch("feature", "new.txt", "new\n", "cart.txt", "one\n2\nthree\n")
			r.branch("release", "other.txt", "other\n")
			if c.prepare != nil {
				c.prepare(r)
			}
			head, status := r.git("rev-parse", "main", "release"), r.git("status", "--porcelain")
			call := r.call(config(c.from, c.into, "touch $STAGE_DIR/resolved")...)
			out, err := kind.Run(context.Background(), call)
			if err != nil || out.Class != stage.ReviewUnavailable || !strings.Contains(out.Message, c.want) || strings.Contains(out.Message, "\n") || out.Result != nil {
				t.Errorf("%+v, %v, want %q", out, err, c.want)
			}
			if now := r.git("rev-parse", "main", "release"); now != head || r.git("status", "--porcelain") != status {
				t.Errorf("something moved: %s", r.git("status", "--porcelain"))
			}
			if exists(filepath.Join(call.StageDir, "resolved")) {
				t.Error("the resolver ran")
			}
			if name != "elsewhere" {
				r.isClean(call)
			}
		})
	}
}

// island makes a branch that shares no commit with the others.
func (r *repo) island() {
	tree := r.git("write-tree")
	r.git("update-ref", "refs/heads/island", r.git("commit-tree", "-m", "island", tree))
}

func TestNoRepository(t *testing.T) {
	kind := start(t, New)
	r := newRepo(t)
	if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	out, err := kind.Run(context.Background(), r.call(config("a", "b", "")...))
	if err != nil || out.Class != stage.ReviewUnavailable || !strings.Contains(out.Message, "not a git repository") {
		t.Errorf("%+v, %v", out, err)
	}
	call := r.call(config("a", "b", "")...)
	call.Env[0] = "PATH=" + t.TempDir()
	if out, err := kind.Run(context.Background(), call); err != nil || out.Class != stage.Unavailable {
		t.Errorf("without git: %+v, %v", out, err)
	}
}

// conflicting makes branches that conflict with main in each way: changed on both sides, removed on one, made on
// both, and in names that mean something to shells and to lists.
func conflicting(t *testing.T) *repo {
	r := newRepo(t)
	r.branch("feature", "cart.txt", "one\nfeature\nthree\n", "till.txt", "feature\n", "we ird\n\"$(x)\".txt", "feature\n")
	r.write("cart.txt", "one\nmain\nthree\n")
	r.write("we ird\n\"$(x)\".txt", "main\n")
	r.git("rm", "-q", "till.txt")
	r.commit("main goes on")
	return r
}

var conflictingPaths = []string{"cart.txt", "till.txt", "we ird\n\"$(x)\".txt"}

func TestConflict(t *testing.T) {
	kind := start(t, New)
	signatures := map[string]bool{}
	for name, c := range map[string]struct {
		resolve, verdict string
		left             []string
	}{
		"no resolver":     {"", "", conflictingPaths},
		"gives up":        {"echo 'both sides  renamed it'; echo why >&2; exit 3", "both sides  renamed it", conflictingPaths},
		"does nothing":    {"echo done", "done", conflictingPaths},
		"resolves a part": {"echo one > cart.txt", "", conflictingPaths[1:]},
		"adds the marks":  {"git add -A", "", []string{"cart.txt", conflictingPaths[2]}},
		"drops it all":    {"git reset -q --hard", "", conflictingPaths},
		"removes a file":  {"rm cart.txt; git rm -q --cached till.txt; echo x > 'we ird\n\"$(x)\".txt'", "", []string{"cart.txt"}},
		"a vast verdict":  {"seq 100000; exit 1", "", conflictingPaths},
	} {
		r := conflicting(t)
		r.git("remote", "add", "origin", "https://me:secret@git.example/shop/backend.git")
		head := r.git("rev-parse", "main")
		out := r.run(context.Background(), kind, r.call(config("feature", "main", c.resolve)...))
		if out.Class != stage.OK || out.Diagnosis == nil || out.Diagnosis.Resolver == nil || out.Result == nil || len(out.Result.Items) != 1 || commitOf(out) != "" {
			t.Errorf("%s: %+v", name, out)
			continue
		}
		d := out.Diagnosis.Resolver
		if !slices.Equal(d.ConflictingPaths, c.left) || d.RepoSlug != "shop/backend" || d.MergedBranch != "feature" || d.PlanBranch != "main" || d.AttemptNumber != 1 {
			t.Errorf("%s: %+v", name, d)
		}
		if text := out.Result.Items[0].Description; !strings.HasPrefix(text, `the merge of branch "feature" into "main" of "shop/backend" has conflicts in `) {
			t.Errorf("%s: %q", name, text)
		}
		if name != "a vast verdict" && d.VerdictText != c.verdict || len(d.VerdictText) > verdictLimit+10 {
			t.Errorf("%s: the verdict is %.100q", name, d.VerdictText)
		}
		signatures[d.ConflictSignature] = true
		if r.git("rev-parse", "main") != head || r.git("status", "--porcelain") != "" {
			t.Errorf("%s: something moved", name)
		}
		e := envelope.New(out.Diagnosis.Source(), envelope.Issue{}, nil, nil, envelope.Contents{Items: out.Result.Items, Diagnosis: out.Diagnosis})
		if err := e.Validate(); err != nil || e.Target != envelope.IssueStateImplementing || len(envelope.Render(e)) != 1 {
			t.Errorf("%s: its envelope: %v, %+v", name, err, e)
		}
	}
	if len(signatures) != 1 {
		t.Errorf("the same conflict has %d signatures", len(signatures))
	}
}

func TestSignature(t *testing.T) {
	kind := start(t, New)
	signature := func(text, name string) string {
		r := newRepo(t)
		r.branch("feature", name, text)
		r.write(name, "one\nmain\nthree\n")
		r.commit("main")
		return r.run(context.Background(), kind, r.call(config("feature", "main", "")...)).Diagnosis.Resolver.ConflictSignature
	}
	first := signature("one\nfeature\nthree\n", "cart.txt")
	if len(first) != 64 || signature("one\nother\nthree\n", "cart.txt") == first || signature("one\nfeature\nthree\n", "new.txt") == first {
		t.Errorf("%q is the signature of another conflict too", first)
	}
	if signature("one\x00\xff", "cart.txt") == signature("one\x00\xfe", "cart.txt") {
		t.Error("two files that are no text have the same signature")
	}
}

func TestResolved(t *testing.T) {
	kind := start(t, New)
	for name, resolve := range map[string]string{
		"edits":                `while IFS= read -r -d '' f; do case $f in till.txt) git rm -q --cached till.txt ;; *) echo solved > "$f" ;; esac; done; echo 'more' >> .gitignore; touch junk`,
		"adds":                 `test "$(tr -cd '\0' < $PIPE_CONFLICTS | wc -c)" -eq 3; xargs -0 -a $PIPE_CONFLICTS -I{} sh -c 'echo solved > "$0"' {}; rm till.txt; git add -A -- . ; echo more >> .gitignore; git rm -q --cached junk 2>/dev/null || true`,
		"hides the repository": `mv .git ../hidden; echo solved > cart.txt; echo solved > $'we ird\n"$(x)".txt'; mv ../hidden .git; git rm -q --cached till.txt; echo more >> .gitignore; rm .git`,
	} {
		r := conflicting(t)
		out := r.run(context.Background(), kind, r.call(config("feature", "main", resolve)...))
		if out.Class != stage.OK || out.Diagnosis != nil || commitOf(out) != r.git("rev-parse", "main") || r.git("status", "--porcelain") != "" {
			t.Errorf("%s: %+v, %s", name, out, r.git("status", "--porcelain"))
			continue
		}
		for file, want := range map[string]string{"cart.txt": "solved\n", "we ird\n\"$(x)\".txt": "solved\n", ".gitignore": ".pipe\nmore\n"} {
			if b, err := os.ReadFile(filepath.Join(r.dir, file)); err != nil || string(b) != want {
				t.Errorf("%s: %q is %q, %v", name, file, b, err)
			}
		}
		if exists(filepath.Join(r.dir, "till.txt")) || exists(filepath.Join(r.dir, "junk")) {
			t.Errorf("%s: more was committed than was resolved", name)
		}
	}
}

func TestResolverThatCannotWork(t *testing.T) {
	kind := start(t, New)
	for resolve, want := range map[string]struct {
		class stage.Class
		text  string
	}{
		"nosuch-program": {stage.Unavailable, "the resolver could not do its work: exit status 127"},
		"kill -KILL $$":  {stage.Signal, "the resolver could not do its work: ended by SIGKILL"},
		"echo one > cart.txt; git add -A; git commit -qm mine": {stage.ReviewUnavailable, "the resolver made a commit"},
		"git checkout -q --force --detach HEAD~1":              {stage.ReviewUnavailable, "the resolver made a commit, or checked out another"},
	} {
		r := conflicting(t)
		head := r.git("rev-parse", "main")
		out := r.run(context.Background(), kind, r.call(config("feature", "main", resolve)...))
		if out.Class != want.class || !strings.Contains(out.Message, want.text) || out.Result != nil || r.git("rev-parse", "main") != head {
			t.Errorf("%q: %+v", resolve, out)
		}
	}
}

// TestStopped stops a merge while its resolver runs.
func TestStopped(t *testing.T) {
	kind := start(t, New)
	for want, cause := range map[stage.Class]error{stage.Timeout: context.DeadlineExceeded, stage.Cancelled: context.Canceled} {
		r := conflicting(t)
		call := r.call(config("feature", "main", "echo ready > $STAGE_DIR/fifo; touch .git-lock; sleep 1000")...)
		fifo := filepath.Join(call.StageDir, "fifo")
		if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		ready, err := os.OpenFile(fifo, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(context.Background())
		go func() {
			ready.Read(make([]byte, 1))
			stop(cause)
		}()
		head := r.git("rev-parse", "main")
		out := r.run(ctx, kind, call)
		if out.Class != want || r.git("rev-parse", "main") != head || r.git("status", "--porcelain") != "" {
			t.Errorf("%v: %+v", cause, out)
		}
		ready.Close()
	}
}

// TestStoppedAnywhere stops merges at all kinds of moments: each is done whole or not at all.
func TestStoppedAnywhere(t *testing.T) {
	kind := start(t, New)
	r := newRepo(t)
	for i := range 12 {
		r.branch("feature", "new.txt", fmt.Sprint(i, "\n"))
		head := r.git("rev-parse", "main")
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*12*time.Millisecond)
		out := r.run(ctx, kind, r.call(config("feature", "main", "")...))
		cancel()
		now := r.git("rev-parse", "main")
		switch out.Class {
		case stage.OK:
			if now != commitOf(out) || now == head {
				t.Errorf("%d: merged, and main is at %s: %+v", i, now, out)
			}
		case stage.Timeout:
			if now != head {
				t.Errorf("%d: stopped, and main has moved", i)
			}
		default:
			t.Errorf("%d: %+v", i, out)
		}
		if status := r.git("status", "--porcelain"); status != "" {
			t.Errorf("%d: the workspace changed: %s", i, status)
		}
	}
}

// TestKilled leaves what a program that was killed in the middle leaves, for the next try of the stage.
func TestKilled(t *testing.T) {
	kind := start(t, New)
	r := conflicting(t)
	call := r.call(config("feature", "main", "")...)
	starter := proc.NewStarter()
	defer starter.Close()
	tr := trialOf(t, starter, call)
	if err := tr.begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(call.StageDir, call.StageDir+".lost-1"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(call.StageDir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.git("branch", "worktrees", "main")
	if out := r.run(context.Background(), kind, call); out.Diagnosis == nil {
		t.Errorf("%+v", out)
	}
}

// TestMovedMeanwhile has the resolver move the branch that is merged into.
func TestMovedMeanwhile(t *testing.T) {
	kind := start(t, New)
	r := newRepo(t)
	r.branch("feature", "cart.txt", "one\nfeature\nthree\n")
	r.branch("release", "cart.txt", "one\nrelease\nthree\n")
	call := r.call(config("feature", "release", "echo solved > cart.txt; git update-ref refs/heads/release main")...)
	out := r.run(context.Background(), kind, call)
	if out.Class != stage.ReviewUnavailable || !strings.Contains(out.Message, `the branch "release" moved while it was merged into`) ||
		r.git("rev-parse", "release") != r.git("rev-parse", "main") {
		t.Errorf("%+v", out)
	}
}

// TestHostileRepository: hooks, settings and variables that would lead git elsewhere, or stop it.
func TestHostileRepository(t *testing.T) {
	kind := start(t, New)
	r := newRepo(t)
	r.branch("feature", "new.txt", "new\n")
	for _, hook := range []string{"post-checkout", "pre-merge-commit", "pre-commit", "commit-msg", "post-commit", "post-merge", "reference-transaction"} {
		file := filepath.Join(r.dir, ".git", "hooks", hook)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\ntouch "+r.dir+"/hooked\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for key, to := range map[string]string{"merge.ff": "false", "commit.gpgSign": "true", "merge.conflictStyle": "zdiff3", "core.editor": "false", "commit.template": "nosuch"} {
		r.git("config", key, to)
	}
	call := r.call(config("feature", "main", "")...)
	call.Env = append(call.Env, "GIT_DIR=/nosuch", "GIT_INDEX_FILE=/nosuch/index", "GIT_WORK_TREE=/")
	out, err := kind.Run(context.Background(), call)
	if err != nil || out.Class != stage.OK || commitOf(out) == "" || exists(filepath.Join(r.dir, "hooked")) {
		t.Errorf("%+v, %v", out, err)
	}
}

func checkItems(t *testing.T, out stage.Outcome, want ...string) {
	t.Helper()
	var got []string
	for _, item := range out.Result.Items {
		if item.Severity != feedback.Blocking {
			t.Errorf("%+v does not block", item)
		}
		got = append(got, fmt.Sprintf("%s|%s|%d|%s", item.GateID, item.File, item.Line, item.Description))
	}
	if !slices.Equal(got, want) {
		t.Errorf("items\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMergeOptions: what the user's git is told to do at a merge into the branch does not keep it where it is.
func TestMergeOptions(t *testing.T) {
	kind := start(t, New)
	for _, options := range []string{"--squash", "--no-commit --no-ff", "--autostash"} {
		r := newRepo(t)
		r.branch("feature", "new.txt", "new\n")
		r.git("config", "branch.main.mergeOptions", options)
		out := r.run(context.Background(), kind, r.call(config("feature", "main", "")...))
		if out.Class != stage.OK || commitOf(out) == "" || commitOf(out) != r.git("rev-parse", "main") || r.git("status", "--porcelain") != "" {
			t.Errorf("%s: %+v, main is %s", options, out, r.git("log", "-1", "--format=%H %s", "main"))
		}
	}
}
