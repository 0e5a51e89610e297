# SPDX-License-Identifier: Apache-2.0
"""A script with an option for its workers. Usage: options.py [-j N]."""

import argparse
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

from rows import Model, Rows  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402


def make(rows, workers):
    return DataLoader(rows, batch_size=16, num_workers=workers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--workers", type=int, default=0)
    args = parser.parse_args()
    model = Model()
    train_loader = make(Rows(), args.workers)
    for _ in range(1000):
        for x, _ in train_loader:
            model.train(x)


if __name__ == "__main__":
    main()
