#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what is exported is documented, and that what is documented exists.

usage: check_docs.py ROOT MAN_DIRECTORY     (the pages as they are installed)

  - every SLUB_API name of include/slub/*.h has a documentation block right before it, is in both
    version scripts and in the symbols file of the Debian package, and is named in a manual page;
  - every slub_ name of those lists is declared in a header;
  - every option of options.def is in slub_options(7), every counter in slub_stats(7);
  - every lock of src/ is in the table of docs/locking.md, and every lock of the table is in src/;
  - every option of options.def is read somewhere in src/;
  - a size in brackets right after the name of an option in a page is its default.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gen_docs  # noqa: E402  (the parsers of the tables)

LISTS = ("src/libslub.map", "src/libslub-malloc.map", "debian/libslub1.symbols")
DECLARATION = re.compile(r"^SLUB_API\b(?P<rest>[^;]*);", re.M)


def declared_name(rest):
    """Name that a declaration after SLUB_API declares."""
    rest = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*$", "", rest.strip(), flags=re.S)
    function = re.search(r"(\w+)\s*\(", rest)
    return function.group(1) if function else re.search(r"(\w+)\s*$", rest).group(1)


def has_block(text, start):
    """Whether a documentation block ends right before START."""
    before = text[:start].rstrip()
    return before.endswith("*/") and before[before.rfind("/*"):].startswith("/**")


def exported(headers):
    """{name: (place, has a documentation block)} over the public headers."""
    names = {}
    for header in headers:
        text = header.read_text(encoding="utf-8")
        for match in DECLARATION.finditer(text):
            line = text.count("\n", 0, match.start("rest")) + 1
            # A data symbol is documented by its struct, which precedes it.
            documented = "(" not in match.group("rest") or has_block(text, match.start())
            names[declared_name(match.group("rest"))] = (f"{header.name}:{line}", documented)
    return names


def listed_names(path):
    text = gen_docs.without_comments(path.read_text(encoding="utf-8"))
    return set(re.findall(r"^\s+(slub_\w+)[;@]", text, flags=re.M))


def plain(page):
    """Text of a manual page with the escapes that names contain undone."""
    return page.read_text(encoding="utf-8").replace("\\-", "-").replace("\\_", "_")


def problems_of(root, man):
    names = exported(sorted((root / "include" / "slub").glob("*.h")))
    if not names:
        yield "no exported name found: the headers or this check are broken"
    lists = {path: listed_names(root / path) for path in LISTS}
    manual = "\n".join(plain(page) for page in sorted(man.glob("*.[137]")))
    for name, (place, documented) in names.items():
        if not documented:
            yield f"{place}: {name} has no documentation block"
        for path, listed in lists.items():
            if name not in listed:
                yield f"{path}: {name} is missing"
        if not re.search(rf"\b{name}\b", manual):
            yield f"{place}: {name} is in no manual page"
    for path, listed in lists.items():
        for name in sorted(listed - set(names)):
            yield f"{path}: {name} is in no public header"

    tables = (
        ("slub_options.7", "src/service/options.def",
         lambda text: [row["name"] for row in gen_docs.parse_options(text)]),
        ("slub_stats.7", "include/slub/stats.h",
         lambda text: [name for name, _ in gen_docs.parse_stats(text)]))
    for page, table, parse in tables:
        if not (man / page).is_file():
            yield f"{page} has not been built"
            continue
        text = plain(man / page)
        entries = parse((root / table).read_text(encoding="utf-8"))
        if not entries:
            yield f"{table} has no row"
        for entry in entries:
            if not re.search(rf"^\.BI? {entry}\b", text, flags=re.M):
                yield f"{page}: {entry} is missing"


LOCK = re.compile(r"^\s*(?:static |extern )?struct lock (\w+)(?: = LOCK_INIT)?;", flags=re.M)
LOCK_ROW = re.compile(r"^\| \d+ \| `(?:\w+\.)?(\w+)` \|", flags=re.M)


def wrong_locks(root):
    page = root / "docs/locking.md"
    listed = set(LOCK_ROW.findall(page.read_text(encoding="utf-8"))) if page.is_file() else set()
    sources = [p for p in (root / "src").rglob("*") if p.suffix in (".c", ".h")]
    found = {name: p for p in sources for name in LOCK.findall(p.read_text(encoding="utf-8"))}
    for name in sorted(set(found) - listed):
        yield f"{found[name].relative_to(root)}: {name} has no row in docs/locking.md"
    for name in sorted(listed - set(found)):
        yield f"docs/locking.md: there is no lock {name}"


DEFAULT = re.compile(r"^\.B (\w+)\n\((\d+) ([KMG])iB\)", flags=re.M)


def wrong_defaults(root, man):
    options = gen_docs.parse_options((root / "src/service/options.def").read_text(encoding="utf-8"))
    defaults = {row["name"]: row["default"] for row in options}
    for page in sorted(man.glob("*.7")):
        for name, number, unit in DEFAULT.findall(plain(page)):
            said = int(number) << {"K": 10, "M": 20, "G": 30}[unit]
            if said != int(defaults.get(name, -1)):
                yield f"{page.name}: the default of {name} is {defaults.get(name)}, not {number} {unit}iB"


def unread_options(root):
    sources = [p for p in (root / "src").rglob("*.[ch]")]
    text = "\n".join(p.read_text(encoding="utf-8") for p in sources)
    for row in gen_docs.parse_options((root / "src/service/options.def").read_text(encoding="utf-8")):
        if not re.search(rf"\boptions\.{row['id']}\b", text):
            yield f"src/service/options.def: nothing reads {row['name']}"


def main(argv):
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    root, man = Path(argv[1]).resolve(), Path(argv[2])
    found = [*problems_of(root, man), *wrong_locks(root), *wrong_defaults(root, man),
             *unread_options(root)]
    for problem in found:
        print(problem)
    print(f"{len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
