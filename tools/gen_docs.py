#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the manual pages that come from a table in the source.

usage: gen_docs.py slub_options.7 src/service/options.def VERSION OUTPUT
       gen_docs.py slub_stats.7 include/slub/stats.h VERSION OUTPUT
       gen_docs.py slub-bench.7 lab/workloads/loads.def VERSION OUTPUT
"""
import ast
import re
import sys
from pathlib import Path

STRING = r'"(?:[^"\\]|\\.)*"'


def roff(text):
    """Plain text as roff: backslashes and hyphens escaped, no line that starts a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in ".'" else text


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def joined(literals):
    """The value of adjacent C string literals."""
    return "".join(ast.literal_eval(s) for s in re.findall(STRING, literals))


def parse_options(text):
    """Rows of options.def as dictionaries, in the order of the file."""
    pattern = re.compile(
        r"OPTION\(\s*(\w+)\s*,\s*(" + STRING + r")\s*,\s*(BOOL|UINT|ENUM|FLAG|TEXT)\s*,"
        r"\s*(\w+|" + STRING + r")\s*,\s*(\w+)\s*,\s*(\w+)\s*,\s*(" + STRING + r")\s*,"
        r"\s*(STABLE|EXPERIMENTAL|DEBUG)\s*,\s*((?:" + STRING + r"\s*)+)\)")
    text = without_comments(text)
    names = ("id", "name", "type", "default", "min", "max", "unit", "stability", "help")
    rows = [dict(zip(names, match.groups())) for match in pattern.finditer(text)]
    if len(rows) != len(re.findall(r"^\s*OPTION\(", text, flags=re.M)):
        raise SystemExit("gen_docs.py: a row of the option table has an unknown shape")
    for row in rows:
        for field in ("name", "unit", "help"):
            row[field] = joined(row[field])
        if row["default"].startswith('"'):
            row["default"] = joined(row["default"])
    return rows


def parse_stats(text):
    """(name, help) of each counter of the SLUB_STATS table."""
    found = re.search(r"#define SLUB_STATS\(X\)((?:.*\\\n)*.*\n)", text)
    if not found:
        raise SystemExit("gen_docs.py: no SLUB_STATS table")
    return [(name, joined(help_text)) for name, help_text in
            re.findall(r"X\((\w+),\s*(" + STRING + r")\)", found.group(1))]


def parse_loads(text):
    """Rows of loads.def: name, function, what it stresses, what it does not show, metrics."""
    pattern = re.compile(r"LOAD\(\s*(" + STRING + r")\s*,\s*(\w+)\s*,\s*((?:" + STRING + r"\s*,?\s*)+)\)")
    rows = []
    text = without_comments(text)
    for name, function, strings in pattern.findall(text):
        stresses, not_shown, *metrics = [joined(s) for s in re.findall(STRING, strings)]
        rows.append({"name": joined(name), "function": function, "stresses": stresses, "not_shown": not_shown,
                     "metrics": [re.split("[,=]", m)[0] for m in metrics]})
    if len(rows) != len(re.findall(r"^\s*LOAD\(", text, flags=re.M)):
        raise SystemExit("gen_docs.py: a row of the table of workloads has an unknown shape")
    return rows


def parse_load_options(sources, function):
    """(name, letter, help, is a flag) of each option: those of the function, or else of the file that has it."""
    pattern = (r'\{(' + STRING + r'),\s*(?:\'(\w)\'|0),\s*(' + STRING + r'),\s*&\w+,[^,]+,[^,]+,\s*(true|false)\}')
    for text in sources:
        start = re.search(rf"^int {function}\(int argc.*\n(?:.*\n)*?\}}\n", text, flags=re.M)
        if start:
            found = re.findall(pattern, start.group(0)) or re.findall(pattern, text)
            return [(joined(name), letter, joined(help_text), flag == "true")
                    for name, letter, help_text, flag in found]
    raise SystemExit(f"gen_docs.py: no file has {function}()")


def bytes_with_suffix(value):
    """524288 as "524288 (512K)" where that is shorter to read."""
    for shift, suffix in ((40, "T"), (30, "G"), (20, "M"), (10, "K")):
        if value and value % (1 << shift) == 0:
            return f"{value} ({value >> shift}{suffix})"
    return str(value)


def sentence(text, words=()):
    """The text with a capital and a full stop; a first word that is a value keeps its spelling."""
    if text.split()[0].rstrip(":,") not in words:
        text = text[0].upper() + text[1:]
    return text + "."


def option_values(row):
    if row["type"] == "BOOL":
        return "0|1", row["default"]
    if row["type"] == "ENUM":
        return row["unit"], row["unit"].split("|")[int(row["default"])]
    if row["type"] == "FLAG":
        return "", "off"
    if row["type"] == "TEXT":
        return "WORD", row["default"] or "none"
    return "N", bytes_with_suffix(int(row["default"], 0))


def head(page, version, title, purpose):
    name, section = page.rsplit(".", 1)
    return [f'.\\" SPDX-License-Identifier: MIT',
            f'.\\" Made by tools/gen_docs.py; do not edit.',
            f'.TH {name.upper()} {section} "" "slub {version}" "{title}"',
            ".SH NAME", f"{name} \\- {purpose}"]


def options_page(page, version, text, _folder):
    out = head(page, version, "slub options", "options of the slub allocator")
    out += [
        ".SH SYNOPSIS",
        '.B SLUB_OPTIONS=\\(dq\\fINAME\\fP=\\fIVALUE\\fP \\fINAME\\fP=\\fIVALUE\\fP ...\\(dq',
        ".I program ...", ".br",
        '.B slub run \\-\\-options \\(dq\\fINAME\\fP=\\fIVALUE\\fP ...\\(dq \\-\\-',
        ".I program ...",
        ".SH DESCRIPTION",
        "Options are words separated by blanks, spelled as on a kernel command line; an option",
        "that is a kernel parameter keeps the kernel's name.",
        "They are read once, before the first allocation, from the environment variable",
        ".BR SLUB_OPTIONS ,",
        "or given to",
        ".BR slub_options_set (3).",
        "When a word is unknown or malformed the library names it in one line on standard error,",
        "ignores it and goes on; the",
        ".BR slub (1)",
        "command refuses it.",
        "Programs that run with raised privileges (AT_SECURE) ignore the environment.",
        ".PP",
        "Numbers are decimal and may end in K, M or G (powers of 1024).",
        "An option marked experimental may change or go away in any release.",
        ".SH OPTIONS"]
    for row in parse_options(text):
        values, default = option_values(row)
        out += [".TP", f'.BI {roff(row["name"])}' +
                (f'= {roff(values)}' if values else "")]
        out.append(roff(sentence(row["help"], row["unit"].split("|"))))
        facts = [f"Default: {default}"]
        if row["type"] == "UINT":
            least, most = (bytes_with_suffix(int(row[key], 0)) for key in ("min", "max"))
            facts.append(f"range: {least} to {most}")
            if row["unit"]:
                facts.append(f"unit: {row['unit']}")
        if row["stability"] != "STABLE":
            facts.append(row["stability"].lower())
        out.append(roff("; ".join(facts)) + ".")
    out += [".SH SEE ALSO", ".BR slub (1),", ".BR slub (7),", ".BR slub\\-tuning (7),",
            ".BR slub_stats (7)"]
    return out


def stats_page(page, version, text, _folder):
    out = head(page, version, "slub counters", "counters of the slub allocator")
    out += [
        ".SH DESCRIPTION",
        "Each cache and each size class counts what happens to it.",
        ".BR slub_snapshot (3)",
        "returns the counters in the order of this page, and",
        ".B slub info",
        "prints them.",
        "A counter is named after a transition and is counted where a lock is held anyway, so it",
        "costs nothing on the fast path and is exact; the two counters of the fast paths exist",
        "only with",
        ".B slab_stats=1",
        "and are shown as not counted otherwise, never as 0.",
        "Live objects and bytes are exact whenever no other thread is inside the allocator.",
        ".SH COUNTERS"]
    for name, help_text in parse_stats(text):
        out += [".TP", f".B {roff(name)}", roff(sentence(help_text))]
    out += [".SH SEE ALSO", ".BR slub (1),", ".BR slub (7),", ".BR slub_options (7)"]
    return out


def loads_page(page, version, text, folder):
    sources = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("load_*.c"))]
    out = head(page, version, "slub benchmarks", "workloads of slub bench that are programs of its own")
    out += [
        ".SH SYNOPSIS",
        ".B slub bench", ".I name",
        "[\\fB\\-\\-alloc\\fP \\fIallocator\\fP] ... [\\fB\\-\\-\\fP \\fIoption\\fP ...]", ".br",
        ".B slub compare \\-\\-a", ".I allocator", ".B \\-\\-b", ".I allocator name", "[\\fIoption\\fP ...]",
        ".SH DESCRIPTION",
        "Each is a small program that calls malloc and free as any program does; a run takes half a second or less.",
        "How two allocators are compared by it, and what the verdict means, is in",
        ".BR slub (1).",
        "The first metric decides when a comparison has enough."]
    for row in parse_loads(text):
        out += [f".SH {roff(row['name']).upper()}", roff(sentence(row["stresses"])), ".PP",
                "What it does not show: " + roff(row["not_shown"]) + ".", ".PP",
                "Metrics: " + roff(", ".join(row["metrics"])) + "."]
        for name, letter, help_text, is_flag in parse_load_options(sources, row["function"]):
            value = "" if is_flag else "\\fP \\fInumber"
            short = f"\\-{letter}{value}\\fP, \\fB" if letter else ""
            out += [".TP", f"\\fB{short}\\-\\-{roff(name)}{value}\\fP", roff(sentence(help_text))]
    out += [".SH SEE ALSO", ".BR slub (1)"]
    return out


PAGES = {"slub_options.7": options_page, "slub_stats.7": stats_page, "slub-bench.7": loads_page}


def main(argv):
    if len(argv) != 5 or argv[1] not in PAGES:
        print(__doc__, file=sys.stderr)
        return 2
    page, table, version, output = argv[1:]
    lines = PAGES[page](page, version, Path(table).read_text(encoding="utf-8"), Path(table).parent)
    target = Path(output)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
