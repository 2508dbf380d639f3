#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The workloads of `slub bench` that are programs of ours: each does its work and prints what it is measured by.

environment: SLUB_COMMAND, SLUB_LOAD (slub-bench-load), SLUB_MALLOC_DIR ("" where there is no drop-in malloc)
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SLUB = os.environ["SLUB_COMMAND"]
LOAD = os.environ["SLUB_LOAD"]
SMALL = {
    "hackbench": ["-g", "1", "-f", "4", "-l", "5"],
    "fork": ["-n", "2", "-l", "64"],
    "fork-mem": ["-n", "2", "-l", "64", "-c", "64"],
    "malloc1": ["-m", "10", "-s", "1000000"],
    "malloc2": ["-m", "10"],
    "xmalloc": ["-m", "10"],
    "larson": ["-m", "10", "-r", "100"],
    "tcp_rr": ["-c", "4", "-n", "20"],
    "udp_rr": ["-c", "4", "-n", "20"],
    "tcp_stream": ["-c", "2", "-m", "10"],
}


def run(*words, status=0):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False,
                          env=dict(os.environ, XDG_STATE_HOME=tempfile.gettempdir()))
    if done.returncode != status:
        raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Loads(unittest.TestCase):
    def test_all_are_known(self):
        listed = {line.split()[0] for line in run(SLUB, "bench", "--list").splitlines()}
        self.assertEqual(listed - {"slab_test", "known_failures", "programs"}, set(SMALL))

    def test_help(self):
        for name in SMALL:
            text = run(SLUB, "bench", name, "--help")
            self.assertIn("Stresses: ", text)
            self.assertIn("Does not show: ", text)
            self.assertIn("usage: ", run(LOAD, name, "--help"))
        self.assertIn("bad option", run(LOAD, "fork", "--nonsense", status=2))
        self.assertIn("is a number from", run(LOAD, "fork", "-n", "0", status=2))
        self.assertIn("unexpected argument", run(LOAD, "fork", "1", status=2))
        self.assertIn("usage: ", run(LOAD, "nonsense", status=2))

    def test_hackbench_forms(self):
        for form in [[], ["-p"], ["-T"], ["-P"], ["-P", "-p"]]:
            text = run(LOAD, "hackbench", *SMALL["hackbench"], *form)
            mode = "process" if "-P" in form else "threaded"
            self.assertIn(f"Running in {mode} mode with 1 groups using 8 file descriptors each (== 8 tasks)\n"
                          "Each sender will pass 5 messages of 100 bytes\n", text)
            self.assertRegex(text, r"\nTime: \d+\.\d{6}\n$")

    def test_real_hackbench(self):
        if shutil.which("hackbench"):
            self.assertRegex(run(LOAD, "hackbench", "--real", "-g", "1", "-f", "2", "-l", "2"), r"Time: \d+\.\d+")
        else:
            self.assertEqual(run(LOAD, "hackbench", "--real", status=77),
                             "hackbench is not installed: install rt-tests\n")
            self.assertIn("hackbench skipped: hackbench is not installed",
                          run(SLUB, "compare", "--a", "system", "--b", "system", "hackbench", "--real"))

    def test_forms(self):
        for words in [["malloc2", "-m", "5", "-P", "-t", "3"], ["xmalloc", "-m", "5", "-t", "1"],
                      ["tcp_rr", "-c", "2", "-n", "10", "--roles"], ["udp_rr", "-c", "2", "-n", "10", "--roles"]]:
            self.assertGreater(float(re.search(r"^rate ([0-9.]+)$", run(LOAD, *words), re.M).group(1)), 0, words)
        text = run(LOAD, "tcp_rr", *SMALL["tcp_rr"])
        points = [float(re.search(rf"^{re.escape(p)} ([0-9.]+)$", text, re.M).group(1))
                  for p in ("p50", "p90", "p99", "p99.9", "max")]
        self.assertEqual(points, sorted(points))

    @unittest.skipUnless(os.environ.get("SLUB_MALLOC_DIR"), "no drop-in malloc in this build")
    def test_measured(self):
        for name, words in SMALL.items():
            text = run(SLUB, "bench", name, "--runs", "1", "--fixed", "--style", "csv", "--journal", "none",
                       "--alloc", "system", "--alloc", "slub", "--", *words)
            rows = list(csv.DictReader(io.StringIO(text)))
            self.assertGreaterEqual(len(rows), 2, text)
            for row in rows:
                self.assertGreater(float(row["a_median"]), 0, row)
                self.assertGreater(float(row["b_median"]), 0, row)

    def test_list(self):
        with tempfile.TemporaryDirectory() as path:
            file = Path(path) / "run.json"
            words = ["--runs", "2", "--fixed", "--journal", "none", "--a", "system", "--b", "system"]
            text = run(SLUB, "compare", *words, "--json", str(file), "malloc2,larson")
            self.assertIn("comparison of several workloads", text)
            for name in ("malloc2", "larson"):
                self.assertRegex(text, rf"\nplan, {name}: noise of rate")
                self.assertRegex(text, rf"\n{name}\nmedian +system +system#2 ")
                self.assertIn(f"\n{name}: 2 runs of each side", text)
            stored = json.loads(file.read_text())
            self.assertEqual([r["of"] for r in stored["config"]["runs"]], ["malloc2", "larson"])
            self.assertEqual({(r["group"], r["name"]) for r in stored["summary"]},
                             {("malloc2", "rate"), ("malloc2", "cost"), ("malloc2", "rss"),
                              ("larson", "rate"), ("larson", "rss")})
            self.assertIn("larson, system#2", run(SLUB, "compare", str(file), str(file), "--style", "csv"))
            self.assertIn("need one workload", run(SLUB, "compare", "malloc2,larson", "-t", "1", status=2))
            self.assertIn("unknown benchmark 'none'", run(SLUB, "compare", "malloc2,none", status=2))
            # A share of no time at all: nothing is measured, and that is said.
            text = run(SLUB, "compare", "--time", "1", "--journal", "none", "--a", "system", "--b", "system", "malloc2")
            self.assertIn("--time is over", text)

    @unittest.skipUnless(os.environ.get("SLUB_MALLOC_DIR"), "no drop-in malloc in this build")
    def test_several_sides_and_variants(self):
        with tempfile.TemporaryDirectory() as path:
            file = Path(path) / "run.json"
            text = run(SLUB, "bench", "malloc2", "--runs", "24", "--fixed", "--json", str(file), "--journal", "none",
                       "--alloc", "system", "--alloc", "slub", "--alloc", "slub:slab_stats=0", "--", "-m", "1")
            self.assertIn("(C) slub#2", text)
            stored = json.loads(file.read_text())
            self.assertEqual(stored["command"][:3], ["slub", "bench", "malloc2"])
            self.assertEqual({s["variant"] for s in stored["results"] if s["side"] == "slub"}, {0, 1, 2, 3})
            by_block = {}
            for s in stored["results"]:
                if s["side"] != "(pilot)":
                    by_block.setdefault(s["block"], set()).add(s["variant"])
            self.assertTrue(all(len(variants) == 1 for variants in by_block.values()))
            self.assertEqual({(r["group"], r["name"]) for r in stored["summary"]},
                             {(side, metric) for side in ("slub", "slub#2") for metric in ("rate", "cost", "rss")})
            self.assertIn("malloc2, slub#2", run(SLUB, "compare", str(file), str(file)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
