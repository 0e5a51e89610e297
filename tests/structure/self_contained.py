# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, twice in one unit, without a warning, and links from two units."""

import pathlib
import re
import subprocess
import tempfile

from harness import CUDA, INCLUDE, ROOT, Tap, compile_source, compiler, flags_of_build, headers
from harness import in_parallel, includes

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow"]
# Device headers are compiled with the stand-in, since not every machine has the toolkit.
FOLDERS = [f"-I{ROOT / 'tests' / 'standin' / 'include'}", f"-I{INCLUDE}", f"-I{CUDA}"]


def compile_alone(header):
    """The messages about `header` in a unit of its own, where it is included twice."""
    source = f'#include "{header}"\n#include "{header}"\n'
    options = [*WARNINGS, *FOLDERS, *flags_of_build(), "-fsyntax-only"]
    succeeded, messages = compile_source(source, *options)
    if succeeded and not re.search(r"/include/feedrate/\S*: warning:", messages):
        return ""
    return messages or "the compiler said nothing, and failed"


def link_twice(folder, compiled):
    """Messages from linking two units that include all headers: a function that is not inline is
    then defined twice."""
    source = "".join(f'#include "{header}"\n' for header in compiled)
    units = [folder / "one.o", folder / "other.o"]
    results = in_parallel(lambda unit: compile_source(source, *FOLDERS, *flags_of_build(), "-c", "-o",
                                                      unit), units)
    if failed := [messages for succeeded, messages in results if not succeeded]:
        return failed[0]
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
        messages = in_parallel(compile_alone, all_headers)
        for header, message in zip(all_headers, messages):
            tap.check(f"{header} compiles alone and twice", message)
        # What stands in for the header of a library that is missing is never beside that header.
        compiled = [header for header, message in zip(all_headers, messages)
                    if not message and "/without_" not in header]
        tap.check("all headers together link from two units", link_twice(folder, compiled))
    tap.finish()


if __name__ == "__main__":
    main()
