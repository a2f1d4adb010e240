package compile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/check"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

// bigPipeline gives a document of n stages of which each third is a review, with conditions, checks,
// outputs and texts that read stages near and far. shape says what the stages need.
func bigPipeline(n int, shape string) string {
	var b strings.Builder
	b.WriteString("name: big\nversion: 1\ninputs:\n  task: {type: string}\n  level: {type: string, enum: [low, high], default: low}\nstages:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: s%d\n    description: The stage with the number %d of many.\n    run: go test ./... # %d\n    outputs: {summary: string, count: integer}\n", i, i, i)
		switch {
		case shape == "chain":
		case shape == "wide":
			b.WriteString("    needs: []\n")
		case shape == "needs" && i > 2:
			fmt.Fprintf(&b, "    needs: [s%d, s%d]\n", i/2, i-1)
		}
		if shape != "wide" && i > 0 {
			fmt.Fprintf(&b, "    env: {TASK: \"${{ inputs.task }}\", NEAR: \"${{ stages.s%d.outputs.summary }}\", FAR: \"${{ stages.s%d.outputs.count }}\"}\n", i-1, i/3)
		}
		if i%3 == 2 && shape != "wide" {
			fmt.Fprintf(&b, "    feedback: {format: go-test}\n    feedback_loop: {target_stage: s%d}\n", i-1)
		}
		b.WriteString("    post_checks:\n      - {description: counts, validation: 'outputs.count >= 0'}\n")
	}
	return b.String()
}

// BenchmarkCheck measures what "pipe check" does with a document: parse, compile, advice. The figures
// beside the time are how many times as long as yaml.v3 alone all of it takes, and each part.
func BenchmarkCheck(b *testing.B) {
	for _, shape := range []string{"chain", "wide", "needs"} {
		for _, n := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				text, opt := bigPipeline(n, shape), options(b)
				var alone, parsed, compiled, advised time.Duration
				for b.Loop() {
					t0 := time.Now()
					var root yaml.Node
					if err := yaml.Unmarshal([]byte(text), &root); err != nil {
						b.Fatal(err)
					}
					t1 := time.Now()
					doc, ds := specs.ParsePipeline(source.NewFile("big.yaml", text))
					t2 := time.Now()
					p, more := Compile(doc, opt)
					t3 := time.Now()
					if ds.HasErrors() || p == nil {
						b.Fatal(ds.Short(), more.Short())
					}
					check.Check(p, doc)
					alone, parsed, compiled, advised = alone+t1.Sub(t0), parsed+t2.Sub(t1), compiled+t3.Sub(t2), advised+time.Since(t3)
				}
				yamls := func(d time.Duration) float64 { return float64(d) / float64(alone) }
				b.ReportMetric(yamls(parsed+compiled+advised), "x-yaml")
				b.ReportMetric(yamls(parsed), "x-parse")
				b.ReportMetric(yamls(compiled), "x-compile")
				b.ReportMetric(yamls(advised), "x-advice")
				b.ReportMetric(float64(b.N)*float64(n)/(parsed+compiled+advised).Seconds(), "stages/s")
			})
		}
	}
}
