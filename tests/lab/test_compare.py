#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`slub compare` as its users see it. No clock decides: what is compared are numbers that programs print.

environment: SLUB_COMMAND, SLUB_STATIC_PROGRAM, SLUB_MALLOC_DIR ("" where there is no drop-in malloc)
"""
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SLUB = os.environ["SLUB_COMMAND"]
STATIC = os.environ.get("SLUB_STATIC_PROGRAM", "")
HAS_MALLOC = bool(os.environ.get("SLUB_MALLOC_DIR"))

# Prints the next of a series that looks like noise of 1 %, times a factor in per mille; counts its calls.
PROGRAM = r"""#!/bin/sh
dir=$1
factor=$2
n=$(cat "$dir/calls" 2>/dev/null || echo 0)
n=$((n + 1))
echo $n >"$dir/calls"
x=$(((n * 7919 + n * n * 31) % 2000))
echo "value: $(((99000 + x) * factor / 1000))"
"""
METRIC = ["--metric", "value,points=value: ([0-9]+)"]


class Compare(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory(prefix="slub-compare.")
        self.addCleanup(self.dir.cleanup)
        self.path = Path(self.dir.name)
        self.program = self.path / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.environ = dict(os.environ, XDG_STATE_HOME=str(self.path / "state"))

    def slub(self, *words, status=0):
        run = subprocess.run([SLUB, "compare", *words], env=self.environ, capture_output=True, text=True,
                             timeout=240, check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        if status != 0:
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertTrue(run.stderr.startswith("slub compare: "), run.stderr)
        return run.stdout if status == 0 else run.stderr

    def commands(self, factor, delay=""):
        """Sides that print noise around 100000, and that times FACTOR per mille."""
        return ["--a-cmd", f"{delay} {self.program} {self.path} 1000",
                "--b-cmd", f"{delay} {self.program} {self.path} {factor}"]

    def calls(self):
        return int((self.path / "calls").read_text())

    def test_equal_sides(self):
        out = self.slub(*METRIC, "--runs", "60", *self.commands(1000))
        self.assertIn("no difference above ", out)
        self.assertIn("the interval is narrow enough", out)
        self.assertRegex(out, r"plan: noise of value [0-9.]+ %")
        self.assertRegex(out, r"Control, A against A: value [+-]")

    def test_three_per_cent(self):
        self.assertRegex(self.slub(*METRIC, *self.commands(1030)), r"  more by [23](\.\d)? % \(")
        self.assertRegex(self.slub("--metric", "value,more=value: ([0-9]+)", *self.commands(1030)),
                         r"  higher by [23](\.\d)? % \(")

    def test_too_few_runs(self):
        self.assertIn("cannot tell yet (needs about 10 runs)",
                      self.slub(*METRIC, "--runs", "3", *self.commands(1100)))

    def test_json(self):
        file = self.path / "run.json"
        self.slub(*METRIC, "--runs", "12", "--fixed", "--json", str(file), *self.commands(1030))
        run = json.loads(file.read_text())
        self.assertEqual(run["schema"], "slub-bench/1")
        self.assertEqual(run["benchmark"], "compare")
        self.assertEqual(run["command"][:2], ["slub", "compare"])
        self.assertEqual([r["blocks"] for r in run["config"]["runs"]], [12])
        by_side = {}
        for sample in run["results"]:
            by_side.setdefault(sample["side"], []).append(sample)
        self.assertEqual({side: len(samples) for side, samples in by_side.items()},
                         {"A": 12, "B": 12, "(control)": 12, "(pilot)": 6})
        self.assertEqual(self.calls(), len(run["results"]))
        for block in range(12):
            places = sorted(s["place"] for s in run["results"] if s["block"] == block and s["side"] != "(pilot)")
            self.assertEqual(places, [0, 1, 2])
        # Order, environment and place are drawn anew.
        self.assertEqual({s["place"] for s in by_side["A"]}, {0, 1, 2})
        self.assertGreater(len({s["environment_pad"] for s in run["results"]}), 30)
        row = run["summary"][0]
        values = sorted(s["values"]["value"] for s in by_side["A"])
        self.assertEqual(row["a"]["count"], 12)
        self.assertEqual((row["a"]["min"], row["a"]["max"]), (values[0], values[-1]))
        self.assertEqual(row["a"]["median"], (values[5] + values[6]) / 2)
        self.assertEqual(row["verdict"], "worse")
        # Stored results are compared with others: here each side with itself, and once with a file of one side.
        out = self.slub(str(file), str(file), "--style", "csv")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual({r["group"] for r in rows}, {"two commands, A", "two commands, B"})
        self.assertTrue(all(float(r["ratio"]) == 1 for r in rows))
        self.assertTrue(all(float(r["p"]) == 1 for r in rows))

    def test_stdout_is_json_only(self):
        out = self.slub(*METRIC, "--runs", "3", "--style", "json", *self.commands(1000))
        self.assertEqual(len(json.loads(out)["summary"]), 1)

    def test_styles(self):
        file = self.path / "run.json"
        self.slub(*METRIC, "--runs", "11", "--fixed", "--json", str(file), *self.commands(1000))
        run = json.loads(file.read_text())
        for sample in run["results"]:
            sample["values"]["value"] = 200000 if sample["side"] == "B" else 100000
        run["results"] = [s for s in run["results"] if s["side"] == "A"]
        before = self.path / "before.json"
        before.write_text(json.dumps(run))
        for sample in run["results"]:
            sample["values"]["value"] = 103000
        after = self.path / "after.json"
        after.write_text(json.dumps(run))
        expected = {
            "verdict": r"value .* \+3\.00 % .* more by 3 %",
            "table": r"\(A\) before +\| +11 \| +100000 \|(.*\n)+.*\(B\) after(.*\n)+.*\+3\.00% .*- is good",
            "percent": r"name,before,after \(percent\)\nvalue,100000\.00,103000\.00 \(103\.00 %\)",
            "spread": r"before +: +100000 points \+-  0\.00 %\n.*\[ \+3\.00 % \]",
            "benchstat": r"value +100000 points \+- +0% +103000 points \+- +0% +\+3\.00%  \(p=0\.000 n=11\+11\)",
            "kmalloc": r"no row has both alloc and free",
            "perf": r"Performance counter stats for 'before' \(11 runs\)(.*\n)+.*<not supported> cycles",
        }
        for style, pattern in expected.items():
            out = self.slub("--style", style, str(before), str(after))
            self.assertRegex(out, pattern, style)
            self.assertTrue(out.isascii(), style)
        self.assertIn("unknown style 'nonsense'", self.slub("--style", "nonsense", str(before), str(after), status=2))

    def test_slab_test_results(self):
        root = {"schema": "slub-bench/1", "benchmark": "slab_test", "slub_version": "x",
                "machine": {"cpu": "c", "kernel": "k", "tick_ns": 0.5}, "results": []}

        def write(name, alloc, tick_ns):
            root["machine"]["tick_ns"] = tick_ns
            root["results"] = [{"test": "batch", "threads": 1, "allocator": "slub", "round": r, "ops_per_sample": 10,
                                "columns": ["alloc", "free"],
                                "sizes": [{"size_bytes": 64, "ticks": [[[alloc + r % 2] * 3], [[50] * 3]]}]}
                               for r in range(12)]
            (self.path / name).write_text(json.dumps(root))
            return str(self.path / name)

        old = write("old.json", 100, 0.5)
        self.assertRegex(self.slub(old, write("new.json", 200, 0.5), "--style", "kmalloc"),
                         r"\n64 +10/5 +20/5 +kmalloc/kfree")
        out = self.slub(old, write("new.json", 200, 0.5), "--style", "percent")
        self.assertIn("slab_test batch, 1 thread(s) alloc, size,before,after (percent)\n64,10.05,20.05 (199.50 %)", out)
        # Ticks of another length are compared as time: twice as many, each half as long.
        self.assertIn("64,5.03,5.01", self.slub(old, write("new.json", 200, 0.25), "--style", "percent"))

    def test_resumes_after_a_kill(self):
        words = [*METRIC, "--runs", "12", "--fixed", "--json", str(self.path / "run.json"),
                 *self.commands(1000, "sleep 0.02;")]
        run = subprocess.Popen([SLUB, "compare", *words], env=self.environ, stdout=subprocess.DEVNULL)
        while not (self.path / "calls").exists() or (self.path / "calls").read_text().strip() in ("", *"123456789"):
            time.sleep(0.01)
        run.kill()
        run.wait()
        time.sleep(0.2)  # the last program was ended with its runner
        before = self.calls()
        journal = next((self.path / "state/slub").glob("compare-*.journal"))
        lines = journal.read_text().count("\n") - 1
        self.assertGreaterEqual(lines, before - 1)
        with journal.open("a") as f:
            f.write('{"block":99,"side"')  # what a kill in the middle of a write would leave
        out = self.slub(*words)
        self.assertIn(f"resumed: {lines} samples", out)
        self.assertEqual(len(json.loads((self.path / "run.json").read_text())["results"]), 12 * 3 + 6)
        self.assertEqual(self.calls(), 12 * 3 + 6 + before - lines)
        self.assertFalse(journal.exists())

    def test_interrupt(self):
        words = [*METRIC, "--runs", "500", "--fixed", *self.commands(1000)]
        run = subprocess.Popen([SLUB, "compare", *words], env=self.environ, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        while not (self.path / "calls").exists() or len((self.path / "calls").read_text()) < 3:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn("the same command goes on from here", out)
        self.assertEqual(err.count("\n"), 1, err)

    def test_another_journal_is_kept(self):
        journal = self.path / "journal"
        journal.write_text("notes of mine\n")
        self.assertIn("holds samples of something else",
                      self.slub(*METRIC, "--journal", str(journal), *self.commands(1000), status=2))
        self.assertEqual(journal.read_text(), "notes of mine\n")

    def test_failures(self):
        sides = ["--a-cmd", "true", "--b-cmd", "echo no >&2; exit 3"]
        self.assertIn("B: '/bin/sh' ended with status 3: no", self.slub("--runs", "2", *sides, status=1))
        self.assertIn("the output has no number that matches",
                      self.slub(*METRIC, "--a-cmd", "true", "--b-cmd", "true", status=1))
        self.assertIn("took too long",
                      self.slub("--timeout", "1", "--a-cmd", "sleep 30", "--b-cmd", "true", status=1))

    def test_usage(self):
        for words, text in [
                ([], "nothing to compare"),
                (["--a-cmd", "true"], "given together"),
                (["--a-cmd", "true", "--b-cmd", "true", "--", "true"], "not both"),
                (["--a", "nonsense", "--", "true"], "unknown allocator 'nonsense'"),
                (["--runs", "0", "--", "true"], "--runs is a number"),
                (["--threshold", "x", "--", "true"], "--threshold is a percentage"),
                (["--metric", "speed", "--", "true"], "unknown metric 'speed'"),
                (["--metric", "a=b", "--", "true"], "parentheses"),
                (["--metric", "a=(", "--", "true"], "metric 'a'"),
                (["one.json"], "two files"),
                (["nonsense"], "unknown benchmark 'nonsense'"),
                (["--alloc", "slub", "malloc2"], "--alloc is for slub bench"),
                (["/nonexistent/a.json", "b.json"], "cannot read"),
                (["--stat", "mode", "--", "true"], "--stat is"),
        ]:
            self.assertIn(text, self.slub(*words, status=2), words)

    @unittest.skipUnless(HAS_MALLOC, "no drop-in malloc in this build")
    def test_preload_is_proved(self):
        out = self.slub("--runs", "2", "--a", "system", "--b", "slub", "--", "perl", "-e", "1")
        self.assertRegex(out, r"\(A\) system: \S*libc\S* ")
        self.assertRegex(out, r"\(B\) slub: \S*libslub-malloc\.so")
        self.assertIn("is it static", self.slub("--", STATIC, status=2))
        # A program that drops what was preloaded.
        self.assertIn("has its malloc from",
                      self.slub("--a", "slub", "--", "env", "-u", "LD_PRELOAD", "perl", "-e", "1", status=2))

    @unittest.skipUnless(HAS_MALLOC, "no drop-in malloc in this build")
    def test_memory_is_the_programs_own(self):
        out = self.slub("--runs", "3", "--metric", "rss", "--style", "csv", "--", "true")
        rss = float(next(csv.DictReader(io.StringIO(out)))["a_min"])
        self.assertLess(rss, 4 << 20)  # the command itself has more


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
