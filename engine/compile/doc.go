// Package compile turns a pipeline's syntax tree into a plan: names resolved, roles and defaults filled in,
// the graph ordered and reduced, every expression typed against what it may read.
//
// Compile goes on after a mistake and reports all of them in one list. It does no I/O: the kinds of
// stages, the project's agents and the reader of prompt files are given to it. What it costs grows with
// the length of the document, also where each of ten thousand stages waits for all above it.
//
// An expression is typed against a scope that holds what may be read where it stands (package plan names
// the keys); of the other stages only those that run before its own. The plan keeps each expression's
// source, the type it must give, and the types of just the names it reads, so that NewEvaluator compiles
// it at run time against the same types and gives the same results.
//
// A stage that names a contract is held to it; the contract of routings becomes a part of the plan. A pipeline
// that a stage runs is compiled with it, and its graph is the stage's body.
//
// A stage that is looped with itself becomes two nodes: its own, and behind it that of the part which looks at what it
// did, its verifiers or the validation of its refine loop. Who needs the stage needs the part too, and nobody can name it.
//
// Below it, graph orders stages and says which runs before which, scope types what expressions read, fixed compiles
// what holds none, contract compiles contracts, and sentence answers checks in plain English with the expression to write.
//
// Words and shape of documents are package specs' work, advice on a sound plan is package check's, and
// running it is package machine's.
package compile
