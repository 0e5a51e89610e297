# SPDX-License-Identifier: Apache-2.0
"""An evaluation before training and after each epoch, by one loop for both modes."""

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


def run(model, loader, optimizer=None):
    model.train(optimizer is not None)
    total = 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            if optimizer:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item()
    return total / len(loader)


def main():
    loaders = {"val": DataLoader(Clips(640, wait_s=0.0005), batch_size=32),
               "train": DataLoader(Clips(3200, wait_s=0.0005), batch_size=32, shuffle=True)}
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    print("before:", run(model, loaders["val"]))
    for epoch in range(100):
        loss = run(model, loaders["train"], optimizer)
        print("epoch", epoch, "loss", loss)
        if epoch % 10 == 9:
            print("validation:", run(model, loaders["val"]))


if __name__ == "__main__":
    main()
