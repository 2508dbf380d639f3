#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the known-failure programs under several malloc libraries and print who passes what.

usage: peers.py BIN_DIR [--full] [--case kfNN]... [NAME=LIBRARY]...

BIN_DIR is where the programs were built. Without NAME=LIBRARY the system's malloc and the packaged peers that
are installed are taken. The table on stdout is Markdown; what each program measured goes to stderr as it comes.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

PEERS = {
    "jemalloc": "libjemalloc.so.2",
    "mimalloc": "libmimalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
}
# Either build one library each, or judge one particular library.
NOT_FOR_PEERS = {"kf09_static", "kf38_static"}
WORDS = {0: "pass", 1: "FAIL", 77: "skip"}


def installed(name):
    """Path of a library that the loader knows, or None."""
    cache = subprocess.run(["/sbin/ldconfig", "-p"], text=True, capture_output=True).stdout
    found = re.search(rf"^\s*{re.escape(name)} .*=> (\S+)$", cache, re.M)
    return found.group(1) if found else None


def allocators(given):
    if given:
        return dict(pair.split("=", 1) for pair in given)
    found = {name: installed(lib) for name, lib in PEERS.items()}
    return {"system": "", **{name: path for name, path in found.items() if path}}


def run(program, library, full):
    env = dict(os.environ)
    env.pop("LD_PRELOAD", None)
    if library:
        env["SLUB_TEST_LIB"] = library
        if not os.path.basename(program).startswith("kf30_static_tls"):
            env["LD_PRELOAD"] = library
    try:
        done = subprocess.run([program] + (["full"] if full else []), env=env, text=True,
                              capture_output=True, timeout=1800 if full else 300, errors="replace")
    except subprocess.TimeoutExpired:
        return "LATE", "", ""
    word = WORDS.get(done.returncode, f"exit {done.returncode}" if done.returncode > 0
                     else f"signal {-done.returncode}")
    return word, done.stdout.strip(), done.stderr.strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("allocator", nargs="*", metavar="NAME=LIBRARY")
    args = parser.parse_args()

    libraries = allocators(args.allocator)
    programs = sorted(p for p in glob.glob(f"{args.bin_dir}/kf*")
                      if os.access(p, os.X_OK) and not p.endswith(".so")
                      and os.path.basename(p) not in NOT_FOR_PEERS)
    if args.case:
        programs = [p for p in programs if re.match(r"kfk?\d+", os.path.basename(p)).group() in args.case]
    if not programs:
        sys.exit(f"peers.py: no programs of the cases in {args.bin_dir}")

    rows = []
    for program in programs:
        case = os.path.basename(program)
        words = []
        for name, library in libraries.items():
            word, out, err = run(program, library, args.full)
            words.append(word)
            print(f"{name}: {word}: {out or case}", file=sys.stderr, flush=True)
            if word != "pass" and err:
                print("    " + "\n    ".join(err.splitlines()[:12]), file=sys.stderr, flush=True)
        rows.append(f"| {case} | " + " | ".join(words) + " |")
    print("| case | " + " | ".join(libraries) + " |")
    print("|---|" + "---|" * len(libraries))
    print("\n".join(rows))
    return 0


sys.exit(main())
