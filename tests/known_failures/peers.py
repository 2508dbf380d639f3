#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the known-failure programs under several malloc libraries and print who passes what.

usage: peers.py BIN_DIR [--full] [--case kfNN]... [NAME=LIBRARY]...

BIN_DIR is where the programs were built. Without NAME=LIBRARY the system's malloc and the packaged peers that
are installed are taken. The table on stdout is Markdown; what each program measured follows it.
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
    for directory in ("/usr/lib", "/usr/local/lib"):
        for path in sorted(glob.glob(f"{directory}/**/{name}", recursive=True)):
            return path
    return None


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

    details = []
    print("| case | " + " | ".join(libraries) + " |")
    print("|---|" + "---|" * len(libraries))
    for program in programs:
        words = []
        for name, library in libraries.items():
            word, out, err = run(program, library, args.full)
            words.append(word)
            details.append((name, word, out, err))
        print(f"| {os.path.basename(program)} | " + " | ".join(words) + " |", flush=True)
    for name, word, out, err in details:
        print(f"\n{name}: {word}: {out}")
        if word != "pass" and err:
            print("    " + "\n    ".join(err.splitlines()[:12]))
    return 0


sys.exit(main())
