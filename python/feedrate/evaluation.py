# SPDX-License-Identifier: Apache-2.0
"""Evaluations within the training loop: passes over the script's other DataLoaders between two of its steps."""

from .passes import StandIn

TELL_S = 0.2  # between two signs of an evaluation


class Evaluations:
    """Tells evaluations from steps. A pass over another loader is one if it begins and ends in one step, and nothing is
    updated meanwhile. A trainer may keep its iterator: then the pass ends with the step, if it gave several batches.
    But what a script does in each step is a part of its steps."""

    def __init__(self, now, tell, trains=lambda drew_one: None, settle=lambda: None, has_gradients=lambda: True):
        """`tell(seconds)` is called while the script evaluates, with its seconds in this step so far, and with None
        when that is over. `trains(drew_one)` is called where the script updates its weights after it drew a batch of
        another loader, which may be the one batch of its pass. `settle()` waits until a GPU, which works behind the
        script, has done its work. `has_gradients()` tells whether the script computes gradients now."""
        self._now = now
        self._tell = tell
        self._trains = trains
        self._settle = settle
        self._has_gradients = has_gradients
        self._began_with_gradients = has_gradients()  # the last pass over the loader that trains
        self._trained = set()  # whether the passes that trained began with gradients
        self._in_step = False
        self._in_each_step = False  # a pass began in the step before, too
        self._has_begun = False  # a pass, in this step
        self._open = None  # the outermost pass that goes on
        self._began_s = 0.0
        self._finished_s = None  # when it had no batch left; None: it has
        self._batches = 0  # that it was asked for
        self._told_s = None  # when it was last told of; None: not yet
        self._has_updated = False  # since it began
        self._drew_one = False  # the last pass gave one batch and was left, as that of next(iter(loader))
        self._seconds = 0.0  # of this step
        self._is_elsewhere = False  # another loader gave a batch, since the last step
        self.updates_elsewhere = 0  # between two epochs, each behind a batch of another loader
        self._took_elsewhere = False  # such a batch, since the last update
        self._trained_s = None  # until when it trained on, since the last step

    def begin_step(self):
        """The script is given a batch to train on."""
        self._leave()
        self._in_step = True
        self._in_each_step, self._has_begun = self._has_begun, False
        self._seconds = 0.0
        if self._passes_with_gradients_train():
            self._began_with_gradients = True  # also behind an evaluation within the step before

    def end_step(self):
        """Seconds of this step that are no part of it."""
        if self._finished_s is not None:
            self._end_at(self._finished_s)
        elif self._batches > 1:
            self.end(self._open)
        self._leave()
        self._in_step = False
        self._is_elsewhere, self.updates_elsewhere, self._trained_s = False, 0, None
        return 0.0 if self._in_each_step else self._seconds

    def close(self):
        """The script comes to its end: nothing is told any more."""
        self._open = self._told_s = None
        self._in_step = False

    def updated(self, between=False):
        """The script updated its weights, maybe between two epochs. Whether that was on batches that it took ahead."""
        self._has_updated = True  # and little more: a compiled update has this in its trace
        self._trained.add(self._began_with_gradients)
        if not between or self._is_elsewhere:
            self.updates_elsewhere += between and self._took_elsewhere
            self._took_elsewhere = False  # else it trains on batches that it keeps
            return False
        self._settle()
        self._trained_s = self._now()
        return True

    def trained_ahead_s(self, end_s):
        """Seconds that the script trained on behind the end of an epoch, which it was given then: whoever takes
        batches ahead has still to step on the last ones."""
        return max(0.0, self._trained_s - end_s) if self._trained_s is not None else 0.0

    def only_evaluates(self):
        """Whether a pass over the loader that trains, which begins now, is an evaluation: it begins without gradients,
        and all that trained so far began with them."""
        self._began_with_gradients = self._has_gradients()
        return not self._began_with_gradients and self._passes_with_gradients_train()

    def _passes_with_gradients_train(self):
        """Whether those do, and no others."""
        return self._trained == {True}

    def begin(self, one=None):
        """A pass over another loader begins, or gives its first batch; `one` names it. What names it until its end;
        None within another pass."""
        if self._open is not None and one is self._open:
            return one
        if self._finished_s is not None:
            self._end_at(self._finished_s)
        if self._open is not None:
            return None
        if self._drew_one and self._has_updated and not self._in_step:
            self._trains(True)
        self._open = object()
        self._batches = 0
        self._has_updated = self._drew_one = False
        self._has_begun = self._has_begun or self._in_step
        if self._leaves_out():
            self._settle()
        self._began_s = self._now()
        self._tell_at_times(self._began_s)
        return self._open

    def take(self, one):
        """The script asks that pass for a batch."""
        self._is_elsewhere = self._took_elsewhere = True
        if one is None or one is not self._open:
            return
        self._batches += 1
        if self._has_updated:
            self._end_telling()
            self._trains(False)
        else:
            self._tell_at_times(self._now())

    def finish(self, one):
        """That pass has no batch left. It ends where its iterator is forgotten: whoever takes batches ahead has still
        to evaluate the last one."""
        if one is not None and one is self._open:
            self._finished_s = self._settled_now()

    def end(self, one):
        """That pass is over, or the script left it, or keeps its iterator until the end of this step."""
        if one is not None and one is self._open:
            self._drew_one = self._batches == 1 and self._finished_s is None
            self._end_at(self._settled_now())
            if self._passes_with_gradients_train():
                self._began_with_gradients = True  # what trains now does not train in that pass

    def _settled_now(self):
        if self._leaves_out() and not self._has_updated:
            self._settle()
        return self._now()

    def _end_at(self, end_s):
        if self._in_step and not self._has_updated:
            self._seconds += end_s - self._began_s
        self._leave()

    def _leaves_out(self):
        return self._in_step and not self._in_each_step

    def _tell_at_times(self, now_s):
        if self._leaves_out() and (self._told_s is None or now_s - self._told_s >= TELL_S):
            self._told_s = now_s
            self._tell(self._seconds + now_s - self._began_s)

    def _leave(self):
        self._end_telling()
        self._open = self._finished_s = None

    def _end_telling(self):
        if self._told_s is not None:
            self._told_s = None
            self._tell(None)


class OtherPass(StandIn):
    """The iterator of another loader than the tuned one. `iterate()` makes that iterator, and `take` its next batch."""

    def __init__(self, evaluations, iterate, take=next):
        super().__init__(None)
        self._evaluations = evaluations
        self._take = take
        self._one = None
        self._is_fresh = True
        self._one = evaluations.begin()  # the start of its workers is a part of it
        self._inner = iterate()

    def __next__(self):
        if self._is_fresh:
            self._is_fresh = False
            self._one = self._evaluations.begin(self._one)
        self._evaluations.take(self._one)
        try:
            return self._take(self._inner)
        except StopIteration:
            self._evaluations.finish(self._one)
            raise

    def __del__(self):
        """A loop that ends or is left forgets its iterator; the end of its workers is a part of it, too."""
        self._inner = None
        self._evaluations.end(self._one)
