# SPDX-License-Identifier: Apache-2.0
"""A made-up GPU in the place of torch.cuda: streams that work behind a clock of the test's own."""


class Stream:
    """Does one thing after another, each as soon as it was launched."""

    done_s = 0.0  # when all so far is done


class FakeCuda:
    """`clock.now_s` is the host's time. The script trains on the GPU `gpu`, and the current one is 0."""

    def __init__(self, clock, gpu=0):
        self.clock = clock
        self.gpu = gpu
        self.streams = [Stream()]
        self.current = self.streams[0]
        self.events_made = 0

    def is_available(self):
        return True

    def is_initialized(self):
        return True

    def current_device(self):
        return 0

    def max_memory_allocated(self, device=0):
        return 1000

    def current_stream(self, device):
        assert device == self.gpu
        return self.current

    def launch(self, seconds):
        """Work for the current stream, which the host does not wait for."""
        self.current.done_s = max(self.current.done_s, self.clock.now_s) + seconds

    def synchronize(self, device):
        assert device == self.gpu
        self.clock.now_s = max(self.clock.now_s, *(stream.done_s for stream in self.streams))

    def Event(self, enable_timing=False):  # as PyTorch names it
        assert enable_timing
        self.events_made += 1
        return Event(self.clock)


class Event:
    at_s = None

    def __init__(self, clock):
        self._clock = clock

    def record(self, stream):
        self.at_s = max(stream.done_s, self._clock.now_s)

    def query(self):
        return self.at_s <= self._clock.now_s

    def elapsed_time(self, end):
        """Milliseconds; refused, as PyTorch does, where one of them was not reached yet."""
        if not (self.query() and end.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return 1e3 * (end.at_s - self.at_s)
