#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the shape of src/ and include/: who may include whom, and how large a file may get.

usage: check_layers.py ROOT

  - a file of src/ includes its own directory and directories of a strictly lower rank;
  - project headers are written "directory/file", never with "../"; no file includes a .c;
  - x.c includes its own header first, where it has one;
  - assembly includes only macro-only files: layout.h, *_layout.h, *_macros.h, *.def;
  - include/slub/ includes only itself and three headers of the language;
  - no file has more than 800 lines;
  - a directory that is not in the table below is an error.
"""
import re
import sys
from pathlib import Path

RANK = {"base": 0, "os": 1, "service": 2, "region": 3, "slab": 4, "barn": 5, "percpu": 6,
        "large": 7, "cache": 8, "api": 9}
PUBLIC = {"stddef.h", "stdint.h", "stdbool.h"}
MACROS_ONLY = re.compile(r"[/_]layout\.h$|_macros\.h$|\.def$")
MAX_LINES = 800
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)


def includes(path):
    """(line number, quote, name) of each include of a file."""
    text = path.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start()) + 1, m.group(1), m.group(2))
            for m in INCLUDE.finditer(text)]


def check_include(root, path, layer, name):
    """What is wrong with including the project header NAME, or None."""
    if ".." in Path(name).parts:
        return f'"{name}" climbs; write "directory/file"'
    if name.endswith(".c"):
        return f'"{name}" is a .c file'
    target = name.split("/")[0]
    if target == "slub" and (root / "include" / name).is_file():
        return None
    if "/" not in name or target not in RANK:
        return f'"{name}" names no layer; write "directory/file"'
    if not (root / "src" / name).is_file():
        return f'"{name}" does not exist under src/'
    if target != layer and RANK[target] >= RANK[layer]:
        return f'{layer} (rank {RANK[layer]}) must not include {target} (rank {RANK[target]})'
    if path.suffix == ".S" and not MACROS_ONLY.search(name):
        return f'assembly may include only macro-only files, not "{name}"'
    return None


def check_source(root, path):
    inner = path.relative_to(root / "src")
    layer = inner.parts[0]
    if len(inner.parts) == 1 or layer not in RANK:
        return [(1, f"{inner.parent} is no known layer")]
    problems = []
    found = includes(path)
    for line, quote, name in found:
        problem = check_include(root, path, layer, name) if quote == '"' else None
        if problem:
            problems.append((line, problem))
    own = path.with_suffix(".h")
    if path.suffix == ".c" and own.is_file():
        wanted = own.relative_to(root / "src").as_posix()
        if not found or found[0][2] != wanted:
            problems.append((found[0][0] if found else 1, f'the first include must be "{wanted}"'))
    return problems


def check_public(path):
    return [(line, f"a public header must not include {name}")
            for line, quote, name in includes(path)
            if quote == '"' or (name not in PUBLIC and not name.startswith("slub/"))]


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(argv[1]).resolve()
    sources = sorted(p for p in (root / "src").rglob("*") if p.suffix in (".c", ".h", ".S", ".def"))
    headers = sorted((root / "include" / "slub").glob("*.h*"))
    if not sources or not headers:
        print(f"check_layers.py: nothing to check under {root}", file=sys.stderr)
        return 2
    failed = 0
    for path in sources + headers:
        problems = check_source(root, path) if path in sources else check_public(path)
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MAX_LINES:
            problems.append((lines, f"{lines} lines; the limit is {MAX_LINES}"))
        for line, problem in problems:
            print(f"{path.relative_to(root)}:{line}: {problem}")
        failed += len(problems)
    print(f"{len(sources) + len(headers)} files, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
