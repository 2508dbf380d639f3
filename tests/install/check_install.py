#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs a build into a temporary prefix, moves the prefix, and uses what is there as users do.

usage: check_install.py --cmake C --compiler CC --readelf R --source DIR --build DIR --libdir LIB
"""
import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

OPTIONS = None
LIBC = re.compile(r"^(libc\.so\.|ld-linux|ld-musl|libc\.musl)")


def run(*command, status=0, **settings):
    """Output of a command that must end with STATUS."""
    done = subprocess.run([str(word) for word in command], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings)
    if done.returncode != status:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def needed(path):
    """Libraries that an ELF file names as needed."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", run(OPTIONS.readelf, "-d", path))


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = Path(folder.name)
        first = cls.work / "first"
        run(OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", first)
        # Everything must be found relative to where it lies now.
        cls.prefix = cls.work / "moved"
        first.rename(cls.prefix)
        cls.lib = cls.prefix / OPTIONS.libdir
        cls.consumer = OPTIONS.source / "tests" / "install" / "consumer"
        cls.environment = dict(os.environ, LD_LIBRARY_PATH=str(cls.lib),
                               PKG_CONFIG_PATH=str(cls.lib / "pkgconfig"))
        cls.version = run("pkg-config", "--modversion", "slub", env=cls.environment).strip()

    def pkg_config(self, *words):
        return run("pkg-config", *words, "slub", env=self.environment).split()

    def compile(self, name, source, *flags):
        program = self.work / name
        run(OPTIONS.compiler, "-Wall", "-Wextra", "-Werror", "-o", program,
            self.consumer / source, *flags)
        return program

    def test_headers(self):
        installed = {path.name for path in (self.prefix / "include" / "slub").iterdir()}
        wanted = {path.name for path in (OPTIONS.source / "include" / "slub").glob("*.h")}
        self.assertEqual(installed, wanted | {"version.h"})

    def test_libraries_need_libc_only(self):
        found = sorted(self.lib.glob("libslub*.so"))
        self.assertEqual([path.name for path in found],
                         ["libslub-malloc-fast.so", "libslub-malloc.so", "libslub.so"])
        for path in found:
            strangers = [name for name in needed(path) if not LIBC.match(name)]
            self.assertEqual(strangers, [], path.name)
        self.assertIn("libslub.so.1", run(OPTIONS.readelf, "-d", self.lib / "libslub.so"))

    def test_exports_nothing_but_the_interface(self):
        table = run(OPTIONS.readelf, "--dyn-syms", "-W", self.lib / "libslub.so")
        names = [line.split()[7].split("@")[0] for line in table.splitlines()
                 if re.match(r"\s*\d+:", line) and line.split()[6] not in ("UND", "ABS")]
        self.assertIn("slub_alloc", names)
        self.assertEqual([name for name in names if not name.startswith("slub_")], [])

    def test_pkg_config_shared(self):
        program = self.compile("shared", "consumer.c", *self.pkg_config("--cflags", "--libs"))
        self.assertIn("libslub.so.1", needed(program))
        self.assertEqual(run(program, env=self.environment), f"slub {self.version}\n")

    def test_pkg_config_static(self):
        flags = self.pkg_config("--cflags", "--libs", "--static")
        flags = [word for flag in flags
                 for word in (("-Wl,-Bstatic", flag, "-Wl,-Bdynamic") if flag == "-lslub"
                              else (flag,))]
        program = self.compile("static", "consumer.c", *flags)
        self.assertNotIn("libslub.so.1", needed(program))
        self.assertEqual(run(program), f"slub {self.version}\n")

    def test_find_package(self):
        build = self.work / "consumer"
        run(OPTIONS.cmake, "-S", self.consumer, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_C_COMPILER={OPTIONS.compiler}")
        run(OPTIONS.cmake, "--build", build)
        for name, shared in (("consumer_shared", True), ("consumer_static", False)):
            self.assertEqual(run(build / name), f"slub {self.version}\n")
            self.assertEqual("libslub.so.1" in needed(build / name), shared)

    def test_preload(self):
        program = self.compile("owner", "owner.c")
        for name in ("libslub-malloc.so", "libslub-malloc-fast.so"):
            library = self.lib / name
            output = run(program, env=dict(os.environ, LD_PRELOAD=str(library)))
            self.assertEqual(output, f"{library}\n{library}\n")

    def test_static_malloc(self):
        program = self.compile("whole", "whole.c", *self.pkg_config("--cflags"), "-static",
                               f"-L{self.lib}", "-lslub-malloc")
        self.assertEqual(needed(program), [])
        self.assertEqual(run(program), f"slub {self.version}\n")

    def test_static_names_stay_inside(self):
        for name in ("libslub", "libslub-malloc"):
            table = run(OPTIONS.readelf, "-sW", self.lib / f"{name}.a")
            names = [line.split()[7] for line in table.splitlines()
                     if re.match(r"\s*\d+:.* GLOBAL ", line) and " UND " not in line]
            self.assertIn("slub_alloc", names)
            script = (OPTIONS.source / "src" / f"{name}.map").read_text(encoding="utf-8")
            exported = re.findall(r"^\s+(\w+\*?);", script, flags=re.M)
            self.assertEqual([one for one in names
                              if not any(fnmatch.fnmatchcase(one, word) for word in exported)],
                             [], name)

    def test_command(self):
        if not (OPTIONS.build / "bin" / "slub").exists():
            self.skipTest("this build has no slub command")
        self.assertIn(self.version, run(self.prefix / "bin" / "slub", "--version"))

    def test_examples(self):
        """What the manual and the README show compiles without a warning and ends with 0."""
        sources = {}
        for page in sorted((self.prefix / "share" / "man" / "man3").iterdir()):
            text = page.read_text(encoding="utf-8").replace("\\e", "\\").replace("\\->", "->")
            sources[page.stem] = re.findall(r"^\.EX\n(.*?)^\.EE$", text, flags=re.M | re.S)
        readme = (OPTIONS.source / "README.md").read_text(encoding="utf-8")
        sources["README"] = re.findall(r"^```c\n(.*?)^```$", readme, flags=re.M | re.S)
        examples = [(name, code) for name, codes in sources.items() for code in codes
                    if "int main(" in code]
        self.assertGreaterEqual(len(examples), 4)
        for name, code in examples:
            (self.work / f"{name}.c").write_text(code, encoding="utf-8")
            program = self.compile(f"{name}.out", self.work / f"{name}.c",
                                   *self.pkg_config("--cflags", "--libs"))
            run(program, env=self.environment)

    def test_manual(self):
        for page in ("man1/slub.1", "man3/slub_alloc.3", "man3/slub_cache_create.3",
                     "man7/slub.7", "man7/slub_options.7", "man7/slub_stats.7", "man7/slub-bench.7",
                     "man7/slub-tuning.7", "man3/slub_cache_free.3"):
            self.assertTrue((self.prefix / "share" / "man" / page).is_file(), page)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for name in ("cmake", "compiler", "readelf", "libdir"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("source", "build"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    OPTIONS, rest = parser.parse_known_args()
    if not shutil.which("pkg-config"):
        sys.exit("check_install.py: pkg-config is missing; run tools/setup.sh")
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
