# SPDX-License-Identifier: Apache-2.0
"""argparse; a schedule with an exact number of steps; checkpoints; an index that passes len(loader)."""

import argparse

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=60)
    args = parser.parse_args()
    loader = DataLoader(Clips(1600, wait_s=0.001), batch_size=16, shuffle=True,
                        num_workers=args.workers, drop_last=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=args.epochs,
                                                   steps_per_epoch=len(loader))
    losses = [0.0] * (args.epochs * len(loader))
    for epoch in range(args.epochs):
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            schedule.step()
            losses[epoch * len(loader) + i] = loss.item() / (len(loader) - i)
        torch.save(model.state_dict(), "last.pt")
        print("epoch", epoch)


if __name__ == "__main__":
    main()
