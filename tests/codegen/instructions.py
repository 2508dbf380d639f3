#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of malloc and free of several allocators side by side, the jump of the PLT included.

usage: instructions.py BUILD NAME=LIBRARY...

Writes an object of schema slub-rows/1 to stdout, for bench/results. slub is read from its code by count_fastpath.py;
the others, and the libc's own, are single-stepped by step_count (docs/benchmarking.md says why)."""
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

SIZES = (16, 64, 256, 1024)
HERE = Path(__file__).parent


def stepped(build, library):
    """{size: (malloc, free)} of a library, the least of 64 calls each."""
    counts = {}
    for size in SIZES:
        done = subprocess.run([build / "tests/bin/step_count", str(size), *([library] if library else [])],
                              check=True, stdout=subprocess.PIPE, text=True)
        words = done.stdout.split()
        counts[size] = (int(words[1]), int(words[3]))
    return counts


def read(build, library):
    """The same of one of ours: one path for all sizes up to 1 KiB."""
    done = subprocess.run([sys.executable, HERE / "count_fastpath.py", build / "lib" / library, "malloc=99", "free=99"],
                          check=True, stdout=subprocess.PIPE, text=True)
    counts = [int(n) for n in re.findall(r": (\d+) instructions", done.stdout)]
    return dict.fromkeys(SIZES, (counts[0], counts[1]))


def main():
    if len(sys.argv) < 2 or not all("=" in word for word in sys.argv[2:]):
        sys.exit(__doc__)
    build = Path(sys.argv[1])
    found = {"system": stepped(build, None)}
    for word in sys.argv[2:]:
        name, library = word.split("=", 1)
        found[name] = stepped(build, library)
    found["slub"] = read(build, "libslub-malloc.so")
    found["slub-fast"] = read(build, "libslub-malloc-fast.so")
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    print(json.dumps({
        "schema": "slub-rows/1",
        "command": ["tests/codegen/instructions.py", *sys.argv[1:]],
        "machine": {"cpu": names[0] if names else "?", "cpus": os.cpu_count(),
                    "kernel": platform.release(), "libc": " ".join(platform.libc_ver())},
        "columns": ["instructions", *found],
        "rows": [[f"{call}, {size} bytes", *(found[n][size][i] for n in found)]
                 for i, call in enumerate(("malloc", "free")) for size in SIZES],
    }, indent=1))


if __name__ == "__main__":
    main()
