#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots a Debian arm64 kernel in qemu-system-aarch64 and runs test programs on it.

usage: run_kernel.py --init PROGRAM --libc DIRECTORY --kernel FILE|DIRECTORY... [--file FILE...]
                     CASE...

A CASE is "NAME SECONDS [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]"; programs and libraries are in / of
the guest. A kernel is an image or a linux-image package; of a directory, every linux-image-*arm64*.deb
in it. With several kernels all cases run on each. Exit status: 0 all cases passed or skipped, 1 one
failed, 77 nothing could run, with the reason.
"""
import argparse
import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
LIBRARIES = ("ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
             "libresolv.so.2", "libgcc_s.so.1")


class Archive:
    """An initramfs in the kernel's "newc" format."""

    def __init__(self):
        self.parts = []
        self.n = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.n += 1
        fields = (self.n, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
        self.parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def directory(self, name):
        self.add(name, stat.S_IFDIR | 0o755)

    def program(self, name, path):
        self.add(name, stat.S_IFREG | 0o755, Path(path).read_bytes())

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return gzip.compress(b"".join(self.parts), 1)


def initramfs(arguments):
    archive = Archive()
    for name in ("dev", "proc", "sys", "tmp", "lib"):
        archive.directory(name)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.program("init", arguments.init)
    for name in LIBRARIES:
        if (Path(arguments.libc) / name).exists():
            archive.program(f"lib/{name}", Path(arguments.libc) / name)
    for path in arguments.file:
        archive.program(Path(path).name, path)
    archive.add("cases", stat.S_IFREG | 0o644, "".join(c + "\n" for c in arguments.cases).encode())
    return archive.bytes()


def kernels(places):
    """Images and packages, in the order given."""
    for place in map(Path, places):
        if place.is_dir():
            yield from sorted(place.glob("linux-image-*arm64*.deb"))
        elif place.is_file():
            yield place


def image_of(kernel, folder):
    if kernel.suffix != ".deb":
        return kernel
    subprocess.run(["dpkg-deb", "-x", str(kernel), str(folder)], check=True)
    return next((folder / "boot").glob("vmlinuz-*"))


def boot(arguments, image, disk):
    """What the machine printed."""
    command = [arguments.qemu, "-M", "virt", "-cpu", "max", "-smp", "2", "-m", "1024", "-nographic",
               "-no-reboot", "-nic", "none", "-kernel", str(image), "-initrd", str(disk),
               "-append", "console=ttyAMA0 quiet panic=-1"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as machine:
        try:
            printed, _ = machine.communicate(timeout=arguments.timeout)
        except subprocess.TimeoutExpired:
            machine.kill()
            printed, _ = machine.communicate()
            printed += b"\n@@late\n"
    return printed.decode("utf-8", "replace").replace("\r", "")


def judge(text, cases):
    """Names of the cases that did not pass; how many passed."""
    ends = dict(re.findall(r"@@case (\S+) ((?:exit|signal) \d+)", text))
    failed = []
    passed = 0
    for name in (case.split()[0] for case in cases):
        end = ends.get(name, "did not end")
        if end == "exit 0":
            passed += 1
        elif end != f"exit {SKIP}":
            failed.append(f"{name}: {end}")
    return failed, passed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qemu", default="qemu-system-aarch64")
    parser.add_argument("--init", required=True)
    parser.add_argument("--libc", required=True, help="where the guest's C library is")
    parser.add_argument("--kernel", action="append", default=[])
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=1500, help="seconds for one machine")
    parser.add_argument("cases", nargs="+", metavar="CASE")
    arguments = parser.parse_args()
    if shutil.which(arguments.qemu) is None:
        print(f"SKIP: no {arguments.qemu} (Debian: qemu-system-arm)")
        return SKIP
    found = list(kernels(arguments.kernel))
    if not found:
        print("SKIP: no arm64 kernel; once: dpkg --add-architecture arm64 && apt-get update, then"
              f" apt-get download a linux-image-*-cloud-arm64 into {os.pathsep.join(arguments.kernel)}")
        return SKIP
    bad = False
    n_passed = 0
    with tempfile.TemporaryDirectory() as folder:
        disk = Path(folder) / "initramfs"
        disk.write_bytes(initramfs(arguments))
        for number, kernel in enumerate(found):
            text = boot(arguments, image_of(kernel, Path(folder) / f"kernel{number}"), disk)
            failed, passed = judge(text, arguments.cases)
            print(text, end="")
            print(f"{kernel.name}: {passed} passed, {len(failed)} failed", *failed, sep="\n  ")
            bad |= bool(failed) or "@@kernel" not in text
            n_passed += passed
    if bad:
        return 1
    return 0 if n_passed > 0 else SKIP


if __name__ == "__main__":
    sys.exit(main())
