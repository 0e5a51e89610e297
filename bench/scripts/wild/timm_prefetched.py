# SPDX-License-Identifier: Apache-2.0
"""timm's create_loader as it is by default: its PrefetchLoader collates bytes, and normalises them."""

import timm.data
import torch
from timm_loader import Pictures


def main():
    loader = timm.data.create_loader(Pictures(), input_size=(3, 32, 32), batch_size=32, is_training=True,
                                     num_workers=1, device=torch.device("cpu"))
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(100):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
