# SPDX-License-Identifier: Apache-2.0
"""A window: the timed stretch of a round. Pure arithmetic; whoever uses it brings the clock."""


class Wanted:
    """How long a round lasts."""

    def __init__(self, question):
        self.seconds = question["seconds"]
        self.max_seconds = question["max_seconds"]
        self.min_batches = question["min_batches"]
        self.max_batches = question["max_batches"]
        self.exactly = question.get("exactly", 0)  # batches; 0: time decides
        self.warm_up = question.get("warm_up")  # batches before it; None: the lane decides


class Window:
    """Sums over the batches of a round.

    Workers take turns: over a whole number of turns the rate is that of the steady state, however
    the batches of one turn are bunched. So a window ends after a multiple of `turn` batches.
    """

    def __init__(self, wanted, turn, ready):
        self._wanted = wanted
        self._turn = max(1, turn)
        self.ring_at_start = ready
        self.batches = 0
        self.samples = 0
        self.wait_s = 0.0
        self.step_s = 0.0
        self.outside_s = 0.0
        self._squares = 0.0

    @property
    def duration_s(self):
        return self.wait_s + self.step_s

    def add(self, samples, wait_s, step_s):
        self.batches += 1
        self.samples += samples
        self.wait_s += wait_s
        self.step_s += step_s
        self._squares += (wait_s + step_s) ** 2

    def leave_out(self, outside_s):
        """The script left its loop: that stretch is no step."""
        self.outside_s += outside_s

    def is_over(self, ready):
        """Whether the round may end; `ready` tells how many batches lie ready now."""
        wanted = self._wanted
        if wanted.exactly > 0:
            return self.batches >= wanted.exactly
        if self.batches >= wanted.max_batches:
            return True
        if self.batches < wanted.min_batches or self.duration_s < wanted.seconds:
            return False
        if self.duration_s >= wanted.max_seconds:
            return True
        return self.batches % self._turn == 0 and self._has_settled(ready())

    def _has_settled(self, ready):
        """A ring that fills or drains by more than 5 % of the batches flatters or slows them."""
        return abs(ready - self.ring_at_start) * 20 <= self.batches

    def variability(self):
        """Squared coefficient of variation of the time per batch."""
        if self.batches < 2 or self.duration_s <= 0:
            return 0.0
        mean = self.duration_s / self.batches
        variance = (self._squares - self.batches * mean * mean) / (self.batches - 1)
        return max(0.0, variance) / (mean * mean)
