# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, twice in one unit, without a warning, and links from two units."""

import pathlib
import re
import subprocess
import tempfile

from harness import CUDA, INCLUDE, ROOT, Tap, compile_source, compiler, flags_of_build, headers
from harness import in_parallel

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic"]
# Device headers are compiled with the stand-in, since not every machine has the toolkit.
FOLDERS = [f"-I{ROOT / 'tests' / 'standin' / 'include'}", f"-I{INCLUDE}", f"-I{CUDA}"]


def object_of(folder, header):
    return folder / (re.sub(r"\W", "_", header) + ".o")


def compile_alone(folder, header):
    """The messages about `header` in a unit of its own, where it is included twice."""
    source = f'#include "{header}"\n#include "{header}"\n'
    options = [*WARNINGS, *FOLDERS, *flags_of_build(), "-c", "-o", object_of(folder, header)]
    succeeded, messages = compile_source(source, *options)
    if succeeded and not re.search(r"/include/feedrate/\S*: warning:", messages):
        return ""
    return messages or "the compiler said nothing, and failed"


def link_twice(folder, compiled):
    """Messages from linking every unit with one that includes all headers: a function that is not
    inline is then defined twice."""
    source = "".join(f'#include "{header}"\n' for header in compiled)
    everything = folder / "everything.o"
    succeeded, messages = compile_source(source, *FOLDERS, *flags_of_build(), "-c", "-o", everything)
    if not succeeded:
        return messages
    objects = [everything, *(object_of(folder, header) for header in compiled)]
    command = [*compiler(), "-r", "-nostdlib", "-o", folder / "linked.o", *objects]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        all_headers = [*headers(), *headers(CUDA)]
        messages = in_parallel(lambda header: compile_alone(folder, header), all_headers)
        for header, message in zip(all_headers, messages):
            tap.check(f"{header} compiles alone and twice", message)
        compiled = [header for header, message in zip(all_headers, messages) if not message]
        tap.check("all headers together link from two units", link_twice(folder, compiled))
    tap.finish()


if __name__ == "__main__":
    main()
