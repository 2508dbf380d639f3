#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A malloc replacement defines every call of the family: one that it lacks goes to libc's own heap.

usage: symbols.py LIBRARY
"""
import subprocess
import sys

C_CALLS = """
    malloc calloc realloc reallocarray free free_sized free_aligned_sized cfree
    posix_memalign aligned_alloc memalign valloc pvalloc __libc_memalign
    malloc_usable_size malloc_trim mallopt mallinfo mallinfo2 malloc_stats malloc_info
""".split()

# The mangled size_t differs between machines: m is unsigned long.
NEW_FORMS = ["m", "mRKSt9nothrow_t", "mSt11align_val_t", "mSt11align_val_tRKSt9nothrow_t"]
DELETE_FORMS = ["Pv", "Pvm", "PvRKSt9nothrow_t", "PvSt11align_val_t", "PvmSt11align_val_t",
                "PvSt11align_val_tRKSt9nothrow_t"]
CXX_CALLS = [f"{name}{form}" for name in ("_Znw", "_Zna") for form in NEW_FORMS] + \
            [f"{name}{form}" for name in ("_Zdl", "_Zda") for form in DELETE_FORMS]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    listing = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], check=True, text=True,
                             capture_output=True).stdout
    # Lines are "address type name", the name perhaps with "@@VERSION".
    defined = {line.split()[2].split("@")[0] for line in listing.splitlines()
               if len(line.split()) == 3 and line.split()[1] in "TWi"}
    missing = [name for name in C_CALLS + CXX_CALLS if name not in defined]
    print(f"symbols: {len(C_CALLS)} calls of C and {len(CXX_CALLS)} operators of C++, "
          f"{len(missing)} missing")
    for name in missing:
        print(f"symbols: FAILED: {name} is not defined", file=sys.stderr)
    return 1 if missing else 0


sys.exit(main())
