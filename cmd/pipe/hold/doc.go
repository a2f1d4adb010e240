// Package hold tests what must hold of the command as a whole, with the real program: that a run outlives a
// changed machine, damage, stubborn processes and odd surroundings, that who may not answer is refused, and
// that nothing is left behind.
//
// Words: a place is a project in a folder of its own; what is left of a run are processes that carry its id,
// locks that are held, and files whose writing did not come to its end.
//
// It holds tests only. Each builds on the program's command line and files alone, as a user or another
// program would; what the packages promise one another is tested beside them, and the scripts of cmd/pipe
// show what the commands print. The tests are for Linux: they look through /proc for what is left.
package hold
