#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batches of feedrate.torch on a GPU: those in pinned memory, which are copied while others are loaded and
the GPU is busy, must arrive as they are on the CPU.

    python3 python/tests/gpu_batches.py DIR

DIR gets a folder of JPEG files for each of eight classes, unless it has them. Needs feedrate, torch and
torchvision. Exit code: 0 all batches arrived, 1 one did not, 77 there is no GPU.
"""

import pathlib
import sys
import zlib

import torch
from PIL import Image
from torchvision import transforms
from torchvision.datasets import ImageFolder

from feedrate.torch import DataLoader

CLASSES, EACH, EPOCHS, BATCH, WORKERS = 8, 64, 3, 32, 8
COPIES_WAIT_FOR = 8  # products of 4096 x 4096 before each copy, so that it runs behind the loop


def make_pictures(folder):
    """Noise of 8 x 6 pixels, enlarged: smooth, and different in each file."""
    numbers = torch.Generator().manual_seed(9_000_017)
    for label in range(CLASSES):
        place = folder / f"class{label}"
        place.mkdir(parents=True)
        for i in range(EACH):
            small = torch.randint(256, (6, 8, 3), dtype=torch.uint8, generator=numbers)
            Image.fromarray(small.numpy()).resize((500, 375), Image.BICUBIC).save(place / f"{i}.jpg")


def loader_of(folder, pinned, layout):
    steps = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
             transforms.Normalize([0.5] * 3, [0.25] * 3)]
    loader = DataLoader(ImageFolder(folder, transforms.Compose(steps)), BATCH, shuffle=True, num_workers=WORKERS,
                        pin_memory=pinned, memory_format=layout, generator=torch.Generator().manual_seed(1))
    assert loader.uses_cpp
    return loader


def checksum(images, labels):
    return zlib.crc32(images.contiguous().numpy().tobytes()), labels.tolist()


def arrived(loader):
    """The checksums of an epoch whose batches the loop lets go as soon as their copies are queued."""
    busy = torch.randn(4096, 4096, device="cuda")
    on_gpu = []
    for images, labels in loader:
        assert images.is_pinned() and labels.is_pinned()
        for _ in range(COPIES_WAIT_FOR):
            busy = busy @ busy * 1e-3
        on_gpu.append((images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)))
    return [checksum(images.cpu(), labels.cpu()) for images, labels in on_gpu]


def main():
    if not torch.cuda.is_available():
        print("There is no GPU that PyTorch can use.")
        return 77
    folder = pathlib.Path(sys.argv[1])
    if not folder.exists():
        make_pictures(folder)
    wrong = 0
    for layout in (torch.contiguous_format, torch.channels_last):
        plain, pinned = (loader_of(folder, kind, layout) for kind in (False, True))
        for epoch in range(EPOCHS):
            expected = [checksum(images, labels) for images, labels in plain]
            seen = arrived(pinned)
            differ = sum(a != b for a, b in zip(expected, seen)) + abs(len(expected) - len(seen))
            print(f"{layout}, epoch {epoch}: {len(seen)} batches, {differ} of them wrong", flush=True)
            wrong += differ
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
