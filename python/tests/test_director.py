# SPDX-License-Identifier: Apache-2.0
"""Tests of the director: which DataLoader it chooses, when, and what the others are given."""

import copy
import gc
import os
import pickle
import sys
import types
import unittest
import weakref
from unittest import mock

from stub import MODULES, data, torch

from feedrate import attach, director, session
from feedrate.attribution import SO_FAR
from feedrate.director import PATIENCE_S, Director
from feedrate.evaluation import Evaluations
from feedrate.lanes import Lanes
from feedrate.other_loaders import OtherLoaders
from feedrate.passes import CHECKED
from feedrate.plain import Plain, PlainReporter


class Numbers(data.Dataset):
    def __init__(self, samples=40):
        self.samples = samples

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return torch.ones(2) * i


class Channel:
    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(message)


class Served:
    """A session that gives its own batches."""

    made = []
    now_s = staticmethod(lambda: 0.0)

    def __init__(self, channel, loader, batch, site, before, precision, given, overlaps):
        self.channel, self.loader, self.batch, self.site = channel, loader, batch, site
        self.precision, self.given, self.overlaps = precision, given, overlaps
        self.kept = None
        self.epochs = 0
        self.seen = []  # of evaluations
        self.others = OtherLoaders(lambda: Served.now_s())
        self.evaluations = Evaluations(lambda: 0.0, self.seen.append, has_gradients=torch.is_grad_enabled)
        Served.made.append(self)

    def keep(self, inner, owed=None):
        self.kept = inner

    def greet(self, choice):
        self.channel.send(choice)

    def __iter__(self):
        return self

    def __next__(self):
        return "served"

    def at_exit(self):
        pass

    def new_pass(self):
        pass

    def new_epoch(self, loader=None):
        self.epochs += 1
        return self


class Choosing(unittest.TestCase):
    def setUp(self):
        Served.made = []
        self.now_s = 0.0
        self.channel = Channel()
        for patch in (mock.patch.dict(sys.modules, MODULES),
                      mock.patch.object(session, "Session", Served)):
            patch.start()
            self.addCleanup(patch.stop)
        self.attach()

    def attach(self, wanted=None, plain=None):
        """A DataLoader class that a director watches."""
        self.director = Director(lambda: self.channel, wanted, plain, lambda: self.now_s)
        self.addCleanup(self.director.signs.forget)
        self.module = types.SimpleNamespace(DataLoader=type("DataLoader", (data.DataLoader,), {}))
        attach.patch(self.module, self.director)

    def loader(self, *args, **kwargs):
        return self.module.DataLoader(*args, **kwargs)

    def train(self, loader, steps=100):
        """So many steps; how many batches came from the loader itself."""
        weight = torch.ones(2, requires_grad=True)
        for step, batch in enumerate(loader):
            if batch == "served" or step == steps:
                return step
            (weight * batch.sum()).backward()
        return len(loader)

    def evaluate(self, loader):
        batches = 0
        for batch in loader:
            if batch == "served":  # a session has no end
                break
            batches += 1
        return batches

    def train_by_hand(self, steps, seconds=0.0):
        """On batches of no loader."""
        optimizer, weight = torch.optim.SGD([], lr=0.1), torch.ones(2, requires_grad=True)
        for _ in range(steps):
            weight.backward()
            self.now_s += seconds
            optimizer.step()

    def chosen(self):
        """What autotune was told of the choice: (index, why), or None."""
        if not self.channel.sent:
            return None
        told = self.channel.sent[-1]["loader"]
        return told["index"], told["why"]


class ScriptThatDies(Choosing):
    def test_sends_no_round(self):
        # Bug: the round in which it died counted, and the next config was blamed for its death.
        self.train(self.loader(Numbers()))
        with mock.patch.object(Served, "at_exit") as told:
            with mock.patch.object(sys, "last_type", KeyError, create=True):
                self.director.at_exit()
            told.assert_not_called()
            self.director.at_exit()
            told.assert_called_once_with()


class EndOfScript(Choosing):
    def setUp(self):
        super().setUp()

        class Iterator:
            @staticmethod
            def _clean_up_worker(worker):  # as PyTorch 2.11 has it
                worker.join(timeout=5.0)
                worker.terminate()

        self.assertFalse(attach.waits_at_exit(self.module))
        self.pins = types.SimpleNamespace(_pin_memory_loop=mock.Mock(__name__="loop", side_effect=EOFError))
        self.module._utils = types.SimpleNamespace(pin_memory=self.pins)
        self.module._MultiProcessingDataLoaderIter = Iterator
        attach.patch(self.module, self.director)
        self.assertTrue(attach.waits_at_exit(self.module))
        self.end = Iterator()._clean_up_worker

    def test_waits_for_no_worker_that_stays(self):
        worker = mock.Mock()
        self.end(worker)
        self.assertEqual(worker.method_calls, [mock.call.terminate()])

    def test_is_silent_on_what_an_ended_worker_sends_no_more(self):
        # Bug: behind the error of a script that died, the traceback of PyTorch's pin thread: "it said last: EOFError".
        with self.assertRaises(EOFError):
            self.pins._pin_memory_loop("queue")
        self.end(mock.Mock())
        self.pins._pin_memory_loop("queue")


class MadeAnew(Choosing):
    """Loaders that a script makes for each of its epochs."""

    def pass_over(self, loader, trains):
        if trains:
            self.train(loader, steps=2)
        else:
            self.evaluate(loader)

    def test_are_one(self):
        # Would catch epochs behind the first that nobody serves, or that have numbers of their own.
        for epoch in range(3):
            self.train(self.loader(Numbers()), steps=2)
        self.assertEqual(self.chosen(), (1, "its loop trains"))
        self.assertEqual(Served.made[0].epochs, 1)
        self.assertEqual(self.channel.sent[-1]["others"], [])

    def test_are_one_where_a_launch_is_only_measured(self):
        plain = mock.Mock(evaluations=None, iterate=lambda loader, iterate: iter(["plain"]))
        self.attach("1", plain)
        got = [list(self.loader(Numbers())) for epoch in range(3)]
        self.assertEqual(got, [["plain"]] * 3)

    def test_by_a_function_for_several_callers_are_several(self):
        # Would catch a loader that validates, taken for the one that trains.
        def made():
            return self.loader(Numbers())

        for epoch in range(2):
            self.evaluate(made())
            self.train(made(), steps=2)
        self.assertEqual(self.chosen(), (2, "its loop trains"))
        self.assertEqual([other["index"] for other in self.channel.sent[-1]["others"]], [1])

    def test_of_other_data_are_others(self):
        for samples in (40, 80, 40, 80):
            self.pass_over(self.loader(Numbers(samples)), trains=samples == 40)
        self.assertEqual(self.chosen(), (1, "its loop trains"))
        self.assertEqual([other["index"] for other in self.channel.sent[-1]["others"]], [2])

    def test_in_the_same_line_take_turns(self):
        # Would catch both taken for the first one from the second epoch on.
        for epoch in range(2):
            training, validating = [self.loader(Numbers()) for _ in range(2)]
            self.train(training, steps=2)
            self.evaluate(validating)
        self.assertEqual(self.chosen(), (1, "its loop trains"))
        self.assertEqual([other["index"] for other in self.channel.sent[-1]["others"]], [2])

    def test_without_a_length_are_others(self):
        # Would catch the stream that validates, taken for the one that trains.
        class Stream(data.IterableDataset):
            def __iter__(self):
                return iter([torch.ones(2)] * 8)

        for phase in ("train", "validate", "train"):
            self.pass_over(self.loader(Stream()), trains=phase == "train")
        self.assertIsNone(self.chosen())

    def test_that_draw_otherwise_are_others(self):
        dataset = Numbers()
        for shuffle in (True, False, True, False):
            self.pass_over(self.loader(dataset, shuffle=shuffle), trains=shuffle)
        self.assertEqual(self.chosen(), (1, "its loop trains"))
        self.assertEqual([other["index"] for other in self.channel.sent[-1]["others"]], [2])

    def test_hold_the_data_of_the_last_alone(self):
        # Would catch the data of all epochs, kept until the end.
        epochs = []
        for epoch in range(3):
            dataset = Numbers()
            epochs.append(weakref.ref(dataset))
            self.evaluate(self.loader(dataset))
        self.assertEqual([data() is None for data in epochs], [True, True, False])

    def test_of_other_lengths_hold_no_data_either(self):
        # Bug: each client's or file's data stay in memory, with every member of its dataset, until it is full.
        kept = []
        for samples in (8, 16, 24):
            dataset = Numbers(samples)
            dataset.rows = Numbers()
            kept += [weakref.ref(dataset), weakref.ref(dataset.rows)]
            self.evaluate(self.loader(dataset))
            del dataset
        self.assertEqual([one() is None for one in kept], [True] * 6)

    def test_of_lists_hold_none_of_them(self):
        # Bug: a list has no weak reference, so that each rollout of a training stayed in memory.
        class Sample:
            pass

        kept = []
        for samples in (8, 16, 24):
            rollout = [torch.ones(2)] * samples + [Sample()]
            kept.append(weakref.ref(rollout[-1]))
            loader = self.loader(rollout)
            iter(loader)
            del loader, rollout
        gc.collect()
        self.assertEqual([one() is None for one in kept], [True] * 3)

    def test_of_any_length_have_the_settings_of_their_line(self):
        # Bug: with --train the folds behind the first one ran without the recommended settings.
        plain = Plain(lambda: None, None, torch)
        self.attach("1", plain)
        seen = []
        for samples in (40, 41, 42):
            loader = self.loader(Numbers(samples))
            self.evaluate(loader)
            seen.append(loader._feedrate_seen)
        self.assertEqual(len({id(one) for one in seen}), 1)

    def test_have_the_numbers_that_they_have_while_tuning(self):
        # Bug: data of other lengths made in one line were one, and the loader that trains was not found.
        def numbers():
            for samples in (40, 41, 42):
                self.evaluate(self.loader(Numbers(samples)))
            return self.loader(Numbers())._feedrate_seen.index

        tuning = numbers()
        self.attach(str(tuning), Plain(lambda: None, None, torch))
        self.assertEqual((tuning, numbers()), (4, 4))

    def test_are_saved_and_copied_without_anything_of_ours(self):
        # Bug: torch.save(loader) refers to a module that is not there without us, or fails on what its dataset
        # leaves out of a pickle.
        loader = self.loader(Numbers())
        self.evaluate(loader)
        self.assertIsNotNone(loader._feedrate_seen)
        self.assertIsNone(copy.deepcopy(loader._feedrate_seen))
        self.assertIsNone(pickle.loads(pickle.dumps(loader._feedrate_seen)))

    def test_are_asked_for_no_length_that_they_need_not_tell(self):
        # Would catch a script that fails, or that PyTorch warns, since we asked.
        class Stream(data.IterableDataset):
            def __iter__(self):
                return iter([torch.ones(2)] * 8)

            def __len__(self):
                raise RuntimeError("not before set_epoch()")

        stream = Stream()
        with mock.patch.object(self.module.DataLoader, "__len__", return_value=8) as length:
            for epoch in range(2):
                self.train(self.loader(stream), steps=2)
        length.assert_not_called()
        self.assertEqual(self.chosen(), (1, "its loop trains"))

    def test_before_any_was_iterated_are_several(self):
        first, second = [self.loader(Numbers()) for _ in range(2)]
        self.evaluate(first)
        self.train(second)
        self.assertEqual(self.chosen(), (2, "its loop trains"))


class Choice(Choosing):
    def test_is_the_loader_after_whose_batches_is_trained(self):
        self.assertEqual(self.train(self.loader(Numbers())), 3)
        self.assertEqual(self.chosen(), (1, "its loop trains"))

    def test_is_not_the_loader_that_is_evaluated_first(self):
        # Would catch the first loader, or the one with most batches, taken for the training loader.
        val_loader, train_loader = self.loader(Numbers(400)), self.loader(Numbers())
        self.assertEqual(self.evaluate(val_loader), 400)
        self.assertEqual(self.train(train_loader), 3)
        self.assertEqual(self.chosen(), (2, "its loop trains"))
        other = self.channel.sent[-1]["others"]
        self.assertEqual([(one["index"], one["batches"], one["trained"]) for one in other],
                         [(1, 400, 0)])

    def test_is_not_the_loader_that_is_evaluated_after_each_step(self):
        # Bug: the loader that came next was taken for the one that trained: from its fourth pass on
        # the one that validates was tuned.
        train_loader, val_loader = self.loader(Numbers()), self.loader(Numbers(2))
        weight = torch.ones(2, requires_grad=True)
        for step, batch in enumerate(train_loader):
            if batch == "served":
                break
            (weight * batch.sum()).backward()
            self.assertEqual(self.evaluate(val_loader), 2)
        self.assertEqual((step, self.chosen()), (3, (1, "its loop trains")))
        self.assertEqual([one["trained"] for one in self.channel.sent[-1]["others"]], [0])

    def test_is_the_first_of_two_that_are_drawn_for_each_step(self):
        # Bug: the loader of something added to each batch was tuned, and not the one that is looped
        # over.
        main, added = self.loader(Numbers()), self.loader(Numbers())
        weight, draw = torch.ones(2, requires_grad=True), iter(added)
        for batch in main:
            if batch == "served":
                break
            next(draw)
            (weight * batch.sum()).backward()
        self.assertEqual(self.chosen(), (1, "its loop trains"))

    def test_is_not_late_behind_a_pass_whose_last_batches_are_skipped(self):
        # Would catch a loader that gives batches, and the pass before it still has the signs.
        first, second = self.loader(Numbers(4)), self.loader(Numbers())
        weight = torch.ones(2, requires_grad=True)
        for step, batch in enumerate(first):
            if step == 0:
                (weight * batch.sum()).backward()
        self.assertEqual(self.train(second), 3)
        self.assertEqual(self.chosen(), (2, "its loop trains"))

    def test_is_told_by_steps_of_an_optimizer_too(self):
        # Would catch loops that train without torch.autograd.backward, as with a fused step.
        optimizer = torch.optim.SGD([], lr=0.1)
        given = []
        for batch in self.loader(Numbers()):
            if batch == "served":
                break
            given.append(batch)
            optimizer.step()
        self.assertEqual(len(given), 3)

    def test_holds_over_epochs_that_are_shorter_than_three_batches(self):
        loader = self.loader(Numbers(2))
        self.assertEqual([self.train(loader), self.train(loader)], [2, 1])

    def test_comes_with_the_first_batch_where_a_loader_is_asked_for(self):
        for wanted in ("2", "asked_for"):
            self.attach(wanted)
            first = self.loader(Numbers())
            asked_for = self.module.DataLoader(Numbers())
            self.assertEqual(self.train(first), 40)
            self.assertEqual(self.evaluate(asked_for), 1)
            self.assertEqual(self.chosen(), (2, "asked for"))

    def test_waits_for_the_loader_that_is_asked_for(self):
        self.attach("nobody")
        self.now_s = 10 * PATIENCE_S
        self.assertEqual(self.train(self.loader(Numbers())), 40)
        self.assertIsNone(self.chosen())

    def test_is_waited_for_in_vain_where_nothing_answers_to_the_name(self):
        # Would catch a script without end that is run for minutes before the mistake is told.
        self.attach("nobody")
        self.train(self.module.DataLoader(Numbers()), 2)
        self.now_s = PATIENCE_S
        self.train(self.loader(Numbers()))
        self.train(self.loader(Numbers()))
        self.assertEqual([(message["hello"], message["in_vain"], len(message["others"]))
                          for message in self.channel.sent], [("none", True, 2)])

    def test_is_the_loader_with_most_batches_where_none_trains_for_long(self):
        small, large = self.loader(Numbers(5)), self.loader(Numbers(50))
        self.assertEqual((self.evaluate(small), self.evaluate(large)), (5, 50))
        self.now_s = PATIENCE_S - 1
        self.assertEqual(self.evaluate(small), 5)
        self.now_s = PATIENCE_S
        self.assertEqual(self.evaluate(small), 5)
        self.assertLess(self.evaluate(large), CHECKED)
        self.assertEqual(self.chosen(), (2, "no loop trains, and it has delivered most batches"))

    def test_is_never_one_that_only_delivers_where_another_trains(self):
        train_loader, val_loader = self.loader(Numbers()), self.loader(Numbers())
        self.assertEqual(self.train(train_loader, 2), 2)
        self.now_s = 2 * PATIENCE_S
        self.assertEqual(self.evaluate(val_loader), 40)
        self.assertIsNone(self.chosen())
        self.train(train_loader)
        self.assertEqual(self.chosen(), (1, "its loop trains"))

    def test_ends_the_watch_on_what_trains(self):
        # Would catch a backward() that stays slower for the rest of the run.
        before = torch.autograd.backward
        self.train(self.loader(Numbers()), 1)
        self.assertIsNot(torch.autograd.backward, before)
        self.train(self.loader(Numbers()))
        self.assertIs(torch.autograd.backward, before)
        self.assertEqual(MODULES["torch.optim.optimizer"]._hooks, {})


class TakenAhead(Choosing):
    """Batches that are trained when their iterator has none left."""

    def held(self, loader):
        """As accelerate does it."""
        batches = iter(loader)
        batch = next(batches)
        while True:
            try:
                following = next(batches)
            except StopIteration:
                yield batch
                return
            yield batch
            batch = following

    def forgotten(self, loader):
        """As timm does it: its iterator is gone when the last batch is trained."""
        batch = None
        for following in loader:
            if batch is not None:
                yield batch
            batch = following
        yield batch

    def epochs(self, ahead, batches):
        """The epochs that it takes until the loader is chosen."""
        self.attach()
        self.channel.sent = []
        loader, val_loader = self.loader(Numbers(batches)), self.loader(Numbers(4))
        weight = torch.ones(2, requires_grad=True)
        for epoch in range(1, 10):
            for batch in ahead(loader):
                if batch == "served":
                    self.assertEqual(self.chosen(), (1, "its loop trains"))
                    return epoch
                (weight * batch.sum()).backward()
            self.evaluate(val_loader)
        return None

    def test_are_of_their_loader_however_few_there_are(self):
        # Would catch a loader that is never chosen, as the sign of each last batch comes behind the end of the pass.
        for batches, epochs in ((1, 4), (2, 2), (3, 2), (8, 1)):
            self.assertEqual(self.epochs(self.held, batches), epochs, batches)

    def test_are_enough_without_the_last_one(self):
        for batches, epochs in ((2, 3), (3, 2), (8, 1)):
            self.assertEqual(self.epochs(self.forgotten, batches), epochs, batches)

    def test_are_no_batches_of_nobody(self):
        # Would catch a script that is refused for what it took ahead.
        self.director.watch_for_strangers()
        self.addCleanup(self.director._attribution.forget)
        loader = self.loader(Numbers(1))
        for _ in range(2):
            for _ in self.held(loader):
                self.train_by_hand(20, 1.0)
        self.assertEqual((self.channel.sent, self.director._attribution.by_hand), ([], False))


class TwoPassesAtOnce(Choosing):
    """Workers that stay serve one pass: a second one would take the batches of the first."""

    def overlaps(self, steps):
        self.attach()
        weight = torch.ones(2, requires_grad=True)
        for batch in steps(self.loader(Numbers(40))):
            if "served" in batch:
                return Served.made[-1].overlaps
            (weight * batch[0].sum()).backward()
        self.fail("nothing was served")

    def test_are_seen(self):
        # Bug: mixup over zip(loader, loader) trained on half of its steps with persistent_workers=True.
        self.assertTrue(self.overlaps(lambda loader: zip(loader, loader)))
        self.assertTrue(self.overlaps(lambda loader: ((batch, next(iter(loader))) for batch in loader)))

    def test_are_told_from_passes_one_after_another(self):
        def looked_at_before(loader):
            next(iter(loader))
            return ([batch] for batch in loader)

        def short_epochs(loader):
            return ([batch] for _ in range(9) for batch in loader)

        def begun_anew(loader):
            while True:
                yield [next(iter(loader))]

        for steps in (looked_at_before, short_epochs, begun_anew):
            self.assertFalse(self.overlaps(steps), steps)


class ByHand(Choosing):
    """Training without a DataLoader, beside one that validates."""

    def setUp(self):
        super().setUp()
        self.director.watch_for_strangers()
        self.addCleanup(self.director._attribution.forget)

    def told(self):
        return [(message["hello"], message["why"]) for message in self.channel.sent]

    def epochs(self, loader, steps=20, seconds=0.0, number=5):
        for _ in range(number):
            self.train_by_hand(steps, seconds)
            self.evaluate(loader)

    def test_chooses_no_loader_that_validates(self):
        # Bug: each epoch of training was a sign of the loader that validates: after three it was tuned, since "its
        # loop trains".
        for steps in (1, 20):
            val_loader = self.loader(Numbers())
            self.epochs(val_loader, steps)
            self.assertEqual((self.chosen(), val_loader._feedrate_seen.trained), (None, 0))

    def test_chooses_none_for_its_many_batches(self):
        # Bug: "no loop trains, and it has delivered most batches".
        val_loader = self.loader(Numbers(400))
        self.epochs(val_loader, seconds=0.01)
        self.now_s = 2 * PATIENCE_S
        self.evaluate(val_loader)
        self.assertEqual(self.channel.sent, [])

    def test_is_told_of_within_seconds(self):
        # Bug: a run that waits for a training loop until the script ends, since a DataLoader was made.
        val_loader = self.loader(Numbers())
        self.epochs(val_loader, seconds=0.1, number=2)
        self.assertEqual(self.channel.sent, [])
        self.epochs(val_loader, seconds=0.1)
        self.assertEqual(self.told(), [("none", "trains while it takes no batches from a DataLoader of PyTorch")])

    def test_in_a_forked_process_is_told_as_that(self):
        # Bug: "trains without a DataLoader of PyTorch", of a script that has one in a process of its own.
        with mock.patch.object(os, "getpid", lambda: -1):
            self.train_by_hand(20, seconds=1.0)
        self.assertRegex(self.told()[0][1], "^trains in a process that it forks")

    def test_is_told_of_at_the_end_of_a_short_script(self):
        # Bug: "No loop of the script trains", and the loader that validates was tuned in another launch.
        self.epochs(self.loader(Numbers()), seconds=0.001)
        self.director.at_exit()
        self.assertEqual(self.told(), [("none", "trains while it takes no batches from a DataLoader of PyTorch")])

    def test_is_told_of_where_no_loader_is_made(self):
        self.train_by_hand(2, 7.0)
        self.assertEqual(self.told(), [("none", "trains without a DataLoader of PyTorch")])

    def test_of_a_class_with_its_own_batches_beside_it_is_no_training_on_those(self):
        # Bug: "trains on the batches of Own", of a class that validates.
        class Own(self.module.DataLoader):
            def __iter__(own):
                return iter([torch.ones(2)] * 8)

        self.epochs(Own(Numbers()))
        self.assertEqual(self.channel.sent, [])

    def test_before_the_first_pass_is_noted_within_seconds(self):
        # Bug: half a minute without a word of it.
        self.loader(Numbers())
        self.train_by_hand(7, 1.0)
        self.assertEqual(self.channel.sent, [])
        self.train_by_hand(7, 1.0)
        self.assertEqual(self.told(), [("note", SO_FAR)])

    def test_beside_a_pass_that_gives_no_batch_is_that_of_an_idle_rank(self):
        # Bug: minutes of silence, since accelerate's dispatch_batches=True lets one rank load for all.
        kept = iter(self.loader(Numbers()))
        self.train_by_hand(10)
        self.assertEqual([what for what, _ in self.told()], ["idle"])
        # Bug: a rank that warms up beside its pass stayed idle for the command, and the run was refused.
        next(kept)
        self.assertEqual(self.told()[1:], [("idle", "")])

    def test_beside_a_pass_is_that_of_an_idle_rank_before_its_first_update(self):
        # Bug: with gradient accumulation the command waited for five minutes.
        kept = iter(self.loader(Numbers()))
        weight = torch.ones(2, requires_grad=True)
        weight.backward()
        weight.backward()
        self.assertEqual(self.channel.sent, [])
        weight.backward()
        self.assertEqual([what for what, _ in self.told()], ["idle"])
        next(kept)
        self.assertEqual(self.told()[1:], [("idle", "")])

    def test_beside_a_pass_that_is_made_ahead_is_that_of_no_idle_rank(self):
        # Would catch a loop that makes the next epoch's iterator before the last steps of this one.
        loader = self.loader(Numbers())
        kept = iter(loader)
        next(kept)
        ahead = iter(loader)
        for _ in range(5):
            torch.ones(2, requires_grad=True).backward()
        next(ahead)
        self.assertNotIn("idle", [told.get("hello") for told in self.channel.sent])

    def test_ahead_of_a_pass_is_that_of_no_idle_rank(self):
        self.train_by_hand(10)
        kept = iter(self.loader(Numbers()))
        next(kept)
        self.train_by_hand(10)
        self.assertEqual(self.channel.sent, [])

    def test_of_a_warm_up_keeps_no_loader_from_being_chosen(self):
        # Would catch a script that is refused, since it compiles its step on random numbers before it trains.
        loader = self.loader(Numbers())
        self.train_by_hand(15, 1.5)
        self.assertEqual(self.told(), [("note", SO_FAR)])
        self.train(loader)
        self.assertEqual(self.chosen(), (1, "its loop trains"))
        self.assertEqual(MODULES["torch.optim.optimizer"]._hooks, {})

    def test_is_not_what_follows_each_pass_in_a_few_updates(self):
        # Would catch a script that is refused, since it updates its weights once for each pass.
        self.epochs(self.loader(Numbers()), steps=2, seconds=1.0, number=14)
        self.assertEqual(self.channel.sent, [])

    def test_is_not_told_of_where_a_loader_trains_in_between(self):
        loader = self.loader(Numbers(1))
        for _ in range(2):
            self.train(loader)
            self.train_by_hand(12, 0.3)
        self.assertEqual(self.channel.sent, [])

    def test_is_not_seen_in_a_compiled_update(self):
        # Bug: a clock in the trace of a compiled update, which breaks its graph.
        with mock.patch.object(torch, "compiler", types.SimpleNamespace(is_compiling=lambda: True), create=True):
            loader = self.loader(Numbers())
        self.evaluate(loader)
        with mock.patch.object(self.director._attribution, "_clock", side_effect=AssertionError):
            self.train_by_hand(20, 1.0)


class Loaders(Choosing):
    def test_are_numbered_and_named_as_they_are_made(self):
        first = self.module.DataLoader(Numbers())
        others = {"second": self.module.DataLoader(Numbers())}
        seen = [loader._feedrate_seen for loader in (first, others["second"])]
        self.assertEqual([(one.index, one.name) for one in seen],
                         [(1, "first"), (2, 'others["second"]')])
        self.assertEqual(seen[0].site.file, __file__)

    def test_that_a_library_makes_of_the_scripts_own_are_that_one(self):
        # Would catch a change that is shown in the source of accelerate.
        own = self.loader(Numbers())
        library = {"__name__": "accelerate.data_loader"}
        exec(compile("def prepare(kind, dataset):\n    return kind(dataset, batch_size=2)\n",
                     "<prepared>", "exec"), library)
        made = library["prepare"](self.module.DataLoader, own.dataset)
        self.assertIs(made._feedrate_seen, own._feedrate_seen)

    def test_that_a_library_makes_of_two_over_one_dataset_are_told_apart(self):
        # Bug: the loader that validates counted as the one that trains, and was given its batches.
        dataset = Numbers()
        samplers = [data.SequentialSampler(range(30)), data.SequentialSampler(range(30, 40))]
        train_loader = self.loader(dataset, batch_size=4, sampler=samplers[0])
        val_loader = self.loader(dataset, batch_size=4, sampler=samplers[1])
        library = {"__name__": "accelerate.data_loader", "BatchSampler": data.BatchSampler}
        exec(compile("def prepare(kind, loader):\n"
                     "    batches = BatchSampler(loader.sampler, 4, False)\n"
                     "    return kind(loader.dataset, batch_sampler=batches)\n", "<prepared>", "exec"), library)
        for own in (train_loader, val_loader):
            made = library["prepare"](self.module.DataLoader, own)
            self.assertIs(made._feedrate_seen, own._feedrate_seen)

    def test_that_a_library_makes_alone_are_of_one_kind(self):
        # Bug: a trainer whose evaluation, over the same data, was taken for its training.
        dataset = Numbers()
        library = {"__name__": "transformers.trainer"}
        exec(compile("def make(kind, dataset, shuffle):\n    return kind(dataset, shuffle=shuffle)\n",
                     "<trainer>", "exec"), library)
        made = [library["make"](self.module.DataLoader, dataset, shuffle) for shuffle in (True, False, True)]
        self.assertIsNot(made[1]._feedrate_seen, made[0]._feedrate_seen)
        self.assertIs(made[2]._feedrate_seen, made[0]._feedrate_seen)

    def test_over_one_dataset_are_two_where_the_script_makes_both(self):
        dataset = Numbers()
        train_loader = self.loader(dataset)
        val_loader = self.loader(dataset)
        self.assertEqual([one._feedrate_seen.index for one in (train_loader, val_loader)], [1, 2])

    def test_of_a_class_that_makes_itself_are_seen_where_they_are_made(self):
        # Bug: torchdata's class does not call DataLoader.__init__: its loader was seen in the line of the loop, and
        # the keywords went into another call there.
        class Own(self.module.DataLoader):
            def __init__(own, dataset):
                vars(own).update(vars(data.DataLoader(dataset)))

        own_loader = Own(Numbers())
        self.assertEqual(own_loader._feedrate_seen.name, "own_loader")

    def test_that_were_there_before_the_hook_are_seen_when_they_are_iterated(self):
        loader = data.DataLoader(Numbers())
        loader.__class__ = self.module.DataLoader
        self.assertEqual(self.train(loader), 3)
        self.assertEqual(self.chosen(), (1, "its loop trains"))
        self.assertIsNone(loader._feedrate_seen.site)

    def test_keep_what_their_iterators_have(self):
        iterator = iter(self.loader(Numbers(6)))
        self.assertEqual(len(iterator), 6)
        self.assertIs(iter(iterator), iterator)
        self.assertTrue(hasattr(iterator, "_sampler_iter"))


class Serving(Choosing):
    def test_begins_in_the_midst_of_an_epoch_and_keeps_its_iterator(self):
        # Would catch workers that end, or a batch that is lost, when the session begins.
        loader = self.loader(Numbers())
        self.train(loader)
        served = Served.made[0]
        self.assertIs(served.loader, loader)
        self.assertEqual(next(served.kept).tolist(), [3.0, 3.0])
        self.assertEqual(served.batch.tolist(), [2.0, 2.0])

    def test_goes_on_in_the_next_epoch(self):
        loader = self.loader(Numbers())
        self.train(loader)
        self.assertIs(iter(loader), Served.made[0])
        self.assertEqual((len(Served.made), Served.made[0].epochs), (1, 1))

    def test_goes_on_where_each_batch_has_an_iterator_of_its_own(self):
        # Would catch next(iter(loader)), as some loops have it, that is never chosen.
        loader, weight = self.loader(Numbers()), torch.ones(2, requires_grad=True)
        given = []
        for _ in range(5):
            given.append(next(iter(loader)))
            weight.backward()
        self.assertEqual([batch == "served" for batch in given], [False, False, False, True, True])

    def test_leaves_the_other_loaders_as_they_are(self):
        loader, other = self.loader(Numbers()), self.loader(Numbers(7))
        running = iter(other)
        next(running)
        self.train(loader)
        self.assertEqual(self.evaluate(other), 7)
        self.assertEqual(len(list(running)), 6)

    def waits_for(self, loader_class):
        """What the session is told of ten steps of two seconds, which take two batches of another loader in 0.25 s
        each: one of a pass that began before the choice, and one of a later pass."""
        case = self

        class Slow(Numbers):
            def __getitem__(own, index):
                case.now_s += 0.25
                return super().__getitem__(index)

        Served.now_s = lambda: case.now_s
        other = loader_class(Slow(20))
        before = iter(other)
        next(before)
        self.train(self.loader(Numbers()))
        after, others = iter(other), Served.made[0].others
        for _ in range(10):
            others.begin_step()
            next(before)
            next(after)
            others.end_step(2.0, counts=True)
        return others.told()

    def test_tells_the_session_how_long_the_loop_waits_for_another_loader(self):
        self.assertEqual(self.waits_for(self.module.DataLoader), {"loader": "other", "share": 0.25})

    def test_tells_the_session_once_of_a_derived_class(self):
        # Would catch its waits counted twice: its iterator asks PyTorch's own.
        class Derived(self.module.DataLoader):
            def __iter__(own):
                yield from super().__iter__()

        self.assertEqual(self.waits_for(Derived), {"loader": "other", "share": 0.25})

    def test_serves_a_class_that_is_its_own_iterator(self):
        # Bug: an __iter__ that returns self, as InsightFace's DataLoaderX has it, was asked again and again, each time
        # with new workers, until RecursionError.
        for steps in (4, 100):
            class Own(self.module.DataLoader):
                begun = 0

                def __iter__(own):
                    own.begun += 1
                    own.batches = super().__iter__()
                    return own

                def __next__(own):
                    return next(own.batches)

            loader = Own(Numbers())
            self.train(loader, steps=steps)
            self.assertEqual(loader.begun, 1)
        self.assertEqual(self.chosen()[1], "its loop trains")

    def test_leaves_a_class_alone_that_is_no_loader_but_by_name(self):
        # Bug: AttributeError in the constructor of a class that wraps a loader and never calls DataLoader's.
        class Wrapped(self.module.DataLoader):
            def __init__(own, loader):
                own.loader = loader

            def __iter__(own):
                return iter(own.loader)

        wrapped = Wrapped(self.loader(Numbers()))
        self.assertEqual(self.train(wrapped), 3)
        self.assertEqual(self.chosen(), (1, "its loop trains"))

    def test_names_other_loaders_so_that_they_are_found(self):
        # Would catch two loaders of one function under one name: --loader would take the first.
        def make():
            return self.module.DataLoader(Numbers())

        first, second = make(), make()
        third = self.module.DataLoader(Numbers())
        seen = [loader._feedrate_seen for loader in (first, second, third)]
        self.assertEqual([self.director.only_name_of(one) for one in seen], ["1", "2", "third"])

    def test_sees_what_is_evaluated_within_a_step(self):
        # Would catch a class of the script's whose __iter__ is a generator, left before its end, unseen.
        class Few(self.module.DataLoader):
            def __iter__(self):
                yield from super().__iter__()

        loader, other, derived = self.loader(Numbers()), self.loader(Numbers(7)), Few(Numbers(7))
        self.train(loader)
        served = Served.made[0]
        for evaluated, left in ((other, False), (other, True), (derived, False), (derived, True)):
            served.evaluations.begin_step()  # without one, as most are
            served.evaluations.begin_step()
            for _ in evaluated:
                if left:
                    break
            self.assertEqual(served.seen, [0.0, None])
            served.seen.clear()
        self.train(loader)
        self.assertEqual(served.seen, [])

    def test_leaves_an_evaluation_on_its_loader_to_the_script(self):
        # Bug: the training accuracy, computed over the training loader after each epoch: its batches counted as steps.
        loader = self.loader(Numbers(), num_workers=1, persistent_workers=True)
        self.train(loader)
        served = Served.made[0]
        served.evaluations.updated()
        self.assertEqual(next(served.kept).tolist(), [3.0, 3.0])
        for _ in range(2):
            with torch.no_grad():
                self.assertEqual(self.evaluate(loader), 40)
            self.assertIs(iter(loader), served)
        self.assertEqual(next(served.kept).tolist(), [4.0, 4.0])

    def test_of_workers_is_none(self):
        # Would catch a DataLoader within a dataset, in a forked worker, that answers autotune.
        loader = self.loader(Numbers())
        with mock.patch("os.getpid", lambda: -1):
            self.assertNotIsInstance(iter(loader), director.Tracked)


class IteratorsPastIter(Choosing):
    """Iterators that a class asks `_get_iterator` for, and not `__iter__`."""

    def own(self):
        class Own(self.module.DataLoader):
            """As that of ultralytics."""

            def __init__(own, *args, **kwargs):
                super().__init__(*args, **kwargs)
                own.iterator = super().__iter__()

            def __iter__(own):
                yield from own.iterator

            def reset(own):
                own.iterator = own._get_iterator()

        return Own(Numbers())

    def wrapping(self, **kwargs):
        class Wrapping(self.module.DataLoader):
            """As those of PyTorch Geometric."""

            def _get_iterator(own):
                made = super()._get_iterator() if own.num_workers == 0 else map(torch.ones, [2, 2, 2, 2, 2])
                return Doubled(made)

        class Doubled:
            def __init__(doubled, inner):
                doubled.inner = inner

            def __iter__(doubled):
                return doubled

            def __next__(doubled):
                return next(doubled.inner) * 2

            def _reset(doubled, loader):
                doubled.inner = map(torch.ones, [3, 3, 3, 3, 3])

        return Wrapping(Numbers(), **kwargs), Doubled

    def test_are_served(self):
        # Bug: training was given batches of PyTorch's own iterator after a reset, and autotune waited for a hang.
        loader = self.own()
        self.assertEqual(self.train(loader, steps=2), 2)
        loader.reset()
        self.assertEqual(self.train(loader), 1)
        loader.reset()
        self.assertIs(loader.iterator, Served.made[0])
        self.assertEqual((len(Served.made), Served.made[0].epochs), (1, 1))

    def test_are_measured_in_a_launch_that_only_measures(self):
        plain = mock.Mock(keeps_iterator=False, evaluations=None, iterate=lambda loader, iterate: iter(["plain"]))
        self.attach("1", plain)
        loader = self.own()
        loader.reset()
        self.assertEqual(list(loader), ["plain"])

    def test_are_served_where_the_class_has_wrapped_those_of_pytorch(self):
        # Would catch a wrapper around what is served, which a lane has wrapped already.
        loader, wrapper = self.wrapping()
        for made in (loader._get_iterator(), iter(loader)):
            self.assertIsInstance(made, director.Tracked)
            self.assertIsInstance(made._inner, wrapper)
            self.assertNotIsInstance(made._inner.inner, director.Tracked)

    def test_are_left_to_a_class_with_both_methods_of_its_own(self):
        # Would catch torchdata's loader, asked for its state before its first pass, which resets our stand-in then.
        class Stateful(self.module.DataLoader):
            def _get_iterator(own):
                return super()._get_iterator()

            def __iter__(own):
                return own._get_iterator()

        self.assertNotIsInstance(Stateful(Numbers())._get_iterator(), director.Tracked)

    def test_are_asked_once_whether_they_only_evaluate(self):
        # Would catch a second question, whose answer may be another one once the iterator is made.
        class Stateful(self.module.DataLoader):
            def _get_iterator(own):
                return super()._get_iterator()

            def __iter__(own):
                return own._get_iterator()

        loader = Stateful(Numbers())
        with mock.patch.object(director, "is_of_pytorch", return_value=True):
            self.train(loader)
            evaluations = Served.made[0].evaluations
            with mock.patch.object(evaluations, "only_evaluates", return_value=True) as asked:
                self.assertEqual(self.evaluate(loader), 40)
        self.assertEqual(asked.call_count, 1)

    def test_are_those_of_pytorch_within_iter(self):
        # Would catch workers that stay, of whose second pass nobody hears.
        loader, wrapper = self.wrapping(num_workers=1, persistent_workers=True)
        self.assertEqual([len(batch) for batch in loader], [2] * 5)
        self.assertIsInstance(loader._iterator, wrapper)
        self.assertEqual([len(batch) for batch in loader], [3] * 5)
        self.assertEqual(loader._feedrate_seen.batches, 10)

    def test_of_lanes_are_those_of_pytorch(self):
        # Would catch a lane that is served its own batches.
        loader = self.loader(Numbers())
        self.train(loader)
        lanes = Lanes(loader, torch, 1, 8)
        config = {"workers": 0, "prefetch": 0, "pinned": False, "batch": 1, "start_method": "own"}
        self.assertEqual(lanes.use(dict(config, persistent=False), lambda: None).take().tolist(), [0.0, 0.0])


class Launches(Choosing):
    def test_that_only_measure_give_the_wanted_loader_its_settings(self):
        plain = mock.Mock(evaluations=None)
        plain.iterate.side_effect = lambda loader, iterate: iter(["plain"])
        self.attach("2", plain)
        other, wanted = self.loader(Numbers(5)), self.loader(Numbers(5))
        self.assertEqual((self.evaluate(other), list(wanted)), (5, ["plain"]))
        self.assertEqual(self.channel.sent, [])

    def test_without_a_loader_leave_all_as_they_are(self):
        plain = mock.Mock(evaluations=None)
        self.attach(None, plain)
        self.assertEqual(self.evaluate(self.loader(Numbers(5))), 5)
        plain.iterate.assert_not_called()

    def test_that_only_measure_leave_out_an_evaluation_on_the_loader(self):
        # Bug: the training accuracy, computed over the training loader after each epoch: its batches counted as steps.
        reporter = PlainReporter(None)
        plain = Plain(lambda: reporter, None, torch)
        self.attach("1", plain)
        loader = self.loader(Numbers(5))
        for epoch in range(3):
            for _ in loader:
                plain.evaluations.updated()
            with torch.no_grad():
                self.assertEqual(self.evaluate(loader), 5)
        self.assertEqual((reporter.passes, reporter.batches), (3, 15))

    def test_know_a_loader_that_keeps_its_iterator(self):
        # Bug: the start of workers counted in each epoch of timm's MultiEpochsDataLoader, which starts them once.
        for keeps in (True, False):
            plain = mock.Mock(evaluations=None, keeps_iterator=False)
            plain.iterate.side_effect = lambda loader, iterate: iter(["plain"] * 4)
            self.attach("1", plain)

            class Loader(self.module.DataLoader):
                def __init__(self, *args):
                    super().__init__(*args)
                    self.kept = super().__iter__() if keeps else None

                def __iter__(self):
                    batches = self.kept or super().__iter__()
                    for _ in range(2):
                        yield next(batches)

            loader = Loader(Numbers(2))
            self.assertEqual([list(loader) for _ in range(2)], [["plain"] * 2] * 2)
            self.assertIs(plain.keeps_iterator, keeps)

    def test_tell_once_that_a_loader_is_iterated(self):
        # Would catch a rate that the script prints taken for good before the loader's is known.
        plain = mock.Mock(evaluations=None)
        self.attach(None, plain)
        loader = self.loader(Numbers(5))
        plain.announce.assert_not_called()
        self.evaluate(loader)
        self.evaluate(loader)
        plain.announce.assert_called_once_with()


class Ends(Choosing):
    def test_before_a_choice_tell_what_there_was(self):
        self.attach("9")
        self.evaluate(self.loader(Numbers(5)))
        self.director.at_exit()
        told = self.channel.sent[-1]
        self.assertEqual((told["hello"], told["others"][0]["batches"]), ("none", 5))

    def test_after_a_choice_or_of_a_launch_that_only_measures_say_nothing(self):
        self.train(self.loader(Numbers()))
        self.channel.sent = []
        self.director.at_exit()
        self.attach(None, mock.Mock())
        self.director.at_exit()
        self.assertEqual(self.channel.sent, [])

    def test_without_autotune_are_silent(self):
        # Would catch a traceback at the end of a script whose autotune is gone.
        self.director._connect = mock.Mock(side_effect=ConnectionRefusedError)
        self.director.at_exit()


if __name__ == "__main__":
    unittest.main()
