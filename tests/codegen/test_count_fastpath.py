#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of count_fastpath.py on small libraries whose fast path is known.

usage: test_count_fastpath.py C_COMPILER OBJDUMP
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

OBJDUMP = sys.argv.pop()
COMPILER = sys.argv.pop()
COUNTER = Path(__file__).with_name("count_fastpath.py")


class Counter(unittest.TestCase):
    def judge(self, body, limit=10, symbol="f"):
        """(status, output) of the counter on a function of one assembly body."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "f.S"
            library = Path(folder) / "f.so"
            source.write_text("    .text\n    .globl f\n    .type f, @function\nf:\n"
                              + body + '\n    .section .note.GNU-stack, "", @progbits\n')
            subprocess.run([COMPILER, "-shared", "-nostdlib", "-o", str(library), str(source)],
                           check=True)
            done = subprocess.run(
                [sys.executable, str(COUNTER), "--objdump", OBJDUMP, str(library),
                 f"{symbol}={limit}"], check=False, stdout=subprocess.PIPE, text=True)
            return done.returncode, done.stdout

    def refused(self, body, words):
        status, text = self.judge(body)
        self.assertEqual(status, 1, text)
        self.assertIn(words, text)

    def test_counts_with_stub(self):
        self.assertIn("f: 4 instructions", self.judge("  nop\n  nop\n  ret")[1])

    def test_limit(self):
        self.assertEqual(self.judge("  nop\n  ret", limit=3)[0], 0)
        self.assertEqual(self.judge("  nop\n  ret", limit=2)[0], 1)

    def test_follows_plain_jumps_only(self):
        body = "  test %rdi, %rdi\n  jz 2f\n  jmp 1f\n2: call f\n1: ret"
        self.assertIn("f: 5 instructions", self.judge(body)[1])

    def test_call(self):
        self.refused("  call f\n  ret", "call")

    def test_lock(self):
        self.refused("  lock incl (%rdi)\n  ret", "bus")

    def test_cmpxchg(self):
        self.refused("  cmpxchg %rax, (%rdi)\n  ret", "atomic")

    def test_xchg(self):
        self.refused("  xchg %rax, (%rdi)\n  ret", "atomic")
        self.assertEqual(self.judge("  xchg %rax, %rdi\n  ret")[0], 0)

    def test_xchg_of_thread_local(self):
        self.refused("  xchg %rax, %fs:0x10\n  ret", "atomic")

    def test_indirect_jump(self):
        self.refused("  jmp *%rax", "nobody can see")

    def test_endless(self):
        self.refused("1: jmp 1b", "no ret")

    def test_missing_symbol(self):
        status, text = self.judge("  ret", symbol="g")
        self.assertEqual(status, 1)
        self.assertIn("does not define it", text)


if __name__ == "__main__":
    unittest.main()
