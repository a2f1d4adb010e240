#!/usr/bin/env bash
# A review: files of the repository that are larger than MAX_KB are blocking items.
set -euo pipefail
limit=$((${MAX_KB:?give it by env: {MAX_KB: 500\}} * 1024))

# quoted writes its argument as a string of JSON.
quoted() {
  local s=${1//\\/\\\\}
  s=${s//\"/\\\"}
  s=${s//$'\t'/\\t}
  s=${s//$'\n'/\\n}
  printf '"%s"' "$s"
}

found=0
exec 3> "$PIPE_FEEDBACK.part"
printf '[' >&3
while IFS= read -r -d '' file; do
  [[ -f $file && ! -L $file ]] || continue
  size=$(wc -c < "$file")
  ((size > limit)) || continue
  ((found++ == 0)) || printf ',' >&3
  printf '\n{"severity": "blocking", "file": %s, "description": "it has %d KB, at most %d are allowed", "suggested_fix": "keep it outside of the repository"}' \
    "$(quoted "$file")" "$((size / 1024))" "$MAX_KB" >&3
  echo "too large: $file"
done < <(git ls-files -z --cached --others --exclude-standard)
printf '\n]\n' >&3

# Only a whole list is put in its place: without one the review did not take place.
mv "$PIPE_FEEDBACK.part" "$PIPE_FEEDBACK"
echo "$found too large"
