package machine

import (
	"fmt"
	"slices"
	"time"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
)

// failure is why a try failed.
type failure struct {
	class      string
	effect     string
	exitCode   *int
	durationMS int64
	message    string
	reason     string
}

// retried is the failure classes that are tried again where retry.on names none.
var retried = [...]stage.Class{
	stage.Exit, stage.Timeout, stage.Idle, stage.Protocol, stage.Unavailable, stage.Signal, stage.ReviewUnavailable,
}

func findingsWithoutLoop(n int) string {
	if n == 1 {
		return "1 open blocking item, and no feedback_loop that sends it back"
	}
	return fmt.Sprintf("%d open blocking items, and no feedback_loop that sends them back", n)
}

// tryFailed schedules another try, or fails the stage.
func (d *decider) tryFailed(i *instance, f failure) {
	r := i.node.Retry
	if i.attempt >= r.MaxAttempts || !retries(r, f.class) {
		if !d.attemptFailed(i, f) {
			d.fail(i, f)
		}
		return
	}
	d.emit(step.RetryScheduled{
		Stage: i.path, Iteration: i.iteration, Attempt: i.attempt + 1, Failed: f.effect, Effect: d.newEffect(),
		At: d.at, Until: d.at.Add(delay(r, i.attempt)), Class: f.class, ExitCode: f.exitCode,
		DurationMS: f.durationMS, Message: f.message,
	})
}

func retries(r plan.Retry, class string) bool {
	if len(r.On) == 0 {
		return slices.Contains(retried[:], stage.Class(class))
	}
	return slices.Contains(r.On, class)
}

// delay is the wait after the given try, from 1.
func delay(r plan.Retry, attempt int) time.Duration {
	d, most := time.Duration(r.InitialDelay), time.Duration(r.MaxDelay)
	switch r.Backoff {
	case plan.Linear:
		d *= time.Duration(attempt)
	case plan.Fixed:
	default:
		for range attempt - 1 {
			if d *= 2; most > 0 && d > most {
				break
			}
		}
	}
	if most > 0 {
		d = min(d, most)
	}
	return d
}

// fail fails a stage for good in this iteration; those that need it can't run.
func (d *decider) fail(i *instance, f failure) {
	d.emit(step.StageFailed{
		Stage: i.path, Iteration: i.iteration, Attempt: i.attempt, Effect: f.effect, At: d.at, Class: f.class,
		ExitCode: f.exitCode, DurationMS: f.durationMS, Message: f.message, Reason: f.reason,
	})
	if i.failed() {
		d.dropDependents(i)
	}
}

// failStart fails a stage that could not be started: what the author wrote does not hold for these values.
func (d *decider) failStart(i *instance, iteration int, message string) {
	d.emit(step.StageFailed{Stage: i.path, Iteration: iteration, Attempt: max(1, i.next), At: d.at,
		Class: string(stage.FailedCheck), Message: message})
	if i.failed() {
		d.dropDependents(i)
	}
}

// dropDependents records that what needs a failed instance, directly or not, does not run.
func (d *decider) dropDependents(failed *instance) {
	queue := []*instance{failed}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, n := range i.frame.graph.dependents[i.slot] {
			for _, dep := range d.dependentParts(i, i.frame.slots[n]) {
				if dep.status == step.Pending || dep.status == step.Stale || dep.status == step.Waiting || dep.status == step.Rejected {
					d.notRun(dep, failed)
					queue = append(queue, dep)
				}
			}
		}
	}
}

// notRun records that an instance does not run since another failed, with all its parts that wait to run again.
func (d *decider) notRun(i, failed *instance) {
	d.emit(step.StageNotRun{Stage: i.path, At: d.at, Needed: failed.path})
	for _, part := range i.parts() {
		if part.status == step.Stale || part.status == step.Pending {
			d.notRun(part, failed)
		}
	}
}

// dependentParts gives what of a dependent stage can't run when i can't: the item with the same index, all
// items that have not ended, or the whole.
func (d *decider) dependentParts(i, dep *instance) []*instance {
	if dep.isSelf() && dep.isGroup() && dep.status == step.Running && i.item < 0 && dep.target() == i {
		return nil // it verifies each item that is done, whatever became of others, in whichever order they end
	}
	if !dep.isGroup() || dep.status != step.Running {
		if i.item >= 0 { // the whole fails when its group does
			return nil
		}
		return []*instance{dep}
	}
	if i.item >= 0 {
		if i.item < len(dep.items) {
			return []*instance{dep.items[i.item]}
		}
		return nil
	}
	return dep.items
}
