# SPDX-License-Identifier: Apache-2.0
"""Every C++ file is laid out as .clang-format says. Versions differ, so only one of them judges."""

import functools
import pathlib
import shutil
import subprocess
import sys

from harness import ROOT, Tap, in_parallel

VERSION = 14
FOLDERS = ["include", "cuda", "tuner", "tests", "bench", "examples"]


def find():
    """The clang-format of that version, or why there is none."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if path := shutil.which(name):
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            if f"version {VERSION}." in said:
                return path, ""
    return None, f"there is no clang-format {VERSION} here"


def laid_out(tool, file):
    """The file as the tool would have it. (Its --dry-run finds fault with each inline namespace, whose
    closing comment it replaces by the same.)"""
    return subprocess.run([tool, file], capture_output=True, text=True, check=True).stdout


def main():
    tool, reason = find()
    if not tool:
        print(f"1..0 # SKIP {reason}")
        sys.exit(0)
    tap = Tap()
    for folder in FOLDERS:
        files = sorted(str(path) for suffix in ("hpp", "cpp", "cu", "cuh")
                       for path in (ROOT / folder).rglob(f"*.{suffix}"))
        if not files:
            continue
        faults = [file for file, told in zip(files, in_parallel(functools.partial(laid_out, tool), files))
                  if told != pathlib.Path(file).read_text()]
        tap.check(f"{folder}/ is laid out by .clang-format", faults)
    tap.finish()


if __name__ == "__main__":
    main()
