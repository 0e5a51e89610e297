# SPDX-License-Identifier: Apache-2.0
"""What a round used beside time: CPU seconds of the script, of its workers, and of sleepers."""

import os
import time

from . import process
from .stepping import device_of


class Meter:
    """Reads the counters at both ends of a round."""

    def __init__(self, torch):
        self._torch = torch
        self._on_gpu = device_of(torch) == "cuda"

    def begin(self, workers, parked):
        self._wait_for_gpu()
        self._workers, self._parked = workers, parked
        self._before = self._read()

    def end(self, window, first_batch_s, ready):
        """The answer: the fields of a round."""
        behind_s = self._wait_for_gpu()
        cpu_s, queue_s, parked_s, *machine_s = (
            after - before for after, before in zip(self._read(), self._before))
        return {
            "order": 0, "block": 0, "start_s": 0.0,
            "duration_s": window.duration_s + behind_s,
            "samples": window.samples,
            "batches": window.batches,
            "wait_s": window.wait_s,
            "step_s": window.step_s + behind_s,
            "cpu_s": max(0.0, cpu_s),
            "first_batch_s": first_batch_s,
            "ring_at_start": window.ring_at_start,
            "ring_at_end": ready,
            "variability": window.variability(),
            "queue_s": max(0.0, queue_s) + process.stolen_from(cpu_s, *machine_s),
            "energy_j": 0.0,
            "parked_cpu_s": max(0.0, parked_s),
            "outside_s": window.outside_s,
        }

    def _wait_for_gpu(self):
        """Seconds until what was launched is done."""
        if not self._on_gpu:
            return 0.0
        began_s = time.perf_counter()
        self._torch.cuda.synchronize()
        return time.perf_counter() - began_s

    def _read(self):
        """CPU seconds, seconds in the run queue, CPU seconds of those that should sleep, and of
        the machine."""
        workers = process.usage_of(self._workers)
        own_queue_s = process.usage(os.getpid())[1]
        parked_s = process.usage_of(self._parked)[0]
        return (time.process_time() + workers[0], own_queue_s + workers[1], parked_s,
                *process.machine_cpu())
