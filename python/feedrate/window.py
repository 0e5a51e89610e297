# SPDX-License-Identifier: Apache-2.0
"""A window: the timed stretch of a round. Pure arithmetic; whoever uses it brings the clock."""


# The end of a turn is waited for up to so many times the wanted time.
LONGEST = 4


class Wanted:
    """How long a round lasts."""

    def __init__(self, question):
        self.seconds = question["seconds"]
        self.min_batches = question["min_batches"]
        self.max_batches = question["max_batches"]
        self.exactly = question.get("exactly", 0)  # batches; 0: time decides
        self.warm_up = question.get("warm_up")  # batches before it; None: the lane decides
        self.may_be_cut = self.exactly == 0 and not question.get("whole")  # by the script's end


class Window:
    """Sums over the batches of a round.

    Workers take turns: over a whole number of turns the rate is that of the steady state, however
    the batches of one turn are bunched. So a window ends after a multiple of `turn` batches.
    """

    def __init__(self, wanted, turn, ready):
        self._wanted = wanted
        self._turn = max(1, turn)
        self._warm_up_batches = 0
        self._decided = False
        self.batches = 0
        self.begin(ready)

    def begin(self, ready):
        """Starts, or starts again: what came before was a warm-up."""
        self._warm_up_batches += self.batches
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
        """The script left its loop for so long: that stretch is no step."""
        self.outside_s += outside_s

    def is_enough(self):
        """Whether it may end now, since the script does."""
        wanted = self._wanted
        return wanted.may_be_cut and self.batches >= max(1, wanted.min_batches)

    def was_warm_up(self, ready):
        """Whether all so far was a warm-up, as the ring fills or drains. Decided once, at half-time;
        `ready` tells how many batches lie ready now."""
        if self._decided or not self._is_half_over():
            return False
        self._decided = True
        return self._has_time_to_start_again() and not self._has_settled(ready())

    def is_over(self):
        """Whether the round may end."""
        wanted = self._wanted
        if wanted.exactly > 0:
            return self.batches >= wanted.exactly
        if self._warm_up_batches + self.batches >= wanted.max_batches:
            return True
        if self.batches < wanted.min_batches or self.duration_s < wanted.seconds:
            return False
        return self.batches % self._turn == 0 or self.duration_s >= LONGEST * wanted.seconds

    def _is_half_over(self):
        wanted = self._wanted
        return (self.batches % self._turn == 0 and 2 * self.batches >= wanted.min_batches and
                2 * self.duration_s >= wanted.seconds)

    def _has_time_to_start_again(self):
        wanted = self._wanted
        return wanted.exactly == 0 and wanted.max_batches - self.batches >= wanted.min_batches

    def _has_settled(self, ready):
        """One batch more or less is chance; 5 % of what a whole round counts matters little."""
        return abs(ready - self.ring_at_start) <= max(1, 0.1 * self.batches)

    def variability(self):
        """Squared coefficient of variation of the time per batch."""
        if self.batches < 2 or self.duration_s <= 0:
            return 0.0
        mean = self.duration_s / self.batches
        variance = (self._squares - self.batches * mean * mean) / (self.batches - 1)
        return max(0.0, variance) / (mean * mean)
