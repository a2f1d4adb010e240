#!/usr/bin/env python3
"""A review: marks such as TODO in the files of the repository are items.

It answers on stdout (result: stdout in pipe.yaml), and logs on stderr. In "with":

    marks:    the words that are looked for, a list; TODO and FIXME if it is missing
    severity: of the items; advisory if it is missing
    files:    patterns of the files that are read, a list; all if it is missing
"""

import fnmatch
import json
import os
import re
import subprocess
import sys


def config():
    """What the stage says in "with"."""
    with open(os.environ["PIPE_INPUT"], encoding="utf-8") as f:
        given = json.load(f)["config"]
    known = {"marks": ["TODO", "FIXME"], "severity": "advisory", "files": ["*"]}
    for key in given:
        if key not in known:
            sys.exit(f"with has no {key!r}, expected {', '.join(known)}")
    known.update(given)
    return known


def files(patterns):
    """The files of the repository, by their paths."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, stdout=subprocess.PIPE,
    ).stdout
    for name in sorted(set(filter(None, listed.split(b"\0")))):
        path = os.fsdecode(name)
        if any(fnmatch.fnmatch(path, p) for p in patterns) and os.path.isfile(path) and not os.path.islink(path):
            yield path


def main():
    want = config()
    mark = re.compile(r"\b(" + "|".join(map(re.escape, want["marks"])) + r")\b[:\s]*(.*)")
    items = []
    for path in files(want["files"]):
        print("reading", ascii(path), file=sys.stderr)
        with open(path, encoding="utf-8", errors="replace") as f:
            for number, line in enumerate(f, start=1):
                found = mark.search(line)
                if found:
                    text = found.group(1) + (": " + found.group(2).strip() if found.group(2).strip() else "")
                    items.append({"severity": want["severity"], "file": path, "line": number, "description": text})
    answer = {"outputs": {"marks": len(items)}, "summary": f"{len(items)} marks", "feedback_items": items}
    json.dump(answer, sys.stdout)


main()
