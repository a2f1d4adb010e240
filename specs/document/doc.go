// Package document reads a file of YAML into nodes, whatever is wrong with it, and tells where in the file each
// character of what was decoded stands.
//
// Load goes through these steps, in this order: size and characters are checked (text.go); YAML parses the
// text, and where YAML gives up, the mistake is reported and taken out, value by value where YAML took an
// expression for something else (eaten.go), else by cutting the text (load.go). So the rest of the file can
// still be read, and all its mistakes are found in one go. Trace explains how the text of a scalar follows
// from the source, in every style (trace.go, block.go), so that a place inside an expression is exact; a
// Document gives nodes and their texts with their places (place.go). FrontMatter is the YAML that a text in
// Markdown begins with.
//
// It knows no keys but those whose values are expressions, which authors write without the quotes that YAML
// wants. What a document means is package specs' to say.
package document
