// Package shipped runs the pipelines that come with the program from end to end, with the real program, real
// tests of sample repositories in two languages, and recorded agents.
//
// Words: a place is a copy of a sample repository in a folder of its own; a play is what an agent does in one
// round of a stage, a patch and an answer; a route is a way through a pipeline, from `pipe run` to its last
// decision. The routes of a pipeline are told in testdata/PIPELINE.txt, the same for each language.
//
// It holds tests only. That prompts promise what stages declare is tested here too; how the engine routes and
// counts is tested in its own packages.
package shipped
