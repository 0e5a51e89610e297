# SPDX-License-Identifier: Apache-2.0
"""A launch with fixed settings: the script runs as it always does, and its rate is reported."""

import sys
import time

from .batches import batch_size_of, counter_for, length_of
from .device import gpu_of
from .errors import DataErrors, without_bad
from .evaluation import Evaluations
from .gpu_time import uuid_of
from .lanes import inner_of, settings_of
from .passes import StandIn
from .stepping import number_format, settle, use_threads
from .training import AWAITED_S, Updates
from .watch import Reporter, reported

SIGN_S = 1.0  # behind the time of a report that has to wait, to a sign of life
GPU_PERIOD_S = 1.0  # between two looks at the memory of the GPU
NONE = object()  # in the place of a batch


class PlainReporter(Reporter):
    """Tells besides how long the script was outside of its loop, between two passes over it or to
    evaluate within it; what going on from pass to pass takes: the end of one with its workers, and the
    start of the next until its first batch; and, where the script uses a GPU: once which one, and how
    much memory its tensors took at most.

    Where `is_whole()` is false, it tells the last figures again, and counts the time since then as outside
    of the loop. So autotune hears that the script goes on."""

    source = "hook"
    outside_s = 0.0
    passes = 0  # that have begun
    boundary_s = 0.0  # in all, between the passes so far
    start_s = 0.0  # of the first pass, where each has to start its workers
    pass_batches = 0  # of the last pass that is over; until then what the loader says; 0: unknown
    _ending_s = 0.0
    _before = 0  # batches of all passes but the present one
    _looked_s = float("-inf")
    _told_gpu = False
    _told = None  # last, of what counts

    def is_whole(self):
        """Whether the script has stepped on all batches that it took, except for the last one."""
        return True

    def send(self, now_s):
        if self._told is None or self.is_whole():
            self._told = self._so_far(now_s)
        elif now_s < self._due_s + SIGN_S:
            return
        super().send(now_s)

    def evaluates(self, seconds):
        """The script goes on evaluating within its loop; None: no longer. Nothing counts for the rate until
        the step is over."""
        now_s = time.monotonic()
        if seconds is not None and now_s >= self._due_s:
            super().send(now_s)

    def begin(self, seconds, starts_workers):
        """The first batch of a pass is there. Making the iterator and waiting for the batch took so long."""
        if self.passes == 0:
            self.start_s = seconds if starts_workers else 0.0
        else:
            self.boundary_s += self._ending_s + seconds
        self.passes += 1
        self._before = self.batches
        self._ending_s = 0.0

    def add(self, samples, asked_s, now_s):
        """A first pass that gives more batches than the loader has goes on over several epochs: their start is free."""
        if self.passes == 1 and self.batches - self._before == self.pass_batches:
            self.pass_batches = 0
        super().add(samples, asked_s, now_s)

    def end(self, waited_s):
        self._ending_s += waited_s
        if self.passes > 0:
            self.pass_batches = self.batches - self._before

    def _so_far(self, now_s):
        return dict(super()._message(now_s), outside_s=self.outside_s, passes=self.passes,
                    boundary_s=self.boundary_s, start_s=self.start_s, pass_batches=self.pass_batches)

    def _message(self, now_s):
        told = self._told
        return dict(told, t=now_s, outside_s=told["outside_s"] + now_s - told["t"], **self._of_gpu(now_s))

    def _of_gpu(self, now_s):
        torch = sys.modules.get("torch")
        if now_s - self._looked_s < GPU_PERIOD_S or torch is None:
            return {}
        try:
            gpu = gpu_of(torch)
            if gpu is None:
                return {}
            self._looked_s = now_s
            told = {"device_bytes": torch.cuda.max_memory_allocated(gpu)}
            if not self._told_gpu:
                told["gpu"] = uuid_of(torch.cuda, gpu)
        except RuntimeError:  # the script's next step will say it better
            return {}
        self._told_gpu = True
        return told


class Pass(StandIn):
    """An iterator whose batches are reported."""

    def __init__(self, inner, told, go_on):
        """`told` yields the batches of `inner`, and tells autotune; `go_on()` those behind an error, as PyTorch's
        iterators go on."""
        super().__init__(inner)
        self._told = told
        self._go_on = go_on

    def __next__(self):
        try:
            return next(self._told)
        except StopIteration:
            raise
        except Exception:
            self._told = self._go_on()
            raise


class Plain:
    """Gives loader and step of the script the settings that autotune wants, and reports passes."""

    def __init__(self, connect, config, torch, announce=lambda: None, leaves_out=False):
        """`leaves_out`: batches that fail by the script's own data, as while tuning. Else they are the script's end."""
        self._connect = connect
        self._leaves_out = leaves_out
        self.announce = announce  # that a loader is iterated, and may be the one to report
        self.keeps_iterator = False  # the loader has one for all epochs
        self._reporter = None
        self.evaluations = self._updates = None  # once there is a reporter
        self._config = config
        self._torch = torch
        self._format = None  # of all steps, once a loader has the settings
        self._count = None
        self._left_s = None  # when the last pass ended
        self._is_between = False  # two passes
        self._ahead_s = 0.0  # that it stepped on behind that end, not yet counted
        self._errors = DataErrors()

    def iterate(self, loader, iterate):
        self.set_up(loader)
        began_s = time.monotonic()
        made = iterate(loader)
        return self.reported(loader, made, time.monotonic() - began_s)

    def set_up(self, loader):
        """Gives it the settings, once."""
        if self._config is not None and not hasattr(loader, "_feedrate_set"):
            self._apply(loader, self._config)
            object.__setattr__(loader, "_feedrate_set", True)

    def _apply(self, loader, config):
        for name, value in settings_of(loader, config, self._torch).items():
            object.__setattr__(loader, name, value)
        use_threads(self._torch, config["step_threads"])
        if self._format is None:
            self._format = number_format(self._torch, config["device"], config["precision"],
                                         config["own_precision"])
            self._format.__enter__()  # for good: the whole launch is one of these settings

    def reported(self, loader, batches, making_s=None):
        """A pass over the loader whose iterator took so long to make; None: what is left of a pass. Without
        autotune it only goes on."""
        if self._reporter is None:
            self._reporter = self._connect()
            if self._reporter is None:
                return batches
            self.evaluations = Evaluations(time.monotonic, self._reporter.evaluates,
                                           settle=lambda: settle(self._torch),
                                           has_gradients=self._torch.is_grad_enabled)
            self._updates = Updates(lambda: self.evaluations.updated(self._is_between))
            self._awaited_s = time.monotonic() + AWAITED_S
            self._reporter.is_whole = self._is_whole
        inner = iter(batches)
        return Pass(batches, self._pass(loader, inner, making_s), lambda: self._pass(loader, inner, None))

    def _pass(self, loader, batches, making_s):
        """Begins as the script asks for the first batch: what it does between making the iterator and that is
        outside of the loop."""
        reporter = self._reporter
        self._is_between = False
        asked_s = time.monotonic()
        if making_s is not None and self._left_s is not None:
            self._ahead_s = self.evaluations.trained_ahead_s(self._left_s)
            between_s = asked_s - self._left_s - making_s - self._ahead_s
            reporter.outside_s += max(0.0, between_s)  # it may be made before the last pass is left
        readable = without_bad(batches, self._errors) if self._leaves_out else batches
        first = next(readable, NONE)
        now_s = time.monotonic()
        if making_s is not None and first is not NONE:
            starts_workers = loader.num_workers > 0 and not loader.persistent_workers
            reporter.begin(making_s + now_s - asked_s, starts_workers and not self.keeps_iterator)
        if reporter.pass_batches == 0:
            reporter.pass_batches = self._length_of(loader)
        try:
            if first is not NONE:
                reporter.add(self._samples(loader, first), now_s, now_s)
                yield from self._step(first)
                del first  # never two batches at once that would not be there without us
                steps = self._steps(readable)
                yield from reported(steps, lambda batch: self._samples(loader, batch), reporter,
                                    lambda: self._end(steps))
        except Exception:  # of the script's data: it may ask for the next batch
            raise
        except BaseException:  # the script left the pass
            self._leave(loader, batches)
            raise
        self._leave(loader, batches)

    def _steps(self, batches):
        for batch in batches:
            yield from self._step(batch)

    def _step(self, batch):
        self.evaluations.begin_step()
        given_s, step_s = time.monotonic(), None
        try:
            yield batch
            step_s = time.monotonic() - given_s
        finally:  # also where the loop is left
            evaluated_s = self.evaluations.end_step()
            self._reporter.outside_s += evaluated_s
            self._updates.add_batch(step_s - evaluated_s + self._ahead_s if step_s is not None else None)
            self._ahead_s = 0.0

    def _is_whole(self):
        """Of a loop that takes batches before it steps on them: behind an update, with as many taken as behind any."""
        updates = self._updates
        if time.monotonic() > self._awaited_s and updates.are_awaited():
            updates.give_up()
        if not updates.take_at_once():
            return not updates.are_awaited()
        return updates.since == 0 and not updates.updated and not self._is_between

    def _end(self, steps):
        """A pass without an update tells all that it was."""
        steps.close()
        self._is_between = True
        if self._updates.are_awaited():
            self._updates.give_up()

    def _leave(self, loader, batches):
        """The script left the pass, by its end or before. Workers that do not stay end now, in the
        script's own time, as they do without us."""
        left_s = time.monotonic()
        inner = inner_of(batches)
        if not loader.persistent_workers and hasattr(inner, "_shutdown_workers"):
            inner._shutdown_workers()
        self._left_s, self._is_between = time.monotonic(), True
        self._reporter.end(self._left_s - left_s)

    def _samples(self, loader, batch):
        if self._count is None:
            self._count = self._counter_for(loader, batch)
        return self._count(batch)

    def _length_of(self, loader):
        """Not that of a stream: PyTorch warns once it was asked for."""
        iterable = isinstance(loader.dataset, self._torch.utils.data.IterableDataset)
        return 0 if iterable else length_of(loader) or 0

    @staticmethod
    def _counter_for(loader, batch):
        size = batch_size_of(loader, batch)
        return counter_for(batch, size, length_of(loader.dataset)) or (lambda _: size)
