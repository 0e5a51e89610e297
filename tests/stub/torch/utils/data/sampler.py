# SPDX-License-Identifier: Apache-2.0
"""Datasets, and in which order their samples are drawn."""

import torch


class Dataset:
    pass


class IterableDataset(Dataset):
    pass


class Sampler:
    def __init__(self, data_source=None):
        self.data_source = data_source

    def __len__(self):
        return len(self.data_source)


class SequentialSampler(Sampler):
    def __iter__(self):
        return iter(range(len(self)))


class RandomSampler(Sampler):
    """Draws from its generator, or from the one of all, at the start of each pass."""

    def __init__(self, data_source, generator=None):
        super().__init__(data_source)
        self.generator = generator

    def __iter__(self):
        order = list(range(len(self)))
        source = self.generator._random if self.generator else torch._generator
        source.shuffle(order)
        yield from order


class InfiniteSampler(Sampler):
    """Stands for the order where a dataset iterates itself."""

    def __iter__(self):
        while True:
            yield None


class BatchSampler(Sampler):
    def __init__(self, sampler, batch_size, drop_last):
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        batch = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)
