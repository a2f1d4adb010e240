package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// BenchmarkNumbers measures what must stay cheap and prints one table. What is compared with a floor is
// measured in turns with it, and the table has the median, the least and the greatest of the ratios: a busy
// machine slows both. BENCH_STRICT=1 makes a number that is over its bound a failure, BENCH_RUNS says how
// many turns there are, BENCH_ONLY names a part.
//
// TMPDIR says on which disk. One on which many files were removed of late makes the stages dearer than the
// floor: when ext4 makes a file, it passes over those that were freed in the last minutes.
func BenchmarkNumbers(b *testing.B) {
	t := &numbers{b: b, turns: 3, pipe: build(b, "."), floor: build(b, "./testdata/floor")}
	if n, err := strconv.Atoi(os.Getenv("BENCH_RUNS")); err == nil && n > 0 {
		t.turns = n
	}
	for _, part := range []struct {
		name    string
		measure func(*numbers)
	}{
		{"stages", benchStages}, {"check", benchCheck}, {"machine", benchMachine}, {"memory", benchMemory},
		{"version", benchVersion}, {"ps", benchPs}, {"convert", benchConvert},
	} {
		if only := os.Getenv("BENCH_ONLY"); only == "" || only == part.name {
			part.measure(t)
		}
	}
	t.print()
}

// numbers is the table as it grows.
type numbers struct {
	b           *testing.B
	turns       int
	pipe, floor string // the programs, as people get them: that of the tests holds the tests too
	rows        [][]string
	over        []string
}

// add puts a row into the table. Without a bound it is for information.
func (t *numbers) add(what, measured, bound string, ok bool) {
	t.b.Helper()
	verdict := "ok"
	switch {
	case bound == "":
		verdict = "-"
	case !ok:
		verdict = "OVER"
		t.over = append(t.over, what)
	}
	t.rows = append(t.rows, []string{what, measured, bound, verdict})
}

// addRatios adds a row of ratios, of which the median counts.
func (t *numbers) addRatios(what string, ratios []float64, bound float64, note string) {
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	measured := fmt.Sprintf("%.2f x (%.2f to %.2f; %s)", median, ratios[0], ratios[len(ratios)-1], note)
	if bound == 0 {
		t.add(what, measured, "", true)
		return
	}
	t.add(what, measured, fmt.Sprintf("<= %.1f x", bound), median <= bound)
}

// addTimes adds a row of times that have no floor to be compared with. The least counts: it is what the program
// takes where nothing else goes on.
func (t *numbers) addTimes(what string, times []time.Duration, bound time.Duration) {
	slices.Sort(times)
	t.add(what, fmt.Sprintf("%s (median %s, to %s)", short(times[0]), short(times[len(times)/2]), short(times[len(times)-1])),
		"<= "+short(bound), times[0] <= bound)
}

func (t *numbers) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nwhat\tmeasured\tbound\tok?")
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		t.b.Fatal(err)
	}
	if len(t.over) > 0 && os.Getenv("BENCH_STRICT") == "1" {
		t.b.Errorf("over its bound: %s", strings.Join(t.over, "; "))
	}
}

// build builds a program.
func build(b *testing.B, pkg string) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", bin, pkg).CombinedOutput(); err != nil {
		b.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// spent is what a program took: time, and that of the processors for it and its children, which depends
// less on what else goes on.
type spent struct{ wall, cpu time.Duration }

// took runs a program in a folder from its start to its end.
func (t *numbers) took(dir, program string, args ...string) spent {
	t.b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	began := time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(began)
	if err != nil {
		t.b.Fatalf("%s %q: %v\n%.2000s", program, args, err, out)
	}
	return spent{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// inTurns measures a and b in turns and gives the ratios a/b of their times. The note has the shortest time
// of each, and the ratio of the least processor times.
func (t *numbers) inTurns(a, b func() spent) (ratios []float64, note string) {
	least := [2]spent{{time.Hour, time.Hour}, {time.Hour, time.Hour}}
	for range t.turns {
		below := b()
		above := a()
		ratios = append(ratios, above.wall.Seconds()/below.wall.Seconds())
		for i, s := range []spent{above, below} {
			least[i].wall, least[i].cpu = min(least[i].wall, s.wall), min(least[i].cpu, s.cpu)
		}
	}
	return ratios, fmt.Sprintf("best %s against %s; processor time %.2f x", short(least[0].wall), short(least[1].wall),
		least[0].cpu.Seconds()/least[1].cpu.Seconds())
}

func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(100 * time.Nanosecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// stagesText is a pipeline of n stages that run a script. Sequential stages are those that say nothing of
// what they need.
func stagesText(n int, sequential bool, script string) string {
	var b strings.Builder
	b.WriteString("name: many\nversion: 1\nstages:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: s%d\n    run: %s\n", i, strconv.Quote(script))
		if !sequential {
			b.WriteString("    needs: []\n")
		}
	}
	return b.String()
}

// benchStages is what a stage costs, against a shell and two fsyncs.
func benchStages(t *numbers) {
	const n = 1000
	for _, c := range []struct {
		what  string
		seq   bool
		width int
		bound float64
	}{
		{"1,000 sequential stages / floor", true, 1, 1.3},
		{"1,000 independent stages, 2 at once / floor", false, 2, 1.5},
		{"1,000 independent stages, 16 at once / floor", false, 16, 1.5},
	} {
		dir := newProject(t.b, stagesText(n, c.seq, "true"))
		ratios, note := t.inTurns(func() spent {
			return t.took(dir, t.pipe, "run", "p", "--jobs", strconv.Itoa(c.width))
		}, func() spent {
			return t.took(dir, t.floor, "stages", strconv.Itoa(n), strconv.Itoa(c.width), filepath.Join(dir, "floor"))
		})
		t.addRatios(c.what, ratios, c.bound, note)
	}
}

// benchVersion is the start-up.
func benchVersion(t *numbers) {
	times := make([]time.Duration, 0, 20*t.turns)
	for range 20 * t.turns {
		times = append(times, t.took(t.b.TempDir(), t.pipe, "version").wall)
	}
	t.addTimes("pipe version", times, 15*time.Millisecond)
}
