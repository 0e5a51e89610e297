# SPDX-License-Identifier: Apache-2.0
"""How Accelerate wraps a loader: by one that looks like a DataLoader, holds another one, made of
the script's own, and takes a batch ahead."""

from torch.utils.data import DataLoader


class DataLoaderShard:
    def __init__(self, dataset, **kwargs):
        self.base_dataloader = DataLoader(dataset, **kwargs)

    def __getattr__(self, name):
        if name == "base_dataloader":
            raise AttributeError()
        return getattr(self.base_dataloader, name)

    @property
    def __class__(self):
        return self.base_dataloader.__class__

    def __len__(self):
        return len(self.base_dataloader)

    def __iter__(self):
        batches = self.base_dataloader.__iter__()
        try:
            current = next(batches)
        except StopIteration:
            return
        for following in batches:
            yield current
            current = following
        yield current


class Accelerator:
    def prepare(self, loader):
        return DataLoaderShard(loader.dataset, batch_sampler=loader.batch_sampler,
                               num_workers=loader.num_workers, collate_fn=loader.collate_fn)
