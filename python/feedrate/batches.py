# SPDX-License-Identifier: Apache-2.0
"""Looking into batches of any nesting: their tensors, their samples, their bytes."""

from .watch import SampleCount


def tensors_of(batch, depth=8):
    """All tensors (what has shape, dtype and dim) of a nested batch."""
    if hasattr(batch, "dim") and hasattr(batch, "shape"):
        yield batch
        return
    if depth == 0:
        return
    for part in _parts_of(batch):
        yield from tensors_of(part, depth - 1)


def _parts_of(batch):
    if isinstance(batch, dict) or hasattr(batch, "values") and callable(batch.values):
        return list(batch.values())
    if isinstance(batch, (list, tuple)):
        return batch
    return list(vars(batch).values()) if hasattr(batch, "__dict__") else []


def length_of(thing):
    """None where it has none."""
    try:
        return len(thing)
    except (TypeError, NotImplementedError):
        return None


def counter_for(batch, size, data_length):
    """Counts the samples in batches of a DataLoader like this one; None where they are to be taken
    for as many as its batch size says, if it has one.

    An array may have another first dimension than the samples, as pictures in a list have: where
    the first one differs from the batch size, that is believed.
    """
    counter = SampleCount()
    samples = counter(batch)
    wanted = min(size, data_length or size) if isinstance(size, int) else samples
    return counter if samples is not None and samples == wanted else None


def bytes_of(batch):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_of(batch))


class Replay:
    """A few batches that are given again and again, as they were: a step that writes into its batch
    is noticed by PyTorch's version counters, and the batch is restored."""

    def __init__(self, batches):
        self._batches = batches
        self._copies = [[tensor.clone() for tensor in tensors_of(batch)] for batch in batches]
        self._versions = [self._version(batch) for batch in batches]
        self._next = 0

    @staticmethod
    def _version(batch):
        try:
            return [tensor._version for tensor in tensors_of(batch)]
        except RuntimeError:  # made in inference mode: nobody writes into those
            return None

    def take(self):
        at = self._next
        self._next = (at + 1) % len(self._batches)
        batch = self._batches[at]
        if self._version(batch) != self._versions[at]:
            self._restore(at)
        return batch

    def _restore(self, at):
        for tensor, copy in zip(tensors_of(self._batches[at]), self._copies[at]):
            tensor.detach().copy_(copy)
        self._versions[at] = self._version(self._batches[at])
