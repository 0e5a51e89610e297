# SPDX-License-Identifier: Apache-2.0
"""What the structure tests share: the tree, the compiler, and results in TAP (one line per check)."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

# Meson makes malloc fill what it gives, to find bugs in tests; it only slows the compilers here.
os.environ.pop("MALLOC_PERTURB_", None)

os.environ["LC_ALL"] = "C"  # messages of compilers are looked at

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
CUDA = ROOT / "cuda" / "include"
BUILD = pathlib.Path(os.environ.get("MESON_BUILD_ROOT", ROOT / "build"))


def headers(root=INCLUDE, suffix="hpp"):
    """The headers under include/ or another root, as paths relative to it."""
    return sorted(path.relative_to(root).as_posix() for path in root.rglob(f"*.{suffix}"))


def includes(path):
    """The includes of a file as (quote or bracket, name)."""
    pattern = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
    return pattern.findall(path.read_text())


def compiler(standard="c++20"):
    """The compiler that the build uses, as a list of words, and the standard unless they name one."""
    words = sys.argv[1:] or shlex.split(os.environ.get("CXX", "c++"))
    return words if any(word.startswith("-std=") for word in words) else [*words, "-std=" + standard]


def flags_of_build():
    """Where the build finds the headers of other libraries."""
    database = BUILD / "compile_commands.json"
    if not database.exists():
        return []
    flags = []
    for entry in json.loads(database.read_text()):
        words = shlex.split(entry["command"])
        for position, word in enumerate(words):
            # Absolute folders alone: those of the project are given by the tests themselves.
            if re.match(r"-(I|isystem|idirafter)/", word):
                flags.append(word)
            elif word == "-isystem" and words[position + 1].startswith("/"):
                flags.append("-isystem" + words[position + 1])
    return sorted(set(flags))


def compile_source(source, *options):
    """Compiles the text `source` from stdin; returns (succeeded, messages)."""
    command = [*compiler(), "-pthread", *options, "-x", "c++", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def in_parallel(function, items):
    """function of each item, on all processors; the results come in the order of the items."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(function, items))


class Tap:
    """Prints results as they come, and ends with the right exit code."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, name, offences):
        """One check; `offences` says what is wrong, and is empty when all is well."""
        self.count += 1
        text = offences if isinstance(offences, str) else "\n".join(offences)
        self.failed += bool(text)
        print(f"{'not ok' if text else 'ok'} {self.count} - {name}")
        for line in text.splitlines()[:20]:
            print(f"# {line}")

    def finish(self):
        print(f"1..{self.count}", flush=True)
        # A test that found nothing to check checks nothing: that is a failure.
        sys.exit(1 if self.failed or not self.count else 0)
