# SPDX-License-Identifier: Apache-2.0
"""Tests of lanes: what they draw, how they park, for whom they make room. No process is started."""

import itertools
import types
import unittest
from unittest import mock

from stub import data, torch

from feedrate import lanes, worker_info
from feedrate.errors import DataErrors
from feedrate.lanes import (Batches, Indices, Lane, Lanes, Passes, Taken, UsedUp, filled_of,
                            has_plain_batches, key_of, settings_of, unopened)


def config(workers=0, prefetch=2, batch=4, **more):
    return {"workers": workers, "prefetch": prefetch if workers else 0, "pinned": False,
            "batch": batch, "step_threads": 1, "precision": "fp32", "persistent": False, "start_method": "own",
            **more}


class Numbers(data.Dataset):
    def __init__(self, samples=8):
        self.samples = samples

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        return i


class Archive(Numbers):
    """Opens its file at the first sample; its cache, where it is asked for."""

    cache = None

    def __init__(self):
        super().__init__()
        self.file = None
        self.labels = open(__file__)

    def open(self):
        self.file, self.cache = open(__file__), open(__file__)
        self.close = lambda: [file.close() for file in (self.file, self.cache, self.labels)]
        return self


class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(range(8))


class Once(data.IterableDataset):
    """Gives what is left of one pass."""

    def __init__(self, samples):
        self.left = iter(range(samples))

    def __iter__(self):
        return self.left


class OfWorkers:
    """Batches of workers that each read a stream of `batches`, or only their part of it."""

    def __init__(self, workers, batches, shares):
        streams = [batches[worker::workers] if shares else batches for worker in range(workers)]
        self.batches = iter([batch for at in zip(*streams) for batch in at])

    def __next__(self):
        return next(self.batches)


class WholeStreams(unittest.TestCase):
    def seen(self, batches, workers=2, shares=False):
        copies = lanes.Copies(workers)
        for batch in OfWorkers(workers, batches, shares).batches:
            copies.see(batch)

    def test_are_told_where_each_worker_gives_the_same(self):
        # Bug: four copies of each sample, recommended as four times the rate.
        batches = [{"x": torch.ones(4, 2) * i} for i in range(8)]
        for workers in (2, 4):
            with self.assertRaisesRegex(ValueError, "each worker reads the whole stream"):
                self.seen(batches, workers)

    def test_are_not_seen_in_parts_nor_in_what_is_always_the_same(self):
        batches = [{"x": torch.ones(4, 2) * i} for i in range(8)]
        self.seen(batches, shares=True)
        self.seen([{"x": torch.ones(4, 2)}] * 8)
        self.seen([["text", "more"]] * 8)
        # Bug: texts whose labels happen to be the same.
        labels = [torch.ones(1) * (i > 1) for i in range(8)]
        self.seen([{"text": ["line %d" % i], "label": labels[i]} for i in range(8)], shares=True)

    def test_are_not_seen_where_a_worker_asked_which_one_it_is(self):
        # Bug: shards that begin alike were taken for one stream that each worker reads.
        batches = [{"x": torch.ones(4, 2) * i} for i in range(8)]
        with mock.patch.object(worker_info, "was_asked", lambda: True):
            self.seen(batches)

    def test_are_looked_for_where_the_script_itself_has_one_reader(self):
        for own, workers, iterable in ((0, 2, True), (1, 4, True), (2, 4, True), (0, 1, True), (0, 2, False)):
            dataset = Stream() if iterable else Numbers()
            made = Lanes(data.DataLoader(dataset, batch_size=4, num_workers=own), torch, 4, 1)
            looks = made._copies_of(config(workers)) is not None
            self.assertEqual(looks, iterable and own < 2 <= workers)


class Unmeasured(data.Dataset):
    """A sampler of batches that tells no length."""

    def __init__(self, batches=3, endless=False):
        self.batches, self.endless = batches, endless

    def __iter__(self):
        drawn = ([2 * i, 2 * i + 1] for i in range(self.batches))
        return itertools.cycle(drawn) if self.endless else drawn


class PassesWithoutALength(unittest.TestCase):
    def made(self, sampler):
        return Lanes(data.DataLoader(Numbers(), batch_sampler=sampler), torch, 2, 1)

    def test_are_counted_once_and_given_all_the_same(self):
        # Bug: a loop that never got the end of its epoch, and a schedule that ended in an error.
        made = self.made(Unmeasured())
        self.assertEqual(made.batches_of_pass(), 3)
        indices = made._shared(None)
        self.assertEqual([next(indices) for _ in range(4)], [[0, 1], [2, 3], [4, 5], [0, 1]])

    def test_that_fail_or_go_on_have_no_length(self):
        class Fails:
            def __iter__(self):
                yield [0, 1]
                raise KeyError("no bucket")

        self.assertIsNone(self.made(Fails()).batches_of_pass())
        self.assertIsNone(self.made(iter(Unmeasured())).batches_of_pass())

    def test_that_never_end_have_no_length(self):
        made = self.made(Unmeasured(endless=True))
        self.assertIsNone(made.batches_of_pass())
        self.assertEqual(next(made._shared(None)), [0, 1])
        plain = Lanes(data.DataLoader(Numbers(), batch_size=2), torch, 2, 1)
        self.assertIsNone(plain.batches_of_pass())


class Ready:
    """A queue that only has a size."""

    def __init__(self):
        self.batches = []

    def qsize(self):
        return len(self.batches)


class Beside:
    """An iterator as with workers; they load as the test says."""

    pids = iter(range(1000, 10000))

    def __init__(self, loader):
        self._workers = [types.SimpleNamespace(pid=next(self.pids))
                         for _ in range(loader.num_workers)]
        self._data_queue = self._worker_result_queue = Ready()
        self._task_info = {}
        self._workers_status = [True] * loader.num_workers
        self.passes = 0
        self.closed = False
        self._reset(loader)

    def _reset(self, loader):
        self.passes += 1
        self._drawn = iter(loader._index_sampler)

    def load(self, batches):
        """So many batches are ready now, more than before."""
        self._data_queue.batches += [next(self._drawn) for _ in range(batches)]

    def __next__(self):
        ready = self._data_queue.batches
        return ready.pop(0) if ready else next(self._drawn)

    def _shutdown_workers(self):
        self.closed = True


class Ordering(Beside):
    """Orders a batch for each that is taken, and refuses to order beyond what it may, as PyTorch's
    does."""

    def _reset(self, loader):
        super()._reset(loader)
        self._prefetch_factor = getattr(self, "_prefetch_factor", loader.prefetch_factor)
        self._task_info, self._sent = {}, 0
        for _ in range(self._prefetch_factor * len(self._workers)):
            self._try_put_index()

    def _try_put_index(self):
        assert len(self._task_info) < self._prefetch_factor * len(self._workers)
        self._task_info[self._sent] = (0,)
        self._sent += 1

    def __next__(self):
        batch = super().__next__()
        del self._task_info[min(self._task_info)]
        self._try_put_index()
        return batch


class Loader(data.DataLoader):
    """Collates to plain lists; its workers are those above."""

    beside = Beside

    def __init__(self, *args, **kwargs):
        super().__init__(*args, collate_fn=list, **kwargs)

    def _get_iterator(self):
        return self.beside(self) if self.num_workers else super()._get_iterator()


class OrderingLoader(Loader):
    beside = Ordering


class Doubled:
    """Wraps an iterator, as PyTorch Geometric's DataLoaderIterator does."""

    def __init__(self, iterator):
        self.iterator = iterator

    def __next__(self):
        return next(self.iterator) * 2

    def _reset(self, loader):
        self.iterator._reset(loader)


class WrappingLoader(OrderingLoader):
    def _get_iterator(self):
        return Doubled(super()._get_iterator())


def lanes_of(loader, batch_bytes=10):
    return Lanes(loader, torch, loader.batch_size or 4, batch_bytes)


def no_beat():
    pass


class Drawing(unittest.TestCase):
    def test_indices_go_on_from_pass_to_pass(self):
        indices = Indices([0, 1, 2])
        self.assertEqual([next(indices) for _ in range(7)], [0, 1, 2, 0, 1, 2, 0])

    def test_indices_of_nothing_end(self):
        # Would catch an endless search for the first sample of an empty dataset.
        with self.assertRaises(StopIteration):
            next(Indices([]))

    def test_a_sampler_is_read_by_one_reader_for_all_lanes(self):
        # Would catch a sample that two configs draw within one pass.
        loader = Loader(Numbers(8), batch_size=2)
        shared = lanes_of(loader)
        one = shared.use(config(0, batch=2), no_beat)
        other = shared.use(config(0, batch=4), no_beat)
        drawn = one.take() + other.take() + one.take()
        self.assertEqual(drawn, list(range(8)))
        self.assertEqual(other.take() + one.take(), [0, 1, 2, 3, 4, 5])

    def test_batches_of_another_size_run_over_the_end_of_a_pass(self):
        batches = Batches(Indices([0, 1, 2, 3]), 3)
        self.assertEqual([next(batches) for _ in range(3)], [[0, 1, 2], [3, 0, 1], [2, 3, 0]])

    def test_a_pass_goes_on_where_the_last_one_ended(self):
        # Would catch a pass that begins again for each lane.
        passes = Passes(iter(range(9)))
        self.assertEqual(next(iter(passes)), 0)
        passes.batches = 3
        self.assertEqual(list(passes), [1, 2, 3])
        self.assertEqual(list(passes), [4, 5, 6])
        passes.batches = None
        self.assertEqual(list(passes), [7, 8])

    def test_batches_of_the_users_own_are_drawn_as_they_are(self):
        loader = Loader(Numbers(), batch_sampler=[[0, 5], [7]])
        lane = lanes_of(loader).use(config(batch=2), no_beat)
        self.assertEqual([lane.take() for _ in range(3)], [[0, 5], [7], [0, 5]])

    def test_samples_without_a_batch_are_drawn_one_by_one(self):
        loader = Loader([[5], [6]], batch_size=None)
        lane = lanes_of(loader).use(config(batch=1), no_beat)
        self.assertEqual([lane.take() for _ in range(3)], [[5], [6], [5]])

    def test_a_dataset_that_iterates_itself_begins_anew(self):
        lane = lanes_of(Loader(Stream(), batch_size=4)).use(config(), no_beat)
        passes = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]]
        self.assertEqual([lane.take() for _ in range(3)], passes)

    def test_a_dataset_that_iterates_itself_has_batches_of_another_size(self):
        lane = lanes_of(Loader(Stream(), batch_size=4)).use(config(batch=3), no_beat)
        self.assertEqual(lane.take(), [0, 1, 2])


    def test_a_batch_sampler_of_the_users_own_is_kept_whatever_its_class(self):
        # Bug: lanes had batches of another size, the launch that confirmed them had not, and the
        # change named batch_size= beside batch_sampler=, which PyTorch refuses.
        batches = data.BatchSampler(data.SequentialSampler(Numbers()), 4, False)
        self.assertFalse(has_plain_batches(Loader(Numbers(), batch_sampler=batches), data))
        self.assertTrue(has_plain_batches(Loader(Numbers(), batch_size=4), data))
        lane = lanes_of(Loader(Numbers(), batch_sampler=batches)).use(config(batch=8), no_beat)
        self.assertEqual(lane.take(), [0, 1, 2, 3])

    def test_a_dataset_that_iterates_but_once_is_used_up(self):
        # Bug: "RuntimeError: generator raised StopIteration" for each config from then on.
        shared = lanes_of(Loader(Once(6), batch_size=4))
        lane = shared.use(config(), no_beat)
        self.assertEqual([lane.take(), lane.take()], [[0, 1, 2, 3], [4, 5]])
        for one in (lane, shared.use(config(pinned=True), no_beat)):
            with self.assertRaises(UsedUp):
                one.take()

    def test_a_batch_that_is_larger_than_the_data_is_not_the_end_of_them(self):
        # Would catch a script that is launched again and again for what it can never yield, as a
        # batch of a stream that is shorter, without its last batch.
        shared = lanes_of(Loader(Once(0), batch_size=4))
        with self.assertRaisesRegex(ValueError, "the data is smaller than one batch of this size"):
            shared.use(config(batch=16), no_beat).take()
        with self.assertRaises(UsedUp):
            shared.use(config(), no_beat).take()

    def test_larger_batches_use_the_data_up_too(self):
        lane = lanes_of(Loader(Once(8), batch_size=4)).use(config(batch=8), no_beat)
        self.assertEqual(lane.take(), list(range(8)))
        with self.assertRaises(UsedUp):
            lane.take()


class Settings(unittest.TestCase):
    def applied(self, loader, wanted):
        for name, value in settings_of(loader, wanted, torch).items():
            object.__setattr__(loader, name, value)
        return loader

    def test_without_workers_nothing_is_left_that_needs_them(self):
        # Would catch "persistent_workers option needs num_workers > 0" and the like.
        loader = data.DataLoader(Numbers(), 4, num_workers=2, timeout=5, persistent_workers=True,
                                 multiprocessing_context="spawn")
        self.applied(loader, config(0, persistent=True))
        self.assertEqual((loader.num_workers, loader.prefetch_factor, loader.timeout), (0, None, 0))
        self.assertFalse(loader.persistent_workers)
        self.assertIsNone(loader._DataLoader__multiprocessing_context)

    def test_with_workers_they_stay_as_was_asked(self):
        for stays in (True, False):
            loader = self.applied(data.DataLoader(Numbers(), 4), config(3, 5, persistent=stays))
            self.assertEqual((loader.num_workers, loader.prefetch_factor), (3, 5))
            self.assertIs(loader.persistent_workers, stays)

    def test_the_order_stays_the_scripts_own(self):
        loader = data.DataLoader(Numbers(), 4, shuffle=True)
        before = loader.batch_sampler
        self.applied(loader, config(2))
        self.assertIs(loader.batch_sampler, before)

    def test_another_batch_draws_from_the_same_sampler(self):
        loader = Loader(Numbers(8), batch_size=4, drop_last=True)
        sampler = loader.sampler
        self.applied(loader, config(batch=3))
        self.assertIs(loader.batch_sampler.sampler, sampler)
        self.assertEqual(loader.batch_size, 3)
        self.assertEqual(list(loader), [[0, 1, 2], [3, 4, 5]])

    def test_a_batch_of_the_users_own_is_never_changed(self):
        loader = Loader(Numbers(), batch_sampler=[[0, 5]])
        self.applied(loader, config(batch=64))
        self.assertEqual(list(loader), [[0, 5]])


class ParkedLanes(unittest.TestCase):
    def lane(self, workers=2, prefetch=2):
        lane = Lane(Loader(Numbers(100), batch_size=1, num_workers=workers,
                           prefetch_factor=prefetch if workers else None))
        return lane, lane._iterator

    def test_what_arrived_and_what_lies_in_the_queue_is_ready(self):
        lane, iterator = self.lane()
        iterator.load(2)
        iterator._task_info = {5: (0,), 6: (1, "arrived"), 7: (0, "arrived")}
        self.assertEqual(lane.ready(), 4)

    def test_two_queues_are_counted_where_batches_are_pinned(self):
        lane, iterator = self.lane()
        iterator.load(2)
        iterator._worker_result_queue = Ready()
        iterator._worker_result_queue.batches = [1]
        self.assertEqual(lane.ready(), 3)

    def test_what_was_loaded_while_it_was_parked_is_thrown_away(self):
        # Would catch a round that begins with a ring that its workers had all the time to fill.
        lane, iterator = self.lane()
        iterator.load(1)
        lane.keep_level()
        iterator.load(3)
        beats = []
        lane.resume(lambda: beats.append(1))
        self.assertEqual((lane.ready(), len(beats)), (1, 3))
        self.assertEqual(lane.take(), [3])

    def test_all_that_is_ready_is_thrown_away_for_the_loader_alone(self):
        lane, iterator = self.lane()
        iterator.load(2)
        lane.keep_level()
        lane.resume(no_beat, empty=True)
        self.assertEqual(lane.ready(), 0)

    def test_throwing_away_ends_with_workers_that_are_faster(self):
        # Would catch a lane that never goes on.
        lane, iterator = self.lane()
        lane.keep_level()
        with mock.patch.object(Lane, "ready", lambda self: 4):
            lane.resume(no_beat)
        self.assertEqual(lane.take(), [4])

    def test_without_workers_nothing_is_ready(self):
        lane, _ = self.lane(0)
        lane.keep_level()
        lane.resume(no_beat, empty=True)
        self.assertEqual((lane.ready(), lane.capacity, lane.pids(), lane.take()), (0, 0, [], [0]))

    def test_workers_stay_from_pass_to_pass(self):
        loader = Loader(Numbers(2), batch_size=1, num_workers=1)
        lane = Lane(loader)
        self.assertEqual([lane.take() for _ in range(5)], [[0], [1], [0], [1], [0]])
        self.assertEqual(lane._iterator.passes, 3)

    def test_workers_start_anew_at_each_pass_where_they_do_not_stay(self):
        # Bug: an epoch that begins at once, of a loader that starts its workers for each.
        lane = Lane(Loader(Numbers(2), batch_size=1, num_workers=1))
        lane.stays = False
        first = lane._iterator
        self.assertEqual([lane.take() for _ in range(3)], [[0], [1], [0]])
        self.assertTrue(first.closed)
        self.assertIsNot(lane._iterator, first)

    def test_a_lane_that_was_closed_has_no_workers(self):
        lane, iterator = self.lane()
        lane.close()
        self.assertTrue(iterator.closed)
        self.assertEqual(lane.pids(), [])


class LoadingAhead(unittest.TestCase):
    def lane(self, samples=100):
        lane = Lane(OrderingLoader(Numbers(samples), batch_size=1, num_workers=2,
                                   prefetch_factor=3))
        return lane, lane._iterator

    def ordered(self, iterator):
        return len(iterator._task_info)

    def test_more_is_ordered_at_once(self):
        lane, iterator = self.lane()
        lane.load_ahead(5, no_beat)
        self.assertEqual((self.ordered(iterator), lane.capacity), (10, 10))
        lane.take()
        self.assertEqual(self.ordered(iterator), 10)

    def test_what_is_too_much_is_taken_first(self):
        # Would catch a lane that fails at its next batch: more is on its way than may be.
        lane, iterator = self.lane()
        beats = []
        lane.load_ahead(1, lambda: beats.append(1))
        self.assertEqual((self.ordered(iterator), lane.capacity, len(beats)), (2, 2, 4))
        self.assertEqual(lane.take(), [4])
        self.assertEqual(self.ordered(iterator), 2)

    def test_all_that_is_ordered_is_taken_before_an_epoch_ends(self):
        lane, iterator = self.lane()
        lane.finish_epoch(no_beat)
        self.assertEqual(self.ordered(iterator), 0)
        lane.begin_epoch()
        self.assertEqual(self.ordered(iterator), 6)

    def test_an_epoch_may_end_meanwhile(self):
        lane, iterator = self.lane(samples=1)
        lane.load_ahead(1, no_beat)
        self.assertEqual([lane.take(), lane.take()], [[0], [0]])
        self.assertEqual(self.ordered(iterator), 2)

    def test_what_a_worker_at_its_end_never_answers_takes_no_place(self):
        # Bug: "Number of outstanding tasks exceeded maximum allowed tasks" of PyTorch, in streams that end.
        lane, iterator = self.lane()
        iterator._workers_status[1] = False
        iterator._task_info = {4: (0,), 5: (1,)}
        iterator._tasks_outstanding = 6
        lane.load_ahead(1, no_beat)
        self.assertEqual(iterator._tasks_outstanding, 1)

    def test_the_number_that_it_has_changes_nothing(self):
        lane, iterator = self.lane()
        iterator.load(3)
        lane.keep_level()
        lane.load_ahead(3, no_beat)
        self.assertEqual((iterator._sent, lane.warm_up()), (6, 0))

    def test_without_workers_there_is_nothing_ahead(self):
        lane = Lane(Loader(Numbers(100), batch_size=1))
        lane.load_ahead(0, no_beat)
        self.assertEqual((lane.take(), lane.capacity), ([0], 0))

    def test_each_number_begins_as_it_was_parked(self):
        # Would catch a round with 1 ahead that begins with what was loaded for 3.
        lane, iterator = self.lane()
        iterator.load(3)
        lane.keep_level()
        self.assertEqual(lane.warm_up(), 0)
        lane.load_ahead(1, no_beat)
        self.assertEqual(lane.warm_up(), 2)
        iterator.load(1)
        lane.resume(no_beat)
        self.assertEqual(lane.ready(), 0)
        lane.keep_level()
        lane.load_ahead(3, no_beat)
        iterator.load(5)
        lane.resume(no_beat)
        self.assertEqual((lane.ready(), lane.warm_up()), (3, 0))

    def test_a_step_that_is_changed_begins_with_what_its_own_rounds_left(self):
        # Bug: torch.compile was twice as fast in a loop that its loader limits, as each round with it began with the
        # batches that lay ready for the slower step.
        lane, iterator = self.lane()
        iterator.load(3)
        lane.keep_level()
        lane.lever = "compile"
        self.assertEqual(lane.warm_up(), 2)
        lane.resume(no_beat)
        self.assertEqual(lane.ready(), 0)
        lane.keep_level()
        lane.lever = None
        iterator.load(3)
        lane.resume(no_beat)
        self.assertEqual((lane.ready(), lane.warm_up()), (3, 0))

    def test_workers_that_cannot_keep_up_get_going_first(self):
        # Bug: rounds of 8 workers that waited were 8 % slow, and scattered by 7 % instead of 3 %,
        # since all workers of a lane that goes on began at once.
        lane, iterator = self.lane()
        iterator.load(2)
        lane.keep_level()
        self.assertEqual(lane.warm_up(), 2)

    def parked_with(self, batches):
        """A lane that has loaded less ahead since it was parked with so many ready."""
        lane, iterator = self.lane()
        iterator.load(batches)
        lane.keep_level()
        lane.load_ahead(1, no_beat)
        lane.load_ahead(3, no_beat)
        return lane, iterator

    def test_what_is_gone_since_it_was_parked_is_waited_for(self):
        # Would catch a round in which the ring has yet to fill.
        lane, iterator = self.parked_with(5)
        beats = []
        with mock.patch.object(lanes.time, "sleep", lambda _: iterator.load(1)):
            lane.resume(lambda: beats.append(1))
        self.assertEqual((lane.ready(), len(beats)), (5, 4))

    def test_waiting_ends_with_workers_that_have_nothing_to_do(self):
        # Would catch a lane that waits in vain, as at the end of an epoch.
        lane, iterator = self.parked_with(6)
        for number in range(3):
            iterator._task_info.popitem()
        with mock.patch.object(lanes.time, "sleep", lambda _: iterator.load(1)):
            lane.resume(no_beat)
        self.assertEqual(lane.ready(), 3)

    def test_waiting_ends_with_workers_that_load_nothing(self):
        # Would catch a script that waits for ever for a worker that hangs.
        lane, _ = self.parked_with(5)
        with mock.patch.object(lanes, "MOST_WAIT_S", 0):
            lane.resume(no_beat)
        self.assertEqual(lane.ready(), 1)


class WrappedIterators(unittest.TestCase):
    # Bug: each config with workers failed: "AttributeError: 'DataLoaderIterator' object has no attribute '_task_info'".

    def lane(self, samples=100, workers=2):
        return Lane(WrappingLoader(Numbers(samples), batch_size=1, num_workers=workers,
                                   prefetch_factor=3 if workers else None))

    def test_give_their_own_batches(self):
        self.assertEqual([self.lane(workers=workers).take() for workers in (0, 2)], [[0, 0]] * 2)

    def test_have_the_workers_of_the_one_within(self):
        lane = self.lane()
        inner = lane._iterator.iterator
        inner.load(2)
        self.assertEqual((lane.ready(), lane.is_full()), (2, False))
        self.assertEqual(lane.pids(), [worker.pid for worker in inner._workers])
        lane.load_ahead(1, no_beat)
        self.assertEqual((len(inner._task_info), inner._prefetch_factor), (2, 1))
        lane.close()
        self.assertTrue(inner.closed)

    def test_go_on_from_pass_to_pass(self):
        for stays in (True, False):
            lane = self.lane(samples=2)
            lane.stays, inner = stays, lane._iterator.iterator
            self.assertEqual([lane.take() for _ in range(3)], [[0, 0], [1, 1], [0, 0]])
            self.assertEqual((inner.closed, lane._iterator.iterator is inner), (not stays, stays))

    def test_of_the_script_are_parked(self):
        loader = WrappingLoader(Numbers(100), batch_size=1, num_workers=2)
        iterator, made = loader._get_iterator(), lanes_of(loader)
        made.keep(iterator)
        self.assertEqual(made.others(None), [worker.pid for worker in iterator.iterator._workers])

    def test_that_hide_their_workers_are_refused_with_the_reason(self):
        loader = Loader(Numbers(100), batch_size=1, num_workers=2)
        loader.beside = lambda _: iter([])
        with self.assertRaisesRegex(ValueError, "no workers of PyTorch can be found in the iterator, a list_iterator"):
            Lane(loader)


class Keeping(unittest.TestCase):
    def setUp(self):
        self.loader = Loader(Numbers(100), batch_size=4, shuffle=True)
        self.lanes = lanes_of(self.loader)

    def test_a_config_finds_its_lane_again(self):
        lane = self.lanes.use(config(2), no_beat)
        self.assertIs(self.lanes.use(config(2, step_threads=8, precision="bf16"), no_beat), lane)
        for other in (config(3), config(2, batch=8), config(2, pinned=True)):
            self.assertNotEqual(key_of(other), key_of(config(2)))

    def test_workers_stay_where_another_number_is_loaded_ahead(self):
        # Would catch seconds that go by while the same workers are started once more.
        lanes_with = lanes_of(OrderingLoader(Numbers(100), batch_size=4))
        lane = lanes_with.use(config(2, 2), no_beat)
        with mock.patch.object(lanes, "MOST_PARKED_WORKERS", 2):
            self.assertIs(lanes_with.use(config(2, 5), no_beat), lane)
        self.assertEqual((lane.capacity, lane._iterator.closed), (10, False))

    def test_a_lane_that_failed_is_made_anew(self):
        lane = self.lanes.use(config(2), no_beat)
        iterator = lane._iterator
        self.lanes.drop(config(2))
        self.lanes.drop(config(5))
        self.assertTrue(iterator.closed)
        self.assertIsNot(self.lanes.use(config(2), no_beat), lane)

    def test_the_others_are_those_that_should_sleep(self):
        one, other = self.lanes.use(config(2), no_beat), self.lanes.use(config(3), no_beat)
        self.assertEqual(self.lanes.others(one), other.pids())
        self.assertEqual(sorted(self.lanes.others(None)), sorted(one.pids() + other.pids()))
        self.assertEqual(len(other.pids()), 3)

    def test_the_lane_that_was_not_used_for_longest_makes_room(self):
        with mock.patch.object(lanes, "MOST_PARKED_WORKERS", 8):
            first, second = self.lanes.use(config(2), no_beat), self.lanes.use(config(3), no_beat)
            self.lanes.use(config(2), no_beat)
            gone = second._iterator
            self.lanes.use(config(4), no_beat)
        self.assertTrue(gone.closed)
        self.assertIs(self.lanes.use(config(2), no_beat), first)

    def test_a_lane_larger_than_the_room_is_alone(self):
        with mock.patch.object(lanes, "MOST_PARKED_WORKERS", 8):
            gone = [self.lanes.use(config(n), no_beat)._iterator for n in (2, 3)]
            lane = self.lanes.use(config(100), no_beat)
        self.assertTrue(all(iterator.closed for iterator in gone))
        self.assertEqual(self.lanes.others(lane), [])

    def test_shared_memory_makes_room_too(self):
        # Would catch a bus error: 60 bytes are free, and lanes may have half of them.
        with mock.patch.object(lanes, "_shared_memory_room", lambda: 60):
            self.lanes = lanes_of(self.loader)
        iterator = self.lanes.use(config(1, 2), no_beat)._iterator
        self.lanes.use(config(1, 1, pinned=True), no_beat)
        self.assertFalse(iterator.closed)
        self.lanes.use(config(1, 3, batch=8), no_beat)
        self.assertTrue(iterator.closed)

    def test_larger_batches_take_more_of_the_shared_memory(self):
        # Bug: a lane with four times the batch was counted with the bytes of the script's own, and
        # its workers died of a bus error.
        with mock.patch.object(lanes, "_shared_memory_room", lambda: 80):
            self.lanes = lanes_of(self.loader)
        small = self.lanes.use(config(1, 1), no_beat)._iterator
        large = self.lanes.use(config(1, 1, batch=12), no_beat)._iterator
        self.assertFalse(small.closed)  # 1 + 3 batches of 10 bytes, of 40
        self.lanes.use(config(1, 1, batch=8), no_beat)
        self.assertEqual((small.closed, large.closed), (True, True))

    def napping(self, iterator, naps):
        """Patches time: it goes on by naps alone, and `iterator` has loaded all after so many."""
        now_s = [0.0]

        def nap(seconds):
            now_s[0] += seconds
            if round(now_s[0] / seconds) == naps:
                iterator._task_info = {}

        iterator._task_info = {0: (0,)}
        clock = types.SimpleNamespace(perf_counter=lambda: now_s[0], sleep=nap)
        return mock.patch.object(lanes, "time", clock), now_s

    def test_the_others_sleep_before_a_lane_goes_on(self):
        # Would catch workers that still fill their queues beside what is measured.
        busy = self.lanes.use(config(2), no_beat)._iterator
        patch, now_s = self.napping(busy, 20)
        beats = []
        with patch:
            self.lanes.use(config(3), lambda: beats.append(1))
        self.assertAlmostEqual(now_s[0], 20 * lanes.NAP_S)
        self.assertGreaterEqual(len(beats), 20)

    def test_nobody_waits_long_for_others_to_sleep_nor_for_the_lane_itself(self):
        busy = self.lanes.use(config(2), no_beat)._iterator
        patch, now_s = self.napping(busy, 10**9)
        with patch:
            self.lanes.use(config(2), no_beat)
            self.assertEqual(now_s[0], 0)
            self.lanes.use(config(3), no_beat)
        self.assertAlmostEqual(now_s[0], lanes.MOST_WAIT_S, places=2)

    def own(self, workers):
        """The iterator that the script had so far."""
        self.loader.num_workers = workers
        self.lanes.keep(Beside(self.loader))
        return self.lanes._lanes[lanes.OWN]._iterator

    def test_the_scripts_own_workers_sleep_before_the_first_lane_goes_on(self):
        # Bug: they still filled their queues beside the first rounds, and nobody said so.
        own = self.own(3)
        patch, now_s = self.napping(own, 20)
        with patch:
            lane = self.lanes.use(config(2), no_beat)
        self.assertAlmostEqual(now_s[0], 20 * lanes.NAP_S)
        self.assertEqual(self.lanes.others(lane), [worker.pid for worker in own._workers])

    def test_the_scripts_own_workers_are_waited_for_but_once(self):
        # Would catch a second lost with each round, beside a stream that had come to its end.
        patch, now_s = self.napping(self.own(3), 10**9)
        with patch:
            for _ in range(3):
                self.lanes.use(config(2), no_beat)
        self.assertAlmostEqual(now_s[0], lanes.MOST_WAIT_S, places=2)

    def test_the_scripts_own_workers_make_room_first(self):
        # Bug: they were not counted where lanes may have so many workers.
        own = self.own(4)
        with mock.patch.object(lanes, "MOST_PARKED_WORKERS", 8):
            lane = self.lanes.use(config(4), no_beat)
            self.assertFalse(own.closed)
            self.lanes.use(config(1), no_beat)
        self.assertTrue(own.closed)
        self.assertIs(self.lanes.use(config(4), no_beat), lane)

    def test_an_iterator_without_workers_is_no_lane(self):
        for inner in (None, iter([]), iter(self.loader)):
            self.lanes.keep(inner)
        self.assertEqual(self.lanes._lanes, {})

    def test_all_end_at_the_end(self):
        iterators = [self.lanes.use(config(n), no_beat)._iterator for n in (1, 2)]
        self.lanes.close()
        self.assertTrue(all(iterator.closed for iterator in iterators))
        self.assertEqual(self.lanes.others(None), [])

    def test_the_scripts_own_loader_stays_as_it_was(self):
        before = dict(vars(self.loader))
        lane = self.lanes.use(config(2, batch=8, pinned=True), no_beat)
        lane.take()
        self.assertEqual(vars(self.loader), before)

    def test_what_a_subclass_adds_stays(self):
        object.__setattr__(self.loader, "transform", "its transform")
        self.assertEqual(self.lanes.use(config(2), no_beat)._loader.transform, "its transform")

    def test_the_random_state_stays(self):
        # Would catch a script whose dropout depends on how many configs were tried.
        self.lanes.use(config(0), no_beat).take()
        before = torch.get_rng_state().tolist()
        self.lanes.use(config(2), no_beat)
        self.assertEqual(torch.get_rng_state().tolist(), before)


class Shared(Numbers):
    """As a file that workers share: each second sample can't be read but in the script's own process."""

    is_shared = False

    def __getitem__(self, i):
        if self.is_shared and i % 8 == 5:
            raise ValueError("bad zip file")
        return i


class Blame(unittest.TestCase):
    def fails(self, own_batches, own_fails=False):
        """Whether a config of smaller batches is given up, and what is told of the data."""
        errors, dataset = DataErrors(), Shared(64)
        loader = data.DataLoader(dataset, batch_size=4)
        made = Lanes(loader, torch, 4, 100, errors=errors, own=key_of(config()))
        try:
            for asked, batches, fails in ((config(), own_batches, own_fails), (config(batch=2), 32, True)):
                dataset.is_shared = fails
                lane = made.use(asked, no_beat)
                for _ in range(batches):
                    lane.take()
        except ValueError:
            return True, errors.told()
        return False, errors.told()

    def test_is_of_a_config_that_fails_where_the_script_s_own_never_does(self):
        # Bug: a file that the workers share fails in a part of the batches, "whatever the settings", and the config
        # was recommended; the script then died with it.
        self.assertEqual(self.fails(100), (True, None))

    def test_is_of_none_where_the_script_s_own_fails_too_or_has_had_few_batches(self):
        for own_batches, own_fails in ((100, True), (3, False), (9, False)):
            gives_up, told = self.fails(own_batches, own_fails)
            self.assertFalse(gives_up)
            self.assertIn("ValueError: bad zip file (test_lanes.py:", told["error"])

    def test_counts_large_batches_as_several(self):
        # Would catch a batch of four times the size blamed for meeting four times as many bad samples.
        own, large = Taken(), Taken()
        for _ in range(31):
            own.add(1)
        for _ in range(8):
            large.add(4, failed=1)
        self.assertFalse(large.are_worse_than(own))
        own.add(1)
        self.assertTrue(large.are_worse_than(own))


class Endless(unittest.TestCase):
    class Sampler:
        def __init__(self, drawn, length):
            self.drawn, self.length = drawn, length

        def __len__(self):
            return self.length

        def __iter__(self):
            return self.drawn()

    def test_is_a_sampler_that_goes_on_behind_its_length(self):
        # Bug: an end of the epoch for a loop that knows none, as of YOLOX and mmengine, which then died.
        ends = [lambda: iter(range(8)), lambda: iter(range(7))]
        for drawn, has_no_end in ((ends[0], False), (ends[1], False), (itertools.count, True)):
            for taken in (0, 3, 8):
                indices = Indices(self.Sampler(drawn, 8))
                first = list(itertools.islice(indices, taken))
                self.assertEqual(indices.have_no_end(), has_no_end)
                self.assertEqual(indices.have_no_end(), has_no_end)
                first += itertools.islice(indices, 7 - min(7, taken))
                self.assertEqual(first[:7], list(range(7)))  # nothing is lost

    def test_is_none_that_starts_again_or_has_no_length(self):
        self.assertFalse(Indices(iter(range(3))).have_no_end())
        indices = Indices(self.Sampler(lambda: iter(range(4)), 4))
        self.assertEqual(list(itertools.islice(indices, 6)), [0, 1, 2, 3, 0, 1])
        self.assertFalse(indices.have_no_end())


class Workers(unittest.TestCase):
    def test_are_pinned_for_as_the_script_says_without_cuda(self):
        # Bug: pinned memory for an accelerator of another maker, switched off by us.
        loader = data.DataLoader(Numbers(), batch_size=4, pin_memory=True)
        for available in (False, True):
            cuda = types.SimpleNamespace(is_available=lambda: available)
            with mock.patch.object(torch, "cuda", cuda):
                self.assertEqual("pin_memory" in settings_of(loader, config(2), torch), available)

    def test_open_for_themselves_what_the_script_has_opened_since(self):
        # Would catch forked workers that read one file, each from where the others left it.
        archive = Archive()
        before = filled_of(archive)
        self.assertIs(unopened(archive, before), archive)
        archive.open()
        self.addCleanup(archive.close)
        fresh = unopened(archive, before)
        self.assertIsInstance(fresh, Archive)
        self.assertEqual((fresh.file, fresh.cache, fresh.samples), (None, None, 8))
        self.assertIs(fresh.labels, archive.labels)  # as without us
        self.assertIsNotNone(archive.file)

    def test_have_a_list_as_it_is(self):
        numbers = [1, 2, 3]
        self.assertIs(unopened(numbers, filled_of(numbers)), numbers)

    def test_get_their_dataset_so_and_the_script_keeps_its_own(self):
        archive = Archive()
        before = filled_of(archive)
        loader = data.DataLoader(archive.open(), batch_size=4)
        self.addCleanup(archive.close)
        made = Lanes(loader, torch, 4, 100, before)
        self.assertIs(made._changed(config()).dataset, archive)
        self.assertIsNone(made._changed(config(workers=2)).dataset.file)
        self.assertIs(loader.dataset, archive)


if __name__ == "__main__":
    unittest.main()
