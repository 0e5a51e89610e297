# SPDX-License-Identifier: Apache-2.0
"""A loop through Hugging Face Accelerate, over samples that come from a slow store (1 ms each)."""

import time

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset


class Store(Dataset):
    def __len__(self):
        return 20_000

    def __getitem__(self, index):
        time.sleep(1e-3)
        return torch.full((512,), float(index)), index % 2


def main():
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(512, 2)
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Store(), batch_size=64, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(1000):
        for x, y in loader:
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
            optimizer.step()


if __name__ == "__main__":
    main()
