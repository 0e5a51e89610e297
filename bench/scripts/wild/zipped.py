# SPDX-License-Identifier: Apache-2.0
"""Semi-supervised: two loaders in one step, by zip."""

import torch
from clips import Clips, network
from torch.utils.data import DataLoader


def main():
    labelled = DataLoader(Clips(800, wait_s=0.0005), batch_size=16, shuffle=True)
    unlabelled = DataLoader(Clips(3200, wait_s=0.0005), batch_size=64, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(100):
        for (x, y), (u, _) in zip(labelled, unlabelled):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y) + 0.1 * model(u).logsumexp(1).mean()
            loss.backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
