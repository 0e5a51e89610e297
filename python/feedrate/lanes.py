# SPDX-License-Identifier: Apache-2.0
"""Lanes: copies of the script's DataLoader with other settings, that take turns in one process.

A lane that is not used is parked: its workers fill their queue and then sleep. When it goes on,
what was loaded meanwhile is thrown away down to what lay ready at the end of its last round with
the step: nothing is flattered.
"""

import collections
import copy
import itertools
import multiprocessing
import os
import time
import weakref

from . import start_methods, worker_info
from .batches import are_equal, copied, length_of

MOST_PARKED_WORKERS = 64
MOST_DRAWN = 1000000  # indices, to find the end of a pass
OWN = "own"  # the key of the lane that the script had before any other
MOST_WAIT_S = 1.0
NAP_S = 1e-3
OF_CONFIG = 8  # batches that fail with a config, and none with the script's own settings, until it is to blame
SHARED_MEMORY = "/dev/shm"


class Indices:
    """What the sampler of the script draws, without end: the lanes share it, batch by batch.

    A sampler that keeps a state, or was written by the user, so sees one reader, as in the script.
    """

    def __init__(self, sampler):
        self._sampler = sampler
        self._drawn = iter(sampler)
        self._alive = False
        self._passed = False  # the end of a pass was met
        self._count = 0  # drawn in the first pass
        self._ahead = collections.deque()  # drawn, and not given yet

    def __iter__(self):
        return self

    def __next__(self):
        if self._ahead:
            self._alive = True
            return self._ahead.popleft()
        for index in self._drawn:
            self._alive = True
            self._count += not self._passed
            return index
        self._passed = True
        if not self._alive:
            raise StopIteration
        self._alive = False
        self._drawn = iter(self._sampler)
        return next(self)

    def have_no_end(self):
        """Whether the sampler gives more than twice its length in a pass, as one that never ends."""
        length = length_of(self._sampler)
        while length is not None and not self._passed and self._count <= 2 * length:
            for index in self._drawn:
                self._ahead.append(index)
                self._count += 1
                break
            else:
                self._passed = True
        return length is not None and not self._passed


    def length_of_pass(self, most):
        """How much the first pass gives; None if it does not end within `most` indices. What is drawn here is given
        later."""
        if self._drawn is self._sampler:  # a pass that has begun before
            return None
        left = most
        while left >= 0:
            try:
                drawn = next(self._drawn, self)
            except Exception:  # the lanes meet it again
                return None
            if drawn is self:
                self._passed = True
                return self._count
            self._ahead.append(drawn)
            self._count += 1
            left -= length_of(drawn) or 1
        return None


class Batches:
    """A batch sampler of any size over shared indices."""

    def __init__(self, indices, size):
        self._indices = indices
        self._size = size

    def __iter__(self):
        return self

    def __next__(self):
        return [next(self._indices) for _ in range(self._size)]


class Passes:
    """A sampler whose passes go on where the last one ended; lengths are those of the one it stands
    for."""

    def __init__(self, drawn):
        self._drawn = drawn
        self.batches = None  # of a pass; None: it has no end

    def __iter__(self):
        return itertools.islice(self._drawn, self.batches)


def has_plain_batches(loader, data):
    """Whether batches are runs of the sampler, so that they may be of another size. A batch sampler
    that the script made itself is kept: a loader does not take another size beside it."""
    return loader.batch_size is not None and type(loader.batch_sampler) is data.BatchSampler


def key_of(config):
    """What tells lanes apart: a lane can load more or less ahead, and threads and precision of the
    step are none of the loader's."""
    return (config["workers"], config["pinned"], config["batch"], config["start_method"])


def workers_of(config, torch):
    """The attributes of a DataLoader that say how it loads."""
    changes = {
        "num_workers": config["workers"],
        "prefetch_factor": config["prefetch"] if config["workers"] > 0 else None,
        "_iterator": None,
    }
    if torch.cuda.is_available():  # on other accelerators it stays as the script has it
        changes["pin_memory"] = config["pinned"]
    if config["workers"] == 0:
        changes.update(timeout=0, persistent_workers=False,
                       _DataLoader__multiprocessing_context=None)
    elif config["start_method"] != start_methods.OWN:
        context = multiprocessing.get_context(config["start_method"])
        changes["_DataLoader__multiprocessing_context"] = context
    return changes


def settings_of(loader, config, torch):
    """All that a DataLoader is to be given, to be as if the script had made it so."""
    changes = workers_of(config, torch)
    if config["workers"] > 0:
        changes["persistent_workers"] = bool(config["persistent"])
    if loader.batch_size and config["batch"] != loader.batch_size:
        sampler = loader.sampler
        batches = torch.utils.data.BatchSampler(sampler, config["batch"], loader.drop_last)
        changes.update(batch_size=config["batch"], batch_sampler=batches)
    return changes


def attributes_of(dataset):
    """What it holds now."""
    return dict(getattr(dataset, "__dict__", {}))


def reference_to(thing):
    """A weak one, where Python has one for its type: not for a list."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: thing


def filled_of(dataset):
    """Of each of its members, whether it holds something now. The members themselves are the script's to free."""
    return {name: value is not None for name, value in attributes_of(dataset).items()}


def unopened(dataset, before):
    """The dataset for workers; `before`: its filled_of() when its loader was made.

    Many open their file at their first sample. Where the script's own process took samples, that is
    done, and an open file is not for two processes: workers are to open it for themselves.
    """
    now = attributes_of(dataset)
    opened = [name for name, value in now.items()
              if not before.get(name) and callable(getattr(value, "close", None))]
    if not opened:
        return dataset
    for name in opened:
        del now[name]
        if name in before:
            now[name] = None
    fresh = object.__new__(type(dataset))
    fresh.__dict__.update(now)
    return fresh


class Taken:
    """Batches that were taken with a config, counted as those of the script's own size, and how many failed."""

    def __init__(self):
        self.batches = self.failed = 0

    def add(self, times, failed=0):
        self.batches += times
        self.failed += failed

    def are_worse_than(self, own):
        """Whether the config fails, and not the data: of as many batches with the script's `own` settings none failed."""
        return self.failed >= OF_CONFIG and own.failed == 0 and own.batches >= self.batches


class Copies:
    """Looks whether each worker of a stream reads all of it: then the first batches of all workers are the same, the
    next one is another, and no worker asked which one it is. Parts of a stream can begin alike."""

    def __init__(self, workers):
        self._left = workers + 1  # until that batch
        self._first = None
        worker_info.forget()

    def see(self, batch):
        """A batch in its turn, from the first. Raises ValueError where it shows that."""
        if self._left == 0:
            return
        self._left -= 1
        if self._first is None:
            self._first = copied(batch)
            return
        is_same, is_next = are_equal(self._first, batch), self._left == 0
        if is_same and not is_next:
            return
        self._left, self._first = 0, None
        if is_next and not is_same and not worker_info.was_asked():
            raise ValueError(
                "each worker reads the whole stream, so every sample is loaded once per worker: the __iter__ of the "
                "dataset must give a worker its own part (torch.utils.data.get_worker_info)")


class UsedUp(Exception):
    """No batch is left, not even in a new pass, as of a dataset that iterates but once."""


def inner_of(iterator):
    """PyTorch's own iterator, also where the loader's class wraps it, as those of PyTorch Geometric do."""
    return iterator if hasattr(iterator, "_task_info") else getattr(iterator, "iterator", iterator)


class Lane:
    """One DataLoader with its iterator. How many batches its workers load ahead changes live, since
    starting them takes longer than a round."""

    def __init__(self, loader, iterator=None, times=1, taken=None, may_go_on=lambda error: False, went_well=lambda: None,
                 copies=None):
        """`iterator`: one that is there already. `times` as large as the script's are batches. They are counted in
        `taken`. `may_go_on` is asked whether the next batch is taken where one failed, and `went_well` told where none
        did. `copies` sees each batch."""
        self._made_s = time.perf_counter()
        self._loader = loader
        self._workers = loader.num_workers
        self._prefetch = loader.prefetch_factor or 0
        self._use(loader._get_iterator() if iterator is None else iterator)
        self._times = times
        self._taken = Taken() if taken is None else taken
        self._may_go_on = may_go_on
        self._went_well = went_well
        self._copies = copies
        self._has_given = False
        self.stays = True  # whether its workers stay from epoch to epoch
        self.start_s = 0.0  # from its making to its first batch
        self.lever = None  # a change of the step in its rounds
        self._levels = {}  # by prefetch and lever: batches that lay ready behind its last round with the step
        self.used = 0  # when it was used last; counts up
        self.by_epochs = {}  # by prefetch: batches of an epoch, where its rounds are whole ones

    def _use(self, iterator):
        """Batches come from it; workers are those of PyTorch's iterator within it."""
        self._iterator, self._inner = iterator, inner_of(iterator)
        if self._workers > 0 and not hasattr(self._inner, "_task_info"):
            raise ValueError("no workers of PyTorch can be found in the iterator, a %s" % type(iterator).__name__)

    @property
    def workers(self):
        return self._workers

    @property
    def capacity(self):
        """Batches that it loads ahead."""
        return self._workers * self._prefetch

    @property
    def ahead(self):
        """The same, as batches of the script's own size."""
        return self.capacity * self._times

    def warm_up(self):
        """Batches until its workers are at work as in the midst of a run: once round them, where it
        is new, loads another number ahead than before, or can't keep up with the step.

        Workers of a parked lane sleep, and would all begin at once, while in a run each is
        somewhere else: the step would wait for the slowest of them. Where batches lie ready it
        waits for none.
        """
        keeps_up = self._kind() in self._levels and 2 * self.ready() >= self.capacity
        return 0 if keeps_up else self._workers

    def pids(self):
        return [worker.pid for worker in getattr(self._inner, "_workers", [])]

    def ready(self):
        """Batches that lie ready."""
        if self._workers == 0:
            return 0
        iterator = self._inner
        arrived = sum(1 for info in list(iterator._task_info.values()) if len(info) == 2)
        queues = {id(queue): queue for queue in (iterator._data_queue,
                                                 iterator._worker_result_queue)}
        return arrived + sum(queue.qsize() for queue in queues.values())

    def is_full(self):
        """Whether it has loaded all that it may: then its workers sleep."""
        return self.ready() >= self._outstanding()

    def _outstanding(self):
        """Batches that were ordered from the workers, and not yet taken."""
        return len(self._inner._task_info) if self._workers > 0 else 0

    def take(self):
        """The next batch; an epoch that ends is followed by the next. Raises UsedUp where that has
        none, and ValueError where it has none of this size."""
        try:
            batch = self._next()
        except StopIteration:
            batch = self._first_of_next()
        if not self._has_given:
            self.start_s = time.perf_counter() - self._made_s
        self._has_given = True
        if self._copies is not None:
            self._copies.see(batch)
        return batch

    def _next(self):
        """Of the present pass; without those that failed, where that may be. PyTorch's iterators go
        on behind an error."""
        while True:
            try:
                batch = next(self._iterator)
            except StopIteration:
                raise
            except Exception as error:
                self._taken.add(self._times, failed=1)
                if not self._may_go_on(error):
                    raise
            else:
                self._taken.add(self._times)
                self._went_well()
                return batch

    def _first_of_next(self):
        self._restart()
        try:
            return self._next()
        except StopIteration:
            pass
        if self._times > 1 and not self._has_given:
            raise ValueError("the data is smaller than one batch of this size")
        raise UsedUp

    def _restart(self):
        if self._workers > 0 and self.stays:
            self._iterator._reset(self._loader)
            return
        if self._workers > 0:
            self._inner._shutdown_workers()
        self._use(self._loader._get_iterator())

    def finish_epoch(self, beat):
        """Takes all that was ordered, as a loop does before an epoch ends."""
        self._take_surplus(0, beat)

    def set_pass(self, batches):
        """Passes are of so many batches from the next on; None: they have no end."""
        passes = self._loader._index_sampler
        if isinstance(passes, Passes):
            passes.batches = batches

    def begin_epoch(self):
        """Goes on to the next epoch as the script's loader would, until its first batch is there."""
        self._first_of_next()

    def load_ahead(self, prefetch, beat):
        """Has each worker load so many batches ahead from now on, as if it had been made so."""
        if self._workers == 0 or prefetch == self._prefetch:
            return
        self._prefetch = self._inner._prefetch_factor = prefetch
        self._take_surplus(self.capacity, beat)
        self._recount_outstanding()
        for _ in range(self.capacity - self._outstanding()):
            self._inner._try_put_index()

    def _recount_outstanding(self):
        """Counts the batches that are still to come. PyTorch also counts those ordered from a worker whose part of a
        stream is over, which never come: where less is loaded ahead, its own check of the number would fail."""
        iterator = self._inner
        iterator._tasks_outstanding = sum(len(info) == 1 and iterator._workers_status[info[0]]
                                          for info in list(iterator._task_info.values()))

    def _take_surplus(self, most, beat):
        """Takes what was ordered beyond `most` batches, and orders nothing meanwhile."""
        if self._workers == 0:
            return
        iterator = self._inner
        iterator._try_put_index = lambda: None
        try:
            while self._outstanding() > most:
                self._next()
                beat()
        except StopIteration:
            pass  # the end of an epoch: nothing is ordered any more
        finally:
            del iterator._try_put_index

    def keep_level(self):
        """A round with the step is over: the next one begins with as many batches ready."""
        self._levels[self._kind()] = self.ready()

    def _kind(self):
        """Of its rounds: a faster step finds fewer batches ready."""
        return self._prefetch, self.lever

    def resume(self, beat, empty=False):
        """Throws away what was loaded since its last round with the step; all that is ready, where
        `empty`. What lay ready then and is gone, because it loaded less ahead meanwhile or was
        drained, is waited for."""
        most = self.capacity
        level = 0 if empty else self._levels.get(self._kind(), 0)
        while most > 0 and self.ready() > level:
            self.take()
            most -= 1
            beat()
        end_s = time.perf_counter() + MOST_WAIT_S
        while self.ready() < level and not self.is_full() and time.perf_counter() < end_s:
            time.sleep(NAP_S)
            beat()

    def close(self):
        """Ends its workers."""
        shut_down = getattr(self._inner, "_shutdown_workers", None)
        self._iterator = self._inner = None
        if shut_down is not None:
            shut_down()


class Lanes:
    """Makes lanes as they are asked for, and keeps them for the next time."""

    def __init__(self, loader, torch, batch, batch_bytes, before=None, errors=None, own=None):
        """`errors` are those of the data; None: each is the config's. `own`: the key of the script's own settings."""
        self._loader = loader
        self._errors = errors
        self._own = own
        self._taken = collections.defaultdict(Taken)  # by key
        self._before = filled_of(loader.dataset) if before is None else before
        self._torch = torch
        self._data = torch.utils.data
        self._batch = batch
        self._batch_bytes = batch_bytes
        self._iterable = isinstance(loader.dataset, self._data.IterableDataset)
        self._indices = None
        self._lanes = {}
        self._settled = None  # the key of a lane that is not waited for
        self._turn = 0
        self._room_bytes = _shared_memory_room() / 2

    def keep(self, iterator):
        """The iterator that the script had so far: a lane that nobody uses, and the first to make
        room. Its workers go on until they have loaded all that they may."""
        if hasattr(inner_of(iterator), "_task_info"):
            self._lanes[OWN] = Lane(self._loader, iterator)

    def has(self, config):
        """Whether its workers are there already."""
        return key_of(config) in self._lanes

    def use(self, config, beat):
        """The lane of a config: an old one, or a new one without a ready batch. Others sleep."""
        key = key_of(config)
        self.quiet(key, beat)
        self._turn += 1
        self._make_room(config)
        if key not in self._lanes:
            self._lanes[key] = self._make(config)
            beat()
        lane = self._lanes[key]
        lane.set_pass(None)
        lane.load_ahead(config["prefetch"], beat)
        lane.stays = bool(config["persistent"])
        lane.used = self._turn
        return lane

    def quiet(self, key, beat):
        """Waits until the workers of all other lanes have filled their queues, and sleep. Those
        that take longer than a second for it are counted in `parked_cpu_s`. The script's own are
        waited for once: those of a stream that ends never answer all that was ordered."""
        end_s = time.perf_counter() + MOST_WAIT_S
        for other, lane in self._lanes.items():
            if other in (key, self._settled):
                continue
            while not lane.is_full() and time.perf_counter() < end_s:
                time.sleep(NAP_S)
                beat()
        self._settled = OWN

    def drop(self, config):
        """Ends the lane of a config, as after a failure."""
        lane = self._lanes.pop(key_of(config), None)
        if lane is not None:
            lane.close()

    def have_no_end(self):
        """Whether what the lanes load ends never, though its sampler has a length."""
        return self._indices is not None and self._indices.have_no_end()

    def batches_of_pass(self):
        """How many batches a sampler of batches without a length gives; None if its passes don't end, or if that is
        not known."""
        samples = length_of(self._loader.dataset)
        if self._iterable or samples is None or self._loader.batch_sampler is None:
            return None
        if has_plain_batches(self._loader, self._data):
            return None
        return self._shared(self._loader.batch_sampler).length_of_pass(min(2 * samples, MOST_DRAWN))

    def others(self, lane):
        """The processes of parked lanes."""
        return [pid for other in self._lanes.values() if other is not lane for pid in other.pids()]

    def close(self):
        for lane in self._lanes.values():
            lane.close()
        self._lanes = {}

    def _make_room(self, config):
        """Ends the lanes that were not used for longest, until that of the config fits in."""
        workers = config["workers"]
        ahead = workers * config["prefetch"] * self._times(config)
        others = {key: lane for key, lane in self._lanes.items() if key != key_of(config)}
        while others:
            all_workers = workers + sum(lane.workers for lane in others.values())
            all_ahead = ahead + sum(lane.ahead for lane in others.values())
            fits = all_ahead * self._batch_bytes <= self._room_bytes
            if fits and all_workers <= MOST_PARKED_WORKERS:
                return
            oldest = min(others, key=lambda key: others[key].used)
            del others[oldest]
            self._lanes.pop(oldest).close()

    def _make(self, config):
        key = key_of(config)
        with kept_random_state(self._torch):
            return Lane(self._changed(config), times=self._times(config), taken=self._taken[key],
                        may_go_on=lambda error: self._may_go_on(error, key), went_well=self._went_well,
                        copies=self._copies_of(config))

    def _copies_of(self, config):
        """None unless the dataset is a stream, the script has at most one worker, and this config has several."""
        is_new = self._loader.num_workers < 2 <= config["workers"]
        return Copies(config["workers"]) if self._iterable and is_new else None

    def _went_well(self):
        if self._errors is not None:
            self._errors.went_well()

    def _may_go_on(self, error, key):
        """Whether the next batch may be taken, where one failed with a config."""
        if self._errors is None or not self._errors.may_go_on(error, key):
            return False
        if not self._taken[key].are_worse_than(self._taken[self._own]):
            return True
        self._errors.forget(key)
        return False

    def _times(self, config):
        return config["batch"] / self._batch

    def _changed(self, config):
        """A shallow copy of the script's loader: what a subclass adds stays as it is."""
        loader = copy.copy(self._loader)
        changes = workers_of(config, self._torch)
        changes.update(self._drawing(config["batch"]), persistent_workers=config["workers"] > 0,
                       _feedrate_seen=None)  # it is none of the script's: the director leaves it alone
        if config["workers"] > 0:
            changes["dataset"] = unopened(self._loader.dataset, self._before)
        for name, value in changes.items():
            object.__setattr__(loader, name, value)
        return loader

    def _drawing(self, batch):
        """Where a lane's indices come from; nothing to change where the dataset itself iterates."""
        if self._iterable:
            return self._iterable_batches(batch) if batch != self._batch else {}
        loader = self._loader
        if loader.batch_sampler is None:
            return {"sampler": Passes(self._shared(loader.sampler))}
        if has_plain_batches(loader, self._data):
            samples = self._shared(loader.batch_sampler.sampler)
            return {"batch_sampler": Passes(Batches(samples, batch))}
        return {"batch_sampler": Passes(self._shared(loader.batch_sampler))}

    def _iterable_batches(self, batch):
        loader = self._loader
        return {"batch_sampler": self._data.BatchSampler(loader.sampler, batch, loader.drop_last)}

    def _shared(self, sampler):
        if self._indices is None:
            self._indices = Indices(sampler)
        return self._indices


class kept_random_state:
    """Making an iterator draws a seed from the script's generator: that shall not be noticed."""

    def __init__(self, torch):
        self._torch = torch

    def __enter__(self):
        self._state = self._torch.get_rng_state()

    def __exit__(self, *_):
        self._torch.set_rng_state(self._state)


def _shared_memory_room():
    """Bytes that are free where workers put their batches."""
    try:
        status = os.statvfs(SHARED_MEMORY)
    except OSError:
        return float("inf")
    return status.f_bavail * status.f_frsize

