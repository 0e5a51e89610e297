# SPDX-License-Identifier: Apache-2.0
"""itertools.cycle keeps the batches of the first epoch: the loader is asked only once."""

import itertools

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


def main():
    loader = DataLoader(Clips(640, wait_s=0.0005), batch_size=32, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step, (x, y) in enumerate(itertools.cycle(loader)):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if step % 100 == 0:
            print("step", step)
        if step == 200_000:
            break


if __name__ == "__main__":
    main()
