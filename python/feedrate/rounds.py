# SPDX-License-Identifier: Apache-2.0
"""The rounds of a session: what is loaded, what is stepped on, and what is counted.

They are coroutines: each yields batches to the script's loop, and goes on when the loop has done its
step and asks for the next one. So a round reads as what happens, one thing after the other.
"""

import contextlib

from .batches import Replay
from .lanes import kept_random_state
from .pairs import Pairs
from .start_methods import start_method_of
from .training import AWAITED_BATCHES
from .window import Window

REPLAYED, MOST_REPLAYED = 3, 17  # different batches of a replay
WARM_UP_STEPS = 10
WARM_UP_S = 0.5


class Rounds(Pairs):
    """What a session can be asked to run. It has the lanes, and steps."""

    def _coupled(self, config, wanted, meter, other=None, lever=None):
        """The script's loop steps on what the lane loads; `other`: a lane in its place; `lever`: the
        change of the step that is switched on, by its name."""
        began_s = self._now()
        with self._starting(config):
            lane = other or self._lanes.use(config, self._beat)
            lane.lever = lever
            lane.resume(self._beat)
            batch = lane.take()
        first_batch_s = self._now() - began_s
        yield from self._step(batch, lane=lane)
        if epoch := self._whole_epoch(lane, config, wanted):
            return (yield from self._epochs_of(lane, epoch, config, wanted, meter, first_batch_s))
        warm_up = lane.warm_up() if wanted.warm_up is None else wanted.warm_up
        for _ in range(warm_up):
            yield from self._step(lane.take(), lane=lane)
        yield from self._await_updates(lane.take, wanted, lane)
        window = Window(wanted, lane.workers, lane.ready(), self._updates)
        meter.begin(lane.pids(), self._lanes.others(lane))
        self._round = lambda: meter.end(window, first_batch_s, 0) if window.is_enough() else None
        while True:
            asked_s = self._now()
            batch = lane.take()
            got_s = self._now()
            step_s = yield from self._step(batch, meter.step_times, lane)
            window.leave_out(self._outside_s)
            if not self._outside:
                window.add(self._samples(batch, config), got_s - asked_s, step_s)
            if window.was_warm_up(lane.ready):
                window.begin(lane.ready())
                meter.begin(lane.pids(), self._lanes.others(lane))
            if window.is_over():
                break
        self._round = None
        answer = meter.end(window, first_batch_s, lane.ready())
        self._footprint.measure(config, lane.pids(), self._lanes.others(lane), lane.ready())
        lane.keep_level()
        self._boundaries.add_share(answer, lane, config, config["batch"] / self._batch)
        return answer

    def _whole_epoch(self, lane, config, wanted):
        """Batches of an epoch, where rounds of the lane are whole ones; else 0."""
        batches = self._boundaries.whole_epoch(lane, config, config["batch"] / self._batch, wanted)
        if batches and self._lanes.have_no_end():  # the script does not expect an end either
            self._epochs.have_no_end()
            batches = lane.by_epochs[config["prefetch"]] = 0
        return batches

    def _epochs_of(self, lane, batches, config, wanted, meter, first_batch_s):
        """Whole epochs: each of the lane's begins with one of the script's, whose present one is
        finished with batches that are there already."""
        replay = yield from self._replay_of(config)
        while not self._epochs.is_over() and not self._epochs.leaves_early:
            yield from self._step(replay.take())
        self._boundaries.begin(lane, config, batches)
        window = Window(wanted, batches, 0)
        starts_s = 0.0
        while not window.is_over():
            if self._epochs.is_over():
                yield from self._between_epochs(None)
            if window.batches == 0:
                meter.begin(lane.pids(), self._lanes.others(lane))
            for at in range(batches):
                asked_s = self._now()
                batch = self._first_of_epoch(lane) if at == 0 else lane.take()
                got_s = self._now()
                step_s = yield from self._step(batch, meter.step_times)
                window.leave_out(self._outside_s)
                window.add(self._samples(batch, config), got_s - asked_s,
                           0.0 if self._outside else step_s)
                starts_s += got_s - asked_s if at == 0 else 0.0
                if at == batches // 2:
                    self._footprint.measure(config, lane.pids(), self._lanes.others(lane),
                                            lane.ready())
        answer = meter.end(window, first_batch_s, 0)
        answer["boundary_s"] = starts_s
        return answer

    def _first_of_epoch(self, lane):
        with kept_random_state(self._torch):
            return lane.take()

    @contextlib.contextmanager
    def _starting(self, config):
        """The start of workers that each import the script and PyTorch again takes seconds, and tells
        nothing of the rate: it is no part of the budget."""
        takes_long = start_method_of(self._loader, config) != "fork" and not self._lanes.has(config)
        if config["workers"] == 0 or not takes_long:
            yield
            return
        self._channel.send({"outside": True, "patience": 1})
        try:
            yield
        finally:
            self._channel.send({"outside": False})

    def _drained(self, config, wanted, meter):
        """The lane alone: its batches are thrown away."""
        began_s = self._now()
        with self._starting(config):
            lane = self._lanes.use(config, self._beat)
            lane.resume(self._beat, empty=True)
            batch = lane.take()
        first_batch_s = self._now() - began_s
        if epoch := self._whole_epoch(lane, config, wanted):
            return self._drained_epochs(lane, epoch, config, wanted, meter, first_batch_s)
        for _ in range(lane.workers):
            lane.take()
            self._beat()
        window = Window(wanted, lane.workers, lane.ready())
        meter.begin(lane.pids(), self._lanes.others(lane))
        while not window.is_over():
            asked_s = self._now()
            batch = lane.take()
            window.add(self._samples(batch, config), self._now() - asked_s, 0.0)
            if window.was_warm_up(lane.ready):
                window.begin(lane.ready())
                meter.begin(lane.pids(), self._lanes.others(lane))
            self._beat()
        answer = meter.end(window, first_batch_s, lane.ready())
        self._boundaries.add_share(answer, lane, config, config["batch"] / self._batch)
        return answer
        yield  # makes this a coroutine like the others

    def _drained_epochs(self, lane, batches, config, wanted, meter, first_batch_s):
        """Whole epochs of the lane alone."""
        self._boundaries.begin(lane, config, batches)
        window = Window(wanted, batches, 0)
        starts_s = 0.0
        meter.begin(lane.pids(), self._lanes.others(lane))
        while not window.is_over():
            for at in range(batches):
                asked_s = self._now()
                batch = self._first_of_epoch(lane) if at == 0 else lane.take()
                wait_s = self._now() - asked_s
                window.add(self._samples(batch, config), wait_s, 0.0)
                starts_s += wait_s if at == 0 else 0.0
                self._beat()
        answer = meter.end(window, first_batch_s, 0)
        answer["boundary_s"] = starts_s
        return answer

    def _replayed(self, config, wanted, meter):
        """The script's loop steps on batches that are there already; all workers sleep."""
        replay = yield from self._replay_of(config)
        self._lanes.quiet(None, self._beat)
        yield from self._warm_up(replay, config, wanted)
        yield from self._await_updates(replay.take, wanted)
        wanted.max_batches = min(wanted.max_batches, self._epochs.most_steps())
        window = Window(wanted, 1, 0, self._updates)
        meter.begin([], self._lanes.others(None))
        self._round = lambda: meter.end(window, 0.0, 0) if window.is_enough() else None
        while not window.is_over():
            batch = replay.take()
            step_s = yield from self._step(batch, meter.step_times)
            window.leave_out(self._outside_s)
            if not self._outside:
                window.add(self._samples(batch, config), 0.0, step_s)
            if window.was_warm_up(lambda: 0):
                window.begin(0)
                meter.begin([], self._lanes.others(None))
        self._round = None
        return meter.end(window, 0.0, 0)

    def _warm_up(self, replay, config, wanted):
        """A step; with threads or a precision that were not seen before, some of them. Where
        several processes train together all take the same number, whatever the time."""
        kind = (config["batch"], config["step_threads"], config["precision"])
        at_once = self._updates.at_once() if wanted.exactly == 0 else self._updates.batches_each() or 1
        steps = 1 if kind in self._warm else max(WARM_UP_STEPS, at_once)
        self._warm.add(kind)
        end_s = self._now() + (WARM_UP_S if wanted.exactly == 0 else float("inf"))
        for step in range(steps):
            yield from self._step(replay.take())
            if self._now() > end_s:
                return

    def _await_updates(self, take, wanted, lane=None):
        """Steps until it is known how many batches an update has, where several processes train
        together: all take the same number of steps, and the next time a multiple of those."""
        left = AWAITED_BATCHES if wanted.exactly > 0 else 0
        while left > 0 and self._updates.are_awaited(exactly=True):
            yield from self._step(take(), lane=lane)
            left -= 1
            if left == 0:
                self._updates.give_up()

    def _replay_of(self, config):
        """Some batches of this size, in memory of this kind: a step that copies them to a GPU takes
        longer from what is not pinned. Of those that a loop takes at once, or one ahead, no two are
        the same."""
        kind = (config["batch"], config["pinned"])
        number = min(max(REPLAYED, self._updates.at_once() + 1), MOST_REPLAYED)
        if kind not in self._replays or len(self._replays[kind]) < number:
            lane = self._lanes.use(config, self._beat)
            self._replays[kind] = Replay([lane.take() for _ in range(number)])
        return self._replays[kind]
        yield
