#!/usr/bin/env bash
# A fix that never helps: the run pauses, and a second command answers it. Usage: escalation.sh PIPE
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" never-helps

say "The AGENTS of this demo are RECORDED, and this one only ever changes a" \
	"comment: the same tests fail in each round. The tests are real, and run in" \
	"$PWD"
expect 4 try pipe run bug-fix --input "task=Count loses the last word of a text"

say "Both rounds are used up: exit status 4. Any terminal can answer now, with one" "of the commands above:"
answer=$(pipe show last | sed -n 's/^ *\(pipe decide .* override .*\) TEXT$/\1/p') # it shows what stands above
expect 0 rerun "$answer 'known bugs, to be fixed by hand'"

say "That command printed the one that goes on:"
expect 0 rerun "pipe resume $(basename .pipe/runs/*)"

say "Where the run stands, and who decided what:"
expect 0 try pipe show last
expect 0 try pipe why last test_verify

bye
