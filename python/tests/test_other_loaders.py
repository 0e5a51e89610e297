# SPDX-License-Identifier: Apache-2.0
"""What a loop waits for beside the loader that is tuned."""

import collections
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from feedrate.other_loaders import OtherLoaders  # noqa: E402

Loader = collections.namedtuple("Loader", "name, index")
UNLABELLED, NAMELESS = Loader("unlabelled", 2), Loader(None, 3)


class Waiting(unittest.TestCase):
    def setUp(self):
        self.others = OtherLoaders()

    def steps(self, number, *waits, seconds=1.0, counts=True):
        """Steps of so many seconds, which wait for loaders: (loader, seconds)."""
        for _ in range(number):
            for wait in waits:
                self.others.waited(*wait)
            self.others.end_step(seconds, counts)

    def test_for_a_loader_in_each_step_is_told_by_its_share(self):
        # Bug: a loop that waits for its second loader, and is called well fed.
        self.steps(20, (UNLABELLED, 0.25), (UNLABELLED, 0.25), (NAMELESS, 0.125))
        self.assertEqual(self.others.told(), {"loader": "unlabelled", "share": 0.5})

    def test_for_a_loader_without_a_name_is_told_by_its_number(self):
        self.steps(20, (NAMELESS, 0.25))
        self.assertEqual(self.others.told(), {"loader": "3", "share": 0.25})

    def test_in_few_steps_is_not_told(self):
        # Would catch an evaluation after every tenth step, or the first steps, named as what the loop waits for.
        self.steps(7, (UNLABELLED, 0.5))
        self.assertIsNone(self.others.told())
        self.steps(20)
        self.assertIsNone(self.others.told())

    def test_beside_an_evaluation_does_not_count(self):
        self.steps(20, (UNLABELLED, 0.5), counts=False)
        self.assertIsNone(self.others.told())
        self.steps(20)
        self.assertIsNone(self.others.told())


if __name__ == "__main__":
    unittest.main()
