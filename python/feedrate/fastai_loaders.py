# SPDX-License-Identifier: Apache-2.0
"""fastai's DataLoader, which is none of PyTorch's: it makes PyTorch's iterators over a stand-in for one."""

from torch.utils.data import DataLoader, IterableDataset


class Batches(IterableDataset):
    """The batches of a loader of fastai's, in the order that this drew for the epoch. A worker takes its part of
    them: `d` is what fastai's worker_init_fn looks for."""

    _feedrate_fixed = {"persistent": "fastai starts its workers again for each epoch",
                       "prefetch": "fastai has no setting for it"}

    def __init__(self, stand_in):
        self.stand_in, self.d = stand_in, stand_in.d

    def __iter__(self):
        return iter(self.stand_in)

    def __len__(self):
        return len(self.d)


def iterate(stand_in):
    """What PyTorch's iterator over the stand-in gives, by a DataLoader, which can be tuned. Like fastai's iterator,
    each epoch has its own, and so its own workers; by the dataset it is known to be the same."""
    if not hasattr(stand_in, "_feedrate_batches"):
        stand_in._feedrate_batches = Batches(stand_in)
    workers = stand_in.num_workers
    of_workers = dict(prefetch_factor=stand_in.prefetch_factor, timeout=stand_in.timeout) if workers > 0 else {}
    if getattr(stand_in, "pin_memory_device", ""):
        of_workers["pin_memory_device"] = stand_in.pin_memory_device
    return map(as_made, DataLoader(
        stand_in._feedrate_batches, batch_size=None, num_workers=workers, collate_fn=stand_in.collate_fn,
        pin_memory=stand_in.pin_memory, worker_init_fn=stand_in.worker_init_fn, **of_workers))


def as_made(batch):
    """PyTorch's pinned memory makes lists of tuples, in some versions. fastai knows that where it pins itself, and its
    transforms pass over lists."""
    return tuple(batch) if type(batch) is list else batch


def attach(module):
    """`module` is fastai.data.load."""
    module._loaders = (iterate, iterate)
