package specs

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
)

// manyStages returns a pipeline of n ordinary stages.
func manyStages(n int) string {
	var b strings.Builder
	b.WriteString("name: many\nversion: 1\ninputs: {fast: boolean}\nstages:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - id: s%d
    description: Build part %d of the whole
    run: |
      set -x
      go build ./part%d
      go test ./part%d
    when: inputs.fast || run.id != ""
    inputs: {part: "${{ run.id }}-%d"}
    outputs: {ok: boolean, count: {type: integer, description: how many}}
    env: {PART: "%d"}
    timeout: 5m
    post_checks:
      - {description: it is ok, validation: outputs.ok}
`, i, i, i, i, i, i)
		if i > 0 {
			fmt.Fprintf(&b, "    needs: [s%d]\n", i-1)
		}
	}
	return b.String()
}

func BenchmarkParsePipeline(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		text := manyStages(n)
		b.Run(fmt.Sprintf("yaml-alone-%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var root yaml.Node
				if err := yaml.Unmarshal([]byte(text), &root); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("specs-%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, diags := ParsePipeline(source.NewFile("x.yaml", text)); len(diags) > 0 {
					b.Fatal(diags.Short())
				}
			}
		})
	}
}
