#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make run` shows: slab_test on slub beside the system malloc, then a real program under the
# drop-in malloc with its slab table.
#
# usage: tools/run_demo.sh BUILD_DIRECTORY
set -eu

slub=$1/bin/slub
# The interpreter itself, not a wrapper script that would print a table of its own.
python=/usr/bin/python3
[ -x "$python" ] || python=python3

show() {
    echo
    echo "\$ $*"
    "$@"
}

show "$slub" bench slab_test --api malloc --alloc system --alloc slub \
    --sizes 8-1024 --repeat 10 --idle 1
show "$slub" run --slabinfo -- "$python" -c '
import collections, json, re, textwrap
words = re.findall(r"\w+", " ".join(str(v) for v in vars(textwrap).values()) * 20)
counts = collections.Counter(words)
records = json.loads(json.dumps([{"word": w, "n": n} for w, n in counts.items()] * 50))
print(len(records), "records,", sum(r["n"] for r in records), "words")
'
