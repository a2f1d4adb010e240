// Package scope types the expressions of a document: it knows what may be read where an expression stands,
// and compiles bare expressions, texts with expressions in them, and trees of such values into the forms
// of package plan.
//
// A Place says where an expression stands. Its scope holds the inputs, the run, what a stage knows of
// itself, and of the other stages those that the expression speaks of; one that does not run before it is
// reported, and is in the scope nevertheless, so that the rest is checked. Only the stages that are spoken
// of are looked up: a scope stays small in a document of ten thousand stages. Package plan names the keys
// of scopes.
//
// A Bare types conditions that see none of this, but a few names of their own: the checks of contracts.
//
// It knows nothing of how a stage is carried out; that is package compile's, which gives it the stages.
package scope
