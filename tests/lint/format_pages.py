#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Formats every manual page and fails on any warning of the formatter.

usage: format_pages.py GROFF DIRECTORY...
"""
import subprocess
import sys
from pathlib import Path


def main(argv):
    pages = sorted(page for folder in argv[2:] for page in Path(folder).glob("*.[137]"))
    if not pages:
        print("format_pages.py: no manual page", file=sys.stderr)
        return 2
    failed = 0
    for page in pages:
        done = subprocess.run([argv[1], "-man", "-ww", "-Tutf8", str(page)], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode or done.stderr or not done.stdout.strip():
            failed += 1
            print(f"{page}: status {done.returncode}\n{done.stderr}")
    print(f"{len(pages)} pages, {failed} with warnings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
