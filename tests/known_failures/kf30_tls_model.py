#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Case 30, the file: TLS of a malloc is initial-exec and small (usage: kf30_tls_model.py LIBRARY)."""
import re
import subprocess
import sys

MOST_BYTES = 64


def read(*options):
    return subprocess.run(["readelf", "-W", *options, sys.argv[1]], check=True, text=True,
                          capture_output=True).stdout


def main():
    bad = []
    tls = re.search(r"^\s+TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)", read("-l"), re.M)
    size = int(tls.group(1), 16) if tls else 0
    if size > MOST_BYTES:
        bad.append(f"{size} bytes of TLS")
    if "__tls_get_addr" in read("--dyn-syms"):
        bad.append("imports __tls_get_addr")
    if size and "STATIC_TLS" not in read("-d"):
        bad.append("no STATIC_TLS flag")
    print(f"kf30 TLS of the library: {size} bytes")
    for text in bad:
        print(f"kf30: FAILED: {text}", file=sys.stderr)
    return 1 if bad else 0


sys.exit(main())
