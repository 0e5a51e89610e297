# SPDX-License-Identifier: Apache-2.0
"""Loaders of all kinds, below one loop. Usage: loaders.py KIND, a key of LOADERS."""

import collections
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time

import torch
from rows import Model, Rows
from torch.utils.data import DataLoader, IterableDataset, Sampler, get_worker_info

Pair = collections.namedtuple("Pair", "x y")


class Passes(Sampler):
    """Fails where a pass goes on after the next has begun: it has one reader at a time."""

    def __init__(self, samples):
        self.samples = samples
        self.passes = 0

    def __iter__(self):
        self.passes += 1
        own = self.passes
        for i in range(self.samples):
            assert self.passes == own, "two readers of one sampler"
            yield i

    def __len__(self):
        return self.samples


class Buckets:
    """Batches of its own."""

    def __iter__(self):
        for first in range(0, 4096, 16):
            yield list(range(first, first + 16))

    def __len__(self):
        return 256


class Whole(IterableDataset):
    """Each worker reads all of it."""

    def __iter__(self):
        for i in range(4096):
            time.sleep(0.001)
            yield torch.ones(8) * i, i % 2


class Stream(IterableDataset):
    """Each worker has a part of it."""

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for count, i in enumerate(range(first, 4096, step)):
            if count % 16 == 0:
                time.sleep(0.016)
            yield torch.ones(8) * i, i % 2


class Nested(Rows):
    def __getitem__(self, i):
        x, y = super().__getitem__(i)
        return {"inputs": {"x": x, "name": "row %d" % i}, "y": (y, float(y))}


class Unpicklable(Rows):
    def __init__(self):
        super().__init__()
        self.transform = lambda x: x


class Opening(Rows):
    """Opens its file at the first sample, as many do, and reads it in that process alone."""

    file = None

    def __getitem__(self, i):
        if self.file is None:
            self.file, self.opened_by = open(__file__), os.getpid()
        assert self.opened_by == os.getpid(), "the file was opened in another process"
        return super().__getitem__(i)


class Large(Rows):
    """A batch of 16 takes 16 MiB."""

    def __getitem__(self, i):
        return torch.ones(1 << 18), i % 2


class Mortal(Rows):
    """Kills the worker that it is in, at times."""

    def __getitem__(self, i):
        if get_worker_info() is not None and i % 40 == 39:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(i)


def first_of_each(samples):
    return Pair(torch.stack([x for x, _ in samples]), [y for _, y in samples])


def seed_worker(worker):
    torch.manual_seed(worker)
    os.environ["SEEDED"] = str(worker)


class Seeded(Rows):
    def __getitem__(self, i):
        assert get_worker_info() is None or "SEEDED" in os.environ, "worker_init_fn did not run"
        return super().__getitem__(i)


def with_spawn(dataset):
    multiprocessing.set_start_method("spawn")
    return DataLoader(dataset, batch_size=16)


def accelerated(loader):
    from accelerate import Accelerator

    return Accelerator().prepare(loader)


def combined(loader):
    from lightning.pytorch.utilities import CombinedLoader

    return Unpacked(CombinedLoader(loader, "min_size"))


class Unpacked:
    """Of (batch, index, loader) the batch."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return (batch for batch, _, _ in self.batches)


class Prefetched:
    """A thread takes up to two batches ahead."""

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        ahead = queue.Queue(2)
        threading.Thread(target=self.fill, args=(ahead,), daemon=True).start()
        return iter(ahead.get, None)

    def fill(self, ahead):
        for batch in self.loader:
            ahead.put(batch)
        ahead.put(None)


LOADERS = {
    "accelerated": lambda: accelerated(DataLoader(Rows(), batch_size=16, shuffle=True)),
    "combined": lambda: combined(DataLoader(Rows(), batch_size=16, shuffle=True)),
    "prefetched": lambda: Prefetched(DataLoader(Rows(), batch_size=16, shuffle=True)),
    "sampler": lambda: DataLoader(Rows(), batch_size=16, sampler=Passes(400), drop_last=True),
    "batch_sampler": lambda: DataLoader(Rows(), batch_sampler=Buckets()),
    "collate": lambda: DataLoader(Rows(), batch_size=16, collate_fn=first_of_each),
    "workers": lambda: DataLoader(Seeded(), batch_size=16, num_workers=1, persistent_workers=True,
                                  worker_init_fn=seed_worker, timeout=20),
    "iterable": lambda: DataLoader(Stream(), batch_size=16),
    "whole": lambda: DataLoader(Whole(), batch_size=16),
    "generator": lambda: DataLoader(Rows(), batch_size=16, shuffle=True,
                                    generator=torch.Generator().manual_seed(1)),
    "nested": lambda: DataLoader(Nested(), batch_size=16),
    "state": lambda: DataLoader(Opening(), batch_size=16),
    "large": lambda: DataLoader(Large(), batch_size=16),
    "mortal": lambda: DataLoader(Mortal(), batch_size=16),
    "spawn": lambda: with_spawn(Rows()),
    "unpicklable": lambda: with_spawn(Unpicklable()),
}


def inputs_of(batch):
    if isinstance(batch, dict):
        return batch["inputs"]["x"]
    return batch.x if isinstance(batch, Pair) else batch[0]


def main():
    model = Model()
    loader = LOADERS[sys.argv[1]]()
    for _ in range(1000):
        for batch in loader:
            model.train(inputs_of(batch))


if __name__ == "__main__":
    main()
