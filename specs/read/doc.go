// Package read reads the nodes of a document's YAML: mappings, lists and scalars, with a diagnostic for each that is not
// what was wanted.
//
// A Reader goes on after a mistake: what could not be read is nil, and was reported. It resolves aliases within a budget,
// merges "<<", and tells what YAML ate of an expression (a comment, a tag, a bracket) from other mistakes. A Leaf is a
// scalar with its place; a Form is what a name is made of.
//
// Which keys there are, and what they mean, is package specs'; the text, its places and the nodes are package document's.
package read
