# SPDX-License-Identifier: Apache-2.0
"""The script's epochs while its loader is tuned: where its loop is in one, and what the start of the
next one costs each lane.

Lanes go on from epoch to epoch, since a short round rarely meets the end of one. So each round
counts the start of an epoch by its share: a tenth of it, where the round has a tenth of an epoch's
batches. But where the workers load a good part of an epoch ahead, an epoch has no middle in which
its rate is steady: such rounds are whole epochs.
"""

import math
import sys

from .lanes import key_of, kept_random_state

# Shares of an epoch. Its start is not measured where it takes less than the first, and in each
# round where it takes more than the second: the rate of a short epoch depends on it.
UNSEEN = 0.005
LARGE = 0.05
LOOKS = 2  # at other starts
ENOUGH = 64  # steps of a replay
SHORT = 4  # times what the workers load ahead, and an epoch has a middle
LONGEST_EPOCH = 15  # times what a round is to take
MOST_UPDATES = 8  # for one batch: more, and the script only looks at a batch now and then
KEEPS = 3  # epochs of updates without a batch, until it is said that the script keeps its batches


class Epochs:
    """Counts the batches that the script's loop takes of an epoch."""

    def __init__(self, batches, given):
        """`batches` that an epoch has for the script; 0: unknown. `given` in the present one."""
        self._whole = batches
        self._given = given
        self.between = False  # the loop was given the end of its epoch, and has not begun anew
        self.batches = batches  # that the loop takes of an epoch
        self.leaves_early = False
        self._updates = 0  # of the weights, since the loop was given the end of its epoch
        self._updates_before = 0  # the last batch of another loader

    def know(self, batches):
        """An epoch has so many for the script; 0: unknown."""
        self._whole = self.batches = batches

    def begin(self):
        """The script begins to iterate again; batches that it took of the epoch before."""
        taken, self._given = self._given, 0
        if taken > 0 and not self.between:
            self.batches, self.leaves_early = taken, True
        elif self.between:
            self.batches, self.leaves_early = self._whole or taken, False
        self.between = False
        self._updates = self._updates_before = 0
        return taken

    def updated(self):
        """The script has trained. Whether it does so again and again between two epochs: it keeps its
        batches, and never asks its loader again."""
        self._updates += self.between
        return self.between and self._updates == KEEPS * self._whole + LOOKS

    def trains_elsewhere(self, drew_one):
        """The script has trained behind a batch of another loader: on that batch, which is none that it keeps. But if
        it drew one batch and then updates many times, it trains on kept batches, and looks at one to validate."""
        if not drew_one or self._updates - self._updates_before <= MOST_UPDATES:
            self._updates = 0
        self._updates_before = self._updates

    def give(self):
        self._given += 1

    def most_steps(self):
        """So many steps are enough for the rate of the step alone. Without waiting for data they are
        soon done, and a script that has few of them would come to its end in each round."""
        return max(self._whole, ENOUGH) if self._whole > 0 else sys.maxsize

    def go_on(self):
        """The script begins an epoch with the iterator that it has: nothing starts."""
        self._given = self.batches = 0

    def end(self):
        self.between = True

    def have_no_end(self):
        """The sampler goes on behind the length that it says: so does the script's loop."""
        self._whole = self.batches = 0

    def is_over(self):
        """Whether the script expects the end of its epoch now."""
        return 0 < self._whole <= self._given


class Boundaries:
    """What going on to the next epoch costs each lane."""

    def __init__(self, epochs, torch, now, beat):
        self._epochs = epochs
        self._torch = torch
        self._now = now
        self._beat = beat
        self._seen = {}  # seconds, by lane and by whether its workers stay
        self._batch_s = math.inf  # for one of the script's size, at the fastest rate so far
        self.is_made_anew = False  # the script makes its loader at each epoch: no worker stays

    def whole_epoch(self, lane, config, times, wanted):
        """Batches of an epoch, where rounds of the lane are to be whole ones; else 0. Decided once,
        by the fastest rate so far: a lane is hardly slower that loads so far ahead."""
        if config["prefetch"] not in lane.by_epochs:
            batches = self._epochs.batches if times == 1 and not self._epochs.leaves_early else 0
            limit = min(SHORT * lane.capacity, wanted.max_batches) if wanted.exactly == 0 else 0
            is_quick = batches * self._batch_s <= LONGEST_EPOCH * wanted.seconds
            lane.by_epochs[config["prefetch"]] = batches if batches <= limit and is_quick else 0
        return lane.by_epochs[config["prefetch"]]

    def begin(self, lane, config, batches):
        """The lane's next batch is the first of an epoch of so many, and none is loaded yet."""
        lane.stays = bool(config["persistent"]) and not self.is_made_anew
        lane.finish_epoch(self._beat)
        lane.set_pass(batches)

    def add_share(self, answer, lane, config, times):
        """Adds to a round its share of the start of an epoch. `times` as large as the script's are
        its batches."""
        batches = self._epochs.batches / times
        if answer["batches"] > 0:
            self._batch_s = min(self._batch_s, answer["duration_s"] / answer["batches"] / times)
        if lane.workers == 0 or batches == 0 or answer["batches"] == 0:
            return
        lane.stays = bool(config["persistent"]) and not self.is_made_anew
        batch_s = answer["duration_s"] / answer["batches"]
        seconds = self._cost(lane, config, batches * batch_s, answer["wait_s"] / answer["batches"])
        share_s = seconds * answer["batches"] / batches
        for key in ("duration_s", "wait_s"):
            answer[key] += share_s
        answer["boundary_s"] = share_s

    def cross(self, lane):
        """Seconds from the last batch of an epoch to the first of the next."""
        if not self._epochs.leaves_early:  # what is ordered is taken until an epoch ends
            lane.finish_epoch(self._beat)
        began_s = self._now()
        with kept_random_state(self._torch):
            lane.begin_epoch()
        self._beat()
        return self._now() - began_s

    def _cost(self, lane, config, epoch_s, wait_s):
        """Seconds beyond what is waited for a batch in the midst of an epoch."""
        seen = self._seen.setdefault((key_of(config), lane.stays), [])
        if not seen and lane.start_s < UNSEEN * epoch_s:
            return 0.0 if lane.stays else lane.start_s
        mean_s = sum(seen) / len(seen) if seen else 0.0
        if len(seen) >= LOOKS and mean_s < LARGE * epoch_s:
            return mean_s
        seen.append(max(0.0, self.cross(lane) - wait_s))
        # Of a short epoch each round has a start of its own, so that rounds scatter as epochs do.
        return seen[-1] if seen[-1] >= LARGE * epoch_s else sum(seen) / len(seen)
