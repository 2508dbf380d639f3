#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums up what a run of the tests of a coverage build reached, by directory.

usage: coverage.py BUILD_DIRECTORY [--files]      (gcovr does the reading)

Processes that end by a signal, as those of tests/death do, leave no counts.
"""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREES = ("src", "cli", "lab")


def summary(build):
    """The files of gcovr's summary, each with its counts."""
    command = ["gcovr", "--root", str(ROOT), "--object-directory", str(build), "--json-summary", "-",
               "--exclude-unreachable-branches", *(f"--filter={ROOT}/{tree}/" for tree in TREES), str(build)]
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["files"]


def row(name, files):
    words = [f"{name:32}"]
    for kind in ("line", "branch"):
        covered, total = (sum(f[f"{kind}_{what}"] for f in files) for what in ("covered", "total"))
        share = f"{100 * covered / total:6.1f} %" if total else "       –"
        words.append(f"{covered:6} / {total:6} {share}")
    return "  ".join(words)


def main(argv):
    if len(argv) < 2 or not Path(argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    files = summary(Path(argv[1]).resolve())
    if not any(f["line_covered"] for f in files):
        print(f"coverage.py: nothing in {argv[1]} was run", file=sys.stderr)
        return 1
    groups = {}
    for f in files:
        name = f["filename"] if "--files" in argv else str(Path(f["filename"]).parent)
        groups.setdefault(name, []).append(f)
    print(f"{'':32}  {'lines':>24}  {'branches':>24}")
    for name in sorted(groups):
        print(row(name, groups[name]))
    for tree in TREES:
        print(row(f"all of {tree}", [f for f in files if f["filename"].startswith(tree + "/")]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
