# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/real-loaders: rows, what they expect, and exit codes. Python, pip and autotune are fakes."""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATCH = """--- a/timm_prefetched.py
+++ b/timm_prefetched.py
@@ -1,2 +1,2 @@
-# SPDX-License-Identifier: Apache-2.0
+# SPDX-License-Identifier: MIT
 \"""timm's create_loader as it is by default: its PrefetchLoader collates bytes, and normalises them.\"""
"""


def report(patch=PATCH, kind="DataLoader", line=10, recommended=8, failure=None, updates=1):
    """The keys of a report on bench/scripts/wild/timm_prefetched.py that the script reads."""
    loader = {"class": kind, "file": "timm_prefetched.py", "line": line}
    return {
        "workload": {"script": {"loader": loader, "config": {"workers": 1}, "batches_per_update": updates}},
        "recommendation": {"config": {"workers": recommended}},
        "settings": [{"patch": patch}] if patch else [],
        "confirmation": {"verdict": "confirmed", "failure": failure},
    }


class RealLoaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="real loaders ")  # a blank, as folders have them
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, path, body):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)
        return str(path)

    def python(self, path="bin/python", pip="", **versions):
        """An interpreter with these packages; pip: what `python -m pip` does."""
        return self.command(path, f'[ "$1" = -m ] && {{ {pip or "exit 0"}; }}\n'
                                  f"echo {shlex.quote(json.dumps(versions))}\n")

    def autotune(self, document=None, code=0, said=""):
        """One that writes this report, where there is one."""
        told = f"cat >report.json <<'end'\n{json.dumps(document)}\nend\n" if document else ""
        return self.command("autotune", f"{told}echo {shlex.quote(said)} >&2\nexit {code}\n")

    def run_script(self, *words):
        done = subprocess.run([sys.executable, ROOT / "tools/real-loaders", *words], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def row(self, autotune, name="timm", **versions):
        versions = versions or {"torch": "2.15.0", name: "1.0.31"}
        code, told, _ = self.run_script("--python", self.python(**versions), "--autotune", autotune, name)
        return code, *told.splitlines()

    def test_help_names_the_rows_and_that_no_ci_runs_it(self):
        # Bug: a contributor waits for CI to tell that a new version of a loader is not attached to.
        code, told, _ = self.run_script("--help")
        self.assertEqual(code, 0)
        self.assertRegex(told, r"No part of \.ci/run")
        self.assertRegex(told, r"rows: torch-2\.2 .* timm lightning ")

    def test_what_is_not_there_is_named_before_anything_runs(self):
        # Bug: a typing error costs an hour, or counts as passed.
        self.assertRegex(self.run_script("timn")[2], r"no row 'timn'; rows: .* timm ")
        for words in (["timn"], ["--python", "nowhere", "timm"], ["--autotune", "nowhere", "timm"]):
            self.assertEqual(self.run_script(*words)[:2], (2, ""), words)

    def test_a_row_whose_packages_are_not_there_is_skipped_with_the_reason(self):
        # Bug: an interpreter without timm fails the row, or passes it.
        code, row, last = self.row(self.autotune(), torch="2.15.0", timm=None)
        self.assertRegex(row, "^skipped  timm .*/python has no timm$")
        self.assertEqual((code, last), (77, "0 passed, 0 failed, 1 skipped"))
        _, row, _ = self.row(self.autotune(), "torch-2.2", torch="2.20.0", numpy="1.26.0")
        self.assertRegex(row, r"has torch 2\.20\.0; the row needs 2\.2\.\*$")

    def test_a_row_that_pip_cant_install_is_skipped_with_its_last_line(self):
        # Bug: pip's page of output, or a failed row where no network is.
        self.python("cache/torch-%d.%d/bin/python" % sys.version_info[:2],
                    "echo ERROR: no matching distribution >&2; exit 1")
        code, told, _ = self.run_script("--cache", "cache", "--autotune", self.autotune(), "timm")
        self.assertEqual(code, 77)
        self.assertRegex(told, "^skipped  timm +pip can't install torch timm: ERROR: no matching distribution\n")

    def test_a_loader_that_is_attached_to_and_gets_a_change_passes(self):
        # Bug: a row that says nothing of what was found, nor with which versions.
        code, row, last = self.row(self.autotune(report()))
        self.assertRegex(row, r"^passed   timm +workers 1 -> 8, confirmed \(torch 2\.15\.0, timm 1\.0\.31; \d+ s\)$")
        self.assertEqual((code, last), (0, "1 passed, 0 failed, 0 skipped"))

    def test_an_answer_other_than_the_expected_one_fails_with_what_is_wrong(self):
        # Bug: another loader of the script is tuned, and the row passes since there is an answer.
        for document, reason in [
            (report(kind="Other"), "the loader is Other, not DataLoader"),
            (report(line=9), r"line 9 does not have 'create_loader\('"),
            (report(updates=2), "batches_per_update is 2, not 1"),
            (report(patch=None), "the recommended change has no text"),
            (report(patch=PATCH.replace("Apache", "GPL")), "the patch does not apply: error: "),
            (report(failure="it died"), "a fresh process failed: it died"),
        ]:
            code, row, last = self.row(self.autotune(document))
            self.assertRegex(row, "^failed   timm .*" + reason)
            self.assertEqual((code, last), (1, "0 passed, 1 failed, 0 skipped"))
        _, row, _ = self.row(self.autotune(code=2, said="no loop trains"))
        self.assertRegex(row, "exit code 2 without a report: no loop trains")

    def test_a_refusal_passes_only_with_the_expected_reason(self):
        # Bug: whatever ends with exit code 2 counts as the refusal.
        versions = {"torch": "2.15.0", "torchdata": "0.11.0"}
        reason = "autotune: The command trains without a DataLoader of PyTorch."
        self.assertRegex(self.row(self.autotune(code=2, said=reason), "nodes", **versions)[1], "^passed   nodes ")
        self.assertRegex(self.row(self.autotune(code=2, said="No file."), "nodes", **versions)[1],
                         "^failed   nodes .*: No file")
        self.assertRegex(self.row(self.autotune(report()), "nodes", **versions)[1], "^failed   nodes ")


if __name__ == "__main__":
    unittest.main()
