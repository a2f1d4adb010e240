// Package taskfile is the feedback file of a task: the Markdown that the validator of a refine loop leaves for
// people and for the next attempt, and that says whether the loop goes on.
//
// A File is what such a file says: a status, the number of the attempt, a summary, findings under three
// headings (each an Issue, with a box that is ticked when it is done), and a sign-off. Read takes it out of the
// bytes of a file, as tolerant as files that were written by hand need, and says in warnings what it did not
// take for what it may have been meant as. Write gives the bytes: whatever the texts hold, Read takes out of
// them what File.Clean makes of the value. Exit is the decision of the loop, JSON the form for programs, Items
// the findings for a feedback loop, FromAnswer a File from what a validator answers instead of writing one.
//
// Text that looks like structure is none when it is in a fenced block, in indented code, in a comment, or, of a
// sign-off and a status, anywhere but in its place. What can't be told is UNKNOWN, never a pass.
//
// The package opens no file: Path says where one lies, and the driver and the command read and write it. The
// ledger of attempts is package attempts' work, reports of tools are package convert's.
package taskfile
