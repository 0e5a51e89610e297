#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the pixels of feedrate's loader lie from torchvision's on PIL images, in levels of 255.

    TORCH_VENV/bin/python bench/peers/pixel_differences.py DIR [--images 500] [--json]

For evaluation, stretching, and each change of colours after that; a random crop is resized by the same
code. DIR has class folders of JPEG files. The Python needs feedrate's wheel, torch and torchvision.
"""
import argparse
import json
import warnings

from origin import origin

import torch
import torchvision
from torch.utils.data import DataLoader, Subset
from torchvision import transforms
from torchvision.datasets import ImageFolder

import feedrate.torch

SQUARE = transforms.Resize((224, 224))
STEPS = {
    "Resize(256), CenterCrop(224)": [transforms.Resize(256), transforms.CenterCrop(224)],
    "Resize(72), CenterCrop(64)": [transforms.Resize(72), transforms.CenterCrop(64)],
    "Resize((224, 224))": [SQUARE],
    "Resize((32, 32))": [transforms.Resize((32, 32))],
    "brightness x 1.3": [SQUARE, transforms.ColorJitter(brightness=(1.3, 1.3))],
    "contrast x 1.3": [SQUARE, transforms.ColorJitter(contrast=(1.3, 1.3))],
    "saturation x 1.3": [SQUARE, transforms.ColorJitter(saturation=(1.3, 1.3))],
    "hue + 0.1": [SQUARE, transforms.ColorJitter(hue=(0.1, 0.1))],
}


def differences(folder, steps, images):
    """Mean, and largest, over all pixels; the largest mean of one picture."""
    dataset = ImageFolder(folder, transforms.Compose([*steps, transforms.PILToTensor()]))
    chosen = Subset(dataset, range(0, len(dataset), max(1, len(dataset) // images)))
    total = largest = worst = count = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = feedrate.torch.DataLoader(chosen, batch_size=25, num_workers=2)
        for (a, _), (b, _) in zip(DataLoader(chosen, batch_size=25, num_workers=2), ours):
            distance = (a.float() - b.float()).abs().flatten(1)
            total, count = total + distance.mean(1).sum().item(), count + len(distance)
            largest = max(largest, distance.max().item())
            worst = max(worst, distance.mean(1).max().item())
    return {"mean": total / count, "largest_mean_of_a_picture": worst, "largest": largest}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {name: differences(options.folder, steps, options.images) for name, steps in STEPS.items()}
    if options.json:
        print(json.dumps({"what": "levels of 255 between feedrate.torch and torchvision on PIL images",
                          **origin(), "images": options.images, "torchvision": torchvision.__version__,
                          "torch": torch.__version__, "transforms": found}, indent=1))
        return
    for name, one in found.items():
        print("%-30s mean %.3f, of the worst picture %.3f, largest %.0f"
              % (name, one["mean"], one["largest_mean_of_a_picture"], one["largest"]))


if __name__ == "__main__":
    main()
