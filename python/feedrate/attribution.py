# SPDX-License-Identifier: Apache-2.0
"""Attribution: on which loader's batches the script trains, or that it trains on those of none."""

import math
import os
import sys

from .training import TrainingSigns, on_updates

PATIENCE_S = 30.0  # without any sign of training
STRANGE_S = 6.0  # of training without a batch of a DataLoader, until that is said
MANY = 10  # updates: more than are made on what a script took ahead
IDLE = 3  # calls of backward() since a pass began that has given no batch: another rank loads for this one
IN_CHILD = ("trains in a process that it forks, where no loader is seen: train in the process that is launched, or "
            "launch it with torchrun")
SO_FAR = ("So far the script trains without a DataLoader. After %.0f s of that the run ends; --loader NAME waits "
          "longer." % PATIENCE_S)


class Attribution:
    """A sign of training is of the loader that gave the last batch, as long as the pass over it goes on."""

    def __init__(self, clock, say, tell=lambda what, why: None):
        """`say(why)` is called once, where the script trains on batches of no DataLoader. Before that, `tell(what, why)`
        says what may change: "note" that it does so far, or that this rank is "idle" ("" takes that back)."""
        self.signs = TrainingSigns(self._see_backward)
        self.by_hand = False  # many updates were made behind the end of a pass
        self._read = 0  # signs
        self._gave = None  # the loader whose batch the next sign is of; None: no pass goes on
        self._is_old = False
        self._clock = clock
        self._say = say
        self._tell = tell
        self._is_noted = False
        self._beside = None  # calls of backward() since a pass began that gave no batch yet; None: no such pass
        self.why = None  # what is said then
        self._forget_updates = lambda: None
        self._is_compiling = lambda: False
        self._has_loaders = False
        self._has_ended = False  # a pass
        self._updates = 0  # since the last pass was over
        self._began_s = None  # the first update on no loader's batch, since one on a loader's
        self._least, self._patience_s = 1, STRANGE_S  # updates and seconds, until it is said

    # Signs, and the loaders that they are of.

    def signs_so_far(self):
        return self._read + self.signs.fresh

    def began_pass(self):
        """The script makes an iterator of a loader."""
        self.signs.watch()
        if self._beside is None:
            self._beside = 0

    def gave(self, seen, began):
        """A loader gave a batch, of a pass that began when so many signs were seen. The next sign
        is of the first whose pass goes on from before the last sign, as of two that are zipped;
        else of the last: what is evaluated after each step begins a pass each time."""
        if self._beside is not None and self._beside >= IDLE:
            self._tell("idle", "")  # it is not, after all
        self._beside = None
        if not self._is_old:
            self._gave = seen
            self._is_old = began < self._read

    def gave_by_itself(self, seen):
        """A derived class gave a batch: when its pass began is not known."""
        self.read()
        self._gave = seen

    def read(self):
        """Adds the sign that there is, if any, to the loader that it is of."""
        if not self.signs.fresh:
            return
        self.signs.fresh = False
        self._read += 1
        self._is_old = False
        if self._gave is not None:
            self._gave.trained += 1
            self._began_s = None

    def ended(self, seen):
        """A pass is over, and its iterator is forgotten: what is trained from now on is of no batch of it."""
        if self._gave is seen:
            self.read()
            self._gave, self._is_old = None, False
            self._has_ended = True
            self._updates, self._patience_s = 0, STRANGE_S

    def forget(self):
        """Nothing is looked at any more."""
        self.signs.forget()
        self._forget_updates()
        self._forget_updates = lambda: None

    # Training on batches of no loader.

    def watch_by_hand(self, why):
        """Looks at the updates of weights; `why` is said while no DataLoader was made."""
        self.why = why
        self._owner = os.getpid()
        self._forget_updates = on_updates(self._see_update)

    def made_loader(self):
        """A DataLoader was made: what is trained before its first batch may be a warm-up."""
        if not self._has_loaders:
            self._has_loaders = True
            self.why = "trains while it takes no batches from a DataLoader of PyTorch"
            self._least, self._patience_s = MANY, PATIENCE_S
            compiler = getattr(sys.modules.get("torch"), "compiler", None)
            self._is_compiling = getattr(compiler, "is_compiling", self._is_compiling)

    def _see_update(self, *_):
        """PyTorch iterates over what is called here: nothing may be forgotten meanwhile."""
        if self._is_compiling() or self._gave is not None:  # a compiled update has nothing of this in its trace
            return
        if os.getpid() != self._owner:
            self.why = IN_CHILD
        now_s = self._clock()
        self._updates += 1
        self.by_hand = self.by_hand or (self._has_ended and self._updates >= MANY)
        if self._began_s is None:
            self._began_s = now_s
        self._tell_so_far(now_s)
        if self._updates >= self._least and now_s - self._began_s > self._patience_s:
            self._least = math.inf  # said once
            self._say(self.why)

    def _see_backward(self):
        """With gradient accumulation updates are too rare: the rank that loads waits before there are three."""
        if self._beside is not None and self._gave is None:
            self._beside += 1
            if self._beside == IDLE:
                self._tell("idle", "trains in a process that takes no batches from its own DataLoader, since another "
                           "process loads them for all, as with accelerate's dispatch_batches=True: set it to False")

    def _tell_so_far(self, now_s):
        if not self._is_noted and self._patience_s == PATIENCE_S and now_s - self._began_s > STRANGE_S:
            self._is_noted = True
            self._tell("note", SO_FAR)
