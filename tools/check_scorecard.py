#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the scorecard of SECURITY.md against the tests that it names.

usage: check_scorecard.py ROOT

  - every case of tests/death/cases.py is in the table, every case of the table is one of them;
  - what a row says of default mode is what its cases are judged by: "report", "left alone", "report or harmless",
    "fault from 32 MiB on"; fast mode then says the same, of blocks above 32 KiB where it is a report, or "not noticed"
    where it is a fault;
  - other tests are the beginning of the name of a file in tests/; "none" stands for none.
"""
import importlib.util
import re
import sys
from pathlib import Path

VERDICTS = {"report": ("report", "report above 32 KiB"), "silent": ("left alone", "left alone"),
            "either": ("report or harmless", "report or harmless above 32 KiB"),
            "fault": ("fault from 32 MiB on", "not noticed")}
ROW = re.compile(r"^\| (?P<id>[A-Z]\d+b?) \|(?P<cells>.*)\|$", re.M)


def death_cases(root):
    spec = importlib.util.spec_from_file_location("cases", root / "tests/death/cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: what for name, (what, _) in module.CASES.items()}


def check_row(root, cases, name, default, fast, tests):
    """([problem], [case of death that was named])."""
    if tests == "none":
        return [], []
    if not tests.startswith("death: "):
        return [f"{name}: no test {test} in tests/" for test in tests.split(", ")
                if not list((root / "tests").glob(test + "*"))], []
    named = tests[len("death: "):].split(", ")
    problems = []
    for case in named:
        if case not in cases:
            problems.append(f"{name}: no case {case} in tests/death/cases.py")
        elif VERDICTS[cases[case]] != (default, fast) and name != "R1":
            problems.append(f"{name}: {case} is judged by '{cases[case]}', the row says '{default}' and '{fast}'")
    return problems, named


def main(argv):
    if len(argv) != 2:
        sys.exit("usage: check_scorecard.py ROOT")
    root = Path(argv[1])
    cases = death_cases(root)
    text = (root / "SECURITY.md").read_text(encoding="utf-8")
    problems, seen = [], set()
    rows = list(ROW.finditer(text))
    for row in rows:
        cells = [cell.strip() for cell in row.group("cells").split("|")]
        if len(cells) != 4:
            problems.append(f"{row.group('id')}: {len(cells)} cells, not 4")
            continue
        found, named = check_row(root, cases, row.group("id"), *cells[1:])
        problems += found
        seen |= set(named)
    problems += [f"{case} of tests/death/cases.py is in no row" for case in cases if case not in seen]
    for problem in problems:
        print(f"SECURITY.md: {problem}")
    print(f"{len(rows)} rows, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
