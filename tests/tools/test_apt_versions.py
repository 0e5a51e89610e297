# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/lib/apt.txt: which versions apt gets."""

import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = [line.split() for line in (ROOT / "tools/lib/apt.txt").read_text().splitlines() if not line.startswith("#")]


def bash(text, *words):
    return subprocess.run(["bash", "-euc", f". tools/lib/build.sh\n{text}", "bash", *words], cwd=ROOT,
                          capture_output=True, text=True, check=True, timeout=60).stdout.split()


class Versions(unittest.TestCase):
    def test_every_package_that_the_tools_get_has_a_version_for_each_release(self):
        # Bug: a new part comes in whatever version apt has on that day.
        parts = bash("declare -f package_of is_here | grep -oE '[a-z0-9-]+( \\| [a-z0-9-]+)*\\)$' | tr -d '|)'")
        packages = bash('for part; do package_of "$part"; done', *sorted(set(parts)))
        named = [row[0] for row in TABLE[1:]]
        self.assertGreater(len(packages), 20)
        self.assertEqual(sorted(set(packages) | {"libcatch2-dev"}), named)
        self.assertEqual({len(row) for row in TABLE}, {len(TABLE[0])})

    def test_a_package_gets_the_version_of_its_release(self):
        # Bug: bookworm's number on trixie, or Debian's on Ubuntu.
        for release, expected in (("bookworm", ["g++=4:12.2.0-*", "catch2=3.7.1-*", "other"]),
                                  ("trixie", ["g++=4:14.2.0-*", "catch2=3.7.1-*", "other"]),
                                  ("", ["g++", "catch2", "other"]), ("forky", ["g++", "catch2", "other"])):
            with self.subTest(release):
                text = 'release=$1\nshift\ndebian_release() { echo "$release"; }\npinned "$@"'
                self.assertEqual(bash(text, release, "g++", "catch2", "other"), expected)

    def test_a_part_that_is_here_as_root_got_it_is_found(self):
        # Bug: "Still not found: compare.py of Google Benchmark", at each run, with the package installed.
        here = pathlib.Path("/usr/share/benchmark/compare.py").exists()
        self.assertEqual(bash("set -o pipefail; is_here compare-py && echo yes || echo no"), ["yes" if here else "no"])


if __name__ == "__main__":
    unittest.main()
