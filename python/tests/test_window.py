# SPDX-License-Identifier: Apache-2.0
"""Tests of the window: when a round may end, and what it says then. The times are made up."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from feedrate.training import AWAITED_BATCHES, AWAITED_S, Updates  # noqa: E402
from feedrate.window import Wanted, Window  # noqa: E402


def wanted(**changes):
    question = {"seconds": 1.0, "min_batches": 3, "max_batches": 1000}
    return Wanted(dict(question, **changes))


def filled(window, batches, wait_s=0.0625, step_s=0.0625, ready=lambda: 0):
    """Adds batches until the round is over; how many it took."""
    for _ in range(batches):
        window.add(4, wait_s, step_s)
        if window.was_warm_up(ready):
            window.begin(ready())
        if window.is_over():
            break
    return window.batches


class Grouped(Updates):
    """Of a loop that takes so many batches at once, and then steps on each for 1/8 s. It has taken some of them."""

    def __init__(self, each, taken, seen=2):
        """`seen`: updates so far."""
        super().__init__()
        self.each, self.taken = each, 0
        for _ in range(seen * each + taken):
            if self.step() and seen == 0:
                raise AssertionError("that is an update")

    def step(self):
        """Seconds in the next step."""
        self.taken += 1
        self.updated = self.taken % self.each == 0
        step_s = self.each / 8 if self.updated else 0.0
        self.add_batch(step_s)
        return step_s


def filled_by(window, updates, wait_s=0.0625):
    while not window.is_over():
        window.add(4, wait_s, updates.step())
        if window.was_warm_up(lambda: 0):
            window.begin(0)
    return window


class Ends(unittest.TestCase):
    def test_after_the_time_that_was_asked_for(self):
        self.assertEqual(filled(Window(wanted(), 1, 0), 100), 8)  # of 1/8 s each

    def test_not_before_the_fewest_batches(self):
        self.assertEqual(filled(Window(wanted(), 1, 0), 100, step_s=10.0), 3)

    def test_after_the_most_batches_whatever_else_is_missing(self):
        window = Window(wanted(max_batches=5, min_batches=9), 4, 0)
        self.assertEqual(filled(window, 100, step_s=0.0), 5)

    def test_after_a_whole_number_of_turns_of_the_workers(self):
        # Would catch a rate that is too high, as the batches of one turn come bunched.
        self.assertEqual(filled(Window(wanted(), 3, 0), 100), 9)
        self.assertEqual(filled(Window(wanted(), 5, 0), 100), 10)

    def test_after_a_turn_of_one_where_there_is_no_worker(self):
        self.assertEqual(filled(Window(wanted(), 0, 0), 100), 8)

    def test_after_the_longest_time_where_no_turn_ends(self):
        self.assertEqual(filled(Window(wanted(), 1000, 0), 2000), 32)

    def test_after_exactly_so_many_batches_where_that_is_asked(self):
        # Would catch processes that wait for each other for ever, as time has a say in one of them.
        for step_s in (0.0, 100.0):
            window = Window(wanted(exactly=6, max_batches=4), 4, 0)
            self.assertEqual(filled(window, 100, step_s=step_s, ready=lambda: 99), 6)

    def test_after_whole_updates_where_the_batches_of_each_are_taken_at_once(self):
        # Bug: windows of 16 steps of nothing, or of twice the steps of their batches.
        for each in (2, 4, 16):
            for turn in (1, 3, 4):
                for taken in (0, 1, each - 1):
                    for seen in (0, 1, 2):
                        updates = Grouped(each, taken, seen)
                        window = filled_by(Window(wanted(), turn, 0, updates), updates)
                        self.assertEqual((window.batches % each, window.step_s), (0, window.batches / 8))
                        self.assertLess(window.duration_s, 9)

    def test_after_whole_updates_also_where_no_more_batches_are_wanted(self):
        updates = Grouped(16, 3)
        window = filled_by(Window(wanted(max_batches=24, seconds=9.0), 1, 0, updates), updates, 0.0)
        self.assertEqual((window.batches, window.step_s), (32, 4.0))

    def test_not_with_the_warm_up_alone(self):
        # Bug: a round of no batch, as the first update was seen when no more of them were wanted.
        updates = Grouped(64, 0, 0)
        window = filled_by(Window(wanted(max_batches=64, seconds=9.0), 1, 0, updates), updates, 0.0)
        self.assertEqual((window.batches, window.step_s), (64, 8.0))

    def test_with_as_many_batches_as_most_updates_have_where_they_are_irregular(self):
        # Bug: a round without an end, as no other update is as far apart from the one before it as that was.
        updates = Grouped(4, 0)
        updates.since = 7
        window = filled_by(Window(wanted(), 1, 0, updates), updates)
        self.assertEqual((window.batches % 4, 44 <= window.batches <= 60), (0, True))

    def test_not_in_the_midst_of_the_first_update_that_is_a_long_one(self):
        # Bug: four batches that were taken and not stepped on, behind a last update of an epoch that had one.
        updates = Grouped(32, 0, 1)
        window = Window(wanted(seconds=0.0), 1, 0, updates)
        updates.updated, updates.taken = True, 0
        updates.add_batch(0.125)
        window.add(4, 0.0, 0.125)
        filled_by(window, updates, 0.0)
        self.assertEqual((window.batches, window.step_s), (33, 33 / 8))

    def test_not_before_an_update_was_seen_for_a_while(self):
        # Bug: a first round of batches that are taken and not stepped on; or one without an end, in a loop without
        # updates.
        for step_s, first in ((0.125, AWAITED_S / 0.125), (0.0, AWAITED_BATCHES), (4.0, 3)):
            updates = Updates()
            for batches in (first, 3):
                window = Window(wanted(seconds=0.0), 1, 0, updates)
                while not window.is_over():
                    window.add(4, 0.0, step_s)
                    updates.add_batch(step_s)
                self.assertEqual(window.batches, batches)

    def test_with_the_script_in_the_midst_of_an_update_only_where_that_matters_little(self):
        # Bug: the last round of a script, three batches of which none was stepped on.
        window = Window(wanted(), 1, 0, Grouped(4, 0))
        for _ in range(23):
            window.add(4, 0.0, 0.125)
        self.assertFalse(window.is_enough())
        window.add(4, 0.0, 0.125)
        self.assertTrue(window.is_enough())


class WarmUps(unittest.TestCase):
    def taken(self, levels, **changes):
        """The batches of a round of 8 that are counted, and all, where the ring has these levels
        behind each; the last one holds on."""
        window = Window(wanted(**changes), 1, 5)

        def ready():
            return levels[min(taken, len(levels)) - 1]

        for taken in range(1, 100):
            window.add(4, 0.0625, 0.0625)
            if window.was_warm_up(ready):
                window.begin(ready())
            if window.is_over():
                return window.batches, taken

    def test_are_first_halves_in_which_the_ring_changes(self):
        # Would catch a loader that is taken for slow because it fills its ring meanwhile, or for
        # fast because it lives on it. Half-time is behind 4 batches.
        self.assertEqual(self.taken([5, 5, 5, 7]), (8, 12))
        self.assertEqual(self.taken([5, 5, 5, 3]), (8, 12))

    def test_are_none_where_the_ring_changes_by_one_batch(self):
        self.assertEqual(self.taken([5, 5, 5, 6]), (8, 8))
        self.assertEqual(self.taken([5, 5, 5, 4]), (8, 8))

    def test_come_once_however_the_ring_changes(self):
        self.assertEqual(self.taken(range(5, 100, 5)), (8, 12))

    def test_leave_room_for_the_fewest_batches(self):
        self.assertEqual(self.taken([9], max_batches=6), (6, 6))
        self.assertEqual(self.taken([9], max_batches=7), (3, 7))

    def test_are_none_where_the_batches_are_counted(self):
        # Would catch processes that wait for each other for ever.
        self.assertEqual(self.taken([9], exactly=6), (6, 6))

    def test_are_told_between_whole_updates_alone(self):
        # Bug: a ring that drains while the batches of an update are taken, and fills while they are stepped on.
        updates = Grouped(4, 0)
        window = Window(wanted(seconds=0.5), 1, 5, updates)
        decided = []
        for _ in range(16):
            window.add(4, 0.125, updates.step())
            window.was_warm_up(lambda: decided.append(window.batches) or 5)
        self.assertEqual(decided, [4])

    def test_are_forgotten(self):
        window = Window(wanted(), 1, 0)
        window.add(4, 0.5, 0.25)
        window.leave_out(9.0)
        window.begin(3)
        window.add(2, 0.125, 0.25)
        self.assertEqual((window.batches, window.samples, window.outside_s), (1, 2, 0.0))
        self.assertEqual((window.wait_s, window.step_s, window.ring_at_start), (0.125, 0.25, 3))


class Sums(unittest.TestCase):
    def test_hold_waits_and_steps_apart(self):
        window = Window(wanted(), 1, 2)
        window.add(4, 0.5, 0.25)
        window.add(2, 0.25, 0.25)
        self.assertEqual((window.batches, window.samples), (2, 6))
        self.assertEqual((window.wait_s, window.step_s, window.duration_s), (0.75, 0.5, 1.25))
        self.assertEqual(window.ring_at_start, 2)

    def test_leave_out_what_the_script_did_between_two_epochs(self):
        window = Window(wanted(), 1, 0)
        window.leave_out(30.0)
        window.leave_out(12.0)
        self.assertEqual((window.outside_s, window.duration_s, window.batches), (42.0, 0.0, 0))
        self.assertFalse(window.is_over())

    def test_vary_as_the_times_of_the_batches_do(self):
        # 1, 2, 3: mean 2, variance 1, squared coefficient of variation 1/4.
        window = Window(wanted(), 1, 0)
        for wait_s, step_s in ((0.5, 0.5), (1.0, 1.0), (0.0, 3.0)):
            window.add(1, wait_s, step_s)
        self.assertAlmostEqual(window.variability(), 0.25)

    def test_do_not_vary_where_there_is_nothing_to_compare(self):
        window = Window(wanted(), 1, 0)
        self.assertEqual(window.variability(), 0.0)
        window.add(1, 1.0, 1.0)
        self.assertEqual(window.variability(), 0.0)
        window = Window(wanted(), 1, 0)
        filled(window, 3, 0.0, 0.0)
        self.assertEqual(window.variability(), 0.0)


if __name__ == "__main__":
    unittest.main()
