# SPDX-License-Identifier: Apache-2.0
"""Settings from the environment, as on many clusters."""

import os

import torch
from clips import Clips, network
from torch.utils.data import DataLoader

NUM_WORKERS = int(os.environ.get("NUM_WORKERS", 0))
EPOCHS = int(os.environ.get("EPOCHS", 100))


def main():
    loader = DataLoader(Clips(1600, wait_s=0.002), batch_size=16, shuffle=True,
                        num_workers=NUM_WORKERS)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
