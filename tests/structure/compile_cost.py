# SPDX-License-Identifier: Apache-2.0
"""What including the front doors costs: memory of the compiler, and lines that it reads.

Both hardly change between runs. Times do, so they are no verdict: bench/compile_cost.py prints them.
"""

import os
import re
import subprocess
import tempfile

from harness import INCLUDE, ROOT, Tap, compiler, flags_of_build

MIB = 1 << 20
# header -> (most bytes that the compiler may take, most lines after preprocessing)
BOUNDS = {
    "feedrate/report_batch.hpp": (100 * MIB, 42_000),
    "feedrate/loader.hpp": (215 * MIB, 90_000),
    "feedrate/tune.hpp": (430 * MIB, 125_000),
    "feedrate/feedrate.hpp": (540 * MIB, 180_000),
}


def command(*options):
    return [word for word in compiler() if "ccache" not in word] + [f"-I{INCLUDE}",
                                                                    *flags_of_build(), *options]


def peak_bytes(header):
    """The most memory that the compiler takes for a program that includes `header` alone."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(f'#include "{header}"\nint main() {{}}\n')
        source.flush()
        process = subprocess.Popen(command("-O2", "-c", source.name, "-o", "/dev/null"))
        # The compiler proper is a child of the driver's; only wait4 of the driver counts it in.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{header} does not compile")
    return usage.ru_maxrss * 1024


def preprocessed(header):
    done = subprocess.run(command("-E", "-x", "c++", "-"), input=f'#include "{header}"\n', text=True,
                          capture_output=True, check=True)
    return done.stdout


def main():
    tap = Tap()
    for header, (most_bytes, most_lines) in BOUNDS.items():
        text = preprocessed(header)
        lines = text.count("\n")
        tap.check(f"{header} is at most {most_lines} lines",
                  "" if lines <= most_lines else f"it is {lines}")
        taken = peak_bytes(header)
        tap.check(f"{header} takes at most {most_bytes // MIB} MiB to compile",
                  "" if taken <= most_bytes else f"it takes {taken // MIB} MiB")
        # Bug: JSON in a front door, which takes as long as the whole loader.
        tap.check(f"{header} brings no JSON", "nlohmann" if "nlohmann" in text else "")
    version = re.search(r"version: '([0-9.]+)'", (ROOT / "meson.build").read_text())[1]
    macros = subprocess.run(command("-dM", "-E", "-x", "c++", "-"), text=True, capture_output=True,
                            input='#include "feedrate/loader.hpp"\n', check=True).stdout
    found = re.findall(r"#define FEEDRATE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", macros)
    parts = dict(re.findall(r"#define FEEDRATE_VERSION_(\w+) (\d+)", macros))
    said = ".".join(parts.get(part, "?") for part in ("MAJOR", "MINOR", "PATCH"))
    # Bug: a release that forgets the header, so that `#if FEEDRATE_VERSION` lies.
    tap.check(f"the version macros say {version}", "" if said == version else f"they say {said}")
    tap.check("there are three version macros beside FEEDRATE_VERSION",
              "" if len(found) == 3 and "FEEDRATE_VERSION " in macros else "some are missing")
    tap.finish()


if __name__ == "__main__":
    main()
