# SPDX-License-Identifier: MIT
"""What `slub bench programs` must notice: a wrong owner of malloc, words of the allocator, a program that fails.

usage: test_checks.py SLUB
The descriptions are copied beside a link to the command's libraries, so that one of them can be spoilt.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SLUB = os.path.realpath(sys.argv.pop(1))


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        here = os.path.dirname(SLUB)
        os.mkdir(os.path.join(self.folder, "bin"))
        for name in os.listdir(here):
            if name.startswith("slub"):
                shutil.copy(os.path.join(here, name), os.path.join(self.folder, "bin", name))
        shutil.copytree(os.path.join(here, "programs"), os.path.join(self.folder, "bin", "programs"))
        os.symlink(os.path.join(os.path.dirname(here), "lib"), os.path.join(self.folder, "lib"))

    def describe(self, body):
        with open(os.path.join(self.folder, "bin/programs/true.sh"), "w", encoding="utf-8") as f:
            f.write(body)

    def run_it(self, *words, allocator="slub"):
        path = os.path.join(self.folder, "out.json")
        done = subprocess.run([os.path.join(self.folder, "bin/slub"), "bench", "programs", "--programs", "true",
                               "--short", "--alloc", allocator, "--json", path, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.stderr, "")
        with open(path, encoding="utf-8") as f:
            return done.returncode, done.stdout, json.load(f)

    def test_good(self):
        self.describe("work() { measured /bin/sh -c 'echo a; /bin/true; (echo b); true'; }\n")
        status, _, stored = self.run_it()
        self.assertEqual(status, 0)
        (result,) = stored["results"]
        self.assertIsNone(result["failure"])
        self.assertGreaterEqual(result["processes"], 2)  # children too, exec'd and forked
        self.assertGreater(result["peak_bytes"], 1 << 19)
        self.assertGreater(result["wall_ns"], 0)
        self.assertEqual({(r["program"], r["figure"]) for r in stored["summary"]},
                         {("true", "wall"), ("true", "cpu"), ("true", "peak")})

    def failure(self):
        status, text, stored = self.run_it()
        self.assertEqual(status, 1)
        self.assertIn("true failed with slub: ", text)
        return stored["results"][0]["failure"]

    def test_a_child_without_the_preload(self):
        self.describe("work() { measured /bin/sh -c 'env -u LD_PRELOAD /bin/true; true'; }\n")
        self.assertIn("has its malloc from", self.failure())

    def test_another_answer(self):
        self.describe('work() { measured /bin/sh -c \'echo "$LD_PRELOAD"\'; }\n')
        self.assertIn("differ", self.failure())

    def test_a_program_that_fails(self):
        self.describe("work() { measured /bin/sh -c '[ -z \"$LD_PRELOAD\" ] || { echo broken >&2; exit 3; }'; }\n")
        self.assertIn("broken", self.failure())

    def test_words_of_the_allocator(self):
        self.describe("work() { measured /bin/sh -c '[ -z \"$LD_PRELOAD\" ] || echo slub: words >&2'; }\n")
        self.assertIn("the allocator says", self.failure())

    def test_nothing_measured(self):
        self.describe("work() { /bin/true; }\n")
        self.assertIn("no process was measured", self.failure())

    def test_memory_is_that_of_the_process(self):
        # 40 MiB in a child: neither its small parent nor the caller of this test.
        self.describe("work() { measured /bin/sh -c 'head -c 41943040 /dev/zero | tail -c 41943040 | cksum'; }\n")
        status, _, stored = self.run_it()
        self.assertEqual(status, 0)
        self.assertTrue(41943040 < stored["results"][0]["peak_bytes"] < 3 * 41943040)
        self.assertEqual(stored["results"][0]["peak_program"], "tail")

    def test_skipped(self):
        self.describe("need() { require no-such-command; }\nwork() { :; }\n")
        status, text, stored = self.run_it()
        self.assertEqual(status, 0)
        self.assertIn("true skipped: no-such-command is not installed", text)
        self.assertEqual((stored["results"], stored["skipped"][0]["program"]), ([], "true"))

    def test_a_hanging_program(self):
        self.describe("work() { measured /bin/sleep 1000; }\n")
        _, text, _ = self.run_it("--timeout", "1")
        self.assertIn("took too long", text)


if __name__ == "__main__":
    unittest.main()
