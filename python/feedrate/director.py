# SPDX-License-Identifier: Apache-2.0
"""The director: knows the script's DataLoaders, chooses the one that trains, and has it served."""

import atexit
import functools
import itertools
import json
import os
import sys
import time
import weakref

from . import source
from .attribution import PATIENCE_S, Attribution
from .batches import DEEPEST, length_of
from .channel import Channel
from .device import device_of
from .evaluation import OtherPass
from .lanes import filled_of, reference_to
from .passes import STEPS_TO_CHOOSE, Opaque, Tracked
from .patch import original_of
from .plain import Pass


class Seen:
    """What is known of one DataLoader of the script."""

    _made = itertools.count()

    def __init__(self, index, loader, site):
        self.index = index
        self.loader_class = type(loader).__name__
        self.site = site
        self.renew(loader)
        self.iterated = False
        self.batches = 0
        self.trained = 0  # batches after which something was trained
        self.is_reached = False  # PyTorch's own iterator gives the batches
        self.makes_own = False  # such an iterator is made by the derived class itself
        self.has_begun = False  # the __iter__ of the derived class was called
        self.given = 0  # batches of the present pass
        self.passes = 0  # that were begun
        self.overlaps = False  # the script goes on with a pass after it began another one
        self._has_newest_given = False

    def __reduce__(self):
        """A copy of its loader that the script saves or sends to a process has nothing of ours."""
        return type(None), ()

    @property
    def dataset(self):
        """None where the script has it no more: its data shall not stay in memory."""
        return self._dataset()

    @property
    def name(self):
        return self.site.name if self.site else None

    @property
    def sampler(self):
        return self._sampler()

    def has_kinds_of(self, loader):
        return self._kinds == kinds_of(loader)

    def answers_to(self, wanted):
        return wanted in (str(self.index), self.name)

    def is_made_anew_by(self, loader, site):
        """Whether this is the loader that the script had before at the same place, as many have one
        for each epoch: alike in all that tells a training loader from one that validates.

        Lengths of data are asked for where all else is alike, and never that of a loader: its owner
        may compute them, and of some PyTorch remembers that they were asked for."""
        if not self.iterated or self.site is None or not site.way or self.site.way != site.way:
            return False
        if self._kinds != kinds_of(loader) or self._length != length_of(loader.sampler):
            return False
        if self.dataset is None or self.dataset is loader.dataset:
            return self._length is not None or self.dataset is not None
        samples = length_of(loader.dataset)
        return samples is not None and samples == length_of(self.dataset)

    def is_of_line_of(self, loader, site):
        """Whether the same line made a loader of the same kind, over whatever data."""
        at_once = self.iterated and self.site is not None and site.way
        return bool(at_once) and self.site.way == site.way and self._kinds == kinds_of(loader)

    def renew(self, loader):
        """This loader stands in its place from now on."""
        self.made_last = next(Seen._made)
        self._dataset = dataset_of(loader)
        self._sampler = reference_to(loader.sampler)
        self._kinds = kinds_of(loader)
        self._length = None  # of its sampler, once it is iterated
        self.filled = filled_of(loader.dataset)

    def begin_pass(self, loader):
        self.iterated = True
        self.given = 0
        self.passes += 1
        self._has_newest_given = False
        if self._length is None and self.site is not None and self.site.way:
            self._length = length_of(loader.sampler)

    def gave_in(self, number):
        """A batch of the pass with this number was given."""
        self.overlaps |= number < self.passes and self._has_newest_given
        self._has_newest_given |= number == self.passes

    def describe(self):
        return {
            "index": self.index,
            "name": self.name,
            "class": self.loader_class,
            "file": original_of(self.site.file) if self.site else None,
            "line": self.site.line if self.site else 0,
            "batches": self.batches,
            "trained": self.trained,
        }


def dataset_of(loader):
    """A function that gives the dataset as long as the script has it. A list has no weak reference: its loader has."""
    try:
        return weakref.ref(loader.dataset)
    except TypeError:
        of_loader = weakref.ref(loader)
        return lambda: getattr(of_loader(), "dataset", None)


def samplers_of(loader):
    """Its sampler, and those that its sampler of batches draws from, through whatever a library puts around them."""
    left = [loader.sampler, getattr(loader, "batch_sampler", None)]
    for _ in range(DEEPEST):
        if not left:
            return
        one = left.pop()
        if one is not None:
            yield one
            left += [getattr(one, "batch_sampler", None), getattr(one, "sampler", None)]


def kinds_of(loader):
    """What loaders have in common that a script makes for the same purpose."""
    return type(loader.dataset), type(loader.sampler), loader.batch_size


class Director:
    """Chooses one DataLoader of the script, and serves it as autotune asks."""

    def __init__(self, connect, wanted=None, plain=None, clock=time.perf_counter):
        self._connect = connect
        self._wanted = wanted
        self._plain = plain
        self._clock = clock
        self._seen = []
        self._attribution = Attribution(clock, self._say_none, self._tell)
        self.signs = self._attribution.signs
        self.signs_so_far = self._attribution.signs_so_far
        self.gave, self.ended = self._attribution.gave, self._attribution.ended
        self._first_s = None
        self._session = None
        self._chosen = None
        self._in_vain = False  # waiting for the loader that is asked for

    @classmethod
    def from_environment(cls, tells_its_end=True):
        path = os.environ["FEEDRATE_ATTACH"]
        wanted = os.environ.get("FEEDRATE_LOADER") or None
        plain = plain_of_environment(path) if os.environ.get("FEEDRATE_PLAIN") == "1" else None
        director = cls(lambda: Channel(path), wanted, plain)
        if tells_its_end:
            atexit.register(director.at_exit)
        return director

    def note(self, loader, made=True):
        """A DataLoader was made. One that a library made of the script's own counts as that one,
        and so does one that the script makes anew. Of one that was made unseen nobody knows where:
        the line that iterates over it is no call of it."""
        if getattr(loader, "_feedrate_seen", None) is not None or not is_set_up(loader):
            return
        self._attribution.made_loader()
        site = source.call_site() if made else None
        if site is None or not site.is_loader_call:
            seen = self._original_of(loader)
        else:
            seen = self._made_before(loader, site)
        if seen is None:
            seen = Seen(len(self._seen) + 1, loader, site)
            self._seen.append(seen)
        object.__setattr__(loader, "_feedrate_seen", seen)

    def _original_of(self, loader):
        """Among the loaders over the same data: the one whose sampler it uses, else one of the same kind, else the first
        that the script made itself, since a library may replace its sampler."""
        same = [seen for seen in self._seen if seen.dataset is loader.dataset]
        samplers = list(samplers_of(loader))
        drawn = [seen for seen in same if any(seen.sampler is one for one in samplers)]
        alike = [seen for seen in same if seen.has_kinds_of(loader)]
        own = [seen for seen in same if seen.site is not None and seen.site.is_loader_call]
        return next(iter(drawn or alike or own), None)

    def _made_before(self, loader, site):
        """Of several that are alike, those made in one line, the one whose turn it is."""
        alike = [seen for seen in self._seen if seen.is_made_anew_by(loader, site)]
        if not alike and self._plain is not None:  # the settings of its line are those of all that it makes
            alike = [seen for seen in self._seen if self._is_wanted(seen) and seen.is_of_line_of(loader, site)]
        seen = min(alike, default=None,
                   key=lambda one: (one.dataset is not loader.dataset, one.made_last))
        if seen is not None:
            seen.renew(loader)
        return seen

    def iterate(self, loader, iterate, only_evaluates=None):
        """What stands in the place of DataLoader.__iter__. `only_evaluates`: whether this pass does, where that was
        asked already."""
        if not is_set_up(loader):
            return iterate(loader)
        seen = self._iterated(loader)
        seen.is_reached = True
        evaluations = self._evaluations()
        is_measured = self._is_wanted(seen) or seen is self._chosen
        if is_measured and only_evaluates is None:
            only_evaluates = self._only_evaluates(loader)
        if is_measured and not only_evaluates:
            if self._plain is not None:
                return self._plain.iterate(loader, iterate)
            if self._session is not None and seen is self._chosen:
                return self._session.new_epoch(loader)
        if evaluations is not None:
            return OtherPass(evaluations, lambda: iterate(loader), functools.partial(self.take, seen))
        if self._chosen is None and self._plain is None:
            self._attribution.began_pass()
        return Tracked(self, seen, loader, iterate(loader))

    def take(self, seen, inner):
        """The next batch of an iterator of the script's. The session is told how long the loop waited for it."""
        others = self._session.others if self._session is not None and seen is not self._chosen else None
        if others is None or not others.begin_wait():
            return next(inner)
        try:
            return next(inner)
        finally:
            others.end_wait(seen, self.only_name_of(seen))

    def only_name_of(self, seen):
        """By which --loader finds it: its name where no other loader has that, else its number."""
        is_only = [one.name for one in self._seen].count(seen.name) == 1
        return seen.name if seen.name and is_only else str(seen.index)

    def iterate_derived(self, loader, iterate):
        """What stands in the place of the __iter__ of a class that is derived from DataLoader. It may
        go on through DataLoader.__iter__, make an iterator of PyTorch's kind itself, as that of
        torchdata, or bring its batches from anywhere."""
        if not is_set_up(loader):
            return iterate(loader)
        seen = self._iterated(loader)
        only_evaluates = None  # not asked yet
        if self._session is not None and seen is self._chosen:
            if not seen.makes_own:
                self._session.new_pass()
            else:
                only_evaluates = self._only_evaluates(loader)
            if only_evaluates is False:
                return self._session.new_epoch(loader)
        is_plain = self._plain is not None and self._is_wanted(seen)
        if is_plain:
            self._plain.set_up(loader)
            # Made before, as in the __init__ of timm's MultiEpochsDataLoader.
            self._plain.keeps_iterator |= seen.is_reached and not seen.has_begun
        seen.has_begun = True
        began_s = time.monotonic()
        made = iterate(loader)
        making_s = time.monotonic() - began_s
        if isinstance(made, (Tracked, OtherPass, Pass)) or made is self._session:
            return made
        if not is_of_pytorch(made):
            return self._opaque(seen, made)
        seen.is_reached = seen.makes_own = True
        if is_plain:
            only_evaluates = self._only_evaluates(loader)
            if not only_evaluates:
                return self._plain.reported(loader, made, making_s)
        return self.iterate(loader, lambda _: made, only_evaluates)

    def _opaque(self, seen, made):
        """What a derived class brings. It may take its batches ahead: its own end is that of a pass."""
        evaluations = self._evaluations()
        if evaluations is None or seen is self._chosen or self._is_wanted(seen):
            return Opaque(self, seen, made)
        return OtherPass(evaluations, lambda: Opaque(self, seen, made))

    def _evaluations(self):
        """Who tells passes over other loaders from steps, once it is known which loader trains."""
        if self._session is not None:
            return self._session.evaluations
        return self._plain.evaluations if self._plain is not None else None

    def _only_evaluates(self, loader):
        """Whether the pass over the measured loader that begins now is an evaluation. Then the loader makes an
        iterator of its own: workers that stay are the session's."""
        evaluations = self._evaluations()
        if evaluations is None or not evaluations.only_evaluates():
            return False
        if self._session is not None and getattr(loader, "_iterator", None) is self._session.kept:
            object.__setattr__(loader, "_iterator", None)
        return True

    def _iterated(self, loader):
        if getattr(loader, "_feedrate_seen", None) is None:
            self.note(loader, made=False)
        seen = loader._feedrate_seen
        seen.begin_pass(loader)
        return seen

    def gave_by_itself(self, seen):
        """A derived class gave a batch that is none of PyTorch's iterator."""
        self._attribution.gave_by_itself(seen)
        if seen.batches == 0:
            self.began()
        seen.batches += 1
        if seen.trained == STEPS_TO_CHOOSE and self._chosen is None and self._plain is None:
            seen.trained += 1  # said once
            self._say_none("trains on the batches of %s, which has an __iter__ of its own and does "
                           "not take them from PyTorch's" % seen.loader_class)

    def watch_for_strangers(self, why="trains without a DataLoader of PyTorch"):
        """Looks whether something trains on batches of no DataLoader that is made here."""
        if self._plain is None and self._wanted is None:
            self._attribution.watch_by_hand(why)

    def began(self):
        """A loader gave its first batch."""
        if self._first_s is None:
            self._first_s = self._clock()
            self.signs.watch()
            if self._plain is not None:
                self._plain.announce()

    def serve(self, seen, loader, inner, batch):
        """What gives the batches from now on, if this loader is the chosen one; else None. `batch`
        is the last one that it gave."""
        if self._chosen is not None:
            return self._session if seen is self._chosen else None
        self._attribution.read()
        why = self._why_chosen(seen)
        if why is None:
            return None
        self._chosen = seen
        self._attribution.forget()
        if self._plain is not None:
            return iter(self._plain.reported(loader, inner))
        return self._open(seen, loader, inner, why, batch)

    def _is_wanted(self, seen):
        return self._wanted is not None and seen.answers_to(self._wanted)

    def _why_chosen(self, seen):
        if self._wanted is not None:
            if self._is_wanted(seen):
                return "asked for" if seen.batches > 0 else None
            self._look_out()
            return None
        if seen.trained >= STEPS_TO_CHOOSE:
            return "its loop trains"
        if self._first_s is None or self._clock() - self._first_s < PATIENCE_S:
            return None
        if self._attribution.by_hand or self._has_trained():
            return None
        if seen.batches < max(other.batches for other in self._seen):
            return None
        return "no loop trains, and it has delivered most batches"

    def _has_trained(self):
        return any(seen.trained > 0 for seen in self._seen)

    def _open(self, seen, loader, inner, why, batch):
        from .session import Session

        owed = None
        if batch is None:  # a new iterator for each batch: it gave none yet
            batch = owed = next(inner)
        torch = sys.modules["torch"]
        self._session = Session(self._connect(), loader, batch, seen.site, seen.filled,
                                self.signs.precision(torch, device_of(torch)),
                                seen.given, seen.overlaps)
        if seen.trained:
            self._session.evaluations.updated()  # before it was served
        self._session.keep(inner, owed)
        self._session.greet({
            "loader": dict(seen.describe(), why=why),
            "others": [other.describe() for other in self._seen if other is not seen],
            "copies": self.signs.copies(),
        })
        return self._session

    def _look_out(self):
        """Says, once, where nothing so far is the loader that is asked for."""
        known = any(self._is_wanted(seen) for seen in self._seen)
        if known or self._in_vain or self._first_s is None or self._clock() - self._first_s < PATIENCE_S:
            return
        self._in_vain = True
        self._say_none()

    def at_exit(self):
        """A script that ends before anything was chosen says what it had."""
        by_hand = self._attribution.by_hand and not self._has_trained()
        if self._session is not None:
            if not hasattr(sys, "last_type"):  # else it dies of an exception, and its last round is none
                self._session.at_exit()
        elif self._plain is None:
            self._say_none(self._attribution.why if by_hand else None)

    def _say_none(self, why=None):
        """`why`: what the script does, where nothing can ever be tuned."""
        self._tell("none", why, in_vain=self._in_vain, others=[seen.describe() for seen in self._seen])

    def _tell(self, what, why, **more):
        """While nothing is chosen. Where nobody listens, the script goes on."""
        try:
            self._connect().send(dict(more, hello=what, pid=os.getpid(), why=why))
        except OSError:
            pass


def is_set_up(loader):
    """Whether it is a DataLoader in more than its class: some are derived from it and never call its __init__."""
    return all(hasattr(loader, name) for name in ("dataset", "sampler", "batch_size"))


def is_of_pytorch(iterator):
    """Whether it is made as PyTorch's own iterators are, which lanes know how to use."""
    return hasattr(iterator, "_sampler_iter") and hasattr(iterator, "_dataset_kind")


def plain_of_environment(path):
    """The settings of a launch that is only to be measured."""
    from .plain import Plain, PlainReporter
    from .watch import announce, connect

    text = os.environ.get("FEEDRATE_CONFIG")
    return Plain(lambda: connect(path, PlainReporter), json.loads(text) if text else None,
                 sys.modules["torch"], lambda: announce(path), leaves_out=os.environ.get("FEEDRATE_LEAVES_OUT") == "1")
