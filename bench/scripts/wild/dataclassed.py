# SPDX-License-Identifier: Apache-2.0
"""A trainer class with a config that is a dataclass; the loader is a member."""

import dataclasses

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


@dataclasses.dataclass
class Config:
    batch_size: int = 32
    num_workers: int = 2
    epochs: int = 100
    lr: float = 3e-4


class Trainer:
    def __init__(self, model, train_dataset, config):
        self.model, self.config = model, config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        self.train_loader = DataLoader(train_dataset, shuffle=True, batch_size=config.batch_size,
                                       num_workers=config.num_workers)

    def run_epoch(self):
        self.model.train()
        for x, y in self.train_loader:
            loss = torch.nn.functional.cross_entropy(self.model(x), y)
            self.model.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()

    def train(self):
        for epoch in range(self.config.epochs):
            self.run_epoch()
            print("epoch", epoch)


if __name__ == "__main__":
    Trainer(network(), Clips(3200, wait_s=0.001), Config()).train()
