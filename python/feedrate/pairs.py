# SPDX-License-Identifier: Apache-2.0
"""Rounds in pairs: the rate of the script's loop as it is, and with one change beside the loader's settings."""

import contextlib

from . import cpp_lane
from .levers import Levers, Missing
from .meter import Meter
from .window import Wanted

LEVER_WARM_UP = 3  # steps


class Pairs:
    """What a session can be asked of a change of the step, or of another loader. It has rounds, and steps."""

    # Changes of the step.

    def _lever(self, question):
        """Rates of the loop without a lever and with it, in pairs."""
        config = question["of"]
        if self._levers is None:
            self._levers = Levers(self._torch, config)
        try:
            with self._stepping_as(config, question):
                return {"pairs": (yield from self._lever_pairs(question["lever"], config, question))}
        except Missing as why:
            return {"why_not": str(why)}

    def _lever_pairs(self, name, config, question):
        changed, pairs = self._levers.config(name), []
        yield from self._get_used_to(name, changed)
        for pair in range(question["pairs"]):
            rates = {}
            for pulled in in_turn(pair):
                with self._levers.named(name) if pulled else contextlib.nullcontext():
                    rates[pulled] = yield from (self._rate(changed, question, lever=name) if pulled else
                                                self._rate(config, question))
            pairs.append([rates[False], rates[True]])
        return pairs

    def _get_used_to(self, name, config):
        """The first steps with a lever compile or choose kernels, which may take a minute."""
        replay = yield from self._replay_of(config)
        with self._levers.named(name):
            self._channel.send({"outside": True})
            for _ in range(max(LEVER_WARM_UP, self._updates.at_once())):
                yield from self._step(replay.take())
            self._channel.send({"outside": False})

    # Another loader.

    def _cpp_loader(self, question):
        """Rates of the loop on what the config's workers load, and on what feedrate's C++ loader
        does: one pair of rounds."""
        config, rates = question["of"], {}
        try:
            if self._other is None:
                self._other = cpp_lane.made(self._loader, config, self._torch)
        except Missing as why:
            return {"why_not": str(why)}
        with self._stepping_as(config, question):
            for changed in in_turn(question["pair"]):
                rates[changed] = yield from (self._rate_of_other(config, question) if changed else
                                             self._rate(config, question))
        return {"pairs": [[rates[False], rates[True]]]}

    def _rate_of_other(self, config, question):
        self._lanes.quiet(None, self._beat)
        return self._rate(config, dict(question, warm_up=cpp_lane.WARM_UP), self._other)

    def _rate(self, config, question, other=None, lever=None):
        """Samples per second of the loop in one round."""
        told = yield from self._coupled(config, Wanted(question), Meter(self._torch, self._now), other, lever)
        return told["samples"] / told["duration_s"]


def in_turn(pair):
    """Whether a round of a pair has the change: the order is the other way round in every second one."""
    return (False, True) if pair % 2 == 0 else (True, False)
