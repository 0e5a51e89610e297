# SPDX-License-Identifier: Apache-2.0
"""How well fed the loops of a training script are, said at its end. Changes nothing in it.

Iterators stay the objects that PyTorch made: their class' __next__ reads the clock around its work.
"""

import atexit
import functools
import os
import sys
import time
import weakref

from . import source
from .batches import batch_size_of, batches_of, counter_for, length_of
from .lanes import inner_of

WELL_FED = 0.05  # the share of its time that a loop may wait
FEWEST_BATCHES = 3  # of which anything can be said
MINOR = 0.05  # the share of the time of all loops below which a loop is not worth changing


class Epoch:
    """One iteration over a DataLoader: from the script's first question for a batch to its last."""

    def __init__(self, loop, made_s, around):
        self._loop = loop
        self._around = around  # (epoch, its batches so far) of the loops that this one lies in
        self._asides = []  # (batches so far, seconds) of the loops that lay in this one
        self.made_s = made_s  # seconds that it took to make the iterator
        self.first_s = None  # the time of the first question
        self.last_s = None
        self.first_wait_s = 0.0
        self.wait_s = 0.0
        self.batches = 0
        self.samples = 0
        self.finished = False

    def add(self, asked_s, now_s, batch):
        """A batch that was asked for, and is there now."""
        if self.first_s is None:
            self._begin(asked_s, now_s)
        self.wait_s += now_s - asked_s
        self.last_s = now_s
        self.batches += 1
        self.samples += self._loop.count(batch) or 0

    def _begin(self, asked_s, now_s):
        self.first_s = asked_s
        self.first_wait_s = self.made_s + now_s - asked_s

    def finish(self, asked_s, now_s):
        """No batch was left, or the loader failed."""
        if self.finished:
            return
        if self.first_s is None:
            self._begin(asked_s, now_s)
        self.wait_s += now_s - asked_s
        self.last_s = now_s
        self.finished = True
        self._loop.close(self)
        for epoch, batches in self._around:
            if epoch.batches == batches:
                epoch._asides.append((batches, self.last_s - self.first_s))

    @property
    def was_loop(self):
        """One batch, and no more asked for, is a look at the data."""
        return self.finished or self.batches > 1

    @property
    def loop_s(self):
        """Seconds of the loop, without those of loops within, as of a validation."""
        if self.first_s is None:
            return 0.0
        asides_s = sum(seconds for batches, seconds in self._asides
                       if batches < self.batches or self.finished)
        return self.made_s + self.last_s - self.first_s - asides_s


class Loop:
    """All iterations over the DataLoaders that one place in the script makes with one setting."""

    def __init__(self, site, settings, data_length, loader):
        self.site = site
        self.settings = settings
        self.name = site.name if site else None
        self.open = None
        self.epochs = 0
        self.batches = 0
        self.samples = 0
        self.wait_s = 0.0
        self.loop_s = 0.0
        self.first_batch_s = None
        self._starts_s = []  # seconds to the first batch of each epoch
        self._ends_s = 0.0
        self._data_length = data_length
        self._loader = weakref.ref(loader)  # until its first batch was counted
        self.count = self._first_count
        self.has_samples = True

    def _first_count(self, batch):
        """Samples in the first batch; decides how they are counted from then on."""
        loader = self._loader()
        size = self.settings.get("batch_size") if loader is None else batch_size_of(loader, batch)
        counter = counter_for(batch, size, self._data_length)
        self.has_samples = counter is not None or isinstance(size, int)
        self.count = counter or (lambda _: size if self.has_samples else 1)
        return self.count(batch)

    def close(self, epoch):
        """Adds up an epoch that is over, or that the script has left."""
        if self.open is epoch:
            self.open = None
        if epoch.batches == 0 or epoch.first_s is None:
            return
        if self.first_batch_s is None:
            self.first_batch_s = epoch.first_wait_s
        if not epoch.was_loop:
            return
        self.epochs += 1
        self.batches += epoch.batches
        self.samples += epoch.samples
        self.wait_s += epoch.made_s + epoch.wait_s
        self.loop_s += epoch.loop_s
        self._starts_s.append(epoch.first_wait_s)

    @property
    def waiting(self):
        """The share of the loop's time in which it waited for data."""
        return min(1.0, self.wait_s / self.loop_s) if self.loop_s > 0 else 0.0

    @property
    def starts_share(self):
        """The share of the waiting that was for the first batch of an epoch."""
        return sum(self._starts_s) / self.wait_s if self.wait_s > 0 else 0.0

    @property
    def boundary_s(self):
        """What the first batch of a later epoch costs beyond any other batch; None before one."""
        if len(self._starts_s) < 2:
            return None
        others = self.batches - self.epochs
        usual_s = (self.wait_s - sum(self._starts_s)) / others if others > 0 else 0.0
        later = self._starts_s[1:]
        return max(0.0, sum(later) / len(later) - usual_s)


class ByIdentity:
    """Values for objects that are not kept alive by it."""

    def __init__(self):
        self._held = {}

    def put(self, thing, value):
        try:
            self._held[id(thing)] = weakref.ref(thing), value
        except TypeError:  # lists and tuples can't be watched
            pass

    def find(self, thing):
        reference, value = self._held.get(id(thing), (None, None))
        return value if reference is not None and reference() is thing else None


class Health:
    """Looks at all DataLoaders of this process."""

    def __init__(self, clock=time.perf_counter):
        self._clock = clock
        self._owner = os.getpid()
        self._loops = {}
        self._sites = ByIdentity()
        self._sites_of_data = ByIdentity()
        self.saw_torch = False
        self._iterators = ()  # classes
        self._begun = 0  # epochs

    def attach(self, module):
        """Lets the classes of torch.utils.data.dataloader tell what they do."""
        self.saw_torch = True
        self.attach_iterators(module._BaseDataLoaderIter)
        self._attach_loaders(module.DataLoader)

    def _attach_loaders(self, loader_class):
        """Also those that are derived from it and have an `__iter__` of their own, as torchdata's."""
        make = loader_class.__init__

        @functools.wraps(make)
        def noted_make(loader, *args, **kwargs):
            make(loader, *args, **kwargs)
            self.note(loader)

        def derived(cls, **kwargs):
            super(loader_class, cls).__init_subclass__(**kwargs)
            if "__iter__" in vars(cls):
                cls.__iter__ = self._noted(vars(cls)["__iter__"])

        loader_class.__init__, loader_class.__iter__ = noted_make, self._noted(loader_class.__iter__)
        loader_class.__init_subclass__ = classmethod(derived)

    def _noted(self, iterate):
        """`iterate`, whose iterator begins an epoch, unless that of the class below it did so."""

        @functools.wraps(iterate)
        def noted_iterate(loader):
            before, began_s = self._begun, self._clock()
            iterator = iterate(loader)
            inner = inner_of(iterator)
            if before == self._begun and os.getpid() == self._owner and isinstance(inner, self._iterators):
                self._begun += 1
                inner._feedrate_epoch = self.begin(loader, self._clock() - began_s)
            return iterator

        return noted_iterate

    def attach_iterators(self, iterator_class):
        """Lets the iterators of this class tell of their batches."""
        self._iterators += (iterator_class,)
        take, clock = iterator_class.__next__, self._clock

        @functools.wraps(take)
        def noted_take(iterator):
            epoch = iterator._feedrate_epoch
            if epoch is None:
                return take(iterator)
            asked_s = clock()
            try:
                batch = take(iterator)
            except BaseException:
                epoch.finish(asked_s, clock())
                raise
            epoch.add(asked_s, clock(), batch)
            return batch

        iterator_class._feedrate_epoch = None
        iterator_class.__next__ = noted_take

    def note(self, loader):
        """A DataLoader was made. One that a library makes of the script's own counts as that."""
        site = source.call_site()
        original = self._sites_of_data.find(loader.dataset)
        if original is not None and (site is None or not site.is_loader_call):
            site = original
        self._sites.put(loader, site)
        self._sites_of_data.put(loader.dataset, site)

    def begin(self, loader, made_s):
        """The script begins to iterate; it took `made_s` seconds to make the iterator."""
        loop = self._loop_of(loader)
        if loop.open is not None:
            loop.close(loop.open)
        around = [(other.open, other.open.batches) for other in self._loops.values() if other.open]
        loop.open = Epoch(loop, made_s, around)
        return loop.open

    def _loop_of(self, loader):
        site = self._sites.find(loader)
        settings = settings_of(loader)
        key = (str(site), site and site.end, batches_of(loader), str(settings))
        if key not in self._loops:
            self._loops[key] = Loop(site, settings, length_of(loader.dataset), loader)
        return self._loops[key]

    def loops(self):
        """What was seen so far, the longest first."""
        for loop in self._loops.values():
            if loop.open is not None:
                loop.close(loop.open)
        return sorted(self._loops.values(), key=lambda loop: -loop.loop_s)

    def tell(self, command):
        """Prints what was seen; a child made by fork leaves that to its parent."""
        if os.getpid() == self._owner and sys.stderr is not None:
            print("\n".join(text_of(self, command)), file=sys.stderr)


def settings_of(loader):
    """The settings of a DataLoader that say how it loads."""
    names = ["batch_size", "num_workers", "pin_memory"]
    if getattr(loader, "num_workers", 0):
        names += ["prefetch_factor", "persistent_workers"]
    return {name: getattr(loader, name) for name in names if hasattr(loader, name)}


# What is said.

def text_of(health, command):
    """The lines of the report; `command` is how the script was called."""
    head = "feedrate%s: " % _rank()
    loops = [loop for loop in health.loops() if loop.first_batch_s is not None]
    if not health.saw_torch:
        return [head + "no DataLoader was seen: '%s' did not import torch.utils.data." % command]
    if not loops:
        return [head + "no DataLoader was iterated in '%s'." % command]
    lines = [head + "how well fed '%s' was" % command]
    all_s = sum(loop.loop_s for loop in loops)
    for loop in loops:
        lines += _text_of_loop(loop, _advice(loop, all_s, command))
    return lines + _caveat()


def _rank():
    world = os.environ.get("WORLD_SIZE", "1")
    return "" if world == "1" else " (rank %s of %s)" % (os.environ.get("RANK", "0"), world)


def _caveat():
    """The host's clock does not see the GPU."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return []
    return ["  Waiting is what the script does; the GPU may work on queued steps meanwhile."]


def _text_of_loop(loop, advice):
    settings = ", ".join("%s=%r" % setting for setting in loop.settings.items())
    lines = ["  %s: %s" % (_title(loop), advice), "    " + _numbers(loop)]
    return lines + ["    " + settings]


def _title(loop):
    if loop.site is None:
        return "a DataLoader"
    return "%s (%s)" % (loop.name, loop.site) if loop.name else str(loop.site)


def _advice(loop, all_s, command):
    if loop.batches < FEWEST_BATCHES:
        return "too few batches to say how well fed it is."
    waiting = round(100 * loop.waiting)
    if loop.waiting < WELL_FED:
        return "well fed: the loop waits for data %d %% of its time." % waiting
    if loop.loop_s < MINOR * all_s:
        return "fed %d %%, but only %.2g %% of the time of all loops is spent here." % (
            100 - waiting, 100 * loop.loop_s / all_s)
    starts = ", mostly for the first batch of an epoch" if loop.starts_share > 0.5 else ""
    return ("fed %d %%: the loop waits for data %d %% of its time%s; run 'autotune -- %s' to see "
            "what to change." % (100 - waiting, waiting, starts, command))


def _numbers(loop):
    words = []
    if loop.epochs > 0:
        rate = loop.samples / loop.loop_s if loop.loop_s > 0 else 0.0
        words.append("%s in %s, %s %s/s" % (
            _counted(loop.batches, "batch", "batches"), _counted(loop.epochs, "epoch", "epochs"),
            _rounded(rate), "samples" if loop.has_samples else "batches"))
    words.append("the first batch came after " + _duration(loop.first_batch_s))
    if loop.boundary_s is not None:
        words.append("an epoch boundary costs " + _duration(loop.boundary_s))
    return "; ".join(words)


def _counted(number, one, many):
    return "%s %s" % (format(number, ","), one if number == 1 else many)


def _rounded(rate):
    return format(round(rate), ",") if rate >= 100 else "%.3g" % rate


def _duration(seconds):
    if seconds >= 1:
        return "%.3g s" % seconds if seconds < 1000 else "%d s" % seconds
    return "%.3g ms" % (1e3 * seconds) if seconds >= 1e-3 else "%.0f us" % (1e6 * seconds)


def install(command):
    """Looks at this process from now on, and tells at its end."""
    from .attach import DATA_MODULE, on_import

    health = Health()
    atexit.register(health.tell, command)
    on_import(DATA_MODULE, health.attach)
    on_import("feedrate.torch", lambda module: health.attach_iterators(module._Loop))
