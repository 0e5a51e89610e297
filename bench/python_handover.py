#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it takes Python to get a batch that is ready, in microseconds: feedrate.Loader, batches of one row.

    python3 bench/python_handover.py [--batches 500] [--repeats 40]

The Python needs feedrate's wheel and NumPy. bench_handover measures the same in C++.
"""
import argparse
import pathlib
import statistics
import tempfile
import time

import feedrate
import numpy

ROWS = 100_000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=500, help="taken at a time, of those kept ready")
    parser.add_argument("--repeats", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "rows.npy")
        numpy.save(path, numpy.zeros((ROWS, 4), numpy.float32))
        loader = feedrate.Loader(feedrate.NpyFile(path), batch=1, workers=1,
                                 prefetch=2 * options.batches)
        took_us = []
        batches = iter(loader)
        for _ in range(options.repeats):
            time.sleep(0.05)  # until they are ready
            start = time.perf_counter()
            for _ in range(options.batches):
                next(batches)
            took_us.append(1e6 * (time.perf_counter() - start) / options.batches)
    low, median, high = statistics.quantiles(took_us, n=4)
    print(f"{median:.2f} us a batch (quartiles {low:.2f} to {high:.2f}, {options.repeats} times "
          f"{options.batches} batches)")


if __name__ == "__main__":
    main()
