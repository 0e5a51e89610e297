# SPDX-License-Identifier: Apache-2.0
"""Tests of evaluations within the training loop: what is one, and what is a part of a step. Time is made up."""

import copy
import unittest

import stub  # noqa: F401  (makes feedrate importable)
from trainers import ahead

from feedrate.evaluation import TELL_S, Evaluations, OtherPass


class Steps(unittest.TestCase):
    def setUp(self):
        self.now_s = 0.0
        self.told = []
        self.trained, self.has_gradients = 0, True
        self.evaluations = Evaluations(lambda: self.now_s, self.told.append, self.trains)

    def trains(self, drew_one):
        self.trained += 1

    def pass_over(self, batches=3, batch_s=1.0, updates=False, most=100, also=lambda: None):
        """A pass of so many batches, or what the script takes of it."""
        for batch in OtherPass(self.evaluations, lambda: iter(range(batches))):
            if batch == most:
                break
            self.now_s += batch_s
            also()
            if updates:
                self.evaluations.updated()

    def left_out(self, does):
        """Seconds that count as evaluated, of a step of one second besides what it does."""
        self.evaluations.begin_step()
        self.now_s += 1
        does()
        return self.evaluations.end_step()

    def test_are_without_what_is_evaluated_in_them(self):
        self.assertEqual(self.left_out(lambda: None), 0)
        self.assertEqual(self.left_out(self.pass_over), 3)
        self.assertEqual(self.told, [0, 1, 2, 3, None])

    def test_are_none_in_a_pass_over_their_own_loader_without_gradients(self):
        # Bug: the training accuracy, computed over the training loader after each epoch: its batches counted as steps,
        # and rounds of one config had two rates.
        def makes(has_gradients, updates):
            self.has_gradients = has_gradients
            only_evaluates = self.evaluations.only_evaluates()
            if not only_evaluates:
                self.evaluations.begin_step()
            if updates:
                self.evaluations.updated()
            return only_evaluates

        for passes, expected in (
                ([(True, True), (False, False)] * 2, [False, True] * 2),
                ([(False, False)] * 3, [False] * 3),  # it only predicts
                ([(True, False), (False, True)] * 2, [False] * 4),  # it trains with enable_grad()
                ([(True, True), (False, True), (False, True)], [False, True, False])):  # that was none
            self.evaluations = Evaluations(lambda: 0.0, self.told.append, has_gradients=lambda: self.has_gradients)
            self.assertEqual([makes(*one) for one in passes], expected)

    def test_go_on_behind_such_a_pass_within_one_of_them(self):
        self.evaluations.updated()
        self.evaluations._has_gradients = lambda: False
        for _ in range(3):
            self.evaluations.begin_step()
            self.evaluations.updated()
            self.assertTrue(self.evaluations.only_evaluates())

    def test_are_without_all_passes_in_them(self):
        def twice():
            self.pass_over(2)
            self.now_s += 5
            self.pass_over(3)

        self.assertEqual(self.left_out(twice), 2 + 3)
        self.assertEqual(self.told, [0, 1, 2, None, 2, 3, 4, 5, None])

    def test_are_without_a_pass_that_is_left(self):
        # Bug: an evaluation of some batches of a large set, counted as a step.
        self.assertEqual(self.left_out(lambda: self.pass_over(most=2)), 2)

    def test_are_without_a_pass_whose_iterator_is_kept(self):
        # Bug: validation by Lightning, which takes as many batches as there are and never meets the end.
        kept = []

        def evaluate(batches):
            kept[:] = [OtherPass(self.evaluations, lambda: iter(range(5)))]
            for _ in range(batches):
                next(kept[0])
                self.now_s += 1

        steps = [lambda: evaluate(5), lambda: None, lambda: evaluate(2), lambda: None, lambda: evaluate(1)]
        self.assertEqual([self.left_out(does) for does in steps], [5, 0, 2, 0, 0])

    def test_are_without_several_passes_whose_iterators_are_kept(self):
        # Bug: validation by Lightning with two loaders, of which the second counts as the step: its iterator is made
        # while the first one is still held.
        kept = []

        def evaluate():
            for _ in range(3):
                kept[:] = [OtherPass(self.evaluations, lambda: iter(range(9)))]
                for _ in range(4):
                    next(kept[0])
                    self.now_s += 1

        self.assertEqual(self.left_out(evaluate), 3 * 4)

    def test_are_without_what_is_taken_ahead(self):
        # Bug: the last batch of a validation by accelerate, which takes one ahead, counted as the step.
        def evaluate():
            for _ in ahead(OtherPass(self.evaluations, lambda: iter(range(3)))):
                self.now_s += 1

        self.assertEqual(self.left_out(evaluate), 3)

    def test_are_without_a_pass_that_is_over_and_kept_up_to_its_last_batch(self):
        kept = []

        def evaluate():
            for _ in range(2):
                kept.append(OtherPass(self.evaluations, lambda: iter(range(3))))
                for _ in kept[-1]:
                    self.now_s += 1
                self.now_s += 10

        self.assertEqual(self.left_out(evaluate), 2 * 3)

    def test_are_without_a_pass_that_was_made_before(self):
        made = []
        self.assertEqual(self.left_out(lambda: made.append(OtherPass(self.evaluations, lambda: iter(range(5))))), 0)
        self.left_out(lambda: None)

        def evaluate():
            for _ in made.pop():
                self.now_s += 1

        self.assertEqual(self.left_out(evaluate), 5)

    def test_count_nested_passes_once(self):
        self.assertEqual(self.left_out(lambda: self.pass_over(2, also=self.pass_over)), 2 * (1 + 3))
        self.assertEqual(self.told.count(None), 1)

    def test_have_what_is_trained_on_another_loader(self):
        self.assertEqual(self.left_out(lambda: self.pass_over(updates=True)), 0)
        self.assertEqual((self.told, self.trained), ([0, None], 3))

    def test_have_an_evaluation_that_is_in_each_of_them(self):
        self.assertEqual([self.left_out(self.pass_over) for _ in range(4)], [3, 0, 0, 0])
        self.assertEqual(self.told, [0, 1, 2, 3, None])
        self.assertEqual([self.left_out(does) for does in (lambda: None, self.pass_over)], [0, 3])

    def test_have_a_pass_that_trains_in_each_of_them_and_do_not_wait_for_a_gpu(self):
        # Bug: a GPU that is waited for twice in each step, as an inner loop trains on another loader.
        waited = []
        self.evaluations = Evaluations(lambda: self.now_s, self.told.append, settle=lambda: waited.append(1))
        for _ in range(5):
            self.left_out(lambda: self.pass_over(2, updates=True))
        self.assertEqual((len(waited), self.told), (1, [0, None]))

    def test_have_what_goes_on_over_several_of_them(self):
        # Bug: a second loader, zipped with the first, taken for an evaluation.
        made = []

        def take():
            self.now_s += 1
            made[:] = made or [OtherPass(self.evaluations, lambda: iter(range(3)))]
            next(made[0], None)

        self.assertEqual([self.left_out(take) for _ in range(5)], [0] * 5)
        self.assertEqual(self.told, [0, None])
        self.assertEqual(self.left_out(self.pass_over), 3)

    def test_do_not_have_what_is_between_epochs(self):
        # Bug: a validation between two epochs, taken off the first step of the next.
        self.left_out(lambda: None)
        self.pass_over()
        self.assertEqual(self.left_out(lambda: None), 0)
        self.assertEqual((self.told, self.trained), ([], 0))

    def test_of_another_loader_between_epochs_are_told(self):
        # Bug: a script with two loops in an epoch, refused as one that keeps its batches.
        self.left_out(lambda: None)
        self.pass_over(updates=True)
        self.assertEqual(self.trained, 3)

    def draw_one(self):
        next(iter(OtherPass(self.evaluations, lambda: iter(range(3)))))
        self.evaluations.updated()

    def test_of_another_loader_between_epochs_are_told_where_each_has_an_iterator_of_its_own(self):
        # Bug: next(iter(other)) for each update: no pass is open when the weights are updated.
        self.left_out(lambda: None)
        for _ in range(4):
            self.draw_one()
        self.assertEqual(self.trained, 3)

    def test_have_a_batch_that_is_drawn_in_each_of_them(self):
        for _ in range(4):
            self.left_out(self.draw_one)
        self.assertEqual(self.trained, 0)

    def test_are_without_the_start_and_the_end_of_workers(self):
        # Bug: a step that is slow by the workers of a validation, which start each time.
        class Working:
            def __init__(working):
                working.left = 2
                self.now_s += 10

            def __next__(working):
                if working.left == 0:
                    working.__del__()
                    raise StopIteration
                working.left -= 1

            def __del__(working):
                self.now_s += 20 if working.left is not None else 0
                working.left = None

        def evaluate(most):
            for batch, _ in enumerate(OtherPass(self.evaluations, Working)):
                if batch == most:
                    break

        steps = [lambda: evaluate(5), lambda: None, lambda: evaluate(0), lambda: None]
        self.assertEqual([self.left_out(does) for does in steps], [30, 0, 30, 0])

    def test_wait_for_what_a_gpu_has_to_do_before_and_behind_them(self):
        # Bug: a second of queued steps, waited for by the first result of a validation and left out with it.
        queued = [1.0]

        def settle():
            self.now_s += queued[0]
            queued[0] = 0.0

        def evaluate():
            self.pass_over(2, also=lambda: queued.__setitem__(0, 4.0))

        self.evaluations = Evaluations(lambda: self.now_s, self.told.append, settle=settle)
        self.assertEqual(self.left_out(evaluate), 2 + 4)

    def test_are_told_from_their_very_begin(self):
        # Bug: a first sign of 1e-7 s, which nobody takes for the first.
        clock = iter(range(1000))
        evaluations = Evaluations(lambda: next(clock), self.told.append)
        evaluations.begin_step()
        evaluations.begin()
        self.assertEqual(self.told, [0])

    def test_tell_of_short_ones_twice(self):
        self.left_out(lambda: self.pass_over(50, TELL_S / 64))
        self.assertEqual(self.told, [0, None])

    def test_are_told_of_no_more_at_the_end_of_the_script(self):
        # Bug: an iterator that Python forgets last, which ends the script without its own exit code.
        self.evaluations.begin_step()
        one = OtherPass(self.evaluations, lambda: iter(range(3)))
        next(one)
        self.evaluations.close()
        del one
        self.assertEqual(self.told, [0])


class StepsAhead(unittest.TestCase):
    """That a script takes behind the end of an epoch, which it was given as it asked ahead."""

    def setUp(self):
        self.now_s, self.queued_s = 0.0, 0.0
        self.evaluations = Evaluations(lambda: self.now_s, lambda seconds: None, settle=self.settle)
        self.evaluations.begin_step()
        self.now_s = 1.0
        self.evaluations.end_step()

    def settle(self):
        self.now_s += self.queued_s
        self.queued_s = 0.0

    def test_last_until_the_last_update(self):
        self.assertEqual(self.evaluations.trained_ahead_s(1.0), 0)
        for self.now_s in (2.0, 3.0):
            self.assertTrue(self.evaluations.updated(between=True))
        self.now_s = 50.0
        self.assertEqual(self.evaluations.trained_ahead_s(1.0), 2)

    def test_are_none_within_the_loop(self):
        self.assertFalse(self.evaluations.updated())
        self.evaluations.updated(between=True)
        self.evaluations.begin_step()
        self.evaluations.end_step()
        self.assertEqual(self.evaluations.trained_ahead_s(1.0), 0)

    def test_are_none_behind_a_batch_of_another_loader(self):
        # Bug: all that is trained on a second loader between two epochs, counted as a step of the first.
        next(OtherPass(self.evaluations, lambda: iter([1])))
        self.now_s = 9.0
        self.assertFalse(self.evaluations.updated(between=True))
        self.assertEqual(self.evaluations.trained_ahead_s(1.0), 0)

    def test_have_what_a_gpu_has_still_to_do(self):
        # Bug: the last step of an epoch, told by the time to launch it.
        self.now_s, self.queued_s = 1.5, 4.0
        self.evaluations.updated(between=True)
        self.assertEqual(self.evaluations.trained_ahead_s(1.0), 4.5)


class Passes(unittest.TestCase):
    def test_have_what_the_iterator_has(self):
        class Inner:
            _index = 7

            def __len__(self):
                return 3

        one = OtherPass(Evaluations(lambda: 0.0, lambda seconds: None), Inner)
        self.assertEqual((len(one), one._index, iter(one)), (3, 7, one))
        self.assertEqual(copy.copy(one)._index, 7)


if __name__ == "__main__":
    unittest.main()
