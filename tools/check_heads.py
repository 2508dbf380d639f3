#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the head and the dress of every text file of the project.

usage: check_heads.py ROOT

  - source, script and build files carry the licence line in their first three lines;
  - no tab where the file type does not need it, no blank at the end of a line, at most 120 columns,
    a newline at the end.
"""
import sys
from pathlib import Path

CODE = {".c", ".h", ".S", ".cc", ".cpp", ".def", ".map", ".py", ".sh", ".cmake", ".in"}
NAMES = {"CMakeLists.txt", "Makefile", "run", "rules", ".clang-format", ".clang-tidy",
         ".editorconfig"}
TOP = ("CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy", ".editorconfig")
TREES = ("src", "include", "cli", "lab", "tests", "tools", "cmake", "examples", ".ci")
TABS = {"Makefile", "rules"}     # and assembly: .S and the macros in percpu/arch
LICENCE = "SPDX-License-Identifier: MIT"
MAX_COLUMNS = 120


def files(root):
    found = [root / name for name in TOP if (root / name).is_file()]
    for tree in TREES:
        found += [p for p in (root / tree).rglob("*")
                  if p.is_file() and (p.suffix in CODE or p.name in NAMES)
                  and "__pycache__" not in p.parts]
    return sorted(found)


def may_have_tabs(path):
    return path.name in TABS or path.suffix == ".S" or "arch" in path.parts


def problems_of(path):
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    if not any(LICENCE in line for line in lines[:3]):
        yield 1, f"no '{LICENCE}' in the first three lines"
    if lines[-1] != "":
        yield len(lines), "no newline at the end"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "blank at the end of the line"
        if "\t" in line and not may_have_tabs(path):
            yield number, "tab"
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns; the limit is {MAX_COLUMNS}"


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(argv[1]).resolve()
    found = files(root)
    if not found:
        print(f"check_heads.py: nothing to check under {root}", file=sys.stderr)
        return 2
    failed = 0
    for path in found:
        for line, problem in problems_of(path):
            print(f"{path.relative_to(root)}:{line}: {problem}")
            failed += 1
    print(f"{len(found)} files, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
