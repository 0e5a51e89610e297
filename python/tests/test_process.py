# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of processes and of the machine."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from feedrate import process  # noqa: E402


class OfTheMachine(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix="stat") as file:
            file.write(text)
            file.flush()
            return process.machine_cpu(file.name)

    def test_what_runs_and_what_was_stolen_are_told_apart(self):
        # Would catch a column that is idle, or waits for a disk, taken for use.
        ticks_per_s = os.sysconf("SC_CLK_TCK")
        used_s, stolen_s = self.read("cpu  100 10 20 5000 60 3 4 50 9 9\ncpu0 1 2 3 4 5 6 7 8\n")
        self.assertAlmostEqual(used_s, 137 / ticks_per_s)
        self.assertAlmostEqual(stolen_s, 50 / ticks_per_s)

    def test_a_kernel_that_does_not_tell_says_nothing(self):
        self.assertEqual(self.read("cpu  100 10 20\n"), (0.0, 0.0))
        self.assertEqual(process.machine_cpu("/nowhere"), (0.0, 0.0))

    def test_a_process_has_its_share_of_what_was_stolen(self):
        # Would catch a process to which all is put down that the host took from many.
        self.assertEqual(process.stolen_from(1, 4, 2), 0.5)
        self.assertEqual(process.stolen_from(5, 4, 2), 2)
        self.assertEqual(process.stolen_from(1, 0, 2), 0)
        self.assertEqual(process.stolen_from(1, 4, -1), 0)

    def test_nothing_is_stolen_from_processes_whose_seconds_went_with_them(self):
        # Would catch a worker that ended within a round, and a round that waited for less than nothing.
        self.assertEqual(process.stolen_from(-1, 4, 2), 0)


if __name__ == "__main__":
    unittest.main()
