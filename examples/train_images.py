#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small ResNet on a folder of JPEG files, loaded by PyTorch or by feedrate: the same accuracy, sooner.

    python3 examples/train_images.py DIR --loader feedrate      # or torchvision

DIR has a folder for each class. A tenth of the pictures is for evaluation. It trains on a GPU, where
there is one.
"""

import argparse
import time

import torch
from torch import nn
from torch.utils import data
from torchvision import transforms
from torchvision.datasets import ImageFolder

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet(classes, width):
    return nn.Sequential(nn.Conv2d(3, width, 7, 4, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                         Block(width, 2 * width, 2), Block(2 * width, 4 * width, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, classes))


def loaders(options):
    """The loaders of training and evaluation, and the number of classes."""
    if options.loader == "feedrate":
        from feedrate.torch import DataLoader
    else:
        from torch.utils.data import DataLoader
    ending = [transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    train = ImageFolder(options.folder, transforms.Compose(
        [transforms.RandomResizedCrop(options.size, (0.35, 1.0)), transforms.RandomHorizontalFlip(),
         *ending]))
    test = ImageFolder(options.folder, transforms.Compose(
        [transforms.Resize(options.size * 8 // 7), transforms.CenterCrop(options.size), *ending]))
    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(1)).tolist()
    held = len(order) // 10
    more = {"batch_size": options.batch, "num_workers": options.workers,
            "persistent_workers": options.workers > 0, "pin_memory": torch.cuda.is_available()}
    return (DataLoader(data.Subset(train, order[held:]), shuffle=True, drop_last=True, **more),
            DataLoader(data.Subset(test, order[:held]), **more), len(train.classes))


def accuracy(model, loader, device):
    model.eval()
    with torch.no_grad():
        right = sum((model(x.to(device, non_blocking=True)).argmax(1) == y.to(device)).sum().item()
                    for x, y in loader)
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--loader", choices=("feedrate", "torchvision"), default="feedrate")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train, test, classes = loaders(options)
    model = resnet(classes, options.width).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, options.epochs * len(train))
    begin = time.perf_counter()
    for epoch in range(options.epochs):
        model.train()
        for x, y in train:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print("epoch %d: loss %.3f, accuracy %.3f, %.1f s since the start"
              % (epoch, loss.item(), accuracy(model, test, device), time.perf_counter() - begin),
              flush=True)


if __name__ == "__main__":
    main()
