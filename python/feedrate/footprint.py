# SPDX-License-Identifier: Apache-2.0
"""The memory that a config takes: as measured in a round, and for others as predicted from it."""

import os

from . import process


class Footprint:
    """Resident memory of the script, of its workers, and of the batches that lie ready."""

    def __init__(self, batch, batch_bytes, memory_of=process.memory_of):
        """`batch` samples take `batch_bytes`."""
        self._batch = batch
        self._batch_bytes = batch_bytes
        self._memory_of = memory_of
        self._measured = {}  # bytes by config
        self._main_bytes = None
        self._worker_bytes = 0

    def measure(self, config, workers, parked, ready):
        """While the workers of a config are at work, and `ready` of its batches lie in their queue. Once
        for each config: the kernel goes through all pages of a process for that.

        Parked workers belong to the measurement: what only they have does not count, and what they
        share with the script counts as if they were not there.
        """
        if _key(config) in self._measured:
            return
        main, own = self._memory_of([os.getpid()]), self._memory_of(workers)
        others = self._memory_of(parked)
        all_bytes = main.proportional + own.proportional
        if main.by_share:
            all_bytes += others.proportional - others.private
        all_bytes = max(0, all_bytes)
        shared = main.shared + own.shared
        # A batch in the queue may be in no process: then nobody has its shared memory as his.
        queued = max(0, ready * self._bytes_of(config) - shared)
        self._measured[_key(config)] = all_bytes + queued
        if workers:
            self._worker_bytes = own.private // len(workers)
        self._main_bytes = max(0, all_bytes - shared - len(workers) * self._worker_bytes)

    def of(self, config):
        """Bytes; of a config that was not measured, by prediction."""
        if _key(config) in self._measured:
            return self._measured[_key(config)]
        if self._main_bytes is None:
            self._main_bytes = self._memory_of([os.getpid()]).proportional
        ahead = config["workers"] * config["prefetch"] + 1
        return (self._main_bytes + config["workers"] * self._worker_bytes
                + ahead * self._bytes_of(config))

    def _bytes_of(self, config):
        return self._batch_bytes * config["batch"] // self._batch


def _key(config):
    return tuple(config[name] for name in ("workers", "prefetch", "pinned", "batch", "persistent", "start_method"))
