# SPDX-License-Identifier: Apache-2.0
"""What a loop waits for beside the loader that is tuned."""

import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from feedrate.other_loaders import OtherLoaders  # noqa: E402


class Waiting(unittest.TestCase):
    def setUp(self):
        self.now_s = 0.0
        self.others = OtherLoaders(lambda: self.now_s)

    def wait(self, loader, seconds):
        if self.others.begin_wait():
            self.now_s += seconds
            self.others.end_wait(loader, "the " + loader)

    def steps(self, number, *waits, counts=True):
        """Steps of a second, which wait for loaders: (name, seconds)."""
        for _ in range(number):
            self.others.begin_step()
            for wait in waits:
                self.wait(*wait)
            self.others.end_step(1.0, counts)

    def test_in_each_step_is_told_by_its_share(self):
        # Bug: a loop that waits for its second loader, and is called well fed.
        self.steps(20, ("second", 0.25), ("second", 0.25), ("third", 0.125))
        self.assertEqual(self.others.told(), {"loader": "the second", "share": 0.5})

    def test_in_few_steps_is_not_told(self):
        # Would catch an evaluation after every tenth step, or the first steps, named as what the loop waits for.
        self.steps(7, ("second", 0.5))
        self.assertIsNone(self.others.told())
        self.steps(20)
        self.assertIsNone(self.others.told())

    def test_beside_an_evaluation_does_not_count(self):
        self.steps(20, ("second", 0.5), counts=False)
        self.assertIsNone(self.others.told())
        self.steps(20)
        self.assertIsNone(self.others.told())

    def test_between_two_epochs_is_of_no_step(self):
        # Would catch a validation behind an epoch of one step, taken for a wait of the next one.
        for _ in range(20):
            self.wait("validation", 3.0)
            self.steps(1)
        self.assertIsNone(self.others.told())

    def test_within_another_is_a_part_of_it(self):
        for _ in range(20):
            self.others.begin_step()
            self.assertTrue(self.others.begin_wait())
            self.assertFalse(self.others.begin_wait())
            self.now_s += 0.25
            self.others.end_wait("second", "second")
            self.others.end_step(1.0, True)
        self.assertEqual(self.others.told(), {"loader": "second", "share": 0.25})

    def test_across_two_steps_is_for_the_tuned_loader_too(self):
        # Would catch a class of the script's that zips the tuned loader with another, named as what the loop waits for.
        self.others.begin_step()
        for _ in range(20):
            self.assertTrue(self.others.begin_wait())
            self.others.end_step(1.0, True)
            self.now_s += 5
            self.others.begin_step()
            self.others.end_wait("both", "both")
        self.assertIsNone(self.others.told())

    def test_in_another_thread_is_not_the_loops(self):
        # Would catch a thread that takes batches ahead, while the loop waits for none.
        for _ in range(20):
            self.others.begin_step()
            ahead = threading.Thread(target=self.wait, args=("second", 0.5))
            ahead.start()
            ahead.join()
            self.others.end_step(1.0, True)
        self.assertIsNone(self.others.told())


if __name__ == "__main__":
    unittest.main()
