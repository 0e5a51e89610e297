# SPDX-License-Identifier: Apache-2.0
"""Tests of a session: what the loop is given, and what autotune is answered. Time is made up."""

import ast
import contextlib
import itertools
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import weakref
from unittest import mock

from stub import MODULES, data, torch
from trainers import ahead

from feedrate import cpp_lane
from feedrate import pairs
from feedrate import process
from feedrate.epochs import Boundaries
from feedrate.epochs import Epochs as EpochsOf
from feedrate.evaluation import OtherPass
from feedrate.lanes import Lane, Lanes
from feedrate.process import Memory
from feedrate.session import EPOCH_ENDS, Session
from feedrate.training import AWAITED_S

LOAD_S, STEP_S = 0.125, 0.25  # of a batch; sums of these are exact


class Clock:
    now_s = 0.0


class Numbers(data.Dataset):
    """A batch of four takes LOAD_S."""

    def __init__(self, samples=400, broken=()):
        self.samples = samples
        self.broken = broken

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        if i in self.broken:
            raise KeyError("no row %d" % i)
        Clock.now_s += LOAD_S / 4
        return torch.ones(2) * i


class Channel:
    """Autotune's side: questions that were written down, and answers."""

    def __init__(self, questions):
        self.questions = list(questions)
        self.sent = []
        self.beats = 0

    def receive(self):
        return self.questions.pop(0) if self.questions else None

    def send(self, message):
        self.sent.append(message)

    def beat(self):
        self.beats += 1


class Marks:
    """Of a GPU that is never behind the script."""

    def __init__(self):
        self.steps = []

    def mark(self):
        return Clock.now_s

    def add(self, start, end):
        self.steps.append(end - start)


class Over(BaseException):
    """Stands for the end of the process."""


CONFIG = {"workers": 0, "prefetch": 0, "pinned": False, "step_threads": 2, "precision": "fp32",
          "batch": 4, "accumulate": 1, "persistent": False, "start_method": "own"}


def question(part, config=(), **more):
    return {"ask": "run", "part": part, "variant": "as_is", "config": dict(CONFIG, **dict(config)),
            "seconds": 1.0, "min_batches": 3, "max_batches": 1000,
            "own_precision": "fp32", **more}


class Asking(unittest.TestCase):
    def setUp(self):
        for patch in (mock.patch.dict(sys.modules, MODULES),
                      mock.patch.dict(MODULES["torch.optim.optimizer"]._hooks),
                      mock.patch.object(Session, "_now", staticmethod(lambda: Clock.now_s)),
                      mock.patch.object(Session, "_end", self.end)):
            patch.start()
            self.addCleanup(patch.stop)
        Clock.now_s = 0.0
        self.steps = []
        self.optimizer, self.trained, self.batches_each = torch.optim.SGD([], 0.1), 0, 1

    @staticmethod
    def end(session):
        session._lanes.close()
        raise Over

    def train(self, seconds):
        """A step of the script's loop, which updates its weights after so many of them."""
        Clock.now_s += seconds
        self.trained += 1
        if self.trained % self.batches_each == 0:
            self.optimizer.step()

    def session(self, questions, loader=None, site=None):
        self.loader = data.DataLoader(Numbers(), batch_size=4) if loader is None else loader
        self.channel = Channel(questions)
        self.made = Session(self.channel, self.loader, torch.ones(4, 2), site)
        return self.made

    def answers(self, *questions, loader=None, step=None, epochs=()):
        """Runs the script's loop until autotune has no question left; it begins again at the steps
        `epochs`, each time after ten seconds."""
        batches = self.session(questions, loader)
        try:
            while True:
                for batch in batches:
                    self.train(STEP_S)
                    self.steps.append(batch)
                    if step:
                        step(batch)
                    if len(self.steps) in epochs:
                        break
                Clock.now_s += 10
                batches = batches.new_epoch()
        except Over:
            return self.channel.sent

    def round(self, *args, **kwargs):
        return self.answers(*args, **kwargs)[-1]["round"]

    def firsts(self):
        """The first number of each batch that the script's loop was given."""
        return [batch.tolist()[0] for batch in self.steps]


class Changes(Asking):
    """Of the step."""

    def lever(self, name, **more):
        asked = dict(question("coupled", **more), ask="lever", lever=name, pairs=3)
        asked["of"] = asked.pop("config")
        return self.answers(asked)

    def test_are_measured_in_the_loop_in_pairs_with_and_without(self):
        # Bug: a lever that stays off, or on; or a gain of 2x for a step whose loop waits for data.
        on, seen = [], []

        @contextlib.contextmanager
        def pulled(_, name):
            on.append(name)
            yield
            on.pop()

        with mock.patch.object(pairs.Levers, "named", pulled):
            session = self.session([dict(question("coupled"), ask="lever", lever="fused", pairs=3, of=CONFIG)])
            with self.assertRaises(Over):
                for _ in session:
                    seen.append(bool(on))
                    self.train(STEP_S / 2 if on else STEP_S)
        told = self.channel.sent[-1]["pairs"]
        gain = (LOAD_S + STEP_S) / (LOAD_S + STEP_S / 2)
        self.assertEqual([with_it / without for without, with_it in told], [gain] * 3)
        self.assertEqual((on, set(seen)), ([], {True, False}))

    def test_have_lanes_that_know_which_is_on(self):
        # Bug: a round with a lever that began with the batches that lay ready without it.
        known = []
        with mock.patch.object(pairs.Levers, "named", lambda *_: contextlib.nullcontext()), \
                mock.patch.object(Lane, "resume", lambda lane, *_: known.append(lane.lever)):
            self.lever("fused")
        self.assertEqual(known, [None, "fused", "fused", None, None, "fused"])

    def test_are_those_of_the_config_with_its_threads(self):
        # Bug: gains with all cores, of a recommendation with two step threads.
        threads = set()
        with mock.patch.object(pairs.Levers, "named", lambda *_: contextlib.nullcontext()), \
                mock.patch.object(Lane, "resume", lambda *_: threads.add(torch.get_num_threads())):
            self.lever("fused", config={"step_threads": 7})
        self.assertEqual((threads, torch.get_num_threads()), ({7}, 2))

    def test_that_the_script_can_not_have_are_told(self):
        told = self.lever("tf32")
        self.assertEqual(told[-1], {"why_not": "the script trains on no GPU"})


class CppLoader:
    """Stands for feedrate.torch.DataLoader: its batches take no time."""

    uses_cpp = True

    def __init__(self, dataset, **keywords):
        self.passes, self.keywords = 0, keywords

    def __iter__(self):
        self.passes += 1
        return iter([torch.ones(4, 2)] * 10)


class Greeting(Asking):
    def fixed(self, dataset, **options):
        session = self.session([], data.DataLoader(dataset, batch_size=4, **options))
        session.greet({})
        return self.channel.sent[-1]["start_fixed"]

    def test_says_what_the_maker_of_a_loader_can_not_change(self):
        # Bug: persistent_workers=True and prefetch_factor=4 for fastai, which has neither.
        class Made(Numbers):
            _feedrate_fixed = {"persistent": "workers go", "prefetch": "no setting"}

        self.assertEqual(self.fixed(Made()), "workers go")
        self.assertEqual(self.channel.sent[-1]["prefetch_fixed"], "no setting")
        self.fixed(Numbers())
        self.assertIsNone(self.channel.sent[-1]["prefetch_fixed"])

    def test_says_where_workers_that_stay_would_miss_the_epoch(self):
        # Bug: persistent_workers=True for a Subset of a dataset with set_epoch(): epoch 0 for ever.
        class Numbered(Numbers):
            def set_epoch(self, epoch):
                pass

        class Part(Numbers):
            def __init__(self, **inner):
                super().__init__()
                self.__dict__.update(inner)

        self.assertIsNone(self.fixed(Part(dataset=Numbers())))
        for dataset in (Numbered(), Part(dataset=Numbered()), Part(datasets=[Numbers(), Part(dataset=Numbered())])):
            self.assertIn("set_epoch()", self.fixed(dataset))
        collate = mock.Mock(set_epoch=lambda epoch: None)
        self.assertIn("set_epoch()", self.fixed(Numbers(), collate_fn=collate))


class End(Asking):
    def test_leaves_the_step_as_it_was(self):
        # Bug: a notebook whose run was stopped stays in autocast, or at one thread.
        changes = []

        @contextlib.contextmanager
        def settings(*_):
            changes.append("begun")
            try:
                yield
            finally:
                changes.append("over")

        with mock.patch("feedrate.session.step_settings", settings):
            session = self.session([question("coupled")])
            next(session)
            session.close()
        self.assertEqual(changes, ["begun", "over"])


class AnotherLoader(Asking):
    def asked(self, loader=None):
        questions = [dict(question("coupled"), ask="cpp_loader", pair=pair, whole=True) for pair in range(2)]
        for asked in questions:
            asked["of"] = asked.pop("config")
        return self.answers(*questions, loader=loader)

    def test_is_measured_in_pairs_in_the_loop_of_the_script(self):
        # Bug: a rate of loading alone, or of the script's own loader twice.
        made = []

        def kind():
            return lambda *args, **keywords: made.append(CppLoader(*args, **keywords)) or made[-1]

        with mock.patch.object(cpp_lane, "_kind", kind):
            told = [pair for answer in self.asked() for pair in answer["pairs"]]
        self.assertEqual([other / own for own, other in told], [(LOAD_S + STEP_S) / STEP_S] * 2)
        self.assertEqual([one.keywords["batch_size"] for one in made], [4])
        self.assertGreater(made[0].passes, 1)  # it goes on from epoch to epoch

    def test_that_can_not_take_the_place_says_why(self):
        # Bug: a sampler or a class of the script's own that is ignored.
        class Mine(data.DataLoader):
            pass

        self.assertIn("class of its own", self.asked(Mine(Numbers(), batch_size=4))[-1]["why_not"])
        own = data.DataLoader(Numbers(), batch_size=4, sampler=list(range(400)))
        self.assertIn("sampler of its own", self.asked(own)[-1]["why_not"])
        with mock.patch.dict(sys.modules, {"feedrate._core": None, "feedrate.torch": None}):
            self.assertIn("is not installed", self.asked()[-1]["why_not"])


class Rounds(Asking):
    def test_coupled_is_the_wait_for_a_batch_and_the_step_on_it(self):
        one = self.round(question("coupled"))
        # 1 s is reached by the third batch of 3/8 s each.
        self.assertEqual((one["batches"], one["samples"]), (3, 12))
        self.assertEqual((one["wait_s"], one["step_s"]), (3 * LOAD_S, 3 * STEP_S))
        self.assertEqual(one["duration_s"], 1.125)
        self.assertEqual((one["first_batch_s"], one["outside_s"]), (LOAD_S, 0))
        self.assertEqual(one["variability"], 0)

    def test_an_evaluation_within_the_loop_is_no_part_of_a_step(self):
        # Bug: validation every hundred steps, counted as one step of the config that ran by chance; or a second
        # loader that is trained on, left out of the step.
        for part, trains in (("coupled", False), ("coupled", True), ("device", False), ("device", True)):
            self.steps = []

            def step(_):
                if len(self.steps) % 3 == 0:
                    for _ in OtherPass(self.made.evaluations, lambda: iter([1, 2])):
                        Clock.now_s += 5
                        if trains:
                            self.made._see_update()

            one = self.round(question(part, min_batches=5), step=step)
            self.assertGreaterEqual(one["batches"], 5)
            self.assertEqual(one["step_s"] == one["batches"] * STEP_S, not trains)
            self.assertEqual(one["duration_s"] > 5, trains)
            told = [message["outside"] for message in self.channel.sent if "outside" in message]
            self.assertEqual((told[0], told[-1]), (True, False))
            if not trains:
                self.assertIn(one["outside_s"], (10, 20))

    def test_what_was_loaded_during_an_evaluation_is_thrown_away(self):
        # Bug: rounds with an evaluation in them, faster by all that the workers load meanwhile.
        def step(_):
            if len(self.steps) == 2:
                for _ in OtherPass(self.made.evaluations, lambda: iter([1, 2])):
                    Clock.now_s += 5

        with mock.patch.object(Lane, "keep_level") as keep_level, mock.patch.object(Lane, "resume") as resume:
            self.answers(question("coupled"), step=step)
        self.assertEqual((keep_level.call_count, resume.call_count), (2, 2))  # there, and around the round

    def step_of_a_gpu(self):
        """A session, a step of it that has begun, and the marks of the GPU."""
        session, marks = self.session([]), Marks()
        step = session._step(torch.ones(4, 2), marks)
        next(step)
        return session, step, marks

    def test_a_gpu_is_at_its_step_before_an_evaluation_and_behind_it(self):
        # Bug: a GPU that waits for data all the time of a step that has an evaluation in it.
        session, step, marks = self.step_of_a_gpu()
        Clock.now_s += 1
        for _ in OtherPass(session.evaluations, lambda: iter([1, 2])):
            Clock.now_s += 5
        Clock.now_s += 2
        with self.assertRaises(StopIteration) as done:
            next(step)
        self.assertEqual((done.exception.value, marks.steps), (3, [1, 2]))

    def test_a_gpu_is_at_its_step_also_where_a_pass_was_no_evaluation(self):
        # Bug: a step of which the GPU's time is lost, as a loader is asked for its first batch in it.
        session, step, marks = self.step_of_a_gpu()
        kept = OtherPass(session.evaluations, lambda: iter([1, 2]))
        next(kept)
        Clock.now_s += 4
        with self.assertRaises(StopIteration) as done:
            next(step)
        self.assertEqual((done.exception.value, marks.steps), (4, [4]))

    def test_an_evaluation_ends_the_script_where_nobody_listens(self):
        # Bug: a BrokenPipeError in the script's own loop, which saves a checkpoint and goes on.
        session = self.session([])
        step = session._step(torch.ones(4, 2))
        next(step)
        with mock.patch.object(self.channel, "send", side_effect=BrokenPipeError), self.assertRaises(Over):
            OtherPass(session.evaluations, lambda: iter([1]))

    def test_an_evaluation_between_two_epochs_hides_no_batches_that_are_kept(self):
        # Bug: itertools.cycle(loader) with a validation now and then, waited for until the script ends.
        session = self.session([])
        session._epochs = EpochsOf(4, 0)
        session._epochs.end()
        for _ in range(30):
            session._see_update()
            for _ in OtherPass(session.evaluations, lambda: iter([1, 2])):
                pass
        self.assertEqual(["refused" in message for message in self.channel.sent], [True])

    def draw_between_epochs(self, updates):
        """Sixty batches of another loader, each with an iterator of its own, and so many updates behind each; what
        autotune is told."""
        session = self.session([])
        session._epochs.end()
        other = data.DataLoader(Numbers(16), batch_size=4)
        for _ in range(60):
            next(OtherPass(session.evaluations, lambda: iter(other)))
            for _ in range(updates):
                session._see_update()
        return ["refused" in message for message in self.channel.sent]

    def test_training_on_batches_of_another_loader_with_an_iterator_each_keeps_no_batches(self):
        # Bug: next(iter(other)) for each update in the second phase of an epoch, refused for keeping its batches.
        self.assertEqual([self.draw_between_epochs(updates) for updates in (1, 6)], [[], []])

    def test_a_look_at_one_batch_of_another_loader_hides_no_batches_that_are_kept(self):
        # Bug: itertools.cycle(loader) with a batch that is validated every ten updates, waited for.
        self.assertEqual(self.draw_between_epochs(10), [True])

    def test_training_on_another_loader_between_two_epochs_keeps_no_batches(self):
        # Bug: a script with two loops in an epoch, refused for keeping its batches.
        session = self.session([], data.DataLoader(Numbers(16), batch_size=4))
        session._epochs.end()
        for _ in range(9):
            for _ in OtherPass(session.evaluations, lambda: iter(range(10))):
                session._see_update()
        self.assertEqual(self.channel.sent, [])

    def test_training_on_another_loader_for_good_ends_the_launch(self):
        # Bug: a script that warms up on one loader and then trains on another: ten minutes of silence, twice.
        session = self.session([])
        session._epochs.end()
        other = OtherPass(session.evaluations, lambda: itertools.repeat(1))
        with self.assertRaises(Over):
            for _ in other:
                Clock.now_s += 0.5
                session._see_update()
        self.assertEqual(Clock.now_s, 32.5)
        Clock.now_s = 0.0
        session = self.session([])
        session._epochs.end()
        for _ in OtherPass(session.evaluations, lambda: iter(range(60))):
            Clock.now_s += 10  # few updates: the first loader may come again
            session._see_update()

    def test_a_first_loader_that_comes_again_is_waited_for(self):
        # Bug: two training loops in an epoch and a validation, and the launch ends in each epoch.
        session = self.session([])
        session._epochs.end()
        for _ in OtherPass(session.evaluations, lambda: iter(range(70))):
            session._see_update()
        Clock.now_s += 100
        session._epochs.begin()
        session._see_update()

    def test_batches_that_are_kept_are_refused_also_behind_a_validation(self):
        # Bug: itertools.cycle(loader) and a validation, taken for training on another loader.
        session = self.session([])
        session._epochs = EpochsOf(4, 0)
        session._epochs.end()
        for _ in OtherPass(session.evaluations, lambda: iter([1, 2])):
            pass
        for _ in range(100):
            Clock.now_s += 1
            session._see_update()
        self.assertEqual(["refused" in message for message in self.channel.sent], [True])

    def test_coupled_gives_each_batch_once_in_the_order_of_the_script(self):
        self.answers(question("coupled"), question("coupled"))
        self.assertEqual(self.firsts(), [4 * i for i in range(8)])

    def test_a_batch_that_is_owed_to_the_script_comes_first(self):
        # Would catch a batch that is lost where each has an iterator of its own.
        session = self.session([question("loader")])
        owed = torch.ones(4, 2)
        session.keep(None, owed)
        self.assertIs(next(session), owed)
        with self.assertRaises(Over):
            next(session)

    def test_a_round_goes_on_from_pass_to_pass(self):
        # Would catch a round that ends with the dataset: 8 samples are two batches.
        one = self.round(question("coupled"), loader=data.DataLoader(Numbers(8), batch_size=4))
        self.assertEqual(one["batches"], 3)
        self.assertEqual(self.firsts(), [0, 4, 0, 4])

    def test_exactly_so_many_steps_where_that_is_asked(self):
        # Would catch processes that wait for each other, and do not step alike.
        self.assertEqual(self.round(question("coupled", exactly=7))["batches"], 7)

    def test_as_many_steps_before_it_as_are_asked_for(self):
        # Would catch ranks that step a different number of times, each by what it has ready: they
        # would wait for each other for good.
        one = self.round(question("coupled", exactly=7, warm_up=5))
        self.assertEqual((len(self.steps), one["batches"]), (1 + 5 + 7, 7))

    def test_a_lane_that_gets_going_does_so_before_the_clock_starts(self):
        with mock.patch.object(Lane, "warm_up", lambda lane: 4):
            one = self.round(question("coupled"))
        self.assertEqual((len(self.steps), one["batches"]), (1 + 4 + 3, 3))

    def test_drained_gives_the_script_nothing(self):
        one = self.round(question("loader"))
        self.assertEqual(self.steps, [])
        self.assertEqual((one["batches"], one["wait_s"], one["step_s"]), (8, 8 * LOAD_S, 0))

    def test_only_coupled_tells_what_lies_ready_beside_the_step(self):
        # Bug: a lane went on with an empty queue, since its loader had been measured alone.
        with mock.patch.object(Lane, "keep_level") as keep_level:
            self.answers(question("loader"), question("device"))
            keep_level.assert_not_called()
            self.answers(question("coupled"))
            keep_level.assert_called_once_with()

    def test_replayed_waits_for_nothing(self):
        one = self.round(question("device"))
        self.assertEqual((one["batches"], one["samples"]), (4, 16))
        self.assertEqual((one["wait_s"], one["step_s"], one["ring_at_start"]), (0, 1.0, 0))

    def test_replayed_gives_three_batches_in_turn(self):
        self.answers(question("device"))
        firsts = self.firsts()
        self.assertEqual(set(firsts), {0, 4, 8})
        self.assertEqual(firsts, [firsts[i % 3] for i in range(len(firsts))])

    def test_replayed_restores_what_a_step_overwrote(self):
        self.answers(question("device"), step=lambda batch: batch.mul_(2))
        self.assertEqual({batch.tolist()[2] for batch in self.steps[:1]}, {2})
        for batch in self.steps:  # given as they were, doubled once since
            self.assertIn(batch.tolist()[0], (0, 8, 16))

    def test_a_kind_of_step_that_was_seen_before_is_warm(self):
        # Would catch the first bf16 steps, or those of more threads, counted as slow.
        self.answers(question("device"))
        cold = len(self.steps)
        self.steps = []
        self.answers(question("device"), question("device"))
        self.assertEqual(len(self.steps), cold + 1 + 4)

    def test_another_batch_is_counted_by_its_own_samples(self):
        one = self.round(question("coupled", {"batch": 8}))
        self.assertEqual(one["samples"], 8 * one["batches"])
        self.assertEqual({len(batch) for batch in self.steps}, {8})

    def test_the_channel_lives_while_batches_go_through(self):
        self.answers(question("loader"), question("coupled"))
        self.assertGreaterEqual(self.channel.beats, 9 + 4)


class Groups(Asking):
    """A loop that takes all batches of an update at once, and then does all their steps."""

    def told(self, each, *questions, updates=True):
        """Of rounds, the answers; each group of batches is kept in `groups`."""
        self.batches_each = each if updates else 10**9
        self.groups = []
        batches = self.session(questions, data.DataLoader(Numbers(8000), batch_size=4))
        with self.assertRaises(Over):
            while True:
                self.groups.append(list(itertools.islice(batches, each)))
                for batch in self.groups[-1]:
                    self.train(STEP_S * len(batch) / 4)
        return [one["round"] for one in self.channel.sent if "round" in one]

    def test_are_counted_whole(self):
        # Bug: rates of transformers' Trainer with gradient accumulation, off by 0.3 to 3 times, as a round began and
        # ended wherever the workers' turns did; so the ranking was wrong.
        for each in (1, 4, 7, 16):
            for workers in (0, 1, 2, 4):
                config = {"workers": workers, "prefetch": 2 if workers else 0}
                asked = [question(part, config, seconds=seconds)
                         for part in ("coupled", "device") for seconds in (0.25, 1.0, 3.0)]
                for one in self.told(each, *asked):
                    self.assertEqual(one["step_s"], one["batches"] * STEP_S, (each, workers, one))
                    self.assertEqual(one["batches"] % each, 0)

    def test_of_another_batch_are_counted_without_steps_on_the_one_before(self):
        # Bug: a round that has steps on batches of half its size.
        for one in self.told(4, *[question("coupled", {"batch": batch}) for batch in (4, 8, 16, 8, 4)]):
            self.assertEqual((one["step_s"], one["batches"] % 4), (one["samples"] * STEP_S / 4, 0))

    def test_of_ranks_are_known_behind_their_first_round(self):
        # Bug: three steps of nothing in the first round of several ranks, and so a million in the next.
        self.told(4, question("coupled", exactly=3))
        told = self.channel.sent[-1]
        self.assertEqual((told["batches_per_update"], told["at_once"], told["round"]["batches"]), (4, 4, 3))

    def test_have_no_batch_twice_in_a_replay(self):
        # Bug: a step that writes into its batch found it changed by the step before.
        self.told(7, question("coupled"), question("device"))
        for group in self.groups[-3:]:
            self.assertEqual(len({batch.tolist()[0] for batch in group}), 7)

    def test_are_awaited_in_the_first_round_of_a_loop_that_may_have_some(self):
        # Bug: a first round of steps that do nothing yet; or long rounds for ever, in a loop without updates.
        for part in ("coupled", "device"):
            one, = self.told(30, question(part, seconds=0.25))
            self.assertEqual((one["batches"], one["step_s"]), (30, 30 * STEP_S))
        told = self.told(1, question("coupled"), question("coupled"), updates=False)
        self.assertEqual([one["batches"] for one in told], [math.ceil(AWAITED_S / (LOAD_S + STEP_S)), 3])

    def test_that_a_lever_compiles_for_are_over_before_its_rounds(self):
        # Bug: a minute of torch.compile in the first round with it, as three batches were taken and none stepped on.
        steps = []

        @contextlib.contextmanager
        def pulled(*_):
            before = self.trained
            yield
            steps.append(self.trained - before)

        asked = [dict(question("coupled"), ask="lever", lever="fused", pairs=1, of=CONFIG) for _ in range(3)]
        with mock.patch.object(pairs.Levers, "named", pulled):
            self.told(8, question("coupled"), *asked)
        self.assertEqual(steps[::2], [8, 8, 8])
        rates = [rate for told in self.channel.sent if "pairs" in told for rate in told["pairs"][0]]
        self.assertEqual(rates, [4 / (LOAD_S + STEP_S)] * 6)


class TakenAhead(Asking):
    """A loop that takes a batch ahead, so that it has still to step when its epoch ends."""

    def told(self, *questions, batches=10, each=1, between=lambda: None):
        """Of rounds, the answers: the loop takes `each` batches at once, steps on them, and updates its weights; ten
        seconds pass between two epochs of so many batches."""
        self.batches_each = 10**9
        loader = data.DataLoader(Numbers(4 * batches), batch_size=4)
        self.channel = Channel(questions)
        self.made = Session(self.channel, loader, torch.ones(4, 2), None, given=batches)
        with contextlib.suppress(Over):
            for _ in range(300):
                taken = ahead(self.made.new_epoch())
                for _ in range(0, batches, each):
                    for _ in list(itertools.islice(taken, each)):
                        self.train(STEP_S)
                    self.optimizer.step()
                between()
                Clock.now_s += 10
        return [one["round"] for one in self.channel.sent if "round" in one]

    def test_has_all_its_steps(self):
        # Bug: the last step of each epoch, or all of its last update, counted as time outside of the loop: 8 % too fast
        # with 50 batches, of which four make an update.
        for each in (1, 4):
            for batches in (4, 5, 10, 50):
                for workers in (0, 2):
                    config = {"workers": workers, "prefetch": 2 if workers else 0}
                    asked = [question(part, config, seconds=seconds)
                             for part in ("coupled", "device") for seconds in (0.5, 1.0, 3.0, 20.0)]
                    for one in self.told(*asked, batches=batches, each=each):
                        where = (each, batches, workers, one)
                        self.assertEqual(one["step_s"], one["batches"] * STEP_S, where)
                        self.assertEqual(one["outside_s"] % 10, 0, where)

    def test_does_not_have_what_is_trained_on_another_loader(self):
        # Bug: a second loop of ten seconds, counted as one step of the first.
        def train_elsewhere():
            for _ in OtherPass(self.made.evaluations, lambda: iter([1, 2])):
                Clock.now_s += 5
                self.optimizer.step()

        for one in self.told(question("coupled", seconds=9.0), between=train_elsewhere):
            self.assertEqual((one["step_s"], one["outside_s"] % 20), (one["batches"] * STEP_S, 0))

    def test_is_stepped_on_by_a_gpu_behind_the_end_too(self):
        # Bug: a GPU that waits for data in the last step of each epoch.
        session, marks = self.session([], data.DataLoader(Numbers(12), batch_size=4)), Marks()
        for step_s, steps in ((0.5, [0.5]), (1, [0.5, 2, 1])):
            step = session._step(torch.ones(4, 2), marks)
            if next(step) is EPOCH_ENDS:
                session._epochs.end()
                self.train(2)
                Clock.now_s += 10
                session.new_epoch()
                next(step)
            Clock.now_s += step_s
            with self.assertRaises(StopIteration) as done:
                next(step)
            self.assertEqual((done.exception.value, marks.steps), (sum(steps[1:]) or 0.5, steps))


class Threads(Asking):
    def test_that_ask_at_the_same_time_are_served_one_after_the_other(self):
        # Bug: "ValueError: generator already executing" where a thread that takes batches ahead in
        # the last epoch was still at it when that of the next one began.
        session = self.session([question("coupled"), question("coupled")])
        taken, receive = [], self.channel.receive
        other = threading.Thread(target=lambda: taken.append(next(session)), daemon=True)

        def receive_while_the_other_asks():
            self.channel.receive = receive
            other.start()
            other.join(0.05)
            return receive()

        self.channel.receive = receive_while_the_other_asks
        taken.append(next(session))
        other.join(30)
        self.assertEqual(sorted(batch.tolist()[0] for batch in taken), [0, 4])


    def test_a_batch_that_the_script_passes_over_has_no_rate(self):
        # Bug: batches of four times the size, "trained" in no time by a loop that catches what the GPU has no
        # memory for, are recommended, and confirmed.
        large = question("coupled", {"batch": 16})
        session = self.session([question("coupled"), question("coupled", {"batch": 8}), large, large])
        with self.assertRaises(Over):
            for batch in session:
                Clock.now_s += 0.1
                if len(batch) < 16:
                    self.optimizer.step()
        sent = [message for message in self.channel.sent if "round" in message or "failed" in message]
        self.assertEqual([message.keys() & {"round", "failed"} for message in sent], [{"round"}] * 2 + [{"failed"}] * 2)
        self.assertIn("updated no weights", sent[-1]["failed"]["sentence"])


class Epochs(Asking):
    def test_what_the_script_does_between_two_is_no_step(self):
        # Would catch a validation of ten seconds counted as one slow step.
        one = self.round(question("coupled"), epochs=(2, 4))
        self.assertEqual((one["batches"], one["step_s"]), (3, 3 * STEP_S))
        self.assertEqual(one["outside_s"], 2 * (STEP_S + 10))

    def test_are_left_out_of_replayed_rounds_too(self):
        one = self.round(question("device"), epochs=(5, 8))
        self.assertEqual(one["step_s"], one["batches"] * STEP_S)

    def test_may_be_one_batch_long(self):
        # Would catch a round without an end: some loops have next(iter(loader)) for each step.
        session = self.session([question("coupled"), question("device")])
        with self.assertRaises(Over):
            for _ in range(200):
                next(session.new_epoch())
                self.train(STEP_S)
        coupled, device = (answer["round"] for answer in self.channel.sent)
        self.assertEqual((coupled["batches"], coupled["step_s"]), (3, 3 * STEP_S))
        self.assertEqual((device["batches"], device["outside_s"]), (4, 0))

    def short(self, *questions, samples=12, given=2, outside_s=10):
        """The script's loop over epochs of three batches: how many it had of each, and the answers."""
        loader = data.DataLoader(Numbers(samples), batch_size=4)
        self.channel = Channel(questions)
        session = Session(self.channel, loader, torch.ones(4, 2), None, given=given)
        taken = []
        with self.assertRaises(Over):
            for _ in range(100):  # epochs
                taken.append(0)
                for _ in session:
                    self.train(STEP_S)
                    taken[-1] += 1
                Clock.now_s += outside_s
                session.new_epoch()
        return taken, [one["round"] for one in self.channel.sent if "round" in one]

    def test_end_where_the_script_expects_it(self):
        # Bug: an epoch without end: a schedule of an exact number of steps, or an index that passes the length of
        # the loader, failed, and the config was blamed.
        taken, told = self.short(question("coupled"), question("device"))
        self.assertEqual((taken[0], set(taken[1:-1])), (1, {3}))
        for one in told:
            self.assertEqual(one["step_s"], one["batches"] * STEP_S)
            self.assertEqual(one["outside_s"] % 10, 0)
        self.assertGreater(told[0]["outside_s"], 0)

    def test_with_other_values_of_the_dataset_are_told_of(self):
        # Bug: workers that stay load with the values of an earlier epoch, and nobody is told.
        for has_set_epoch, told in ((False, {"size"}), (True, {""})):
            dataset = Numbers(12)
            dataset.size, dataset.drawn, dataset.fill = (64, 64), 0, float("nan")
            if has_set_epoch:
                dataset.set_epoch = lambda epoch: None
            self.channel = Channel([question("coupled"), question("device"), question("coupled")])
            session = Session(self.channel, data.DataLoader(dataset, batch_size=4), torch.ones(4, 2), None, given=2)
            with self.assertRaises(Over):
                for epoch in range(100):
                    dataset.size = (64 + epoch, 64)
                    for _ in session:
                        self.train(STEP_S)
                        dataset.drawn += 1
                    session.new_epoch()
            self.assertEqual({one["sets"] for one in self.channel.sent if "round" in one}, told)

    def changed(self, change):
        """What the session says that the script changes of its dataset between two epochs."""
        dataset = Numbers(12)
        dataset.rows, dataset.transform = [[i] for i in range(100)], object()
        dataset.cache, dataset.file, dataset.size = [None] * 100, None, 64
        self.channel = Channel([question("coupled"), question("device")])
        session = Session(self.channel, data.DataLoader(dataset, batch_size=4), torch.ones(4, 2), None, given=2)
        with self.assertRaises(Over):
            for _ in range(100):
                change(dataset)
                for _ in session:
                    self.train(STEP_S)
                session.new_epoch()
        return [one["sets"] for one in self.channel.sent if "round" in one][-1]

    def test_with_values_that_the_step_sets_are_told_of(self):
        # Bug: workers recommended to a loop that fills a buffer of its dataset: they never see it.
        for changes in (True, False):
            dataset = Numbers(12)
            dataset.buffer = []
            self.channel = Channel([question("coupled"), question("device")])
            session = Session(self.channel, data.DataLoader(dataset, batch_size=4), torch.ones(4, 2), None, given=2)
            with self.assertRaises(Over):
                for _ in range(100):
                    for _ in session:
                        self.train(STEP_S)
                        if changes:
                            dataset.buffer.append(1)
                    session.new_epoch()
            told = {one["sets_in_step"] for one in self.channel.sent if "round" in one}
            self.assertEqual(told, {"buffer" if changes else ""})

    def test_with_other_rows_or_transforms_are_told_of(self):
        # Bug: workers that stay never see the negatives that each epoch draws, or a stronger transform.
        self.assertEqual(self.changed(lambda one: setattr(one, "rows", list(one.rows))), "rows")
        self.assertEqual(self.changed(lambda one: one.rows.append([])), "rows")
        self.assertEqual(self.changed(lambda one: one.rows.reverse()), "rows")
        self.assertEqual(self.changed(lambda one: setattr(one, "transform", object())), "transform")

    def test_with_what_can_not_be_compared_are_told_of_too(self):
        # Bug: a label that becomes an array, whose comparison raised; a large member, kept until the epoch ends.
        class Soft:
            def __eq__(self, other):
                raise ValueError("the truth value of an array is ambiguous")

        class Member:
            @property
            def _version(self):
                raise RuntimeError("inference tensors do not track version counters")

        held = []

        def replace(dataset):
            dataset.rows = [7] + [Soft()] * 99
            dataset.size = Soft()
            held.append(weakref.ref(dataset.transform) if isinstance(dataset.transform, Member) else None)
            dataset.transform = Member()

        self.assertEqual(self.changed(replace), "rows, size, transform")
        self.assertTrue(all(one() is None for one in held if one is not None))

    def test_that_fill_what_was_empty_are_no_change(self):
        # Would catch a warning of each dataset that keeps what it loaded, or opens its file late.
        def fill(dataset):
            empty = dataset.cache.index(None)
            dataset.cache[empty] = object()
            dataset.file = dataset.file or object()
            dataset.late = getattr(dataset, "late", {})

        self.assertEqual(self.changed(fill), "")

    def test_have_no_end_where_the_sampler_has_none(self):
        # Bug: StopIteration behind the length of an endless sampler, which the script's loop can't meet: it died.
        class Endless:
            def __len__(self):
                return 12

            def __iter__(self):
                return itertools.cycle(range(12))

        loader = data.DataLoader(Numbers(12), batch_size=4, sampler=Endless())
        whole = question("coupled", {"workers": 2, "prefetch": 2})  # which load a whole epoch ahead
        session = self.session([question("coupled"), whole, question("coupled")], loader)
        with self.assertRaises(Over):
            for _ in range(1000):
                next(session)
                self.train(STEP_S)
        self.assertEqual(sum("round" in one for one in self.channel.sent), 3)

    def test_that_the_workers_load_ahead_are_measured_whole(self):
        # Bug: 8 workers where 32 are a quarter faster: an epoch of 50 batches was measured as if it
        # went on for ever, and so had a steady rate.
        asked = {"workers": 2, "prefetch": 2}
        taken, told = self.short(question("coupled"), question("coupled", asked),
                                 question("loader", asked))
        self.assertEqual(set(taken[1:-1]), {3})
        for one in told[1:]:
            self.assertEqual((one["batches"] % 3, one["samples"]), (0, 4 * one["batches"]))
            self.assertEqual((one["ring_at_start"], one["ring_at_end"]), (0, 0))
        self.assertEqual(told[1]["step_s"], told[1]["batches"] * STEP_S)
        self.assertEqual(told[1]["outside_s"], 0.0)

    def test_that_end_are_said_to_autotune_and_so_is_the_next_one(self):
        self.short(question("coupled"))
        outside = [one["outside"] for one in self.channel.sent if "outside" in one]
        self.assertEqual(outside[:2], [True, False])

    def test_begin_beside_the_budget_where_workers_import_the_script_again(self):
        # Bug: by spawn 2 workers were the answer where 16 are 4 times as fast: the budget went by while
        # workers started.
        for method, said in (("fork", []), ("spawn", [True, False])):
            with mock.patch("feedrate.rounds.start_method_of", return_value=method):
                self.answers(*[question("coupled", {"workers": 2, "prefetch": 2})] * 2)
            outside = [one["outside"] for one in self.channel.sent if "outside" in one]
            self.assertEqual(outside, said)

    def test_stay_over_until_the_script_begins_anew(self):
        # Bug: an iterator that goes on behind its end, as no other does.
        session = self.session([question("coupled")], data.DataLoader(Numbers(12), batch_size=4))
        self.assertEqual(len(list(session)), 1)
        self.assertEqual(list(session), [])
        self.assertEqual(len(next(session.new_epoch())), 4)

    def test_of_a_stream_do_not_end(self):
        class Stream(data.IterableDataset):
            def __iter__(self):
                return iter([torch.ones(2)] * 12)

        session = self.session([question("coupled", seconds=100.0, max_batches=50)],
                               data.DataLoader(Stream(), batch_size=4))
        for _ in range(40):
            next(session)

    def test_are_not_used_up_by_one_round_of_the_step_alone(self):
        # Bug: a step that waits for nothing is done so often in a round that a script of an exact number of steps
        # ended in each, and "every trial failed".
        _, (told,) = self.short(question("device", seconds=1e6, max_batches=10**6))
        self.assertEqual(told["batches"], 64)

    def test_of_the_step_alone_have_batches_in_memory_of_the_config_s_kind(self):
        # Bug: on an H100 a step that copies from pinned memory was measured with pageable batches, and trials
        # were 1.4 times as fast as their own step.
        with mock.patch.object(Lanes, "use", autospec=True, side_effect=Lanes.use) as use:
            self.answers(*[question("device", {"pinned": pinned}) for pinned in (False, True, True)])
        self.assertEqual([call.args[1]["pinned"] for call in use.call_args_list], [False, True])

    def test_of_a_class_that_keeps_its_iterator_do_not_end_it(self):
        # Bug: "generator raised StopIteration", in a class that takes its batches from one iterator for all epochs.
        self.channel = Channel([question("coupled", seconds=100.0)])
        session = Session(self.channel, data.DataLoader(Numbers(12), batch_size=4),
                          torch.ones(4, 2), None, given=0)
        for _ in range(3):
            session.new_pass()
            for _ in range(3):
                next(session)
                self.train(STEP_S)
            Clock.now_s += 10
        session.at_exit()
        one = self.channel.sent[-1]["round"]
        self.assertEqual((one["step_s"], "boundary_s" in one), (one["batches"] * STEP_S, False))
        self.assertGreater(one["outside_s"], 10)

    def test_that_never_begin_again_are_told_of(self):
        epochs = EpochsOf(4, 4)
        self.assertFalse(any(epochs.updated() for _ in range(100)))
        epochs.end()
        self.assertEqual([epochs.updated() for _ in range(20)].index(True), 3 * 4 + 1)
        epochs.begin()
        self.assertFalse(epochs.updated())

    def test_are_as_long_as_the_loop_makes_them(self):
        for leave, expected in ((2, (2, True)), (1, (1, True))):
            epochs = EpochsOf(100, 0)
            for _ in range(leave):
                epochs.give()
            self.assertEqual(epochs.begin(), leave)
            self.assertEqual((epochs.batches, epochs.leaves_early), expected)

    def test_a_script_that_ends_in_a_round_answers_with_what_there_is(self):
        # Bug: the last round of each launch of a short script was lost, and all of one that has a round alone.
        session = self.session([question("coupled", seconds=100.0)])
        for batches in (3, 2):
            for _ in range(batches):
                next(session)
                self.train(STEP_S)
            self.channel.sent.clear()
            session.at_exit()
        self.assertEqual(self.channel.sent[-1]["round"]["batches"], 3)

    def test_have_the_length_of_the_loader(self):
        self.assertEqual(len(self.session([])), 100)

    def test_have_what_the_iterator_has_that_the_script_had_so_far(self):
        # Bug: AttributeError in the script from its second epoch on, where it looked into it.
        session = self.session([])
        session.keep(types.SimpleNamespace(_num_workers=3))
        self.assertEqual(session.new_epoch()._num_workers, 3)
        with self.assertRaises(AttributeError):
            session.missing
        with self.assertRaises(AttributeError):
            object.__new__(Session).missing


class Failures(Asking):
    def test_of_a_sample_cost_no_config(self):
        # Bug: one corrupt record cost the config that drew it, and the next one was recommended.
        broken = data.DataLoader(Numbers(broken=[13]), batch_size=4)
        told = self.answers(question("coupled"), loader=broken)[-1]
        self.assertEqual(told["round"]["batches"], 3)
        self.assertEqual(self.firsts()[:4], [0, 4, 8, 16])
        self.assertRegex(told["data_errors"]["error"],
                         r"^KeyError: no row 13 \(test_session.py:\d+, sample 13\)$")
        self.assertEqual(told["data_errors"]["count"], 1)

    def test_of_all_samples_are_told_in_a_sentence(self):
        # Would catch a round without an end.
        broken = data.DataLoader(Numbers(broken=range(400)), batch_size=4)
        failed = self.answers(question("coupled"), loader=broken)[-1]["failed"]
        self.assertIn("The script's loader failed: KeyError: no row 8 (test", failed["sentence"])
        self.assertEqual(failed["fault"], "trials")

    def test_end_the_lane_that_failed(self):
        session = self.session([question("coupled")],
                               data.DataLoader(Numbers(broken=range(400)), batch_size=4))
        with self.assertRaises(Over):
            next(session)
        self.assertEqual(session._lanes._lanes, {})

    def test_are_none_where_the_data_come_to_their_end(self):
        # Bug: from the end of a stream on each config failed, with "RuntimeError: generator raised
        # StopIteration"; a script that ends is launched again.
        class Once(data.IterableDataset):
            left = iter([torch.ones(2)] * 20)

            def __iter__(self):
                return self.left

        for part, batches in (("coupled", 5), ("loader", 0), ("device", 0)):
            Once.left = iter([torch.ones(2)] * (20 if batches else 8))
            self.steps = []
            asked = question(part, max_batches=10, min_batches=10)
            self.assertEqual(self.answers(asked, loader=data.DataLoader(Once(), batch_size=4)), [])
            self.assertEqual(len(self.steps), batches)

    def test_are_what_cannot_be_asked(self):
        for asked in (question("copy"), question("coupled", variant="free_samples"),
                      {"ask": "weather"}):
            self.assertIn("failed", self.answers(asked)[-1], asked)

    def test_are_precisions_that_are_none(self):
        failed = self.answers(question("coupled", {"precision": "tf32"}))[-1]["failed"]
        self.assertIn("precision tf32 can't be tried in a script", failed["sentence"])

    def test_leave_the_threads_of_the_step_as_they_were(self):
        broken = data.DataLoader(Numbers(broken=range(400)), batch_size=4)
        self.answers(question("coupled", {"step_threads": 7}), loader=broken)
        self.assertEqual(torch.get_num_threads(), 2)

    def test_of_a_channel_end_the_script(self):
        # Would catch a traceback of ours in the output of the user's script.
        session = self.session([question("loader")])
        session._channel.send = mock.Mock(side_effect=BrokenPipeError)
        with self.assertRaises(Over):
            next(session)


class Words(unittest.TestCase):
    def said(self, *command):
        """The script's words, where Python is launched so."""
        with tempfile.TemporaryDirectory() as folder:
            text = "from feedrate.session import words_of_script\nprint(words_of_script())\n"
            for file in ("train.py", "app/__main__.py", "pack/__init__.py", "pack/__main__.py", "pack/train.py"):
                path = pathlib.Path(folder, file)
                path.parent.mkdir(exist_ok=True)
                path.write_text("" if file == "pack/__init__.py" else text)
            hook = str(pathlib.Path(__file__).resolve().parents[1])
            done = subprocess.run([sys.executable, *command], cwd=folder, env={**os.environ, "PYTHONPATH": hook},
                                  capture_output=True, text=True, check=True)
        return ast.literal_eval(done.stdout.splitlines()[0])

    def test_are_those_of_the_launch(self):
        # Bug: a launch to paste that gives the options to make, or to the profiler; or none where the script is named.
        self.assertEqual(self.said("train.py", "-j", "2"), ["train.py", "-j", "2"])
        self.assertEqual(self.said("-m", "pack.train", "-j", "2"), ["-m", "pack.train", "-j", "2"])
        self.assertEqual(self.said("-m", "pack"), ["-m", "pack"])
        self.assertEqual(self.said("app/"), ["app/"])
        self.assertEqual(self.said("-m", "cProfile", "train.py", "1"), ["train.py", "1"])


class Starts(unittest.TestCase):
    """Of epochs of ten batches, of a second each; a lane's workers start for 3 s, or go on for 2."""

    class Lane:
        def __init__(self, workers=2, start_s=3.0):
            self.workers, self.start_s = workers, start_s
            self.crossed = []

        def finish_epoch(self, beat):
            self.crossed.append("all taken")

        def begin_epoch(self):
            Clock.now_s += 2.25
            self.crossed.append("begun")

    def shares(self, lane, batches=5, rounds=1, config=(), epochs=None, times=1):
        """What is added to rounds of so many batches, each of which is waited for 0.25 s."""
        with mock.patch.dict(sys.modules, MODULES):
            boundaries = Boundaries(epochs or EpochsOf(10, 0), torch, lambda: Clock.now_s, lambda: None)
            told = []
            for _ in range(rounds):
                one = {"duration_s": 1.0 * batches, "wait_s": 0.25 * batches, "batches": batches}
                boundaries.add_share(one, lane, dict(CONFIG, workers=2, **dict(config)), times)
                told.append(one)
        return told

    def test_are_counted_by_their_share_of_a_round(self):
        # Bug: the rate of the midst of an epoch, of a script whose epochs are short.
        one = self.shares(self.Lane())[0]
        self.assertEqual(one["boundary_s"], (2.25 - 0.25) * 5 / 10)
        self.assertEqual((one["duration_s"], one["wait_s"]), (5 + 1, 1.25 + 1))

    def test_of_larger_batches_come_as_often_by_samples(self):
        self.assertEqual(self.shares(self.Lane(), times=2)[0]["boundary_s"], 2.0 * 5 / 5)

    def test_cost_nothing_without_workers(self):
        self.assertNotIn("boundary_s", self.shares(self.Lane(workers=0))[0])

    def test_of_long_epochs_are_not_measured(self):
        # Bug: workers that start anew for each round, of a script whose epoch takes an hour.
        lane = self.Lane()
        one, = self.shares(lane, epochs=EpochsOf(10000, 0), config={"persistent": True})
        self.assertEqual((one["boundary_s"], lane.crossed), (0, []))
        one, = self.shares(lane, epochs=EpochsOf(10000, 0))
        self.assertEqual((one["boundary_s"], lane.crossed), (3.0 * 5 / 10000, []))

    def test_are_measured_twice_where_they_matter_little_and_in_each_round_where_much(self):
        for batches, looks in ((100, 2), (10, 4)):
            lane = self.Lane()
            told = self.shares(lane, rounds=4, epochs=EpochsOf(batches, 0))
            self.assertEqual(lane.crossed.count("begun"), looks)
            self.assertEqual({one["boundary_s"] for one in told}, {2.0 * 5 / batches})

    def test_of_a_loader_that_is_made_anew_start_all_workers(self):
        # Bug: persistent_workers=True promised a gain to a script whose loader lives for one epoch.
        lane = self.Lane()
        with mock.patch.dict(sys.modules, MODULES):
            boundaries = Boundaries(EpochsOf(10, 0), torch, lambda: Clock.now_s, lambda: None)
        for anew in (False, True):
            boundaries.is_made_anew = anew
            boundaries.add_share({"duration_s": 5.0, "wait_s": 1.0, "batches": 5}, lane,
                                 dict(CONFIG, workers=2, persistent=True), 1)
            self.assertEqual(lane.stays, not anew)

    def test_behind_a_loop_that_is_left_wait_for_what_was_ordered(self):
        # Bug: the time to throw away what was loaded ahead was counted for nothing.
        lane = self.Lane()
        epochs = EpochsOf(10, 4)
        epochs.begin()
        self.shares(lane, epochs=epochs)
        self.assertEqual(lane.crossed, ["begun"])


class Answers(Asking):
    def test_count_the_workers_that_the_script_had_so_far_as_parked(self):
        # Bug: what they still loaded beside the first rounds was in no count.
        session = self.session([])
        session.keep(types.SimpleNamespace(_task_info={}, _workers=[mock.Mock(pid=7)]))
        self.assertEqual(session._lanes.others(None), [7])

    def test_threads_and_precision_hold_for_the_step(self):
        # Would catch steps on the weights that autocast converted for the first one, and kept.
        seen = set()
        with mock.patch.object(torch, "autocast", wraps=torch.autocast) as autocast:
            self.answers(question("coupled", {"step_threads": 5, "precision": "bf16"}),
                         step=lambda _: seen.add(torch.get_num_threads()))
        autocast.assert_called_once_with("cpu", dtype=torch.bfloat16, cache_enabled=False)
        self.assertEqual((seen, torch.get_num_threads()), ({5}, 2))

    def test_precision_of_the_script_itself_needs_nothing_around_its_steps(self):
        # Bug: autocast around autocast keeps the weights that the inner one converted; also where
        # this launch was seen otherwise than the first.
        with mock.patch.object(torch, "autocast", side_effect=AssertionError):
            answered = self.answers(question("coupled", {"precision": "bf16"},
                                             own_precision="bf16"))
        self.assertIn("round", answered[-1])
        session = Session(self.channel, self.loader, torch.ones(4, 2), None, precision="bf16")
        self.assertEqual(session.config()["precision"], "bf16")

    def test_batches_per_update_are_told_with_each_round(self):
        self.batches_each = 3
        told = self.answers(question("coupled"), question("coupled"))
        self.assertEqual([answer["batches_per_update"] for answer in told], [None, 3])

    def test_memory_is_predicted_first_and_measured_with_a_round(self):
        # Bug: the prediction stays although the config was measured, or counts batches alone.
        asked = {"ask": "memory_bytes", "config": dict(CONFIG)}
        held = [Memory(1000, 900), Memory(2000, 900)]
        with mock.patch.object(process, "memory", side_effect=held):
            told = self.answers(asked, question("coupled"), asked)
        self.assertEqual([answer["bytes"] for answer in (told[0], told[-1])], [1000 + 32, 2000])

    def test_samples_of_batches_that_do_not_tell_are_those_that_were_asked_for(self):
        # Would catch the channels of the first picture in a list, counted as samples.
        loader = data.DataLoader(Numbers(), batch_size=4, collate_fn=list)
        self.channel = Channel([question("loader"), question("loader", {"batch": 8})])
        served = Session(self.channel, loader, [torch.ones(3, 2)] * 4, None)
        with self.assertRaises(Over):
            next(served)
        small, large = [answer["round"] for answer in self.channel.sent]
        self.assertEqual((small["samples"], large["samples"]),
                         (4 * small["batches"], 8 * large["batches"]))

    def test_an_epoch_begins_with_a_batch(self):
        answer = self.answers({"ask": "epoch_boundary_s", "config": CONFIG})[-1]
        self.assertEqual(answer, {"seconds": LOAD_S})

    def test_a_change_without_a_line_in_the_source_is_named(self):
        changes = {"num_workers": 4, "pin_memory": True}
        answer = self.answers({"ask": "change", "changes": changes})[-1]
        self.assertEqual(answer["diff"],
                         "Where the DataLoader is made, set num_workers=4, pin_memory=True.")
        self.assertEqual((answer["patch"], answer["options"], answer["environment"]), (None, [], {}))

    def test_the_greeting_says_what_there_is(self):
        session = self.session([], data.DataLoader(Numbers(), batch_size=4, num_workers=3))
        session.greet({"loader": {"index": 1}})
        greeting = self.channel.sent[-1]
        self.assertEqual(greeting["config"], dict(CONFIG, workers=3, prefetch=2))
        expected = {"hello": "loader", "dataset": "Numbers", "samples": 400, "batches": 100,
                    "sample_bytes": 8, "persistent": False, "batch_fixed": None, "device": "cpu",
                    "gpu": None, "rank": 0, "world": 1, "loader": {"index": 1}}
        self.assertEqual({key: greeting[key] for key in expected}, expected)

    def test_a_gpu_that_the_script_does_not_use_is_not_its_device(self):
        # Would catch CUDA initialized by us, and bf16 tried on a device that does nothing.
        for used, device, gpu in ((False, "cpu", None), (True, "cuda", "H200")):
            there = types.SimpleNamespace(is_available=lambda: True, get_device_name={1: "H200"}.get,
                                          current_device=lambda: 1, is_initialized=lambda: used)
            with mock.patch.object(torch, "cuda", there), \
                    mock.patch("feedrate.device.trained_weight", return_value=None):
                self.session([]).greet({})
            greeting = self.channel.sent[-1]
            self.assertEqual((greeting["device"], greeting["gpu"]), (device, gpu))

    def test_a_batch_that_cannot_be_changed_is_said_with_its_reason(self):
        class Whole(data.IterableDataset):
            def __iter__(self):
                return iter([torch.ones(4, 2)])

        # Bug: the batch of a BatchSampler that the script made itself was said to be free.
        own = data.DataLoader(Numbers(), batch_sampler=[[0, 1]])
        made = data.DataLoader(Numbers(), batch_sampler=data.BatchSampler(
            data.SequentialSampler(Numbers()), 4, False))
        whole = data.DataLoader(Whole(), batch_size=None)
        for loader, why in ((own, "the script has its own batch sampler"),
                            (made, "the script has its own batch sampler"),
                            (whole, "the dataset makes the batches itself")):
            self.assertEqual(self.session([], loader)._why_batch_is_fixed(), why)
            self.assertEqual(self.session([], loader).config()["batch"], 4)

    def test_a_length_that_is_not_known_is_0(self):
        class Whole(data.IterableDataset):
            def __iter__(self):
                yield from (torch.ones(4, 2) for _ in range(9))

        self.session([], data.DataLoader(Whole(), batch_size=None)).greet({})
        self.assertEqual(self.channel.sent[-1]["samples"], 0)

    def test_the_length_of_a_stream_is_told_and_pytorch_does_not_hear_of_it(self):
        # Bug: PyTorch warned of batches beyond a length that the script had never asked for.
        class Stream(data.IterableDataset):
            def __iter__(self):
                yield from (torch.ones(2) for _ in range(12))

        class Keeps(data.DataLoader):
            _IterableDataset_len_called = None

            def __len__(self):
                self._IterableDataset_len_called = 12
                return 3

        loader = Keeps(Stream(), batch_size=4)
        self.session([], loader).greet({})
        self.assertEqual(self.channel.sent[-1]["batches"], 3)
        self.assertIsNone(loader._IterableDataset_len_called)


if __name__ == "__main__":
    unittest.main()
