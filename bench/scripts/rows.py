# SPDX-License-Identifier: Apache-2.0
"""The classic example: rows of features, of which each costs 100 us of waiting or of computing."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

COST_S = 100e-6


class Rows(Dataset):
    def __init__(self, cost, samples=50_000, features=2048):
        self.cost = cost
        self.x = torch.randn(samples, features)
        self.y = torch.randint(0, 2, (samples,))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        if self.cost == "waiting":
            time.sleep(COST_S)
        else:
            end_s = time.thread_time() + COST_S
            while time.thread_time() < end_s:
                pass
        return self.x[index], self.y[index]


def main():
    train_loader = DataLoader(Rows(sys.argv[1]), batch_size=128, shuffle=True)
    model = torch.nn.Linear(2048, 2)
    optimizer = torch.optim.Adam(model.parameters())
    loss_of = torch.nn.CrossEntropyLoss()
    for epoch in range(1000):
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
