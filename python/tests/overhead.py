#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What watch, `python -m feedrate` and the hook cost per batch: a loop with and without, in turn.

    python3 python/tests/overhead.py

The batches are ready and the loop does nothing, so that all the difference is ours. With PyTorch,
the loop is also over a DataLoader. Printed: medians over pairs of rounds, with their quartiles.
"""
import multiprocessing
import os
import pathlib
import random
import socket
import statistics
import sys
import tempfile
import time
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import stub  # noqa: E402
import feedrate  # noqa: E402
from feedrate import health  # noqa: E402
from feedrate.director import Director  # noqa: E402
from feedrate.plain import Plain, PlainReporter  # noqa: E402
from test_health import STANDIN, Array  # noqa: E402

try:
    import torch
    import torch.utils.data.dataloader
except ImportError:
    torch = None

PAIRS, BATCHES = 81, 2000
STEP_S = 1e-3  # a short training step, to see the cost in proportion


def seconds_of(loop):
    """CPU time: nothing here waits, and others may use the core meanwhile."""
    start_s = time.thread_time()
    for _ in loop:
        pass
    return time.thread_time() - start_s


def compare(name, bare, ours, batches=BATCHES):
    """bare, ours: functions that make the iterable again."""
    differences, ratios = [], []
    for _ in range(PAIRS):
        taken = {}
        for loop in random.sample([bare, ours], 2):
            taken[loop] = seconds_of(loop())
        differences.append((taken[ours] - taken[bare]) / batches)
        ratios.append(taken[ours] / taken[bare])
    low, middle, high = statistics.quantiles(differences, n=4)
    print("%-28s %5.0f ns per batch (%.0f to %.0f); %.2fx an empty loop, %.5fx one of 1 ms steps"
          % (name, 1e9 * middle, 1e9 * low, 1e9 * high, statistics.median(ratios),
             1 + middle / STEP_S))


def clock_calls():
    """Seconds of the two clock readings per batch, which are a part of all that is printed."""
    clock, count = time.perf_counter, 200000
    start_s = time.thread_time()
    for _ in range(count):
        clock()
    return 2 * (time.thread_time() - start_s) / count


def batches():
    """As collated: pictures and labels."""
    if torch is None:
        return [[Array(64, 3, 8, 8), Array(64)]] * BATCHES
    return [[torch.zeros(64, 3), torch.zeros(64)]] * BATCHES


def read_all(path):
    """A stand-in for autotune, in a process of its own."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    connection, _ = server.accept()
    while connection.recv(1 << 16):
        pass


def compare_watch(folder):
    ready = batches()
    compare("watch, without autotune", lambda: ready, lambda: feedrate.watch(ready))
    path = os.path.join(folder, "socket")
    spawn = multiprocessing.get_context("spawn")
    reader = spawn.Process(target=read_all, args=(path,), daemon=True)
    reader.start()
    while not os.path.exists(path) and reader.is_alive():
        time.sleep(0.01)
    time.sleep(0.1)
    os.environ["FEEDRATE_ATTACH"] = path
    compare("watch, below autotune", lambda: ready, lambda: feedrate.watch(ready))
    compare("watch, samples given", lambda: ready, lambda: feedrate.watch(ready, samples=64))
    assert sys.modules["feedrate.watch"]._reporter()._connection, "autotune's stand-in is gone"
    del os.environ["FEEDRATE_ATTACH"]


class Loader:
    """What the director asks a DataLoader for."""

    dataset = sampler = None
    batch_size = 64
    num_workers = 0
    persistent_workers = False


def compare_hook(ready):
    """The hook until it has chosen a loader, and in a launch with fixed settings."""
    director = Director(connect=None, wanted="another")
    loader = Loader()
    compare("attached, nothing chosen", lambda: ready,
            lambda: director.iterate(loader, lambda _: iter(ready)))
    reporter = PlainReporter(None)
    plain = Plain(lambda: reporter, None, torch or stub.torch)
    compare("attached, fixed settings", lambda: ready,
            lambda: plain.iterate(loader, lambda _: iter(ready)))


def compare_health(name, module, loader, count):
    """The same loader with its classes as they are, and as `python -m feedrate` patches them."""
    iterator_class = module._BaseDataLoaderIter
    before = (module.DataLoader.__iter__, iterator_class.__next__)
    health.Health().attach(module)
    after = (module.DataLoader.__iter__, iterator_class.__next__)

    def with_methods(methods):
        module.DataLoader.__iter__, iterator_class.__next__ = methods
        return loader

    compare(name, lambda: with_methods(before), lambda: with_methods(after), count)


def main():
    print("two readings of the clock take %.0f ns" % (1e9 * clock_calls()))
    with tempfile.TemporaryDirectory() as folder:
        compare_watch(folder)
    compare_hook(batches())
    standin = types.ModuleType("standin")
    exec(STANDIN, standin.__dict__)
    loader = standin.DataLoader(batches(), batch_size=64)
    compare_health("python -m feedrate", standin, loader, BATCHES)
    if torch is not None:
        data = torch.utils.data.dataloader
        loader = data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(8000, 3)), batch_size=8)
        compare_health("the same, a DataLoader", data, loader, 1000)


if __name__ == "__main__":
    main()
