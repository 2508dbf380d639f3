#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The slub command from outside: what it prints, where, and the status it ends with.

usage: test_cli.py [CLASS[.test]]...     (environment: SLUB_COMMAND and others, see CMakeLists.txt)

Ends with 77 when every test was skipped.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["SLUB_COMMAND"]
MALLOC_DIR = os.environ.get("SLUB_MALLOC_DIR", "")
LIBRARY = os.environ.get("SLUB_LIBRARY", "")
LATER = ("report", "top", "validate", "leaks", "walk", "whatis", "doctor")
NOW = ("run", "bench", "info", "options")
CPUS = sorted(os.sched_getaffinity(0))


def environment(**changes):
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "SLUB_LIBDIR", "COLUMNS")}
    env.update(changes)
    return env


def slub(*words, cwd=None, **changes):
    return subprocess.run([COMMAND, *map(str, words)], check=False, text=True, cwd=cwd, timeout=240,
                          env=environment(**changes), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)

    def succeeds(self, *words, **more):
        done = slub(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def refuses(self, *words, status=2, says="", **more):
        """One line on stderr, nothing on stdout, and the status."""
        done = slub(*words, **more)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done)
        self.assertTrue(done.stderr.startswith("slub") and done.stderr.endswith("\n"), done)
        self.assertIn(says, done.stderr)

    def script(self, text, mode=0o755, name="program"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path


class Usage(Case):
    def test_help(self):
        self.assertIn("usage: slub", self.succeeds("--help"))
        for name in NOW:
            self.assertIn(f"usage: slub {name}", self.succeeds(name, "--help"), name)
        self.assertIn("--alloc", self.succeeds("bench", "slab_test", "--help"))
        for name in LATER:
            self.assertIn("later version", self.succeeds(name, "--help"))

    def test_version(self):
        version = self.succeeds("--version")
        self.assertRegex(version, r"^slub \d+\.\d+\.\d+\n$")
        for name in (*NOW, *LATER):
            self.assertEqual(self.succeeds(name, "--version"), version)
        self.assertEqual(self.succeeds("bench", "slab_test", "--version"), version)

    def test_unknown_words(self):
        self.refuses(says="no command")
        self.refuses("frobnicate", says="unknown command 'frobnicate'")
        self.refuses("--frobnicate", says="--frobnicate")
        self.refuses("--help=yes", says="takes no value")
        for words in (("run",), ("bench",), ("bench", "slab_test"), ("info",), ("options",)):
            self.refuses(*words, "--frobnicate", says="unknown option '--frobnicate'")
            self.refuses(*words, "-Z", says="unknown option '-Z'")

    def test_later_commands(self):
        for name in LATER:
            self.refuses(name, says="comes in a later version")
            self.refuses(name, "x", "--json", says="comes in a later version")
        self.refuses("run", "--group-max", "1M", "--", "true", says="later version")
        self.refuses("bench", "slab_test", "--kernel", "linux", says="later version")
        self.refuses("info", "--kernel", says="later version")

    def test_bad_words(self):
        self.refuses("options", "extra", says="extra")
        self.refuses("bench", "nonsense", says="unknown benchmark 'nonsense'")
        self.refuses("bench", says="no benchmark")
        self.refuses("info", says="either")
        self.refuses("info", "-p", "1", "--", "true", says="either")
        self.refuses("info", "-p", "x", says="'x' is not a process id")
        self.refuses("info", "-p", "-5", says="not a process id")
        self.refuses("run", says="no program")
        self.refuses("run", "--mode", says="needs a value")

    def test_full_output_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([COMMAND, "options"], check=False, text=True, stdout=full,
                                  stderr=subprocess.PIPE, env=environment())
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))


class Options(Case):
    def table(self):
        with open(os.environ["SLUB_OPTION_TABLE"], encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        return re.findall(r'^OPTION\(\w+, "(\w+)", (\w+),', text, flags=re.M)

    def test_every_option_is_there(self):
        rows = self.table()
        self.assertGreater(len(rows), 10)
        text = self.succeeds("options")
        shown = json.loads(self.succeeds("options", "--json"))
        self.assertEqual(shown["schema"], "slub-options/1")
        self.assertEqual([(o["name"], o["type"]) for o in shown["options"]], rows)
        for option in shown["options"]:
            self.assertRegex(text, rf"(?m)^{option['name']} ")
            self.assertIn(option["stability"], ("STABLE", "EXPERIMENTAL", "DEBUG"))
            self.assertTrue(option["help"])
            if option["type"] == "UINT":
                self.assertTrue(option["min"] <= option["default"] <= option["max"])
            if option["type"] == "ENUM":
                self.assertIn(option["default"], option["values"])

    def test_text_is_wrapped(self):
        for width in (60, 100):
            lines = self.succeeds("options", COLUMNS=str(width)).splitlines()
            helps = [line for line in lines if line.startswith("    ")]
            self.assertTrue(helps)
            self.assertLessEqual(max(map(len, helps)), width)


@unittest.skipUnless(MALLOC_DIR, "this build has no libslub-malloc.so")
class Run(Case):
    def test_silent(self):
        for mode in ((), ("--mode", "default"), ("--mode", "fast"), ("--options", "slab_stats=1")):
            self.assertEqual(self.succeeds("run", *mode, "--", "true"), "")
        self.assertEqual(self.succeeds("run", "echo", "a", "--help"), "a --help\n")

    def test_status_is_the_programs(self):
        self.assertEqual(slub("run", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(slub("run", "--", "sh", "-c", "kill -TERM $$").returncode, -15)

    def test_program_that_cannot_run(self):
        self.refuses("run", "--", "no-such-program", status=127, says="not found")
        self.refuses("run", "--", "/no/such/program", status=127, says="not found")
        self.refuses("run", "--", self.script("#!/bin/sh\n", 0o644), status=126, says="denied")
        self.refuses("run", "--", self.folder, status=126)
        lost = self.script("#!/no/such/interpreter\n", name="lost")
        self.refuses("run", "--", lost, status=127)

    def test_scripts(self):
        self.assertEqual(self.succeeds("run", "--", self.script("#!/bin/sh\necho $1\n"), "x"), "x\n")
        self.assertEqual(self.succeeds("run", "--", self.script("echo $1\n"), "y"), "y\n")

    def test_static_program(self):
        self.refuses("run", "--", os.environ["SLUB_STATIC_PROGRAM"], says="statically linked")

    def test_privileged_program(self):
        if os.getuid() != 0:
            self.skipTest("only root can make a program of another user")
        copy = os.path.join(self.folder, "copy")
        shutil.copy("/bin/true", copy)
        os.chown(copy, 65534, 65534)
        os.chmod(copy, 0o4755)
        self.refuses("run", "--", copy, says="setuid")
        os.chown(copy, 0, 65534)
        os.chmod(copy, 0o2755)
        self.refuses("run", "--", copy, says="setgid")
        os.chown(copy, 0, 0)
        os.chmod(copy, 0o4755)          # the rights that we have already
        self.assertEqual(self.succeeds("run", "--", copy), "")

    def preload_of(self, *words, **changes):
        text = self.succeeds("run", *words, "--", "sh", "-c", 'echo "$LD_PRELOAD"; echo "$SLUB_OPTIONS"',
                             **changes)
        preload, options = text.splitlines()
        return preload.split(":"), options

    def test_environment_is_joined(self):
        library = f"{MALLOC_DIR}/libslub-malloc.so"
        fast = f"{MALLOC_DIR}/libslub-malloc-fast.so"
        self.assertEqual(self.preload_of()[0], [library])
        libc = next(w for w in subprocess.run(["ldd", "/bin/sh"], check=True, text=True,
                                              stdout=subprocess.PIPE).stdout.split()
                    if w.startswith("/") and "libc" in w)
        self.assertEqual(self.preload_of(LD_PRELOAD=libc)[0], [library, libc])
        self.assertEqual(self.preload_of("--mode", "fast", LD_PRELOAD=f"{library} {libc}")[0],
                         [fast, libc])
        self.assertEqual(self.preload_of("--options", "mode=fast")[0], [fast])
        self.assertEqual(self.preload_of("--options", "slab_stats=1", SLUB_OPTIONS="percpu=lock")[1],
                         "percpu=lock slab_stats=1")

    def test_options_are_judged_first(self):
        for options in ("nonsense=1", "slab_stats=2", "slab_stats", "slab_stats=1 x", "mode=hardened"):
            self.refuses("run", "--options", options, "--", "true")
        for mode in ("hardened", "debug"):
            self.refuses("run", "--mode", mode, "--", "true", says="not in this version")
        self.refuses("run", "--mode", "faster", "--", "true", says="unknown mode")
        self.refuses("run", "--mode", "fast", "--options", "mode=default", "--", "true",
                     says="contradicts")

    def test_slabinfo(self):
        # A program that ends by exit(3) after it has allocated: dash, for one, does not.
        done = slub("run", "--slabinfo", "--", "ls", self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertTrue(done.stderr.startswith("slabinfo - version: 2.1\n"), done.stderr)
        self.assertEqual(self.succeeds("run", "--slabinfo=table", "--", "env", "-C", "/", "ls", self.folder,
                                       cwd=self.folder), "")
        with open(os.path.join(self.folder, "table"), encoding="utf-8") as f:
            self.assertTrue(f.read().startswith("slabinfo - version: 2.1\n"))
        self.refuses("run", "--slabinfo=a b", "--", "true", says="blank")
        self.refuses("run", f"--slabinfo={self.folder}/none/table", "--", "true", says="cannot write the slab table")

    def test_library_elsewhere(self):
        self.refuses("run", "--", "true", SLUB_LIBDIR=self.folder, says="SLUB_LIBDIR")
        shutil.copy(f"{MALLOC_DIR}/libslub-malloc.so", self.folder)
        self.assertEqual(self.preload_of(SLUB_LIBDIR=self.folder)[0],
                         [f"{self.folder}/libslub-malloc.so"])


@unittest.skipUnless(MALLOC_DIR, "this build has no libslub-malloc.so")
class Info(Case):
    def setUp(self):
        super().setUp()
        done = slub("info", "--", "true")
        if done.returncode == 2 and "ptrace is not permitted" in done.stderr:
            self.skipTest("ptrace is not permitted here")

    def sleeper(self, *words, **changes):
        """A process that has started: it has printed a line."""
        child = subprocess.Popen([*words, "sh", "-c", "echo ready; read x"], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 env=environment(**changes))
        self.addCleanup(child.wait)
        self.addCleanup(child.stdin.close)
        self.addCleanup(child.stdout.close)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child.pid

    def test_running_process(self):
        for mode in ("default", "fast"):
            pid = self.sleeper(COMMAND, "run", "--mode", mode, "--")
            text = self.succeeds("info", "-p", pid)
            self.assertRegex(text, rf"(?m)^slub \d+\.\d+\.\d+ is active in {pid} \(\w+\)$")
            self.assertRegex(text, rf"(?m)^  mode +{mode}$")
            told = json.loads(self.succeeds("info", "--json", "-p", pid))
            self.assertEqual((told["schema"], told["pid"], told["active"]), ("slub-info/1", pid, True))
            self.assertEqual(told["slubs"][0]["mode"], mode)
            self.assertIn(told["slubs"][0]["percpu"], ("rseq", "thread", "lock"))
            self.assertTrue(told["slubs"][0]["owns_malloc"])
            self.assertEqual(os.path.realpath(told["malloc_owner"]),
                             os.path.realpath(told["slubs"][0]["path"]))

    def test_back_end_is_the_one_asked_for(self):
        pid = self.sleeper(COMMAND, "run", "--options", "percpu=lock", "--")
        self.assertRegex(self.succeeds("info", "-p", pid), r"(?m)^  back end +lock$")

    def test_program(self):
        text = self.succeeds("info", "--", "echo", "hello")
        self.assertTrue(text.startswith("hello\nslub "), text)
        done = slub("info", "--json", "--", "echo", "hello")
        self.assertEqual((done.returncode, done.stderr), (0, "hello\n"))
        self.assertTrue(json.loads(done.stdout)["active"])
        self.assertIn(" is active in ", self.succeeds("info", "--", "sh", "-c", "exit 3"))
        self.refuses("info", "--", "no-such-program", status=127)
        self.refuses("info", "--", os.environ["SLUB_STATIC_PROGRAM"], says="statically linked")

    def test_not_active(self):
        pid = self.sleeper("env")
        self.refuses("info", "-p", pid, status=1, says=f"slub is not active in {pid}")
        done = slub("info", "--json", "-p", pid)
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout)
        self.assertEqual((told["active"], told["slubs"]), (False, []))
        self.assertIn("libc", told["malloc_owner"])

    def test_loaded_behind_another_malloc(self):
        pid = self.sleeper("env")
        libc = json.loads(slub("info", "--json", "-p", pid).stdout)["malloc_owner"]
        pid = self.sleeper("env", LD_PRELOAD=f"{libc}:{MALLOC_DIR}/libslub-malloc.so")
        self.refuses("info", "-p", pid, status=1, says="loaded but not active")

    def test_no_such_process(self):
        child = subprocess.Popen(["true"])
        child.wait()
        self.refuses("info", "-p", child.pid, says="no process")


KERNEL_LINES = {
    "batch": r"^50 times kmalloc\({0}\) -> \d+ cycles kfree -> \d+ cycles$",
    "pair": r"^50 times kmalloc\({0}\)/kfree -> \d+ cycles$",
    "concurrent": r"^Kmalloc N\*alloc N\*free\({0}\):{1} Average=\d+/\d+$",
    "concurrent-pair": r"^Kmalloc N\*\(alloc free\)\({0}\):{2} Average=\d+$",
    "remote-free": r"^N\*remote free\({0}\):{1} Average=\d+/\d+$",
    "1-alloc-n-free": r"^1 alloc N free\({0}\):{2} Average=\d+$",
}
KERNEL_HEADINGS = ("test init", "Single thread testing\n=====================",
                   "1. Kmalloc: Repeatedly allocate then free test", "2. Kmalloc: alloc/free test",
                   "Concurrent allocs\n=================")
QUICK = ("--count", "50", "--repeat", "3", "--idle", "0")


class BenchCase(Case):
    def measure(self, *words, **changes):
        """Runs slab_test, returns its text and its JSON after checking what holds for every run."""
        path = os.path.join(self.folder, "out.json")
        text = self.succeeds("bench", "slab_test", *QUICK, "--json", path, *words, **changes)
        with open(path, encoding="utf-8") as f:
            stored = json.load(f)
        self.check_schema(stored)
        return text, stored

    def check_schema(self, stored):
        self.assertEqual((stored["schema"], stored["benchmark"]), ("slub-bench/1", "slab_test"))
        self.assertEqual(stored["command"][:3], ["slub", "bench", "slab_test"])
        self.assertGreater(stored["machine"]["tick_ns"], 0)
        for key in ("cpu", "kernel", "libc", "compiler", "cpus", "memory_bytes", "page_bytes"):
            self.assertTrue(stored["machine"][key], key)
        labels = [a["label"] for a in stored["allocators"]]
        self.assertEqual((labels[0], stored["allocators"][0]["control"]), ("control", True))
        self.assertEqual(len(set(labels)), len(labels))
        config = stored["config"]
        series = {}
        for result in stored["results"]:
            self.assertIn(result["allocator"], labels)
            for key in ("rss_start_bytes", "rss_end_bytes", "rss_idle_bytes", "rss_peak_bytes"):
                self.assertGreater(result[key], 0, key)
            self.assertGreaterEqual(result["rss_peak_bytes"] + 4096 * 64, result["rss_end_bytes"])
            for size in result["sizes"]:
                self.assertEqual(len(size["ticks"]), len(result["columns"]))
                for op, lanes in zip(result["columns"], size["ticks"]):
                    self.assertTrue(all(len(lane) == config["repeats"] for lane in lanes))
                    self.assertGreater(sum(map(sum, lanes)), 0)
                    key = (result["test"], result["threads"], result["allocator"], size["size_bytes"], op)
                    means = [sum(values) / len(lanes) / result["ops_per_sample"]
                             for values in zip(*lanes)]
                    series.setdefault(key, []).extend(means)
        self.assertEqual(len(stored["summary"]), len(series))
        for row in stored["summary"]:
            values = series[row["test"], row["threads"], row["allocator"], row["size_bytes"], row["op"]]
            self.assertEqual(row["samples"], len(values))
            self.assertEqual(len(values), config["repeats"] * config["rounds"])
            self.assertAlmostEqual(row["min_ticks"], min(values), delta=1e-6 * max(values))
            self.assertAlmostEqual(row["mean_ticks"], sum(values) / len(values), delta=1e-6 * max(values))
            self.assertAlmostEqual(row["min_ns"], row["min_ticks"] * stored["machine"]["tick_ns"],
                                   delta=1e-5 * row["min_ns"] + 1e-9)


class Bench(BenchCase):
    def test_list(self):
        listed = self.succeeds("bench", "--list")
        for name in ("slab_test", "known_failures", "programs"):
            self.assertRegex(listed, rf"(?m)^{name} +\w")

    def test_six_kernel_lines(self):
        text, stored = self.measure("--alloc", "system", "--style", "kernel", "--sizes", "8,64",
                                    "--cpus", ",".join(map(str, CPUS[:2])))
        blocks = text.split("\n# ")[1:]
        self.assertEqual([b.split(":")[0] for b in blocks], ["system", "control"])
        skipped = {row["test"] for row in stored["skipped"]}
        self.assertEqual(skipped, set() if len(CPUS) > 1 else {"remote-free", "1-alloc-n-free"})
        pairs = "".join(rf" {cpu}=\d+/\d+" for cpu in CPUS[:2])
        singles = "".join(rf" {cpu}=\d+" for cpu in CPUS[:2])
        for block in blocks:
            for heading in KERNEL_HEADINGS:
                self.assertIn(heading, block)
            for test, line in KERNEL_LINES.items():
                for size in (8, 64):
                    expected = 0 if test in skipped else 1
                    pattern = re.compile(line.format(size, pairs, singles), re.M)
                    self.assertEqual(len(pattern.findall(block)), expected, (test, block))
        if len(CPUS) > 1:
            remote = re.search(r"N\*remote free\(64\): \d+=\d+/\d+ \d+=\d+/(\d+)", blocks[0])
            self.assertEqual(remote.group(1), "0")      # only the first CPU frees

    def test_one_allocator_shows_all_statistics(self):
        text, _ = self.measure("--alloc", "system", "--sizes", "64", "--tests", "1")
        self.assertIn("median", text)
        self.assertIn("50 times kmalloc(64) -> ", text)

    def test_comparison_tables(self):
        text, stored = self.measure("--alloc", "system", "--alloc", "system:glibc.malloc.tcache_count=0",
                                    "--alloc", "system", "--sizes", "8,64", "--tests", "batch,pair",
                                    "--rounds", "2")
        self.assertRegex(text, r"(?m)^ +size +control +system +system#2 +system#3 \| +system +system#2"
                               r" +system#3$")
        self.assertIn("A/A: system and system#3 are the same", text)
        self.assertNotIn("system and system#2 are the same", text)
        for row in ("geomean", "worst", "start", "end", "idle", "peak"):
            self.assertRegex(text, rf"(?m)^ +{row} +(\| +)?\d")
        self.assertLessEqual(max(map(len, text.splitlines())), 112)
        self.assertEqual(len(stored["results"]), 2 * 2 * 4)
        # Every cell of the first table, value and ratio, is the summary's.
        least = {(row["allocator"], row["size_bytes"]): row["min_ticks"] for row in stored["summary"]
                 if (row["test"], row["op"]) == ("batch", "alloc")}
        labels = [a["label"] for a in stored["allocators"]]
        for size in (8, 64):
            cells = [least[label, size] for label in labels]
            ratios = [cell / min(cells[1:]) for cell in cells[1:]]
            row = re.search(rf"(?m)^ +{size}( .*)$", text).group(1)
            values, quotients = (list(map(float, part.split())) for part in row.split("|"))
            self.assertEqual((len(values), len(quotients)), (len(cells), len(ratios)))
            for shown, expected in zip(values + quotients, cells + ratios):
                self.assertAlmostEqual(shown, expected, delta=0.06)
        # Interleaved: every allocator once in each round of each test.
        for start in range(0, 16, 4):
            labels = {r["allocator"] for r in stored["results"][start:start + 4]}
            self.assertEqual(len(labels), 4)

    def test_control_is_cheaper(self):
        _, stored = self.measure("--alloc", "system", "--sizes", "64", "--tests", "pair",
                                 "--count", "5000", "--repeat", "20")
        least = {row["allocator"]: row["min_ticks"] for row in stored["summary"]}
        self.assertGreater(least["system"], least["control"])

    def test_every_test(self):
        _, stored = self.measure("--alloc", "system", "--sizes", "8,100", "--tests", "all")
        shown = {r["test"] for r in stored["results"]} | {s["test"] for s in stored["skipped"]}
        self.assertEqual(len(shown), 17)
        for result in stored["results"]:
            if result["test"].startswith("batch-"):
                self.assertEqual(result["ops_per_sample"], 50, result["test"])

    def test_thread_counts(self):
        _, stored = self.measure("--alloc", "system", "--sizes", "64", "--tests", "3", "--threads", "1-3")
        self.assertEqual({(r["threads"], len(r["sizes"][0]["ticks"][0])) for r in stored["results"]},
                         {(1, 1), (2, 2), (3, 3)})

    def test_robust_form(self):
        path = os.path.join(self.folder, "out.json")
        self.succeeds("bench", "slab_test", "--robust", "--repeat", "1", "--idle", "0", "--alloc", "system",
                      "--sizes", "8", "--json", path)
        with open(path, encoding="utf-8") as f:
            stored = json.load(f)
        self.assertEqual((stored["config"]["count"], stored["config"]["robust"]), (100000, True))
        self.assertNotIn("concurrent-pair", {r["test"] for r in stored["results"]})

    def test_json_to_standard_output(self):
        text = self.succeeds("bench", "slab_test", *QUICK, "--alloc", "system", "--tests", "1", "--sizes",
                             "8", "--json", "-")
        self.check_schema(json.loads(text))

    def test_active_malloc(self):
        _, stored = self.measure("--api", "malloc", "--tests", "1", "--sizes", "8")
        self.assertEqual([a["label"] for a in stored["allocators"]], ["control", "active"])
        self.assertIn("libc", stored["allocators"][1]["path"])

    def test_refuses_one_that_does_not_own_malloc(self):
        libm = next((p for p in ("/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6",
                                 "/lib64/libm.so.6", "/usr/lib/libm.so.6") if os.path.exists(p)), None)
        if libm is None:
            self.skipTest("no libm.so.6 where it is looked for")
        self.refuses("bench", "slab_test", *QUICK, "--alloc", f"pretender={libm}", status=1,
                     says="malloc belongs to")
        self.refuses("bench", "slab_test", *QUICK, "--alloc", "system", "--alloc", f"pretender={libm}",
                     status=1, says="pretender: malloc belongs to")

    def test_foreign_preload_does_not_leak_in(self):
        if not MALLOC_DIR:
            self.skipTest("this build has no libslub-malloc.so")
        _, stored = self.measure("--alloc", "system", "--tests", "1", "--sizes", "8",
                                 LD_PRELOAD=f"{MALLOC_DIR}/libslub-malloc.so")
        self.assertIn("libc", stored["allocators"][1]["path"])

    def test_bad_words(self):
        refused = {
            ("--alloc", "nonsense"): "unknown allocator 'nonsense'",
            ("--alloc", "x=/no/such/lib.so"): "cannot read '/no/such/lib.so'",
            ("--alloc", "slub-hardened"): "later version",
            ("--alloc", ""): "without a name",
            ("--alloc", f"x={COMMAND}:y"): "VARIABLE=VALUE",
            ("--api", "kmalloc"): "unknown API",
            ("--api", "slub", "--alloc", "system"): "unknown allocator 'system'",
            ("--tests", "99"): "unknown test '99'",
            ("--tests", "1,"): "unknown test",
            ("--sizes", "0"): "--sizes",
            ("--sizes", "8-"): "--sizes",
            ("--count", "0"): "--count is a number",
            ("--repeat", "x"): "--repeat is a number",
            ("--rounds", "-1"): "--rounds is a number",
            ("--cpus", "x"): "--cpus is a list",
            ("--cpus", "8191"): "CPU 8191 is not ours",
            ("--threads", "0"): "--threads is a list",
            ("--stat", "mode"): "unknown statistic",
            ("--style", "html"): "unknown style",
            ("--count", "100000000", "--sizes", "1G", "--alloc", "system"): "MiB",
            ("more",): "unexpected argument 'more'",
            ("--alloc",): "needs a value",
            ("--json", "/no/such/dir/x", "--alloc", "system"): "/no/such/dir/x",
        }
        for words, says in refused.items():
            with self.subTest(words=words):
                self.refuses("bench", "slab_test", *QUICK, *words, says=says)

    def test_missing_node_is_a_skip(self):
        text = self.succeeds("bench", "slab_test", *QUICK, "--alloc", "system", "--nodes", "0,4000")
        self.assertRegex(text, r"^slab_test skipped: --nodes 0,4000 asked for, this machine has node .*\n$")
        _, stored = self.measure("--alloc", "system", "--nodes", "0", "--tests", "1", "--sizes", "8")
        self.assertTrue(stored["config"]["cpus"])

    def test_worker_is_not_for_hands(self):
        worker = os.path.join(os.path.dirname(COMMAND), "slub-bench-worker")
        done = subprocess.run([worker], check=False, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))


@unittest.skipUnless(LIBRARY, "sanitizers cannot be preloaded: no allocator of this build is measured")
class Known(Case):
    """slub bench known_failures: the limits of its table decide the status."""
    QUICK = ("bench", "known_failures", "--short", "--cases", "calloc,maps")

    def run_quick(self, *words, status):
        path = os.path.join(self.folder, "known.json")
        done = slub(*self.QUICK, *words, "--json", path)
        self.assertEqual((done.returncode, done.stderr), (status, ""), done)
        with open(path, encoding="utf-8") as f:
            return done.stdout, json.load(f)

    def test_limits_decide(self):
        # glibc maps every large block by itself: more mappings than the limit, also in the short form.
        text, stored = self.run_quick("--alloc", "system", status=1)
        self.assertRegex(text, r"(?m)^maps +mappings +<= 1999 +\d+ FAIL$")
        self.assertEqual((stored["schema"], stored["benchmark"]), ("slub-bench/1", "known_failures"))
        rows = {(r["case"], r["figure"]): r for r in stored["summary"]}
        self.assertEqual({r["case"] for r in stored["results"]}, {"calloc", "maps"})
        for (case, _), row in rows.items():
            raw = [r["figures"] for r in stored["results"] if r["case"] == case]
            self.assertIn(row["value"], raw[0])
            self.assertEqual(row["passes"], row["value"] <= row["limit"])
            self.assertTrue(row["counts"])
        self.assertFalse(rows["maps", "mappings"]["passes"])

    @unittest.skipUnless(MALLOC_DIR, "this build has no libslub-malloc.so")
    def test_only_slub_counts_where_it_is(self):
        _, stored = self.run_quick("--alloc", "system", "--alloc", "slub", "--rounds", "2", status=0)
        self.assertEqual(len(stored["results"]), 2 * 2 * 2)
        counts = {(r["allocator"], r["counts"]) for r in stored["summary"]}
        self.assertEqual(counts, {("system", False), ("slub", True)})

    def test_what_cannot_be_done_is_said(self):
        self.refuses(*self.QUICK, "--cases", "nonsense", says="unknown case 'nonsense'")
        self.refuses(*self.QUICK, "--alloc", "nonsense", says="unknown allocator")
        self.refuses(*self.QUICK, "--rounds", "0", says="--rounds")
        self.refuses(*self.QUICK, "--nonsense", says="nonsense")
        self.refuses(*self.QUICK, "extra", says="unexpected argument")
        libm = subprocess.run(["sh", "-c", "/sbin/ldconfig -p | sed -n 's/.*libm.so.6 .*=> //p' | head -1"],
                              text=True, stdout=subprocess.PIPE, check=True).stdout.strip()
        if libm:
            self.refuses(*self.QUICK, "--alloc", f"pretender={libm}", status=1, says="malloc belongs to")
        self.assertIn("cross-cpu", self.succeeds("bench", "known_failures", "--help"))


class BenchSlub(BenchCase):
    def check_slub(self, allocator, mode):
        self.assertEqual((allocator["slub"], allocator["mode"]), (True, mode))
        self.assertRegex(allocator["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn(allocator["percpu"], ("rseq", "thread", "lock"))

    @unittest.skipUnless(MALLOC_DIR, "this build has no libslub-malloc.so")
    def test_malloc(self):
        text, stored = self.measure("--alloc", "system", "--alloc", "slub", "--alloc", "slub-fast",
                                    "--alloc", "slub:slab_freelist_random=0", "--sizes", "8,64",
                                    "--tests", "1,3")
        allocators = {a["label"]: a for a in stored["allocators"]}
        self.check_slub(allocators["slub"], "default")
        self.check_slub(allocators["slub-fast"], "fast")
        self.assertEqual(allocators["slub#2"]["options"], "slab_freelist_random=0")
        self.assertIn("slow paths of slub:", text)
        for result in stored["results"]:
            for size in result["sizes"]:
                if not allocators[result["allocator"]]["slub"]:
                    self.assertIsNone(size["counters"])
                    continue
                self.assertIsNone(size["counters"]["ALLOC_FASTPATH"])     # not counted, not 0
                self.assertLessEqual(size["counters"]["ALLOC_SLOWPATH"], size["allocs"])

    @unittest.skipUnless(MALLOC_DIR, "this build has no libslub-malloc.so")
    def test_fast_paths_are_counted_on_request(self):
        _, stored = self.measure("--alloc", "slub:slab_stats=1", "--sizes", "64", "--tests", "1")
        size = next(r for r in stored["results"] if r["allocator"] == "slub")["sizes"][0]
        counters = size["counters"]
        self.assertEqual(counters["ALLOC_FASTPATH"] + counters["ALLOC_SLOWPATH"], size["allocs"])
        self.assertEqual(counters["FREE_FASTPATH"] + counters["FREE_SLOWPATH"], size["frees"])

    @unittest.skipUnless(MALLOC_DIR, "this build has no libslub-malloc.so")
    def test_static(self):
        _, stored = self.measure("--alloc", "slub-static", "--alloc", "slub-fast-static", "--sizes", "64",
                                 "--tests", "1,3")
        self.check_slub(stored["allocators"][1], "default")
        self.check_slub(stored["allocators"][2], "fast")
        self.assertIn("worker", stored["allocators"][1]["path"])

    @unittest.skipUnless(MALLOC_DIR, "this build has no libslub-malloc.so")
    def test_active_malloc_of_slub_run(self):
        done = slub("run", "--", COMMAND, "bench", "slab_test", *QUICK, "--api", "malloc", "--tests", "1",
                    "--sizes", "8", "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        stored = json.loads(done.stdout)
        self.check_slub(stored["allocators"][1] | {"slub": True}, "default")

    def test_library_calls(self):
        _, stored = self.measure("--api", "slub", "--sizes", "8,64", "--tests", "kernel")
        self.assertEqual([a["label"] for a in stored["allocators"]], ["control", "slub"])
        self.check_slub(stored["allocators"][1], "default")
        self.assertEqual(os.path.realpath(stored["allocators"][1]["path"]), os.path.realpath(LIBRARY))
        self.assertEqual(stored["config"]["api"], "slub")

    @unittest.skipUnless(MALLOC_DIR, "this build has no libslub-malloc.so")
    def test_bad_options_are_refused(self):
        self.refuses("bench", "slab_test", *QUICK, "--alloc", "slub:nonsense=1", says="unknown option")
        self.refuses("bench", "slab_test", *QUICK, "--alloc", "slub", SLUB_LIBDIR=self.folder,
                     says="SLUB_LIBDIR")


if __name__ == "__main__":
    started = time.monotonic()
    program = unittest.main(exit=False, verbosity=2)
    outcome = program.result
    if not outcome.wasSuccessful():
        sys.exit(1)
    if outcome.testsRun == 0:
        sys.exit(2)
    print(f"{outcome.testsRun} tests in {time.monotonic() - started:.1f} s")
    sys.exit(77 if len(outcome.skipped) == outcome.testsRun else 0)
