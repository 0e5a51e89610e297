# SPDX-License-Identifier: Apache-2.0
"""Loads with a thread pool of its own; tells its rate by a helper. Its word: --threads N."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import feedrate


def load(i):
    time.sleep(0.02)
    return [i] * 16


def main():
    threads = int(sys.argv[sys.argv.index("--threads") + 1])
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, 10000, threads):
            batches = pool.map(load, range(first, first + threads))
            for _ in feedrate.watch(list(batches), samples=16):
                time.sleep(0.001)


if __name__ == "__main__":
    main()
