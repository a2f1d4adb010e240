# What both demos share. Usage: . lib.sh PIPE SESSION
#
# It copies the sample repository and a recording into a new folder, commits the repository there, and goes into
# it. Nothing is fetched: the inner go commands may not use the network.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
repos=$here/../repos
pipe=$1
PATH=$(dirname "$pipe"):$PATH # the commands on the screen say "pipe"
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE # of a hook that may run us
export PATH GOPROXY=off GOFLAGS= GOWORK=off GOTOOLCHAIN=local

# say LINE…: a remark, set off from what the commands print.
say() { printf '\n'; printf '# %s\n' "$@"; }

# try COMMAND…: shows a command and runs it. It is never before a terminal, where a run that waits would stay.
try() {
	printf '$'
	printf ' %s' "$(quoted "$@")"
	printf '\n'
	"$@" </dev/null
}

# quoted WORD…: the words as one would type them.
quoted() {
	local word out=
	for word in "$@"; do
		case $word in
		*[!A-Za-z0-9_./=:-]*) out+=" '$word'" ;;
		*) out+=" $word" ;;
		esac
	done
	printf '%s' "${out# }"
}

# rerun LINE: runs a command that pipe printed, word by word as it stands there.
rerun() {
	printf '$ %s\n' "$1"
	eval "$1" </dev/null
}

# expect STATUS COMMAND…: the command must end with this exit status.
expect() {
	local want=$1 got=0
	shift
	"$@" || got=$?
	if [ "$got" != "$want" ]; then
		echo "the demo expected exit status $want here and got $got; see $folder" >&2
		exit 1
	fi
}

# bye says where everything is.
bye() {
	say "All files of the run are in" "$(echo "$PWD"/.pipe/runs/*)" \
		"Look around:  cd $PWD" \
		"              $pipe why last fix" \
		"              $pipe logs last" \
		"Clean up:     rm -rf $folder"
}

folder=$(mktemp -d "${TMPDIR:-/tmp}/pipe-demo.XXXXXX")
cp -R "$repos/wordcount" "$folder/wordcount"
cp -R "$repos/wordcount-recording" "$folder/recording"
cp "$folder/recording/$2/pipe.yaml" "$folder/wordcount/pipe.yaml"
cd "$folder/wordcount"
git init -q
git add -A
git -c user.name=demo -c user.email=demo@example.com -c commit.gpgsign=false -c core.hooksPath=/dev/null \
	commit -q -m 'a repository with two bugs'
