#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the entry points of an aarch64 library, whole functions and not only their fast paths.

usage: check_fastpath.py [--objdump PROGRAM] LIBRARY SYMBOL=LIMIT...

None of their instructions may be a call, an indirect jump other than ret, an exclusive or atomic access,
a barrier, or touch the stack; and from the entry to the first ret at most LIMIT instructions lie. A section begins
behind the store of its descriptor, and there, not before, it reads where number and area are (src/region/layout.h).
"""
import argparse
import re
import subprocess
import sys

LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
ARMED = re.compile(r"^str\s+x6, \[x7, x8\]$")
FIRST_IN_SECTION = re.compile(r"^ldp\s+x9, x4, \[x10, #32\]$")
# Abort handlers have no symbol; they begin with this, behind the last function.
SIGNATURE = re.compile(r"^brk\s+#0x45e0$")
FORBIDDEN = re.compile(r"^(?:bl\w*|br\w*|svc|d[ms]b|isb|ld(?:ax|x|ar|apr)\w*|st(?:lx|x|lr)\w*|cas\w*|swp\w*"
                       r"|(?:ld|st)(?:add|clr|eor|set|[su]max|[su]min)\w*)$")


def functions(objdump, library):
    """{address: [instruction text, …] of the function that begins there}."""
    done = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], check=True,
                          stdout=subprocess.PIPE, text=True)
    found = {}
    for line in done.stdout.splitlines():
        if re.match(r"^[0-9a-f]+ <", line):
            body = found.setdefault(int(line.split()[0], 16), [])
        else:
            match = LINE.match(line)
            if match:
                text = match.group(2).split("//")[0].strip()
                if SIGNATURE.match(text):
                    body = []
                body.append(text)
    return found


def dynamic_symbols(objdump, library):
    done = subprocess.run([objdump, "-T", library], check=True, stdout=subprocess.PIPE, text=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return {r[-1]: int(r[0], 16) for r in rows
            if len(r) >= 6 and "*UND*" not in r and re.fullmatch("[0-9a-f]+", r[0])}


def fault_of(body, limit):
    """Why a function breaks the rules; None when it keeps them. Its length to ret otherwise."""
    for text in body:
        if FORBIDDEN.match(text.split()[0]) or re.search(r"\bsp\b", text):
            return f"has {text!r}", 0
    armed = [i for i, text in enumerate(body) if ARMED.match(text)]
    if not armed:
        return "arms no section", 0
    for i in armed:
        if not FIRST_IN_SECTION.match(body[i + 1]):
            return f"begins a section with {body[i + 1]!r}", 0
    if "ret" not in body:
        return "has no ret", 0
    length = body.index("ret") + 1
    return (f"takes {length} instructions, limit {limit}" if length > limit else None), length


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objdump", default="aarch64-linux-gnu-objdump")
    parser.add_argument("library")
    parser.add_argument("limits", nargs="+", metavar="SYMBOL=LIMIT")
    arguments = parser.parse_args()
    bodies = functions(arguments.objdump, arguments.library)
    symbols = dynamic_symbols(arguments.objdump, arguments.library)
    good = True
    for item in arguments.limits:
        name, limit = item.split("=")
        fault, length = fault_of(bodies.get(symbols.get(name), []), int(limit))
        good &= fault is None
        print(f"FAIL {name}: {fault}" if fault else f"ok   {name}: {length} instructions")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
