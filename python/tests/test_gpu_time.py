# SPDX-License-Identifier: Apache-2.0
"""Tests of the time that steps take on a GPU, and of rounds on one. GPU and time are made up."""

import types
import unittest
from unittest import mock

from fake_cuda import FakeCuda, Stream
from stub import data, torch
from test_session import CONFIG, LOAD_S, STEP_S, Asking, Clock, question

from feedrate.gpu_time import MOST_PENDING, StepTimes, union_s
from feedrate.lanes import Lane


class Union(unittest.TestCase):
    def test_what_two_intervals_share_counts_once(self):
        # Bug: more than all of the time, where a loop works in two streams.
        self.assertEqual(union_s([]), 0)
        self.assertEqual(union_s([(0, 2), (1, 3)]), 3)
        self.assertEqual(union_s([(4, 9), (5, 6), (0, 1)]), 6)
        self.assertEqual(union_s([(0, 2), (2, 3)]), 3)


class Times(unittest.TestCase):
    def setUp(self):
        self.clock = types.SimpleNamespace(now_s=5.0)
        self.cuda = FakeCuda(self.clock)
        self.times = StepTimes(self.cuda, 0)
        self.times.begin()

    def step(self, host_s, gpu_s):
        start = self.times.mark()
        self.cuda.launch(gpu_s)
        self.clock.now_s += host_s
        self.times.add(start, self.times.mark())

    def seconds(self):
        self.cuda.synchronize(0)
        return self.times.seconds()

    def test_an_idle_gpu_is_not_in_a_step_while_the_host_loads(self):
        # Bug: the wait for a batch counted as a step.
        for _ in range(4):
            self.clock.now_s += 3
            self.step(1, 1)
        self.assertAlmostEqual(self.seconds(), 4)

    def test_a_gpu_behind_the_host_is_in_steps_all_the_time(self):
        # Bug: the time that launches take of the host, told as that of the steps.
        for _ in range(4):
            self.step(0.125, 2)
        self.assertAlmostEqual(self.seconds(), 8)

    def test_steps_in_two_streams_are_counted_once(self):
        # Bug: the same second of the GPU counted for each stream.
        self.step(0, 4)
        self.cuda.streams.append(Stream())
        self.cuda.current = self.cuda.streams[1]
        self.clock.now_s += 1
        self.step(0, 1)
        self.assertAlmostEqual(self.seconds(), 4)

    def test_what_came_before_the_beginning_is_forgotten(self):
        # Bug: a warm-up in the steps of the round.
        self.step(1, 1)
        self.cuda.synchronize(0)
        self.times.begin()
        self.step(2, 2)
        self.assertAlmostEqual(self.seconds(), 2)

    def test_a_long_round_makes_no_more_events_than_wait_to_be_read(self):
        # Bug: two new events for each batch, a hundred thousand in a round of short steps, or a
        # wait for the GPU in the midst of a round, to read them.
        for _ in range(4 * MOST_PENDING):
            self.step(0.5, 0.25)
        self.assertLessEqual(self.cuda.events_made, 2 * MOST_PENDING + 4)
        self.assertAlmostEqual(self.seconds(), 4 * MOST_PENDING * 0.5)

    def test_steps_that_are_not_done_are_left_alone(self):
        # Bug: elapsed times of events that the GPU has not reached, which PyTorch refuses.
        for _ in range(2 * MOST_PENDING):
            self.step(0, 1)
        self.assertAlmostEqual(self.seconds(), 2 * MOST_PENDING)


class Numbers(data.Dataset):
    """Four samples take 35 ms."""

    def __len__(self):
        return 4000

    def __getitem__(self, i):
        Clock.now_s += 0.035 / 4
        return torch.ones(2) * i


class Rounds(Asking):
    """The step needs 10 ms of the host and 50 ms of the GPU."""

    def round_on_gpu(self, part, gpu_s=0.05, synchronizes=False, gpu=0, **more):
        cuda = FakeCuda(Clock, gpu)

        def step(_):
            Clock.now_s += 0.01
            cuda.launch(gpu_s)
            if synchronizes:
                cuda.synchronize(gpu)

        with mock.patch.object(torch, "cuda", cuda), \
                mock.patch("test_session.STEP_S", 0.0):
            return self.round(question(part, **more), step=step,
                              loader=data.DataLoader(Numbers(), batch_size=4))

    def test_a_gpu_that_is_full_is_busy_all_the_time(self):
        # Bug: 30 % busy, which is the host's share: 10 ms of launches, 35 ms of loading, and a GPU
        # that takes 50 ms for each batch and never rests.
        one = self.round_on_gpu("coupled", seconds=4.0)
        self.assertGreater(one["step_s"] / one["duration_s"], 0.98)
        self.assertAlmostEqual(one["wait_s"] + one["step_s"], one["duration_s"])
        self.assertAlmostEqual(one["duration_s"] / one["batches"], 0.05, delta=0.001)

    def test_a_gpu_that_waits_is_not_busy_meanwhile(self):
        # Bug: a GPU that rests while the host loads, told as full. A step that waits for its loss
        # takes 10 + 50 ms, and loading 35 ms.
        one = self.round_on_gpu("coupled", synchronizes=True)
        self.assertAlmostEqual(one["step_s"] / one["duration_s"], 60 / 95, places=3)

    def test_gaps_between_launches_are_part_of_a_step(self):
        # Bug: a figure that is called kernel time: the GPU needs 2 ms, the launches 10 ms.
        one = self.round_on_gpu("coupled", gpu_s=0.002)
        self.assertAlmostEqual(one["step_s"] / one["duration_s"], 10 / 45, delta=0.05)

    def test_replayed_and_drained_rounds_are_all_step_and_all_wait(self):
        # Bug: events of the round before in a round without steps.
        one = self.round_on_gpu("device")
        self.assertAlmostEqual(one["step_s"], one["duration_s"])
        one = self.round_on_gpu("loader")
        self.assertEqual(one["step_s"], 0)
        self.assertAlmostEqual(one["wait_s"], one["duration_s"])

    def test_the_gpu_that_holds_the_weights_is_measured(self):
        # Bug: of `model.to("cuda:1")` without set_device() GPU 0 was measured, which has nothing to do.
        weight = types.SimpleNamespace(is_cuda=True, device=1)
        with mock.patch("feedrate.device.trained_weight", return_value=weight):
            one = self.round_on_gpu("coupled", seconds=4.0, gpu=1)
        self.assertGreater(one["step_s"] / one["duration_s"], 0.98)

    def test_copies_that_do_not_wait_have_a_lane_of_pinned_memory(self):
        # Bug: non_blocking=True for batches that are not pinned, which wait all the same.
        take = Lane.take

        def taken(lane):
            batch = take(lane)
            batch.is_pinned = lambda: lane._loader.pin_memory
            return batch

        def copied(batch, device, non_blocking=False):
            Clock.now_s += 0.0 if non_blocking and batch.is_pinned() else 0.125
            return batch

        asked = dict(question("coupled"), ask="lever", lever="non_blocking", pairs=2, of=CONFIG)
        with mock.patch.object(torch, "cuda", FakeCuda(Clock)), mock.patch.object(Lane, "take", taken), \
                mock.patch.multiple(torch.Tensor, create=True, to=copied, cuda=copied):
            told = self.answers(asked, step=lambda batch: batch.to("cuda"))[-1]
        self.assertEqual([with_it / without for without, with_it in told["pairs"]],
                         [(LOAD_S + STEP_S + 0.125) / (LOAD_S + STEP_S)] * 2)

    def test_where_cuda_is_not_in_use_nothing_of_it_is_called(self):
        # Bug: CUDA initialized by the hook in a script that trains on the cpu.
        unused = mock.Mock(spec_set=["is_available", "is_initialized"])
        unused.is_initialized.return_value = unused.is_available.return_value = False
        with mock.patch.object(torch, "cuda", unused):
            one = self.round(question("coupled", CONFIG))
        self.assertEqual(one["step_s"], 0.75)
