# SPDX-License-Identifier: Apache-2.0
"""Workers by spawn, behind a main guard."""

import multiprocessing

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


def main():
    loader = DataLoader(Clips(4000, wait_s=0.001), batch_size=32, shuffle=True, num_workers=1,
                        persistent_workers=True,
                        multiprocessing_context=multiprocessing.get_context("spawn"))
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(100):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
