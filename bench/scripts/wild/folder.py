# SPDX-License-Identifier: Apache-2.0
"""torchvision's ImageFolder with the usual transforms: decoding is computing."""

import sys

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def main():
    transform = transforms.Compose([transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip(),
                                    transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)])
    pictures = datasets.ImageFolder(sys.argv[1], transform)
    loader = DataLoader(pictures, batch_size=16, shuffle=True, drop_last=True)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2), torch.nn.ReLU(), torch.nn.Flatten(),
                                torch.nn.Linear(8 * 31 * 31, len(pictures.classes)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(100):
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            if step % 5 == 0:
                print("step", epoch * len(loader) + step)


if __name__ == "__main__":
    main()
