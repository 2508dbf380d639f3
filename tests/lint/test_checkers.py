#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the checkers of tools/ on small trees: one that keeps every rule, one broken per rule.

usage: test_checkers.py TOOLS_DIRECTORY
"""
import contextlib
import importlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv.pop(1)).resolve()))
HEAD = "/* SPDX-License-Identifier: MIT */\n"
OPTION = ('OPTION(mode, "mode", ENUM, 0, 0, 0, "default|fast", STABLE, "what to check")\n'
          'OPTION(cap, "cap", UINT, 4096, 0, 8192, "bytes", DEBUG, "most " "bytes")\n')
STATS = '#define SLUB_STATS(X)  \\\n    X(HIT, "one hit")  \\\n    X(MISS, "one miss")\n\n'
MAP = "SLUB_1 {\nglobal:\n    slub_one;\n    slub_root;\nlocal:\n    *;\n};\n"

GOOD = {
    "include/slub/slub.h": HEAD + "#include <stddef.h>\n#include <slub/version.h>\n"
                           "/** @brief One. */\nSLUB_API void *slub_one(size_t n) "
                           "__attribute__((malloc, alloc_size(1)));\n",
    "include/slub/stats.h": HEAD + STATS + "SLUB_API extern struct slub_root slub_root;\n",
    "src/base/list.h": HEAD,
    "src/base/macros_layout.h": HEAD,
    "src/service/options.def": HEAD + OPTION,
    "src/slab/slab.h": HEAD + '#include "base/list.h"\n',
    "src/slab/slab.c": HEAD + '#include "slab/slab.h"\n#include <stddef.h>\n',
    "src/cache/cache.c": HEAD + '#include "slab/slab.h"\n#include "service/options.def"\n'
                         "int used(void) { return options.mode + options.cap; }\n",
    "src/percpu/arch/x86_64/rseq.S": HEAD + '#include "base/macros_layout.h"\n\tret\n',
    "src/libslub.map": HEAD + MAP,
    "src/libslub-malloc.map": HEAD + MAP,
    "debian/libslub1.symbols": "libslub.so.1 libslub1\n slub_one@SLUB_1 1\n slub_root@SLUB_1 1\n",
    "man/slub_one.3": '.TH X 3\n.B slub_one\n.B slub_root\n',
}


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for name, text in GOOD.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_tool(self, tool, *arguments):
        """(status, output) of a tool, run in this process: starting Python each time is slow."""
        module = importlib.import_module(tool.removesuffix(".py"))
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            try:
                status = module.main([tool, *map(str, arguments)])
            except SystemExit as left:
                print(left)
                status = 1
        return status, text.getvalue()

    def generate(self):
        for page, table in (("slub_options.7", "src/service/options.def"),
                            ("slub_stats.7", "include/slub/stats.h")):
            status, text = self.run_tool("gen_docs.py", page, self.root / table, "1.2.3",
                                         self.root / "man" / page)
            self.assertEqual(status, 0, text)

    def expect(self, tool, status, words=""):
        """Runs a checker; the good tree gives 0, a broken one gives 1 and names the fault."""
        extra = [self.root / "man"] if tool == "check_docs.py" else []
        found, text = self.run_tool(tool, self.root, *extra)
        self.assertEqual(found, status, text)
        self.assertIn(words, text)


class Layers(Tree):
    def broken(self, name, text, words):
        self.write(name, HEAD + text)
        self.expect("check_layers.py", 1, words)

    def test_good_tree(self):
        self.expect("check_layers.py", 0)

    def test_upward(self):
        self.broken("src/base/up.c", '#include "slab/slab.h"\n', "must not include slab")

    def test_one_up(self):
        self.write("src/cache/cache.h", HEAD)
        self.broken("src/large/up.c", '#include "cache/cache.h"\n', "must not include cache")

    def test_climbing(self):
        self.broken("src/slab/climb.c", '#include "../base/list.h"\n', "climbs")

    def test_no_directory(self):
        self.broken("src/slab/bare.c", '#include "slab.h"\n', "names no layer")

    def test_missing_file(self):
        self.broken("src/slab/lost.c", '#include "base/lost.h"\n', "does not exist")

    def test_c_file(self):
        self.broken("src/slab/whole.c", '#include "slab/slab.c"\n', ".c file")

    def test_own_header_first(self):
        self.broken("src/slab/slab.c", '#include <stddef.h>\n#include "slab/slab.h"\n', "first")

    def test_unknown_directory(self):
        self.broken("src/extra/new.c", "", "no known layer")

    def test_stray_file(self):
        self.broken("src/stray.c", "", "no known layer")

    def test_assembly(self):
        self.broken("src/percpu/arch/x86_64/rseq.S", '#include "base/list.h"\n', "macro-only")

    def test_public_header(self):
        self.broken("include/slub/slub.h", "#include <stdio.h>\n", "public header")

    def test_long_file(self):
        self.broken("src/base/long.c", "\n" * 900, "the limit is 800")

    def test_empty_tree(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(self.run_tool("check_layers.py", empty)[0], 2)


class Heads(Tree):
    def broken(self, text, words):
        self.write("src/base/bad.h", text)
        self.expect("check_heads.py", 1, words)

    def test_good_tree(self):
        self.expect("check_heads.py", 0)

    def test_no_licence(self):
        self.broken("/* a file */\n", "SPDX")

    def test_tab(self):
        self.broken(HEAD + "\tint x;\n", "tab")

    def test_blank_at_end(self):
        self.broken(HEAD + "int x; \n", "blank at the end")

    def test_long_line(self):
        self.broken(HEAD + "/* " + "x" * 130 + " */\n", "columns")

    def test_no_newline(self):
        self.broken(HEAD + "int x;", "no newline")


class Docs(Tree):
    def test_good_tree(self):
        self.generate()
        self.expect("check_docs.py", 0)

    def test_no_block(self):
        self.generate()
        self.write("include/slub/slub.h", HEAD + "SLUB_API void *slub_one(size_t n);\n")
        self.expect("check_docs.py", 1, "no documentation block")

    def test_not_in_map(self):
        self.generate()
        self.write("src/libslub.map", HEAD + MAP.replace("slub_one;", ""))
        self.expect("check_docs.py", 1, "src/libslub.map: slub_one is missing")

    def test_not_in_package(self):
        self.generate()
        self.write("debian/libslub1.symbols", "libslub.so.1 libslub1\n slub_root@SLUB_1 1\n")
        self.expect("check_docs.py", 1, "debian/libslub1.symbols: slub_one is missing")

    def test_not_in_header(self):
        self.generate()
        self.write("src/libslub-malloc.map", HEAD + MAP.replace("slub_one;", "slub_one;\n slub_two;"))
        self.expect("check_docs.py", 1, "slub_two is in no public header")

    def test_not_in_manual(self):
        self.generate()
        self.write("man/slub_one.3", ".TH X 3\n.B slub_root\n")
        self.expect("check_docs.py", 1, "slub_one is in no manual page")

    def test_option_not_in_page(self):
        self.generate()
        self.write("src/service/options.def", HEAD + OPTION + OPTION.replace("mode", "moods"))
        self.expect("check_docs.py", 1, "slub_options.7: moods is missing")

    def test_option_not_read(self):
        self.generate()
        self.write("src/cache/cache.c", HEAD + "int used(void) { return options.mode; }\n")
        self.expect("check_docs.py", 1, "nothing reads cap")

    def test_locks(self):
        self.generate()
        self.write("src/slab/slab.h", HEAD + "struct lock slab_lock;\nextern struct lock slab_lock;\n")
        self.expect("check_docs.py", 1, "slab_lock has no row in docs/locking.md")
        self.write("docs/locking.md", "| 1 | `slabs.slab_lock` | here | all |\n")
        self.expect("check_docs.py", 0)
        self.write("docs/locking.md", "| 1 | `slab_lock` | here | all |\n| 2 | `lost_lock` | here | all |\n")
        self.expect("check_docs.py", 1, "there is no lock lost_lock")

    def test_wrong_default_in_page(self):
        self.generate()
        self.write("man/tune.7", ".TH X 7\n.B cap\n(4 KiB): as it is\n")
        self.expect("check_docs.py", 0)
        self.write("man/tune.7", ".TH X 7\n.B cap\n(8 KiB): as it was\n")
        self.expect("check_docs.py", 1, "the default of cap is 4096, not 8 KiB")

    def test_counter_not_in_page(self):
        self.generate()
        self.write("include/slub/stats.h", (self.root / "include/slub/stats.h").read_text()
                   .replace("X(MISS", "X(NEAR"))
        self.expect("check_docs.py", 1, "slub_stats.7: NEAR is missing")

    def test_page_not_built(self):
        self.expect("check_docs.py", 1, "has not been built")

    def test_odd_row(self):
        self.write("src/service/options.def", HEAD + OPTION + 'OPTION(x, "x", FLOAT)\n')
        status, text = self.run_tool("gen_docs.py", "slub_options.7",
                                     self.root / "src/service/options.def", "1", "/dev/null")
        self.assertNotEqual(status, 0)
        self.assertIn("unknown shape", text)

    def test_workloads(self):
        table = self.root / "lab/workloads/loads.def"
        row = 'LOAD("one", load_one, "stresses", "shows not", "time,s=^t (.*)", "rss")\n'
        self.write("lab/workloads/loads.def", HEAD + row)
        self.write("lab/workloads/load_a.c", HEAD + """int load_one(int argc, char **argv)
{
    const struct load_option options[] = {
        {"size", 's', "bytes of a block", &size, 1, 10, false},
        {"roles", 0, "what each does", &roles, 0, 1, true},
    };
}
""")
        status, text = self.run_tool("gen_docs.py", "slub-bench.7", table, "1", self.root / "page")
        self.assertEqual(status, 0, text)
        page = (self.root / "page").read_text()
        for words in (".SH ONE\nStresses.\n", "What it does not show: shows not.", "Metrics: time, rss.",
                      "\\-s\\fP \\fInumber\\fP, \\fB\\-\\-size\\fP \\fInumber\\fP\nBytes of a block.",
                      "\\fB\\-\\-roles\\fP\nWhat each does."):
            self.assertIn(words, page)
        self.write("lab/workloads/load_a.c", HEAD)
        status, text = self.run_tool("gen_docs.py", "slub-bench.7", table, "1", "/dev/null")
        self.assertNotEqual(status, 0)
        self.assertIn("no file has load_one()", text)
        self.write("lab/workloads/loads.def", HEAD + row + "LOAD(two)\n")
        status, text = self.run_tool("gen_docs.py", "slub-bench.7", table, "1", "/dev/null")
        self.assertNotEqual(status, 0)
        self.assertIn("unknown shape", text)


class Scorecard(Tree):
    ROWS = ("| id | the program | default | fast | tests |\n|---|---|---|---|---|\n"
            "| F1 | errs | report | report above 32 KiB | death: twice |\n"
            "| F8 | is odd | left alone | left alone | death: stack |\n"
            "| M1 | is odd | fine | fine | death/place |\n| O1 | is odd | bad | bad | none |\n")

    def setUp(self):
        super().setUp()
        self.write("tests/death/cases.py", 'CASES = {"twice": ("report", 1), "stack": ("silent", None)}\n')
        self.write("tests/death/placement.c", HEAD)
        self.write("SECURITY.md", self.ROWS)

    def test_good(self):
        self.expect("check_scorecard.py", 0, "4 rows, 0 problems")

    def test_broken(self):
        for old, new, says in (
                ("death: twice", "death: thrice", "no case thrice"),
                ("death: twice", "none", "twice of tests/death/cases.py is in no row"),
                ("| report |", "| left alone |", "twice is judged by 'report'"),
                ("report above 32 KiB", "not noticed", "twice is judged by 'report'"),
                ("death/place", "death/nowhere", "no test death/nowhere"),
                ("| bad | bad |", "| bad |", "3 cells")):
            with self.subTest(new):
                self.write("SECURITY.md", self.ROWS.replace(old, new))
                self.expect("check_scorecard.py", 1, says)


def summary(allocator, least, size=64):
    return {"test": "batch", "op": "alloc", "size_bytes": size, "allocator": allocator, "min_ticks": least}


class Figures(Tree):
    """The README has what the stored results say, and nothing else."""
    MACHINE = {"cpu": "A CPU", "cpus": 2, "kernel": "Linux 6.1 #1", "libc": "glibc 2.36"}
    RUN = {
        "schema": "slub-bench/1", "command": ["slub", "bench", "slab_test", "--alloc", "a b"], "machine": MACHINE,
        "allocators": [{"label": n, "slub": n == "slub", "control": n == "control"}
                       for n in ("control", "slub", "fast-peer", "slow-peer")],
        "summary": [summary("control", 7), summary("slub", 9.5), summary("fast-peer", 10), summary("slow-peer", 20),
                    summary("control", 7, 8), summary("slub", 12, 8), summary("fast-peer", 11, 8),
                    summary("slow-peer", 20, 8)],
        "results": [{"test": "batch", "allocator": n, "rss_peak_bytes": 3 << 20, "rss_end_bytes": 2 << 20,
                     "rss_idle_bytes": 1 << 20} for n in ("slub", "fast-peer", "slow-peer")],
    }

    def readme(self, words):
        self.write("README.md", f"before\n<!-- figures: {words} -->\nold\n<!-- end of figures -->\nafter\n")
        self.write("bench/results/run.json", json.dumps(self.RUN))

    def written(self, words):
        self.readme(words)
        self.expect_figures(0)
        return (self.root / "README.md").read_text()

    def expect_figures(self, status, words="", check=False):
        found, text = self.run_tool("figures.py", self.root, *(["--check"] if check else []))
        self.assertEqual(found, status, text)
        self.assertIn(words, text)

    def test_difference_from_control(self):
        text = self.written("slab-test run.json batch")
        self.assertIn("| batch, alloc | 2.5–5.0 | 3.0–4.0 | 13.0–13.0 |", text)
        self.assertIn("`slub bench slab_test --alloc 'a b'` ([run.json](bench/results/run.json); A CPU, 2 CPUs, "
                      "Linux 6.1, glibc 2.36)", text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n") and "old" not in text)
        self.expect_figures(0, check=True)

    def test_ratio_to_best_peer(self):
        self.assertIn("| batch, alloc | 1.02 | 1.09 (8) |", self.written("ratios run.json"))
        self.assertIn("| batch, alloc | 0.95 | 0.95 (64) |", self.written("ratios run.json sizes=64-64"))

    def test_memory(self):
        self.assertIn("| slub | 3.0 MiB | 2.0 MiB | 1.0 MiB |", self.written("memory run.json batch"))

    def test_programs(self):
        rows = [{"program": p, "figure": "peak", "unit": "bytes", "allocator": n, "value": v and v * 2**20, "ratio": r}
                for p, n, v, r in (("redis", "slub", 2, 1), ("redis", "fast-peer", 3, 1.5),
                                   ("redis", "slow-peer", 1, 0.5), ("git", "slub", 4, 1),
                                   ("git", "fast-peer", 2, 0.5), ("git", "slow-peer", None, None))]
        rows += [{**r, "figure": f, "unit": "ns"} for r in rows for f in ("wall", "cpu")]
        self.RUN = {**self.RUN, "summary": rows}
        text = self.written("programs run.json")
        self.assertIn("| redis | 2.0 MiB (1.00) | 3.0 MiB (1.50) | 1.0 MiB (0.50) |", text)
        self.assertIn("| git | 4.0 MiB (1.00) | 2.0 MiB (0.50) | failed |", text)
        self.assertIn("| median | (1.00) | (1.00) | (0.50) |", text)

    def test_changed_by_hand(self):
        path = self.root / "README.md"
        path.write_text(self.written("slab-test run.json").replace("2.5", "1.5"))
        self.expect_figures(1, "figures are not those", check=True)

    def test_not_measured(self):
        self.assertIn("Not measured yet.", self.written("slab-test none.json"))

    def test_what_cannot_be_written(self):
        for words, says in (("nonsense run.json", "no kind 'nonsense'"), ("slab-test run.json pair", "holds nothing")):
            self.readme(words)
            self.expect_figures(1, says)
        self.write("bench/results/run.json", json.dumps({**self.RUN, "schema": "other/1"}))
        self.write("README.md", "<!-- figures: slab-test run.json -->\n<!-- end of figures -->\n")
        self.expect_figures(1, "schema")
        self.write("README.md", "<!-- figures: slab-test run.json -->\n")
        self.expect_figures(1, "no end")


if __name__ == "__main__":
    unittest.main()
