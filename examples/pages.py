#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles and runs the programs that the README and the manual pages show.

usage: pages.py COMPILER ROOT LIBRARY INCLUDE_DIRECTORY...
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ESCAPES = {"\\-": "-", "\\(aq": "'", "\\e": "\\", "\\&": ""}


def of_page(text):
    for block in re.findall(r"^\.EX\n(.*?)^\.EE$", text, flags=re.M | re.S):
        yield re.sub(r"\\(?:-|\(aq|e|&)", lambda m: ESCAPES[m.group()], block)


def of_readme(text):
    yield from re.findall(r"^```c\n(.*?)^```$", text, flags=re.M | re.S)


def programs(root):
    """(name, source) of every shown text that is a whole program."""
    shown = [("README.md", of_readme)] + [(f"docs/man/{p.name}", of_page)
                                          for p in sorted((root / "docs/man").glob("*.[37]"))]
    for name, texts in shown:
        for i, source in enumerate(texts((root / name).read_text(encoding="utf-8"))):
            if "int main(" in source:
                yield f"{name}, program {i + 1}", source


def failure(source, compiler, library, includes, folder):
    """What is wrong with a program, or None."""
    program = folder / "program"
    flags = ["-std=c17", "-Wall", "-Wextra", "-Werror", *(f"-I{i}" for i in includes)]
    done = subprocess.run([compiler, *flags, "-x", "c", "-", "-x", "none", library, "-o", program], input=source,
                          text=True, capture_output=True, check=False)
    if done.returncode != 0:
        return done.stderr
    env = dict(os.environ, LD_LIBRARY_PATH=str(Path(library).parent))
    done = subprocess.run([program], env=env, text=True, capture_output=True, timeout=60, check=False)
    return None if done.returncode == 0 else f"ended with {done.returncode}: {done.stderr}"


def main(argv):
    compiler, root, library, *includes = argv[1:]
    n_programs = n_failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, source in programs(Path(root)):
            n_programs += 1
            wrong = failure(source, compiler, library, includes, Path(folder))
            if wrong:
                n_failed += 1
                print(f"{name}: {wrong}")
    print(f"{n_programs} programs, {n_failed} failed")
    return 1 if n_failed or not n_programs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
