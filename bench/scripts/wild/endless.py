# SPDX-License-Identifier: Apache-2.0
"""A sampler that never ends, and one long loop of steps."""

import itertools

import torch
from clips import Clips, network
from torch.utils.data import DataLoader, Sampler


class Endless(Sampler):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        while True:
            yield from torch.randperm(self.samples).tolist()


def main():
    clips = Clips(3200, wait_s=0.0005)
    loader = DataLoader(clips, batch_size=32, sampler=Endless(len(clips)))
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step, (x, y) in enumerate(itertools.islice(loader, 50_000)):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if step % 20 == 0:
            print("step", step)


if __name__ == "__main__":
    main()
