#!/usr/bin/env bash
# The shipped bug-fix pipeline on a small repository with two bugs. Usage: run.sh PIPE
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" fixes

say "The AGENTS of this demo are RECORDED: they play back patches made before." \
	"The tests are real, and run on a Go repository with two bugs in" \
	"$PWD"
expect 0 try pipe run bug-fix --input "task=Count loses the last word of a text"

run=$(echo .pipe/runs/*)
say "Round 1 fixed one bug. The failing test of the other came back in this brief:"
expect 0 try cat "$run/stages/fix/2.1/brief.md"

say "Round 2 fixed it. Where the run stands:"
expect 0 try pipe show last

say "What the agents changed, and the tests:"
expect 0 try git diff --stat -- '*.go'
expect 0 try go test ./...

bye
