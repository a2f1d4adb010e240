#!/bin/sh
# A recorded agent: it plays back what a coding agent did once, and thinks nothing.
#
#   agent.sh SESSION
#
# SESSION is a folder beside this file. In round N of stage S the agent changes the workspace by S-roundN.patch,
# if there is one, and answers with S-roundN.json. It reads the prompt, as any agent would, and drops it.
set -eu
cat >/dev/null
take=$(dirname "$0")/$1/$PIPE_STAGE-round$PIPE_ITERATION
if ! [ -e "$take.json" ]; then
	echo "the recording \"$1\" ends before round $PIPE_ITERATION of stage \"$PIPE_STAGE\"" >&2
	exit 1
fi
if [ -e "$take.patch" ]; then
	git apply "$take.patch"
fi
cat "$take.json"
