#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's DataLoader delivers from a folder of images, and what handing over a batch costs.

    python3 bench/peers/torch_loader.py --data DIR --workers 0,1,2,4 --batch 64 --seconds 5 --json
    python3 bench/peers/torch_loader.py --handover --json

The work per image is torchvision's usual: ImageFolder (PIL), RandomResizedCrop(224),
RandomHorizontalFlip, ToTensor, Normalize.
"""
import argparse
import json
import sys
import time

from origin import origin

try:
    import torch
    import torchvision
    from torch.utils.data import DataLoader, IterableDataset
    from torchvision import transforms
except ImportError as error:
    sys.exit(f"{error.name} is missing; make a virtual environment outside of the source tree and "
             "run its 'pip install torch torchvision'.")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of class folders of images")
    parser.add_argument("--workers", default="0,1,2,4", help="worker counts to measure")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5, help="per worker count and repeat")
    parser.add_argument("--repeats", type=int, default=1, help="rounds over all worker counts")
    parser.add_argument("--handover", action="store_true",
                        help="time next() on batches that cost nothing, instead")
    parser.add_argument("--batch-bytes", type=int, default=64 * 3 * 224 * 224 * 4,
                        help="size of a batch with --handover")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    if not arguments.handover and not arguments.data:
        parser.error("--data DIR is needed, unless --handover is given.")
    return arguments


def train_transform():
    return transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])


def endless(loader):
    while True:
        yield from loader


def images_per_s(folder, workers, batch, seconds):
    """Steady rate: the clock starts after the first batches, when the queues are full."""
    loader = DataLoader(folder, batch_size=batch, shuffle=True, drop_last=True,
                        num_workers=workers, persistent_workers=workers > 0)
    batches = endless(loader)
    for _ in range(2 * workers + 1):
        next(batches)
    start = now = time.perf_counter()
    images = 0
    while now - start < seconds:
        images += len(next(batches)[0])
        now = time.perf_counter()
    return images / (now - start)


def measure_images(arguments):
    folder = torchvision.datasets.ImageFolder(arguments.data, train_transform())
    if len(folder) < arguments.batch:
        sys.exit(f"'{arguments.data}' holds {len(folder)} images, fewer than a batch; "
                 "name a larger folder or a smaller --batch.")
    counts = [int(workers) for workers in arguments.workers.split(",")]
    rates = {workers: [] for workers in counts}
    for _ in range(arguments.repeats):
        for workers in counts:
            rates[workers].append(
                images_per_s(folder, workers, arguments.batch, arguments.seconds))
    return {"loader": "torch", "batch": arguments.batch, "images": len(folder),
            "images_per_s": rates}


class ReadyBatches(IterableDataset):
    """Batches that cost nothing: the same tensor again and again."""

    def __init__(self, size_bytes):
        self.batch = torch.zeros(max(1, size_bytes // 4))

    def __iter__(self):
        while True:
            yield self.batch


def median_next_s(size_bytes, workers, pause_s=0.01, batches=200):
    """Time of next() on a batch that has been ready for a while."""
    loader = iter(DataLoader(ReadyBatches(size_bytes), batch_size=None, num_workers=workers))
    times = []
    for _ in range(batches):
        time.sleep(pause_s)
        start = time.perf_counter()
        next(loader)
        times.append(time.perf_counter() - start)
    return sorted(times)[batches // 2]


def measure_handover(arguments):
    sizes = (4, arguments.batch_bytes)
    return {"loader": "torch", "handover": [
        {"batch_bytes": size, "workers": workers,
         "next_s": median_next_s(size, workers, 0.01 if size < 10**6 else 0.1, 100)}
        for size in sizes for workers in (0, 1)]}


def print_table(result):
    for entry in result.get("handover", []):
        print(f"{entry['workers']} workers, {entry['batch_bytes']} bytes: "
              f"next() takes {entry['next_s'] * 1e6:.1f} us")
    for workers, rates in result.get("images_per_s", {}).items():
        print(f"{workers} workers: {max(rates):.0f} images/s")


def main():
    arguments = parse_arguments()
    result = measure_handover(arguments) if arguments.handover else measure_images(arguments)
    result.update(origin())
    result["versions"] = {"torch": torch.__version__, "torchvision": torchvision.__version__}
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        print_table(result)


if __name__ == "__main__":
    main()
