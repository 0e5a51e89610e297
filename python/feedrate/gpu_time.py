# SPDX-License-Identifier: Apache-2.0
"""Which GPU a loop uses, and how long it was in the loop's steps, by events in the stream that the loop works on."""

import collections
import os

MOST_PENDING = 256  # steps whose events wait to be read


def union_s(intervals):
    """Seconds that lie in any of the intervals: what two of them share counts once."""
    total_s, reached_s = 0.0, float("-inf")
    for start_s, end_s in sorted(intervals):
        total_s += max(0.0, end_s - max(start_s, reached_s))
        reached_s = max(reached_s, end_s)
    return total_s


class StepTimes:
    """An event before each step and one behind it, on a GPU.

    A stream that works behind the host reaches the first event when the step before is done. An
    idle stream reaches it at once. So an interval has the step's kernels and the gaps between their
    launches, and none of the time in which an idle GPU waits for the next batch. Work in other
    streams counts where the current one waits for it.
    """

    def __init__(self, cuda, gpu):
        """`cuda` is torch.cuda, in use already."""
        self._cuda = cuda
        self._gpu = gpu
        self._spare = []
        self._pending = collections.deque()
        self._origin = None

    def begin(self):
        """Forgets all steps so far. To be called when the GPU has done all its work."""
        while self._pending:
            self._spare.extend(self._pending.popleft())
        if self._origin is not None:
            self._spare.append(self._origin)
        self._intervals = []
        self._origin = self.mark()

    def mark(self):
        """An event that the stream reaches behind all that is launched so far."""
        event = self._spare.pop() if self._spare else self._cuda.Event(enable_timing=True)
        event.record(self._cuda.current_stream(self._gpu))
        return event

    def add(self, start, end):
        """A step between two marks. Of many, those that are done are read: it waits for none."""
        self._pending.append((start, end))
        if len(self._pending) > MOST_PENDING and self._is_done(self._pending[0]):
            self._read()

    def seconds(self):
        """In all steps since begin(). To be called when the GPU has done all its work."""
        while self._pending:
            self._read()
        return union_s(self._intervals)

    @staticmethod
    def _is_done(step):
        return all(event.query() for event in step)

    def _read(self):
        step = self._pending.popleft()
        self._intervals.append(tuple(1e-3 * self._origin.elapsed_time(event) for event in step))
        self._spare.extend(step)


def uuid_of(cuda, gpu):
    """Of a GPU in use, as NVML spells it; None where PyTorch is too old to tell."""
    # Of an instance that MIG made the CUDA runtime may tell the GPU's; of several it shows the first.
    shown = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
    if shown.startswith("MIG-"):
        return shown
    uuid = getattr(cuda.get_device_properties(gpu), "uuid", None)
    if uuid is None:
        return None
    text = str(uuid)
    return text if text.startswith(("GPU-", "MIG-")) else "GPU-" + text
