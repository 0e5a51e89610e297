# SPDX-License-Identifier: Apache-2.0
"""A launch with fixed settings: the script runs as it always does, and its rate is reported."""

import time

from .lanes import settings_of
from .watch import Reporter, SampleCount


class PlainReporter(Reporter):
    """Tells besides how long the script was outside of its loop, between two passes over it."""

    source = "hook"
    outside_s = 0.0

    def _message(self, now_s):
        return dict(super()._message(now_s), outside_s=self.outside_s)


class Plain:
    """Gives the script's loader the settings that autotune wants, once, and reports its passes."""

    def __init__(self, connect, config, torch):
        self._connect = connect
        self._reporter = None
        self._config = config
        self._torch = torch
        self._count = SampleCount()
        self._left_s = None

    def iterate(self, loader, iterate):
        if self._config is not None:
            for name, value in settings_of(loader, self._config, self._torch).items():
                object.__setattr__(loader, name, value)
            self._config = None
        return self.reported(iterate(loader))

    def reported(self, batches):
        """A pass over the loader, or what is left of it. Without autotune it only goes on."""
        if self._reporter is None:
            self._reporter = self._connect()
        return batches if self._reporter is None else self._pass(batches)

    def _pass(self, batches):
        reporter, clock = self._reporter, time.monotonic
        asked_s = clock()
        if self._left_s is not None:
            reporter.outside_s += asked_s - self._left_s
        try:
            for batch in batches:
                reporter.add(self._count(batch), asked_s, clock())
                yield batch
                asked_s = clock()
        finally:
            self._left_s = clock()
            reporter.send(self._left_s)
