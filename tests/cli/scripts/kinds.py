# SPDX-License-Identifier: Apache-2.0
"""Scripts in the styles of others. Usage: kinds.py KIND, where KIND is one of the functions below."""

import itertools
import sys

import torch
from rows import Model, Rows
from torch.utils.data import DataLoader

model = Model()
EPOCHS, SAMPLES, BATCH = 40, 320, 16


def has_an_exact_number_of_steps():
    """A schedule that may not be asked once more than it was planned for, and an index that must stay
    below the length of the loader."""
    loader = DataLoader(Rows(SAMPLES), batch_size=BATCH)
    schedule = iter(range(EPOCHS * len(loader)))
    for epoch in range(EPOCHS):
        for i, (x, _) in enumerate(loader):
            assert 1 / (len(loader) - i) > 0
            model.train(x)
            next(schedule)


def has_few_steps():
    """A hundred of them, which take no time, and then the end."""
    loader = DataLoader(Rows(SAMPLES), batch_size=BATCH)
    weight = torch.ones(8, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1e-9)
    for _ in range(5):
        for x, _ in loader:
            (weight * x.sum()).sum().backward()
            optimizer.step()


def has_a_corrupt_record():
    class Records(Rows):
        def __getitem__(self, i):
            if i == 200:
                raise ValueError("record %d is corrupt" % i)
            return super().__getitem__(i)

    loader = DataLoader(Records(SAMPLES), batch_size=BATCH, num_workers=1)
    for _ in range(1000):
        for x, _ in loader:
            model.train(x)


def makes_its_loader_anew():
    for _ in range(1000):
        for x, _ in DataLoader(Rows(SAMPLES), batch_size=BATCH, num_workers=1):
            model.train(x)


def sets_a_value_of_its_dataset():
    dataset = Rows(SAMPLES)
    dataset.size = 0
    loader = DataLoader(dataset, batch_size=BATCH)
    for epoch in range(1000):
        dataset.size = epoch
        for x, _ in loader:
            model.train(x)


def has_its_own_loop_over_batches():
    """A class that is derived from DataLoader and brings its batches from elsewhere."""

    class Loader(DataLoader):
        def __iter__(self):
            while True:
                yield self.collate_fn([self.dataset[i] for i in range(BATCH)])

    for x, _ in Loader(Rows(SAMPLES), batch_size=BATCH):
        model.train(x)


def keeps_one_iterator():
    """As timm has it: PyTorch's iterator is made once, over batches without end."""

    class Repeat:
        def __init__(self, sampler):
            self.sampler = sampler

        def __iter__(self):
            while True:
                yield from iter(self.sampler)

        def __len__(self):
            return len(self.sampler)

    class Loader(DataLoader):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            object.__setattr__(self, "batch_sampler", Repeat(self.batch_sampler))
            self.own = None

        def __iter__(self):
            self.own = self.own or super().__iter__()
            for _ in range(len(self.batch_sampler)):
                yield next(self.own)

    loader = Loader(Rows(SAMPLES), batch_size=BATCH)
    for _ in range(1000):
        for x, _ in loader:
            model.train(x)


def keeps_its_batches():
    for x, _ in itertools.cycle(DataLoader(Rows(SAMPLES), batch_size=BATCH)):
        model.train(x)


def trains_without_a_loader():
    while True:
        model.train(torch.ones(BATCH, 8))


def trains_by_hand_and_validates():
    """The one DataLoader is not that which trains."""
    val_loader = DataLoader(Rows(64), batch_size=BATCH)
    while True:
        for _ in range(50):
            model.train(torch.ones(BATCH, 8))
        with torch.no_grad():
            for x, _ in val_loader:
                model.predict(x)


def train_forever(rank):
    del rank
    trains_without_a_loader()


def trains_in_spawned_processes():
    import torch.multiprocessing

    torch.multiprocessing.spawn(train_forever, nprocs=2)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
