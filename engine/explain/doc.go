// Package explain says what a pipeline will do before it runs: what it takes and gives, in which order its
// stages may start and which side by side, which loops send work back and by which rules they end, what the words of
// tools for how severe a finding is become, whom it asks, how what stages did is undone, and how often each stage can run
// at the most.
//
// Words: a step is a set of stages none of which needs another of the set, each as early as its needs allow; the
// stages of a step may run side by side. A bound is the greatest number of runs without what a person grants.
//
// All of it follows from the plan alone. Of deciding what comes next it knows nothing: that is package machine's;
// what a run came to is package view's.
package explain
