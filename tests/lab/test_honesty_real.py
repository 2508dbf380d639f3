#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often `slub compare` is right on this machine: two copies of one allocator, and one that is 3 % slower.

For a quiet machine and an hour: on a busy one the verdict is "cannot tell yet", which counts as not found.

usage: test_honesty_real.py COMPARISONS LIBRARY COPY SLOWER
environment: SLUB_COMMAND
"""
import csv
import io
import os
import subprocess
import sys

SLUB = os.environ["SLUB_COMMAND"]


def compare(a, b, seed):
    """The verdict of one comparison, by CPU time of a fixed piece of work."""
    words = [SLUB, "compare", "--a", f"a={a}", "--b", f"b={b}", "--seed", str(seed), "--journal", "none", "--cpus", "0",
             "--runs", "400", "--style", "csv", "--metric", "cost,ns=^cost ([0-9.]+)",
             "malloc2", "--tasks", "1", "--ms", "20"]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    return next(csv.DictReader(io.StringIO(run.stdout)))["verdict"]


def main(argv):
    n = int(argv[1])
    library, copy, slower = argv[2:5]
    equal = [compare(library, copy, seed) for seed in range(n)]
    planted = [compare(library, slower, seed) for seed in range(n)]
    for name, verdicts in (("equal", equal), ("planted 3 %", planted)):
        for verdict in sorted(set(verdicts)):
            print(f"{name}: {verdicts.count(verdict)} x {verdict}")
    n_same = sum(v.startswith("no difference") for v in equal)
    n_found = sum(v.startswith("slower") for v in planted)
    print(f"{n_same} of {n} equal ones are the same, {n_found} of {n} planted ones are found")
    return 0 if n_same >= n * 48 // 50 and n_found >= n * 45 // 50 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
