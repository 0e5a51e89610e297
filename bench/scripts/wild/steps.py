# SPDX-License-Identifier: Apache-2.0
"""Counts steps, not epochs: next() on an iterator, created again when it ends."""

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


def main():
    loader = DataLoader(Clips(3200, wait_s=0.001), batch_size=32, shuffle=True, num_workers=1)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    batches = iter(loader)
    for step in range(20_000):
        try:
            x, y = next(batches)
        except StopIteration:
            batches = iter(loader)
            x, y = next(batches)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if step % 20 == 0:
            print("step", step)


if __name__ == "__main__":
    main()
