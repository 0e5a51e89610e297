# SPDX-License-Identifier: Apache-2.0
"""A TensorDataset: all is in memory, and workers only cost."""

import torch
from clips import network
from torch.utils.data import DataLoader, TensorDataset


def main():
    data = TensorDataset(torch.randn(12_800, 128), torch.randint(0, 10, (12_800,)))
    loader = DataLoader(data, batch_size=64, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(2000):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
