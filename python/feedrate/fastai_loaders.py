# SPDX-License-Identifier: Apache-2.0
"""fastai's DataLoader. It is none of PyTorch's: it gives PyTorch's iterators a stand-in for one."""

from torch.utils.data import DataLoader, IterableDataset


class Batches(IterableDataset):
    """The batches of one of fastai's loaders, in the order that it drew for the epoch. Each worker takes its part:
    `d` is what fastai's worker_init_fn looks for."""

    _feedrate_fixed = {"persistent": "fastai starts its workers again for each epoch",
                       "prefetch": "fastai has no setting for it"}

    def __init__(self, stand_in):
        self.stand_in, self.d = stand_in, stand_in.d

    def __iter__(self):
        return iter(self.stand_in)

    def __len__(self):
        return len(self.d)


def iterate(stand_in):
    """The batches of an epoch, from a DataLoader of PyTorch, which can be tuned. Each epoch has a new one, as fastai
    has a new iterator; the dataset is the same, by which it is known to be the same loader."""
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
