# SPDX-License-Identifier: Apache-2.0
"""Four batches per update, numbers of batches that don't divide, a bar in place of lines."""

import sys

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


def main():
    loader = DataLoader(Clips(3210, wait_s=0.0003, compute_s=0.0002), batch_size=32, shuffle=True,
                        num_workers=2, prefetch_factor=4)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(100):
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.cross_entropy(model(x), y) / 4).backward()
            if (i + 1) % 4 == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
            sys.stderr.write("\r%3d/%d" % (i + 1, len(loader)))
        print("\nepoch", epoch)


if __name__ == "__main__":
    main()
