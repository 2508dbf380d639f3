#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Walks the fast path of exported functions in a shared library and judges it.

usage: count_fastpath.py [--objdump PROGRAM] [--show] LIBRARY SYMBOL=LIMIT...

The fast path is what runs when no conditional jump is taken: from the entry to the first ret,
through unconditional jumps. It must contain no call, no locked or exchanging instruction and no
indirect jump, and it must be at most LIMIT instructions long, the jump of the PLT stub included.
"""
import argparse
import re
import subprocess
import sys

PLT_INSTRUCTIONS = 1    # jmp *malloc@GOT; with -z now there is nothing else on the way
LONGEST_WALK = 500
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
PREFIX = re.compile(r"^(?:(?:notrack|bnd|repz|rep|data16|cs|ds|es|ss|fs|gs|rex\S*)\s+)*")


class Broken(Exception):
    """A rule that the fast path breaks."""


def disassemble(objdump, library):
    """({address: instruction text}, {address: next address}) of all code in LIBRARY."""
    done = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], check=True,
                          stdout=subprocess.PIPE, text=True)
    code = {}
    for line in done.stdout.splitlines():
        match = LINE.match(line)
        if match:
            code[int(match.group(1), 16)] = match.group(2).split("#")[0].strip()
    order = sorted(code)
    return code, dict(zip(order, order[1:]))


def dynamic_symbols(objdump, library):
    """{name: address} of what the library defines for others."""
    done = subprocess.run([objdump, "-T", library], check=True, stdout=subprocess.PIPE, text=True)
    symbols = {}
    for line in done.stdout.splitlines():
        fields = line.split()
        if len(fields) >= 6 and "*UND*" not in fields and re.fullmatch("[0-9a-f]+", fields[0]):
            symbols[fields[-1]] = int(fields[0], 16)
    return symbols


def judge(text):
    """Raises Broken when an instruction has no place on the fast path."""
    plain = PREFIX.sub("", text)
    name = plain.split()[0]
    if name.startswith("call") or name in ("syscall", "sysenter", "int"):
        raise Broken(f"leaves by a call: {text}")
    if name == "lock" or re.search(r"\block\b", text):
        raise Broken(f"takes the bus: {text}")
    if name.startswith(("cmpxchg", "xadd", "mfence", "sfence", "lfence")):
        raise Broken(f"atomic: {text}")
    # xchg with memory locks by itself; between registers it is a plain move (and a wide nop).
    if name.startswith("xchg") and re.search(r"[(:]", plain):
        raise Broken(f"atomic: {text}")
    if name.startswith("jmp") and "*" in plain:
        raise Broken(f"jumps to where nobody can see: {text}")
    if name in ("ud2", "hlt", "int3", "(bad)"):
        raise Broken(f"ends in a trap: {text}")


def walk(code, following, entry):
    """The instructions from ENTRY to the first ret along the fall-through path."""
    path = []
    at = entry
    while len(path) < LONGEST_WALK:
        text = code.get(at)
        if text is None:
            raise Broken(f"runs out of the code at 0x{at:x}")
        judge(text)
        path.append((at, text))
        name = PREFIX.sub("", text).split()[0]
        if name.startswith("ret"):
            return path
        if name.startswith("jmp"):
            at = int(PREFIX.sub("", text).split()[1], 16)
        else:
            at = following.get(at)
    raise Broken(f"has no ret within {LONGEST_WALK} instructions")


def check(library, name, limit, code, following, symbols, show):
    """One line on one function; True when it keeps the rules."""
    if name not in symbols:
        print(f"FAIL {name}: {library} does not define it")
        return False
    try:
        path = walk(code, following, symbols[name])
    except Broken as broken:
        print(f"FAIL {name}: the fast path {broken}")
        return False
    length = len(path) + PLT_INSTRUCTIONS
    if show:
        for at, text in path:
            print(f"    {at:8x}  {text}")
    good = length <= limit
    print(f"{'ok  ' if good else 'FAIL'} {name}: {length} instructions with the PLT jump,"
          f" limit {limit}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--show", action="store_true", help="print the path")
    parser.add_argument("library")
    parser.add_argument("limits", nargs="+", metavar="SYMBOL=LIMIT")
    arguments = parser.parse_args()
    code, following = disassemble(arguments.objdump, arguments.library)
    symbols = dynamic_symbols(arguments.objdump, arguments.library)
    good = True
    for item in arguments.limits:
        name, limit = item.split("=")
        good &= check(arguments.library, name, int(limit), code, following, symbols,
                      arguments.show)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
