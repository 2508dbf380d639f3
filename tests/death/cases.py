#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run every case of misuse under a slub malloc and hold what happens against the table.

usage: cases.py --program MISUSE --lib LIBRARY [--full] [--fast] [--case NAME]

With --fast LIBRARY has no state bytes: what it must report is large blocks, and strangers it must leave alone.

A report must be the very first thing on stderr, in the fixed form, and end the process by SIGABRT:
    slub: BUG <kind>: <call>(0x<addr>) cache=<name> size=<bytes> tid=<tid>
"""
import argparse
import os
import re
import signal
import subprocess
import sys

REPORT = re.compile(r"slub: BUG ([a-z-]+): ([a-z_ ]+(?:\[\])?)\(0x([0-9a-f]+)\) "
                    r"cache=(\S+) size=(\d+) tid=(\d+)")

CLASSES = [8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 288, 320, 384, 448, 512, 576, 640, 768,
           896, 1024, 1152, 1280, 1536, 1792, 2048, 2304, 2560, 3072, 3584, 4096, 4608, 5120, 6144, 7168, 8192,
           9216, 10240, 12288, 14336, 16384, 18432, 20480, 24576, 28672, 32768]
GUARDED = [32 << 20, (33 << 20) + 70_000]  # from the default of slab_large_guard_bytes on
LARGE = [40 * 1024, 65536, 100_000, 262_144, 1 << 20]
# The short form takes some of every kind; the full one all.
SOME = [8, 24, 64, 500, 1024, 5000, 16384, 32768, 40 * 1024, 262_144, 1 << 20]
FEW = [64, 3000, 100_000]

TWICE, INSIDE, NEVER = {"double-free"}, {"interior-free"}, {"invalid-free", "double-free"}
DOES_NOT_APPLY, REUSED, NO_SUCH_CALL, NO_GUARDS = 13, 12, 15, 16


def sizes_of(name, full):
    if name == "in-handler":
        return [24, 200, 3000, 100_000]
    if name.startswith("past-"):
        return GUARDED
    everything = CLASSES + LARGE if full else SOME
    if name in ("twice", "plus-1", "plus-8", "plus-half", "never-allocated"):
        return CLASSES + LARGE if full or name == "twice" else SOME
    if name in ("stack", "data", "fake-chunk", "address-1", "non-canonical", "usable-stranger", "impossible"):
        return [64]
    return everything if full else FEW


# name: (what must happen, kinds of report). "report": abort with one; "silent": exit 0 and no word; "either":
# one of the two; "fault": the guard's SIGSEGV.
CASES = {
    "twice": ("report", TWICE),                    # F1
    "after-other-sizes": ("report", TWICE),        # F2
    "after-pairs": ("report", TWICE),              # F3
    "after-live-ones": ("report", TWICE),          # F3b
    "a-b-a": ("report", TWICE),                    # F4
    "other-thread": ("report", TWICE),             # F5
    "at-once": ("either", TWICE),                  # F6
    "plus-1": ("report", INSIDE),                  # F7
    "plus-8": ("report", INSIDE),
    "plus-16": ("report", INSIDE),
    "plus-half": ("report", INSIDE),
    "plus-page": ("report", INSIDE),
    "aligned-plus-16": ("report", INSIDE),         # F12
    "aligned-plus-page": ("report", INSIDE),
    "stack": ("silent", None),                     # F8
    "alloca": ("silent", None),
    "data": ("silent", None),
    "fake-chunk": ("silent", None),
    "mapping": ("silent", None),
    "address-1": ("silent", None),
    "non-canonical": ("silent", None),
    "plus-gib": ("either", NEVER | INSIDE),
    "minus-gib": ("either", NEVER | INSIDE),
    "given-back": ("report", NEVER | INSIDE),
    "never-allocated": ("report", NEVER),          # F9
    "realloc-freed": ("report", TWICE),            # F10
    "realloc-inside": ("report", INSIDE),
    "realloc-stranger": ("silent", None),
    "realloc-to-zero-freed": ("report", TWICE),
    "reallocarray-freed": ("report", TWICE),
    "usable-freed": ("report", TWICE),             # F11
    "usable-inside": ("report", INSIDE),
    "usable-stranger": ("silent", None),
    "aligned-twice": ("report", TWICE),            # F12
    "aligned-alloc-twice": ("report", TWICE),
    "sized-less": ("silent", None),                # F13
    "sized-more": ("silent", None),
    "aligned-sized-wrong": ("silent", None),
    "delete-less": ("silent", None),
    "delete-more": ("silent", None),
    "delete-array-more": ("silent", None),
    "sized-twice": ("report", TWICE),
    "delete-twice": ("report", TWICE),
    "past-write": ("fault", None),                 # O5
    "past-read": ("fault", None),
    "past-aligned": ("fault", None),
    "past-grown": ("fault", None),
    "past-moved": ("fault", None),
    "past-shrunk": ("fault", None),
    "past-in-child": ("fault", None),
    "past-reused": ("silent", None),
    "in-handler": ("silent", None),                # F15
    "keeps-errno": ("silent", None),               # F16
    "impossible": ("silent", None),                # O9
}


def judge_report(done, kinds):
    """What is wrong with a report, or None."""
    if done.returncode != -signal.SIGABRT:
        return f"ended with {done.returncode}, not by SIGABRT; stderr: {done.stderr[:200]!r}"
    lines = done.stderr.split("\n")
    found = REPORT.fullmatch(lines[0])
    if found is None:
        return f"first line is {lines[0]!r}"
    kind, call, address, cache, size, tid = found.groups()
    expects = [line.split(" ") for line in done.stdout.splitlines() if line.startswith("expect ")]
    if not expects:
        return "the program did not come to its wrong call"
    *call_words, at, by, usable = expects[-1][1:]
    calls = " ".join(call_words).split("|")
    if kind not in kinds:
        return f"kind {kind}, not one of {sorted(kinds)}"
    if calls == ["any"]:
        return None
    if call not in calls:
        return f"call {call}, not {calls}"
    if int(address, 16) != int(at, 16):
        return f"address 0x{address}, not {at}"
    if tid != by:
        return f"tid {tid}, not {by}"
    if not re.fullmatch(r"large|kmalloc-[0-9]+k?", cache):
        return f"cache {cache}"
    if kind == "double-free" and cache != "large" and usable != "0" and size != usable:
        return f"size {size}, not {usable}"
    return None


def judge(done, what, kinds):
    if done.returncode in (DOES_NOT_APPLY, REUSED, NO_GUARDS):
        return None
    if done.returncode == NO_SUCH_CALL:
        return "the library lacks the call"
    is_silent = done.returncode == 0 and done.stderr == ""
    if what == "silent" or (what == "either" and is_silent):
        return None if is_silent else f"ended with {done.returncode}, said {done.stderr[:200]!r}"
    if what == "fault":
        return None if done.returncode == -signal.SIGSEGV and done.stderr == "" else \
            f"ended with {done.returncode}, not by SIGSEGV; {done.stderr[:200]!r}"
    return judge_report(done, kinds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--case", action="append")
    args = parser.parse_args()

    known = subprocess.run([args.program, "--list"], text=True, capture_output=True, check=True).stdout.split()
    if sorted(known) != sorted(CASES):
        sys.exit(f"cases.py: the table and the program differ: {sorted(set(known) ^ set(CASES))}")
    env = dict(os.environ, LD_PRELOAD=args.lib)
    n_runs = n_passed = n_idle = 0
    for name in args.case or CASES:
        what, kinds = CASES[name]
        n_applied = 0
        sizes = sizes_of(name, args.full)
        if args.fast and what == "fault":
            continue  # no guards there
        if args.fast and what != "silent":
            sizes = [size for size in sizes if size > CLASSES[-1]]
        has_guards = True
        for size in sizes:
            try:
                done = subprocess.run([args.program, name, str(size)], env=env, text=True, capture_output=True,
                                      timeout=20, errors="replace")
                wrong = judge(done, what, kinds)
                n_applied += done.returncode not in (DOES_NOT_APPLY, REUSED, NO_GUARDS)
                has_guards = has_guards and done.returncode != NO_GUARDS
            except subprocess.TimeoutExpired:
                wrong = "hangs"
            n_runs += 1
            n_passed += wrong is None
            if wrong is not None:
                print(f"death: FAILED: {name}, {size} bytes: {wrong}", file=sys.stderr)
        if not has_guards:
            print(f"death: skipped: {name}: this system has no guard regions (Linux 6.13)")
        elif n_applied == 0 and name != "after-live-ones" and not args.fast:
            n_idle += 1
            print(f"death: FAILED: {name} applied to no size", file=sys.stderr)
    print(f"death: {n_passed} of {n_runs} runs of {len(args.case or CASES)} cases as the table says")
    return 0 if n_passed == n_runs and n_idle == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
