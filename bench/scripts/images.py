# SPDX-License-Identifier: Apache-2.0
"""Pictures from a folder of class folders through torchvision: decoded, cropped, normalised."""

import sys

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def main():
    augment = transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ])
    dataset = datasets.ImageFolder(sys.argv[1], augment)
    train_loader = DataLoader(dataset, batch_size=16, shuffle=True)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 7, stride=4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
        torch.nn.Flatten(), torch.nn.Linear(256, len(dataset.classes)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(1000):
        for x, y in train_loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
