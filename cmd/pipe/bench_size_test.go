package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/pipe/engine"
	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// ordinaryText is a pipeline of n stages as people write them: texts and conditions that read inputs and
// other stages, outputs, checks.
func ordinaryText(n int) string {
	var b strings.Builder
	b.WriteString("name: many\nversion: 1\ninputs:\n  fast: {type: boolean, default: false}\nstages:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - id: s%d
    description: Build part %d of the whole.
    run: |
      go build ./part%d
      go test ./part%d
    when: inputs.fast || run.id != ""
    outputs: {ok: boolean, count: {type: integer, description: how many}}
    timeout: 5m
    post_checks:
      - {description: it is ok, validation: outputs.ok}
`, i, i, i, i)
		if i > 0 {
			fmt.Fprintf(&b, "    needs: [s%d]\n    env: {COUNT: \"${{ stages.s%d.outputs.count ?? 0 }}\"}\n", i-1, i-1)
		}
	}
	return b.String()
}

// benchCheck is pipe check, against parsing alone, and how it grows. No document may be much larger.
func benchCheck(t *numbers) {
	for _, c := range []struct {
		what string
		text func(n int) string
	}{
		{"plain", func(n int) string { return stagesText(n, true, "true") }},
		{"ordinary", ordinaryText},
	} {
		best := map[int]time.Duration{}
		for _, n := range []int{1_000, 5_000, 10_000} {
			dir := newProject(t.b, c.text(n))
			best[n] = time.Hour
			ratios, note := t.inTurns(func() spent {
				d := t.took(dir, t.pipe, "check", "pipelines/p.yaml")
				best[n] = min(best[n], d.cpu)
				return d
			}, func() spent { return t.took(dir, t.floor, "yaml", "pipelines/p.yaml") })
			bound := 0.0
			if n == 10_000 {
				bound = 3
			}
			t.addRatios(fmt.Sprintf("pipe check of %d %s stages / yaml.v3 alone", n, c.what), ratios, bound, note)
		}
		growth := best[10_000].Seconds() / best[5_000].Seconds()
		t.add(fmt.Sprintf("  its processor time in 10,000 / in 5,000 %s stages", c.what), fmt.Sprintf("%.2f x", growth), "<= 2.5 x", growth <= 2.5)
	}
}

// loadPlan compiles a pipeline.
func loadPlan(b *testing.B, text string) *plan.Plan {
	b.Helper()
	dir := newProject(b, text)
	p, err := engine.OpenProject(dir, engine.Options{Kinds: kinds(nil)})
	if err != nil {
		b.Fatal(err)
	}
	l, err := p.Load("p", dir)
	if err != nil || l.Plan == nil {
		b.Fatal(err, l.Diags.Short())
	}
	return l.Plan
}

// history is a run of the machine without a driver.
type history struct {
	records  []step.Record
	steps    int
	took     time.Duration
	lastHeap uint64 // bytes that the ended machine holds
}

// play takes a plan of stages that all succeed to its end, the given number at once.
func play(b *testing.B, p *plan.Plan, jobs int) history {
	b.Helper()
	before := heap()
	m := machine.New(p, compile.NewEvaluator(), nil)
	code := 0
	var h history
	var open []string
	next := func(ev step.Event) {
		ready := m.Step(ev)
		h.steps++
		h.records = append(h.records, ready.Records...)
		for _, e := range ready.Effects {
			open = append(open, e.EffectID())
		}
	}
	began := time.Now()
	next(step.Start{At: 1, Run: step.RunInfo{Run: "R", TaskID: "t", Pipeline: p.Name, Jobs: jobs}})
	for len(open) > 0 {
		effect := open[0]
		open = open[1:]
		next(step.StageEnded{At: 1, Effect: effect, ExitCode: &code})
	}
	h.took = time.Since(began)
	if !m.Status().Ended() {
		b.Fatalf("the run is %s", m.Status())
	}
	h.lastHeap = heap() - before
	runtime.KeepAlive(m)
	return h
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// benchMachine is a step of the machine in small and in large plans, and the folding of what it decided.
func benchMachine(t *numbers) {
	for _, c := range []struct {
		what string
		seq  bool
		jobs int
	}{{"sequential", true, 1}, {"independent, 16 at once", false, 16}} {
		perStep := map[int]time.Duration{}
		for _, n := range []int{1_000, 10_000} {
			p := loadPlan(t.b, stagesText(n, c.seq, "true"))
			var h history
			perStep[n] = time.Hour
			for range t.turns * 10_000 / n { // as many steps of each: the least of few is no more than luck
				h = play(t.b, p, c.jobs)
				perStep[n] = min(perStep[n], h.took/time.Duration(h.steps))
			}
			if n == 10_000 {
				t.add("  the machine's memory at its end, with its records", megabytes(h.lastHeap), "", true)
				t.add("  folding its records", short(fold(p, h.records)), "", true)
			}
		}
		ratio := perStep[10_000].Seconds() / perStep[1_000].Seconds()
		t.add("a machine step in 10,000 stages / in 1,000, "+c.what,
			fmt.Sprintf("%.2f x (%s against %s)", ratio, perStep[10_000], perStep[1_000]), "<= 2.0 x", ratio <= 2)
	}
}

func fold(p *plan.Plan, records []step.Record) time.Duration {
	m := machine.New(p, compile.NewEvaluator(), nil)
	began := time.Now()
	for _, r := range records {
		m.Apply(r)
	}
	return time.Since(began)
}

func megabytes(n uint64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// benchMemory is the memory of a long run that writes much. The peak is read from the process while it
// lives: what a parent is told at the end counts the parent's own pages from before the exec, too.
func benchMemory(t *numbers) {
	const n, output = 10_000, 1_000_000_000
	dir := newProject(t.b, stagesText(n, false, fmt.Sprintf("head -c %d /dev/zero", output/n)))
	defer os.RemoveAll(dir) // at once: it is large
	cmd := exec.Command(t.pipe, "run", "p")
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	peak := uint64(0)
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				t.b.Fatalf("%v\n%.2000s", err, errs.Bytes())
			}
			running = false
		case <-tick.C:
			peak = max(peak, peakMemory(cmd.Process.Pid))
		}
	}
	t.add("memory of 10,000 stages with 1 GB of output", megabytes(peak)+" in "+short(time.Since(began)), "<= 150 MB",
		peak > 0 && peak <= 150e6)
}

// peakMemory is the most that a process has had in memory until now; 0 where that can't be read.
func peakMemory(pid int) uint64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(b, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseUint(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}

// benchPs lists 10,000 runs. They are copies of real ones under other ids: of ten, eight succeeded, one failed
// and one waits for a person.
func benchPs(t *numbers) {
	dir := newProject(t.b, stagesText(5, true, "true"))
	for name, stages := range map[string]string{
		"failed":  "[{id: a, run: 'false'}]",
		"waiting": "[{id: a, run: 'true'}, {id: b, run: 'true', requires_approval: true}]",
	} {
		text := "name: " + name + "\nversion: 1\nstages: " + stages + "\n"
		if err := os.WriteFile(filepath.Join(dir, "pipelines", name+".yaml"), []byte(text), 0o644); err != nil {
			t.b.Fatal(err)
		}
	}
	runs := filepath.Join(dir, ".pipe", "runs")
	models := map[string]string{} // ids
	for _, name := range []string{"p", "failed", "waiting"} {
		cmd := exec.Command(t.pipe, "run", name)
		cmd.Dir = dir
		_ = cmd.Run() // two of them don't end with 0
		entries, err := os.ReadDir(runs)
		if err != nil || len(entries) != len(models)+1 {
			t.b.Fatalf("%d runs: %v", len(entries), err)
		}
		models[name] = entries[len(entries)-1].Name()
	}
	const n = 10_000
	for i := range n - len(models) {
		model := models[[]string{"p", "p", "p", "p", "failed", "p", "p", "p", "p", "waiting"}[i%10]]
		id := ulid.MustNew(uint64(1_700_000_000_000+i), nil)
		copyRun(t.b, filepath.Join(runs, model), filepath.Join(runs, id.String()), id.String(), model)
	}
	checkList(t, dir, n)
	times := make([]time.Duration, 0, 3*t.turns)
	for range 3 * t.turns {
		times = append(times, t.took(dir, t.pipe, "ps").wall)
	}
	t.addTimes("pipe ps over 10,000 runs", times, 500*time.Millisecond)
}

// checkList sees that the runs that are listed are what they shall be: one that lost its files is listed sooner.
func checkList(t *numbers, dir string, n int) {
	t.b.Helper()
	cmd := exec.Command(t.pipe, "ps", "--json")
	cmd.Dir = dir
	out, err := cmd.Output()
	var list struct{ Runs []struct{ Status string } }
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	count := map[string]int{}
	for _, r := range list.Runs {
		count[r.Status]++
	}
	if err != nil || len(list.Runs) != n || count["succeeded"] < n*7/10 || count["failed"] < n/20 || count["waiting"]+count["paused"] < n/20 {
		t.b.Fatalf("the list is not that of the runs: %v, %v", count, err)
	}
}

// copyRun makes a run of another id out of one: its files, and links to what it froze.
func copyRun(b *testing.B, from, to, id, was string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Join(to, "frozen"), 0o755); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"status.json", "run.json", "events.jsonl", "lock"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), bytes.ReplaceAll(text, []byte(was), []byte(id)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	frozen, err := os.ReadDir(filepath.Join(from, "frozen"))
	if err != nil || len(frozen) == 0 {
		b.Fatalf("%d frozen files: %v", len(frozen), err)
	}
	for _, f := range frozen {
		if err := os.Link(filepath.Join(from, "frozen", f.Name()), filepath.Join(to, "frozen", f.Name())); err != nil {
			b.Fatal(err)
		}
	}
}
