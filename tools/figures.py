#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of figures of README.md from stored results, so that no number there is typed.

usage: figures.py ROOT [--check]

A table stands between two comments:
    <!-- figures: KIND FILE [ARGUMENT]... -->
    ...
    <!-- end of figures -->
FILE is under bench/results/. With --check nothing is written; the status is 1 when the README differs from what
would be written. A FILE that is not there gives the line "Not measured yet.".

kinds
    slab-test FILE [TEST]... [sizes=8-1024]  cycles above the control, by minimum, one row a test and call
    ratios FILE [TEST]... [sizes=8-16384]    slub against the best peer of each size: mean, worst size
    memory FILE [TEST]...                    RSS after the test and after idling, largest of the tests
    known FILE                               cases, limits and values, failed ones marked
    rows FILE                                columns and rows as they are stored
    programs FILE                            time and peak memory of whole programs, and ratios to the first allocator
"""
import json
import math
import re
import statistics
import sys
from pathlib import Path

BLOCK = re.compile(r"(<!-- figures: (?P<words>[^>]+?) -->\n)(?P<text>.*?)(<!-- end of figures -->)", re.S)
UNITS = {"bytes": lambda v: f"{v / 2**20:.1f} MiB", "count": str, "per mille": lambda v: f"{v / 10:.0f} %",
         "ns": lambda v: f"{v / 1e9:.2f} s" if v >= 1e9 else f"{v / 1e6:.1f} ms"}


class Wrong(Exception):
    pass


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|---" + "|--:" * (len(columns) - 1) + "|"]
    return lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]


def split(arguments, default):
    """(names of tests, (least size, largest size))."""
    sizes = default
    tests = []
    for word in arguments:
        if word.startswith("sizes="):
            low, _, high = word[len("sizes="):].partition("-")
            sizes = (int(low), int(high))
        else:
            tests.append(word)
    return tests, sizes


def minima(run, tests, sizes):
    """{(test, op, size): {allocator: least ticks an operation}}, in the order of the run."""
    found = {}
    for row in run["summary"]:
        if (not tests or row["test"] in tests) and sizes[0] <= row["size_bytes"] <= sizes[1]:
            key = (row["test"], row["op"], row["size_bytes"])
            cell = found.setdefault(key, {})
            cell[row["allocator"]] = min(cell.get(row["allocator"], math.inf), row["min_ticks"])
    if not found:
        raise Wrong("holds nothing of what is asked for")
    return found


def labels(run, control=False):
    return [a["label"] for a in run["allocators"] if control or not a["control"]]


def ours(run):
    return [a["label"] for a in run["allocators"] if a["slub"] and not a["control"]]


def geometric(values):
    return math.exp(sum(math.log(max(v, 1e-9)) for v in values) / len(values))


def slab_test(run, arguments):
    cells = minima(run, *split(arguments, (8, 1024)))
    control = next(a["label"] for a in run["allocators"] if a["control"])
    columns = ["ticks above the control: least, most of the sizes", *labels(run)]
    rows = []
    for test, op in dict.fromkeys((t, o) for t, o, _ in cells):
        row = [f"{test}, {op}"]
        for name in labels(run):
            over = [c[name] - c[control] for (t, o, _), c in cells.items() if (t, o) == (test, op)]
            row.append(f"{min(over):.1f}–{max(over):.1f}")
        rows.append(row)
    return table(columns, rows)


def ratios(run, arguments):
    cells = minima(run, *split(arguments, (8, 16384)))
    peers = [n for n in labels(run) if n not in ours(run)]
    if not peers or not ours(run):
        raise Wrong("has no peer to compare slub with")
    columns = ["against the best peer of each size", *(f"{n}: {w}" for n in ours(run) for w in ("mean", "worst size"))]
    rows = []
    for test, op in dict.fromkeys((t, o) for t, o, _ in cells):
        row = [f"{test}, {op}"]
        for name in ours(run):
            by_size = {s: c[name] / min(c[p] for p in peers)
                       for (t, o, s), c in cells.items() if (t, o) == (test, op)}
            worst = max(by_size, key=by_size.get)
            row += [f"{geometric(by_size.values()):.2f}", f"{by_size[worst]:.2f} ({worst})"]
        rows.append(row)
    return table(columns, rows)


def memory(run, arguments):
    tests, _ = split(arguments, (0, 0))
    rows = []
    for name in labels(run):
        results = [r for r in run["results"] if r["allocator"] == name and (not tests or r["test"] in tests)]
        if not results:
            raise Wrong("holds nothing of what is asked for")
        rows.append([name] + [f"{max(r[key] for r in results) / 2**20:.1f} MiB"
                              for key in ("rss_peak_bytes", "rss_end_bytes", "rss_idle_bytes")])
    return table(["largest of the tests", "peak", "all freed", "after idling"], rows)


def known(run, _):
    names = labels(run)
    rows = {}
    for r in run["summary"]:
        value = "failed" if r["value"] is None else UNITS[r["unit"]](r["value"])
        if r["passes"] is False:
            value = f"**{value}**"
        limit = r["rule"] if r["limit"] is None else f"{r['rule']} {UNITS[r['unit']](r['limit'])}"
        rows.setdefault((f"{r['case']}: {r['figure']}", limit), {})[r["allocator"]] = value
    lines = table(["case, figure", "limit", *names],
                  [[*key, *(cell.get(n, "") for n in names)] for key, cell in rows.items()])
    return lines + ["", "Bold: beyond the limit."]


def programs(run, _):
    names = labels(run)
    lines = []
    for figure, heading in (("wall", "time"), ("cpu", "CPU time"), ("peak", "peak memory")):
        cells = {}
        for r in run["summary"]:
            if r["figure"] == figure:
                cells.setdefault(r["program"], {})[r["allocator"]] = r
        rows = [[program, *("failed" if row[n]["value"] is None else
                            f"{UNITS[row[n]['unit']](row[n]['value'])} ({row[n]['ratio'] or 0:.2f})" for n in names)]
                for program, row in cells.items()]
        if not rows:
            raise Wrong("holds nothing of what is asked for")
        ratio = {n: [row[n]["ratio"] for row in cells.values() if row[n]["ratio"]] for n in names}
        rows.append(["median", *(f"({statistics.median(ratio[n] or [0]):.2f})" for n in names)])
        lines += [*table([f"{heading} (ratio to {names[0]})", *names], rows), ""]
    return lines[:-1]


def rows(run, _):
    return table(run["columns"], run["rows"])


KINDS = {"rows": ("slub-rows/1", rows), "slab-test": ("slub-bench/1", slab_test), "ratios": ("slub-bench/1", ratios),
         "memory": ("slub-bench/1", memory), "known": ("slub-bench/1", known), "programs": ("slub-bench/1", programs)}


def quote(word):
    return word if re.fullmatch(r"[\w@%+=:,./-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def source(run, name):
    command = run["command"] if isinstance(run["command"], str) else " ".join(map(quote, run["command"]))
    machine = run["machine"]
    kernel = machine["kernel"].split()[1] if " " in machine["kernel"] else machine["kernel"]
    where = f"{machine['cpu']}, {machine['cpus']} CPUs, Linux {kernel}, {machine['libc']}"
    return [f"`{command}` ([{name}](bench/results/{name}); {where})"]


def block(root, words):
    kind, name, *arguments = words
    if kind not in KINDS:
        raise Wrong(f"no kind '{kind}' of table")
    path = root / "bench/results" / name
    if not path.is_file():
        return ["", "Not measured yet.", ""]
    run = json.loads(path.read_text(encoding="utf-8"))
    schema, make = KINDS[kind]
    if run.get("schema") != schema:
        raise Wrong(f"{name} has schema {run.get('schema')}, not {schema}")
    try:
        return ["", *make(run, arguments), "", *source(run, name), ""]
    except Wrong as wrong:
        raise Wrong(f"{name} {wrong}") from None


def rewrite(root, text):
    return BLOCK.sub(lambda m: m.group(1) + "\n".join(block(root, m.group("words").split())) + "\n" + m.group(4), text)


def main(argv):
    words = argv[1:]
    if not words or words[1:] not in ([], ["--check"]):
        sys.exit("usage: figures.py ROOT [--check]")
    root = Path(words[0])
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8")
    if text.count("<!-- figures:") != len(BLOCK.findall(text)):
        sys.exit("README.md: a table of figures has no end")
    try:
        fresh = rewrite(root, text)
    except Wrong as wrong:
        sys.exit(f"README.md: {wrong}")
    if "--check" not in words:
        readme.write_text(fresh, encoding="utf-8")
    elif fresh != text:
        sys.exit("README.md: figures are not those of bench/results: run tools/figures.py .")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
