#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what including each front door costs: CPU seconds and memory of the compiler, and lines.

    bench/compile_cost.py [--against FOLDER] [--times N] [HEADER...]

With --against, the headers of another checkout are compiled in turn with these, and the last column
is the ratio. CPU seconds are the least of N compilations with -O2.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOORS = ["feedrate/report_batch.hpp", "feedrate/loader.hpp", "feedrate/tune.hpp",
         "feedrate/feedrate.hpp"]


def flags():
    done = subprocess.run(["pkg-config", "--cflags", "openblas"], capture_output=True, text=True,
                          check=False)
    return done.stdout.split()


def compile_once(include, header):
    """CPU seconds and peak bytes."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(f'#include "{header}"\nint main() {{}}\n')
        source.flush()
        process = subprocess.Popen([os.environ.get("COMPILER", "g++"), "-std=c++20", "-O2", f"-I{include}",
                                    *flags(), "-c", source.name, "-o", "/dev/null"])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{header} does not compile from {include}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def lines_of(include, header):
    done = subprocess.run(["g++", "-std=c++20", f"-I{include}", *flags(), "-E", "-x", "c++", "-"], text=True,
                          input=f'#include "{header}"\n', capture_output=True, check=True)
    return done.stdout.count("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--against", type=pathlib.Path, help="the include folder of another checkout")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("headers", nargs="*", default=DOORS)
    options = parser.parse_args()
    print(f"{'header':34} {'CPU s':>6} {'MB':>5} {'lines':>7}" + ("  before" if options.against else ""))
    for header in options.headers:
        own, other = [], []
        for _ in range(options.times):
            own.append(compile_once(ROOT / "include", header))
            if options.against and (options.against / header).exists():
                other.append(compile_once(options.against, header))
        seconds, taken = min(own)
        ratio = f"  {seconds / min(other)[0]:.2f} x {min(other)[0]:.2f} s" if other else ""
        print(f"{header:34} {seconds:6.2f} {taken / 1e6:5.0f} {lines_of(ROOT / 'include', header):7}{ratio}")


if __name__ == "__main__":
    main()
