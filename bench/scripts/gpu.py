# SPDX-License-Identifier: Apache-2.0
"""A residual CNN on pictures that are cropped and mirrored on the CPU, trained on the GPU: in fp32 with
a loader as it is by default. With the argument `mixed` in autocast, channels-last and TF32, with
pinned memory and workers."""

import contextlib
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PICTURES, SIDE, CROP, CLASSES = 512, 256, 224, 100
MEAN = torch.tensor([0.485, 0.456, 0.406])[:, None, None]
DEVIATION = torch.tensor([0.229, 0.224, 0.225])[:, None, None]


class Pictures(Dataset):
    """An epoch of 100,000 random crops of a few stored pictures."""

    def __init__(self):
        self.pictures = torch.randint(256, (PICTURES, 3, SIDE, SIDE), dtype=torch.uint8)

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        top, left = torch.randint(SIDE - CROP, (2,)).tolist()
        picture = self.pictures[index % PICTURES, :, top:top + CROP, left:left + CROP]
        if torch.rand(()) < 0.5:
            picture = picture.flip(2)
        return (picture.float() / 255 - MEAN) / DEVIATION, index % CLASSES


def convolution(channels, out, stride=1):
    return [nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)]


class Block(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.body = nn.Sequential(*convolution(channels, out, stride), nn.ReLU(), *convolution(out, out))
        self.shortcut = nn.Conv2d(channels, out, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def network():
    sizes = [64, 64, 128, 256, 512]
    blocks = [Block(sizes[i], sizes[i + 1], 1 + (i > 0)) for i in range(4)]
    return nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
                         *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))


def main():
    mixed = sys.argv[1:] == ["mixed"]
    if not torch.cuda.is_available():
        sys.exit("There is no GPU that PyTorch can use.")
    device = torch.device("cuda")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = mixed
    layout = torch.channels_last if mixed else torch.contiguous_format
    if mixed:
        train_loader = DataLoader(Pictures(), batch_size=64, shuffle=True, num_workers=4, pin_memory=True)
    else:
        train_loader = DataLoader(Pictures(), batch_size=64, shuffle=True)
    model = network().to(device, memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    for epoch in range(1000):
        for x, y in train_loader:
            x = x.to(device, non_blocking=mixed, memory_format=layout)
            y = y.to(device, non_blocking=mixed)
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16) if mixed else contextlib.nullcontext():
                loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
