//go:build linux

package sweep

import (
	"fmt"
	"slices"
	"testing"
)

// TestKillWide kills what carries a run out that has instances, a pipeline inside, an approval whose deadline
// passes while no process lives, and finally, in each of the states of those.
func TestKillWide(t *testing.T) { killCourse(t, wide) }

// TestKillAgain kills what carries a run out that has a refine loop, verifiers, a gate that a person decides about, and a
// rollback, in each of the states of those.
func TestKillAgain(t *testing.T) { killCourse(t, again) }

func killCourse(t *testing.T, c course) {
	t.Parallel()
	ref := newReference(t, c)
	k := &kills{ref: ref}
	// What lies between two of these calls changes nothing that could be found out after a kill.
	matters := func(p point) bool { return p.sort == start || p.sort == journalSync || p.torn }
	t.Run("points", func(t *testing.T) {
		for _, part := range []struct {
			name   string
			points []point
			args   func(*project) []string
			begin  func(*project, *testing.T)
		}{
			{"run", ref.run, (*project).runArgs, nil},
			{"answer", ref.answer, (*project).answerArgs, (*project).begin},
		} {
			for _, at := range slices.DeleteFunc(slices.Clone(part.points), func(p point) bool { return !matters(p) }) {
				t.Run(part.name+"-"+at.String(), func(t *testing.T) {
					t.Parallel()
					k.history(t, c, at, part.args, part.begin)
				})
			}
		}
	})
	t.Logf("kill points: %d", k.done.Load())
	fmt.Printf("kill points: %d\n", k.done.Load())
}
