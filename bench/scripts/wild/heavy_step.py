# SPDX-License-Identifier: Apache-2.0
"""The step takes far longer than the samples: nothing of the loader matters."""

import torch
from clips import Clips
from torch.utils.data import DataLoader


def main():
    loader = DataLoader(Clips(640, compute_s=20e-6), batch_size=32, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(128, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 2048),
                                torch.nn.ReLU(), torch.nn.Linear(2048, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(1000):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
