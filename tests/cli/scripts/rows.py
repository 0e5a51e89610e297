# SPDX-License-Identifier: Apache-2.0
"""What the scripts share: samples that take a while to load, and a step that trains on a batch."""

import time

import torch
from torch.utils.data import Dataset

FEATURES = 8


class Rows(Dataset):
    """Rows that come from far away, those of a batch at once: a millisecond for each. (A machine with
    much to do wakes a sleeper late, and a row that waits by itself as late as a batch.)"""

    def __init__(self, samples=4096, load_s=0.001):
        self.samples = samples
        self.load_s = load_s

    def __len__(self):
        return self.samples

    def __getitems__(self, indices):
        time.sleep(self.load_s * len(indices))
        return [self[i] for i in indices]

    def __getitem__(self, i):
        return torch.ones(FEATURES) * i, i % 2


class Model:
    """One layer, and a step of two milliseconds."""

    def __init__(self):
        self.weight = torch.ones(FEATURES, requires_grad=True)
        self.optimizer = torch.optim.SGD([self.weight], lr=1e-9)

    def predict(self, x):
        time.sleep(0.002)
        return (self.weight * x.sum()).sum()

    def train(self, x):
        self.optimizer.zero_grad()
        loss = self.predict(x)
        loss.backward()
        self.optimizer.step()
        return loss
