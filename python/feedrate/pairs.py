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
        """Rates of the step on ready batches, without a lever and with it, in pairs."""
        if self._levers is None:
            self._levers = Levers(self._torch, self._precision)
        name, config = question["lever"], question["of"]
        try:
            yield from self._get_used_to(name, config)
        except Missing as why:
            return {"why_not": str(why)}
        pairs = []
        for pair in range(question["pairs"]):
            rates = {}
            for pulled in (False, True) if pair % 2 == 0 else (True, False):
                with self._levers.named(name) if pulled else contextlib.nullcontext():
                    meter = Meter(self._torch, self._now)
                    told = yield from self._replayed(config, Wanted(question), meter)
                rates[pulled] = told["samples"] / told["duration_s"]
            pairs.append([rates[False], rates[True]])
        return {"pairs": pairs}

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
        does: one pair of rounds. The order is the other way round in every second one."""
        config, rates = question["of"], {}
        try:
            if self._other is None:
                self._other = cpp_lane.made(self._loader, config, self._torch)
        except Missing as why:
            return {"why_not": str(why)}
        for changed in (False, True) if question["pair"] % 2 == 0 else (True, False):
            if changed:
                self._lanes.quiet(None, self._beat)
            wanted = Wanted(dict(question, warm_up=cpp_lane.WARM_UP if changed else None))
            told = yield from self._coupled(config, wanted, Meter(self._torch, self._now),
                                            self._other if changed else None)
            rates[changed] = told["samples"] / told["duration_s"]
        return {"pairs": [[rates[False], rates[True]]]}
