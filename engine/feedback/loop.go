package feedback

// Pair names a feedback loop: the paths of the stage that reviews and of the stage that acts on it.
type Pair struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// Counter counts the rounds of a loop. Iteration starts at 1; only a decision of a person raises Cap.
type Counter struct {
	Pair
	Iteration  int    `json:"iteration"`
	Cap        int    `json:"max_iterations"`
	LastAction Action `json:"last_action,omitempty"`
}

// Decide says what the loop does next with this many open blocking items; it changes nothing.
func (c Counter) Decide(openBlocking int) (Action, int) {
	return Decide(c.Iteration, c.Cap, openBlocking)
}

// Decide says what follows a review, and the iteration the loop is then in. Without an open blocking item
// the review is accepted; at the cap a person is asked; else the target runs again in the next iteration.
func Decide(iteration, maxIterations, openBlocking int) (Action, int) {
	switch {
	case openBlocking == 0:
		return Accept, iteration
	case iteration >= maxIterations:
		return Escalate, iteration
	default:
		return ReImplement, iteration + 1
	}
}
