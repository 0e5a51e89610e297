# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, twice in one unit, without a warning, and links from two units.

The compiler would read the same headers hundreds of times: a few that many others include are
precompiled. Such a base is put before a header only if that header includes it too, so it can't bring
what the header has forgotten.

Another compiler and standard: self_contained.py clang++-19 -std=c++2b
"""

import functools
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness import CUDA, INCLUDE, ROOT, Tap, compile_source, compiler, flags_of_build, headers
from harness import in_parallel, includes

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow"]
# Device headers are compiled with the stand-in, since not every machine has the toolkit.
FOLDERS = [f"-I{ROOT / 'tests' / 'standin' / 'include'}", f"-I{INCLUDE}", f"-I{CUDA}"]
BASES = 8
WEIGHTS = {"nlohmann/json.hpp": 60}  # what the compiler reads for it, in headers of the usual size


@functools.cache
def closure(header):
    """What a header includes, through any number of this project's headers."""
    path = next((root / header for root in (INCLUDE, CUDA) if (root / header).exists()), None)
    names = [name for _, name in includes(path)] if path else []
    return frozenset(names).union(*(closure(name) for name in names))


def weight(header):
    """What the compiler reads for a header, in headers of the usual size."""
    return sum(WEIGHTS.get(name, 1) for name in closure(header))


def chosen_bases(all_headers):
    """The headers that save most: each of those above one is spared its weight, or what it has more
    than a base chosen before."""
    spared, chosen = dict.fromkeys(all_headers, 0), []

    def gain(base):
        return sum(max(0, weight(base) - spared[header]) for header in all_headers
                   if base in closure(header))

    while len(chosen) < BASES:
        base = max(all_headers, key=gain)
        chosen.append(base)
        for header in all_headers:
            if base in closure(header):
                spared[header] = max(spared[header], weight(base))
    return chosen


def precompile(folder, base):
    """The path to give to -include, or None if the base does not compile, which its own check says."""
    header = folder / f"{base.replace('/', '_')}"
    source = f'#include "{base}"\n'
    header.write_text(source)
    options = [*WARNINGS, *FOLDERS, *flags_of_build(), "-x", "c++-header", "-o", f"{header}.gch"]
    done = subprocess.run([*compiler(), "-pthread", *options, header],
                          capture_output=True, text=True, check=False)
    return header if done.returncode == 0 else None


def said_of_ours(source, *options):
    """The messages about a unit, where it does not compile or our headers are warned of."""
    succeeded, messages = compile_source(source, *WARNINGS, *FOLDERS, *flags_of_build(), "-fsyntax-only", *options)
    if succeeded and not re.search(r"/include/feedrate/\S*: warning:|-Winvalid-pch", messages):
        return ""
    return messages or "the compiler said nothing, and failed"


def compile_alone(header, bases):
    """The messages about `header` in a unit of its own, where it is included twice."""
    source = f'#include "{header}"\n#include "{header}"\n'
    below = [base for base, path in bases.items() if path and base in closure(header)]
    largest = max(below, key=weight, default=None)
    return said_of_ours(source, *(["-Winvalid-pch", "-include", bases[largest]] if largest else []))


def link_twice(folder, compiled):
    """Messages from linking a unit that includes all headers with a copy of it: a function that is
    not inline is then defined twice."""
    source = "".join(f'#include "{header}"\n' for header in compiled)
    units = [folder / "one.o", folder / "other.o"]
    succeeded, messages = compile_source(source, *FOLDERS, *flags_of_build(), "-c", "-o", units[0])
    if not succeeded:
        return messages
    shutil.copy(*units)
    command = [*compiler(), "-r", "-nostdlib", "-o", folder / "linked.o", *units]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def without_the_toolkit():
    """The device headers that can be compiled against the stand-in: cuBLASLt has none."""
    return [header for header in headers(CUDA)
            if "cublasLt.h" not in [name for _, name in includes(CUDA / header)]]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        all_headers = [*headers(), *without_the_toolkit()]
        chosen = chosen_bases(all_headers)
        bases = dict(zip(chosen, in_parallel(lambda base: precompile(folder, base), chosen)))
        messages = in_parallel(lambda header: compile_alone(header, bases), all_headers)
        for header, message in zip(all_headers, messages):
            tap.check(f"{header} compiles alone and twice", message)
        doors = [header for header in all_headers if "/" not in header.removeprefix("feedrate/")]
        tap.check("the front doors compile as C++23",
                  said_of_ours("".join(f'#include "{header}"\n' for header in doors), "-std=c++2b"))
        # What stands in for the header of a library that is missing is never beside that header.
        compiled = [header for header, message in zip(all_headers, messages)
                    if not message and "/without_" not in header]
        tap.check("all headers together link from two units", link_twice(folder, compiled))
    tap.finish()


if __name__ == "__main__":
    main()
