# SPDX-License-Identifier: Apache-2.0
"""A script as most are: one loader, some epochs. Usage: train.py [SAMPLES [LOAD_S]], of an epoch
and of a sample."""

import sys

from rows import Model, Rows
from torch.utils.data import DataLoader


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    load_s = float(sys.argv[2]) if len(sys.argv) > 2 else 0.001
    train_loader = DataLoader(Rows(samples, load_s), batch_size=16, shuffle=True)
    model = Model()
    for epoch in range(1000):
        for x, y in train_loader:
            model.train(x)


if __name__ == "__main__":
    main()
