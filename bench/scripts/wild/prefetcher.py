# SPDX-License-Identifier: Apache-2.0
"""A prefetcher of its own around the loader, as many repositories have for their GPU copies."""

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


class Prefetcher:
    def __init__(self, loader):
        self.batches = iter(loader)
        self.preload()

    def preload(self):
        try:
            self.x, self.y = next(self.batches)
        except StopIteration:
            self.x = self.y = None

    def next(self):
        x, y = self.x, self.y
        self.preload()
        return x, y


def main():
    loader = DataLoader(Clips(3200, wait_s=0.0004), batch_size=32, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(100):
        prefetcher = Prefetcher(loader)
        x, y = prefetcher.next()
        while x is not None:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            x, y = prefetcher.next()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
