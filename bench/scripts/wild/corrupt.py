# SPDX-License-Identifier: Apache-2.0
"""One record among many can't be read, and nobody has noticed: the runs were always stopped before."""

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


class Records(Clips):
    def __getitem__(self, index):
        if index == 4711:
            raise ValueError("record 4711: bad checksum")
        return super().__getitem__(index)


def main():
    loader = DataLoader(Records(400_000, wait_s=0.0005), batch_size=32, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print("step", step, "loss", loss.item())


if __name__ == "__main__":
    main()
