# SPDX-License-Identifier: Apache-2.0
"""Rows of a memory-mapped .npy file: cheap samples, whose order is random."""

import numpy
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.path, self.rows = path, None

    def __len__(self):
        return 64_000

    def __getitem__(self, index):
        if self.rows is None:
            self.rows = numpy.load(self.path, mmap_mode="r")
        return torch.from_numpy(self.rows[index].copy()), index % 10


def main():
    numpy.save("rows.npy", numpy.random.default_rng(0).random((64_000, 128), numpy.float32))
    loader = DataLoader(Rows("rows.npy"), batch_size=256, shuffle=True, num_workers=4)
    model = torch.nn.Linear(128, 10)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(1000):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
