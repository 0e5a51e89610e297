# SPDX-License-Identifier: Apache-2.0
"""An IterableDataset that divides its lines among the workers."""

import time

import torch
from clips import network
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for number in range(first, 3200, step):
            time.sleep(0.001)
            yield torch.full((128,), float(number % 7)), number % 10


def main():
    loader = DataLoader(Lines(), batch_size=20, num_workers=1)
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
