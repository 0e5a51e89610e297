# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, its refusals, its schema, and results in TAP."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

AUTOTUNE = os.path.abspath(sys.argv[1])
SCHEMA = pathlib.Path(sys.argv[-1]).resolve()

# Rates of the cpu are what these tests know; the suite for GPUs is another.
os.environ["CUDA_VISIBLE_DEVICES"] = ""

tests = []


class Skip(Exception):
    """What this machine lacks for a test."""


def test(function):
    """Registers a test: its name is a sentence, its first comment the bug that it would catch."""
    tests.append(function)
    return function


def run(*arguments, cwd, env=None, timeout=120, **options):
    """Runs autotune off a terminal; returns (exit code, stdout, stderr)."""
    environment = {**os.environ, **(env or {})}
    done = subprocess.run([AUTOTUNE, *arguments], cwd=cwd, env=environment, capture_output=True,
                          text=True, timeout=timeout, check=False, **options)
    return done.returncode, done.stdout, done.stderr


def refused(code, sentence, *arguments, cwd, **options):
    """Asserts an exit code and one clear sentence on stderr, and nothing on stdout."""
    found, out, err = run(*arguments, cwd=cwd, **options)
    assert found == code, f"exit {found} instead of {code}: {err}"
    assert re.search(sentence, err), f"{sentence!r} is not in {err!r}"
    assert out == "", f"stdout holds {out!r}"
    last = err.strip().splitlines()[-1]
    assert last.startswith("autotune: ") and last.endswith("."), f"no sentence: {last!r}"


def validate(report):
    """Checks a report against the schema that is shipped."""
    import jsonschema
    schema = json.loads(SCHEMA.read_text())
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(report))
    assert not errors, f"{list(errors[0].path)}: {errors[0].message}"


def result_of(function):
    """Runs one test in a folder of its own; returns (what failed, why it was skipped)."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            function(pathlib.Path(folder))
    except Skip as reason:
        return "", str(reason)
    except Exception as error:  # whatever it is, the other tests go on
        return f"{type(error).__name__}: {error}", ""
    return "", ""


def main():
    """Runs all tests and exits. In the environment, words in TAP_ONLY choose those whose names hold one, and
    TAP_PART="2 of 3" every third test, from the second on."""
    words = os.environ.get("TAP_ONLY", "").split()
    part, parts = map(int, os.environ.get("TAP_PART", "1 of 1").split(" of "))
    chosen = [one for one in tests[part - 1::parts] if not words or any(word in one.__name__ for word in words)]
    print(f"1..{len(chosen)}")
    failed = 0
    for number, function in enumerate(chosen, 1):
        name, begin = function.__name__.replace("_", " "), time.monotonic()
        failure, skipped = result_of(function)
        failed += bool(failure)
        print(f"{'not ok' if failure else 'ok'} {number} - {name}{' # SKIP ' + skipped if skipped else ''}")
        for line in failure.splitlines()[:40]:
            print(f"# {line}")
        print(f"# {time.monotonic() - begin:.1f} s", flush=True)
    # A run that chose no test has shown nothing; a part of one may lack the tests of these words.
    sys.exit(1 if failed or not (chosen or parts > 1 and words) else 0)
