# SPDX-License-Identifier: Apache-2.0
"""What a round used beside time: CPU seconds of the script, of its workers, and of sleepers; and how
long the GPU was in its steps."""

import os
import time

from . import process
from .device import gpu_of
from .gpu_time import StepTimes


class Meter:
    """Reads the counters at both ends of a round.

    `step_times` has the marks of each step where the script uses a GPU; else it is None, and a step
    takes what the host needs for it.
    """

    def __init__(self, torch, now=time.perf_counter):
        self._torch = torch
        self._now = now
        self._gpu = gpu_of(torch)
        self.step_times = StepTimes(torch.cuda, self._gpu) if self._gpu is not None else None

    def begin(self, workers, parked):
        self._wait_for_gpu()
        if self.step_times is not None:
            self.step_times.begin()
        self._workers, self._parked = workers, parked
        self._before = self._read()

    def end(self, window, first_batch_s, ready):
        """The answer: the fields of a round."""
        behind_s = self._wait_for_gpu()
        duration_s = window.duration_s + behind_s
        step_s = self._step_s(window, duration_s)
        cpu_s, queue_s, parked_s, *machine_s = (
            after - before for after, before in zip(self._read(), self._before))
        return {
            "order": 0, "block": 0, "start_s": 0.0,
            "duration_s": duration_s,
            "samples": window.samples,
            "batches": window.batches,
            "wait_s": duration_s - step_s,
            "step_s": step_s,
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

    def _step_s(self, window, duration_s):
        """Seconds in steps: of the GPU where one is used, which waits for the next batch whenever
        it has no step; else of the host."""
        if self.step_times is None:
            return window.step_s
        return min(self.step_times.seconds(), duration_s)

    def _wait_for_gpu(self):
        """Seconds until what was launched is done."""
        if self.step_times is None:
            return 0.0
        began_s = self._now()
        self._torch.cuda.synchronize(self._gpu)
        return self._now() - began_s

    def _read(self):
        """CPU seconds, seconds in the run queue, CPU seconds of those that should sleep, and of
        the machine."""
        workers = process.usage_of(self._workers)
        own_queue_s = process.usage(os.getpid())[1]
        parked_s = process.usage_of(self._parked)[0]
        return (time.process_time() + workers[0], own_queue_s + workers[1], parked_s,
                *process.machine_cpu())
