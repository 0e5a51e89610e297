# SPDX-License-Identifier: Apache-2.0
"""Other DataLoaders than the tuned one that the training loop takes a batch from in each step, as for labelled and
unlabelled samples. The loop waits for them within its step."""

import threading

LEAST_STEPS = 8  # until anything is told
IN_MOST = 0.5  # of the steps, that a loader gave a batch in


class OtherLoaders:
    """Adds up how long the loop waits for each of them in its steps."""

    def __init__(self, now):
        self._now = now
        self._thread = None  # that steps: what other threads take ahead is no wait of the loop's
        self._began_s = None  # the wait that goes on
        self._steps, self._seconds = 0, 0.0
        self._in_step = {}  # seconds of this step, by loader
        self._waits = {}  # [steps, seconds], by loader
        self._names = {}

    def begin_step(self):
        """The caller's thread is given a batch of the tuned loader."""
        self._thread = threading.get_ident()
        self._began_s = None
        self._in_step = {}

    def begin_wait(self):
        """The caller asks another loader for a batch. Whether that counts: it does in a step, and not within another
        wait, as where the iterator of a derived class asks PyTorch's own."""
        if self._began_s is not None or threading.get_ident() != self._thread:
            return False
        self._began_s = self._now()
        return True

    def end_wait(self, loader, name):
        """What began to count is over; `name`: by which --loader finds it. Where a step began meanwhile, that wait was
        for the tuned loader, too, and does not count."""
        if self._began_s is not None:
            self._in_step[loader] = self._in_step.get(loader, 0.0) + self._now() - self._began_s
            self._names[loader] = name
            self._began_s = None

    def end_step(self, seconds, counts):
        """A step of so many seconds is over; `counts`: it is one of the loop's alone, in which nothing was
        evaluated."""
        self._thread = None
        if not counts:
            return
        self._steps += 1
        self._seconds += seconds
        for loader, waited_s in self._in_step.items():
            wait = self._waits.setdefault(loader, [0, 0.0])
            wait[0] += 1
            wait[1] += waited_s

    def told(self):
        """The loader that steps wait for most, and the share of their time; None where they wait for none."""
        shares = {loader: seconds / self._seconds for loader, (steps, seconds) in self._waits.items()
                  if self._seconds > 0 and steps >= IN_MOST * self._steps}
        if not shares or self._steps < LEAST_STEPS:
            return None
        most = max(shares, key=shares.get)
        return {"loader": self._names[most], "share": shares[most]}
