# SPDX-License-Identifier: Apache-2.0
"""A window: the timed stretch of a round. Pure arithmetic; whoever uses it brings the clock."""

from .training import AWAITED_BATCHES, AWAITED_S

# The end of a turn is waited for up to so many times the wanted time; that of whole updates then for so many times the
# batches of the longest.
LONGEST = 4
CUT = 8  # times the batches that an update lacks, and a window may end in its midst


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

    So it is with the steps of a loop that takes all batches of an update at once: a window ends as
    many batches behind an update as it began.
    """

    def __init__(self, wanted, turn, ready, updates=None):
        """`updates` of the loop that steps; None: of no matter."""
        self._wanted = wanted
        self._turn = max(1, turn)
        self._updates = updates
        self._warm_up_batches = 0
        self._decided = False
        self.batches = 0
        self.begin(ready)

    def begin(self, ready):
        """Starts, or starts again: what came before was a warm-up."""
        self._warm_up_batches += self.batches
        self._since = self._updates.since if self._updates is not None else None
        self.ring_at_start = ready
        self.batches = 0
        self.samples = 0
        self.wait_s = 0.0
        self.step_s = 0.0
        self.outside_s = 0.0
        self._squares = 0.0
        self._late = 0  # batches that it was long enough and had no whole updates

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
        lacking = self._updates.at_once() - 1 if self._updates is not None else 0
        return wanted.may_be_cut and self.batches >= max(1, wanted.min_batches, CUT * lacking)

    def was_warm_up(self, ready):
        """Whether all so far was a warm-up: until the first update that is seen, or as the ring fills or
        drains. The latter is decided once, at half-time; `ready` tells how many batches lie ready now."""
        if self._has_found_updates():
            return True
        if self._decided or not self._is_half_over():
            return False
        self._decided = True
        return self._has_time_to_start_again() and not self._has_settled(ready())

    def is_over(self):
        """Whether the round may end."""
        wanted = self._wanted
        if wanted.exactly > 0:
            return self.batches >= wanted.exactly
        if self._awaits_updates():
            return False
        if self._warm_up_batches + self.batches < wanted.max_batches:
            if self.batches < wanted.min_batches or self.duration_s < wanted.seconds:
                return False
            if self.batches % self._turn != 0 and self.duration_s < LONGEST * wanted.seconds:
                return False
        return self.batches > 0 and (self._has_whole_updates() or self._is_late())

    def _awaits_updates(self):
        """Until one was seen, or there may be none."""
        updates = self._updates
        if updates is None or not updates.are_awaited():
            return False
        if self.batches >= AWAITED_BATCHES or self.duration_s >= AWAITED_S:
            updates.give_up()
        return updates.are_awaited()

    def _has_found_updates(self):
        """Of a loop that takes all batches of one at once, the first one."""
        updates, wanted = self._updates, self._wanted
        return (updates is not None and self._since is None and updates.since is not None and
                wanted.exactly == 0 and updates.take_at_once())

    def _has_whole_updates(self):
        updates = self._updates
        return updates is None or updates.since == self._since or not updates.take_at_once()

    def _is_late(self):
        """Updates are irregular: it ends with as many batches as most of them have."""
        self._late += 1
        each = self._updates.batches_each()
        return (each is not None and self._late >= LONGEST * self._updates.most_batches() and
                self.batches % each == 0)

    def _is_half_over(self):
        wanted = self._wanted
        return (self.batches % self._turn == 0 and 2 * self.batches >= wanted.min_batches and
                2 * self.duration_s >= wanted.seconds and self._has_whole_updates())

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
