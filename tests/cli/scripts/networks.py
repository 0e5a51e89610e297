# SPDX-License-Identifier: Apache-2.0
"""Trains a network, and writes what that leaves: weights, optimizer and random state. Needs PyTorch.

usage: networks.py NETWORK FILE [WORKERS]  trains for two epochs, and writes the number of workers and a digest
       networks.py NETWORK FILE WORKERS CHECKPOINT  the same, from a checkpoint where there is one, and leaves one
       networks.py NETWORK FILE AUTOTUNE   tunes the loader in this process: a digest before, and one after
"""

import hashlib
import os
import random
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 4


class Pictures(Dataset):
    """Noise of 3 x 16 x 16; it comes from far away."""

    def __len__(self):
        return 320

    def __getitem__(self, i):
        time.sleep(0.001)
        return torch.randn(3, 16, 16, generator=torch.Generator().manual_seed(i)), i % CLASSES


class Transformer(nn.Module):
    """Over the rows of a picture; with dropout, which draws random numbers in each step."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(48, nhead=4, dim_feedforward=64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(48, CLASSES)

    def forward(self, x):
        return self.head(self.encoder(x.transpose(1, 2).flatten(2)).mean(1))


def cnn():
    """With batch normalisation, whose running means are no parameters."""
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.1), nn.Flatten(),
                         nn.Linear(8 * 14 * 14, CLASSES))


class Training:
    def __init__(self, network):
        torch.manual_seed(7)
        random.seed(7)
        self.model = {"cnn": cnn, "transformer": Transformer}[network]()
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def step(self, batch):
        x, y = batch
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(self.model(x), y).backward()
        self.optimizer.step()

    def save(self, file):
        torch.save([self.model.state_dict(), self.optimizer.state_dict(), torch.get_rng_state(), random.getstate()],
                   file)

    def go_on_from(self, file):
        model, optimizer, numbers, pythons = torch.load(file, weights_only=False)
        self.model.load_state_dict(model)
        self.optimizer.load_state_dict(optimizer)
        torch.set_rng_state(numbers)
        random.setstate(pythons)

    def digest(self):
        """Of every bit of it."""
        sha = hashlib.sha256()

        def add(value):
            if isinstance(value, torch.Tensor):
                sha.update(value.numpy().tobytes())
            elif isinstance(value, (dict, list, tuple)):
                for one in value.items() if isinstance(value, dict) else value:
                    add(one)
            else:
                sha.update(repr(value).encode())

        add([self.model.state_dict(), self.optimizer.state_dict(), torch.get_rng_state(), random.getstate()])
        return sha.hexdigest()


def main(network, file, given="0", checkpoint=None):
    training = Training(network)
    if checkpoint and os.path.exists(checkpoint):
        training.go_on_from(checkpoint)
    workers = int(given) if given.isdigit() else 0
    loader = DataLoader(Pictures(), batch_size=16, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
    if given.isdigit():
        for _ in range(2):
            for batch in loader:
                training.step(batch)
            if checkpoint:
                training.save(checkpoint)
        first = loader.num_workers
    else:
        import feedrate

        training.step(next(iter(loader)))
        first = training.digest()
        feedrate.autotune(loader, training.step, "--budget", "3s", keep=[training.model, training.optimizer],
                          command=given)
    with open(file, "w") as out:
        print(first, training.digest(), file=out)


if __name__ == "__main__":
    main(*sys.argv[1:])
