# SPDX-License-Identifier: Apache-2.0
"""Other DataLoaders than the tuned one that the training loop takes a batch from in each step, as for labelled and
unlabelled samples: what it waits for them is no time of its step."""

LEAST_STEPS = 8  # until anything is told
IN_MOST = 0.5  # of the steps, that a loader gave a batch in


class OtherLoaders:
    """Adds up how long the loop waits for each of them."""

    def __init__(self):
        self._steps, self._seconds = 0, 0.0
        self._in_step = {}  # seconds of this step, by loader
        self._waits = {}  # [steps, seconds], by loader

    def waited(self, seen, seconds):
        """The loop got a batch of the loader `seen` after so long."""
        self._in_step[seen] = self._in_step.get(seen, 0.0) + seconds

    def end_step(self, seconds, counts):
        """A step of so many seconds is over; `counts`: it is one of the loop's alone, in which nothing was
        evaluated."""
        if counts:
            self._steps += 1
            self._seconds += seconds
            for seen, waited_s in self._in_step.items():
                wait = self._waits.setdefault(seen, [0, 0.0])
                wait[0] += 1
                wait[1] += waited_s
        self._in_step = {}

    def told(self):
        """The loader that steps wait for most, and the share of their time; None where they wait for none."""
        shares = {seen: seconds / self._seconds for seen, (steps, seconds) in self._waits.items()
                  if self._seconds > 0 and steps >= IN_MOST * self._steps}
        if not shares or self._steps < LEAST_STEPS:
            return None
        most = max(shares, key=shares.get)
        return {"loader": most.name or str(most.index), "share": shares[most]}
