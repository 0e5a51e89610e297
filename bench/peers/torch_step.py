#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch's training step of `small-images`: the same model, batch and optimizer as ours.

    python torch_step.py --threads 1 --batch 64 [--format channels_last] [--json]
    python torch_step.py --against build/bench/bench_step      ours and PyTorch's, in turn

With --against, short rounds of both alternate, and the ratio is that of paired rounds: its
median, and the quartiles. Above 1, ours is faster. The rounds drift together on a busy machine.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import time

import torch
from torch import nn


def small_images():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(),
        nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 10))


def make_step(batch, memory_format):
    torch.manual_seed(1)
    model = small_images().to(memory_format=memory_format)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss(ignore_index=-1)
    x = torch.rand(batch, 1, 28, 28).contiguous(memory_format=memory_format)
    y = torch.randint(10, (batch,))

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()

    return step


def seconds_per_step(step, steps):
    start = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - start) / steps


class Ours:
    """Our own step in another process, which waits while PyTorch's runs."""

    def __init__(self, program, threads, batch):
        self.process = subprocess.Popen([program, "--serve", str(threads), str(batch)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"{program} --serve did not start.")

    def seconds_per_step(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def compare(step, ours, rounds, steps):
    """Pairs of seconds per step (PyTorch's, ours), in random order within each pair."""
    pairs = []
    for _ in range(rounds):
        if random.random() < 0.5:
            theirs, mine = seconds_per_step(step, steps), ours.seconds_per_step(steps)
        else:
            mine, theirs = ours.seconds_per_step(steps), seconds_per_step(step, steps)
        pairs.append((theirs, mine))
    return pairs


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--steps", type=int, default=10, help="steps per round")
    arguments.add_argument("--rounds", type=int, default=24)
    arguments.add_argument("--format", choices=["contiguous", "channels_last"],
                           default="contiguous")
    arguments.add_argument("--against", metavar="BENCH_STEP", help="our bench_step program")
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()

    torch.set_num_threads(options.threads)
    formats = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}
    step = make_step(options.batch, formats[options.format])
    seconds_per_step(step, 5)
    result = {"model": "small-images", "torch": torch.__version__, "format": options.format,
              "threads": options.threads, "batch": options.batch, "rounds": options.rounds}

    if options.against:
        ours = Ours(options.against, options.threads, options.batch)
        pairs = compare(step, ours, options.rounds, options.steps)
        ours.close()
        low, ratio, high = statistics.quantiles([theirs / mine for theirs, mine in pairs], n=4)
        result |= {"torch_step_s": statistics.median(theirs for theirs, _ in pairs),
                   "our_step_s": statistics.median(mine for _, mine in pairs),
                   "ratio": {"median": ratio, "quartiles": [low, high]}}
    else:
        result["torch_step_s"] = statistics.median(
            seconds_per_step(step, options.steps) for _ in range(options.rounds))

    if options.json:
        print(json.dumps(result))
        return
    print(f"PyTorch {torch.__version__}, {options.format}, {options.threads} threads, batch "
          f"{options.batch}: {result['torch_step_s'] * 1e3:.2f} ms a step")
    if options.against:
        print(f"feedrate: {result['our_step_s'] * 1e3:.2f} ms a step; paired ratio {ratio:.2f} "
              f"(quartiles {low:.2f} to {high:.2f}), above 1 ours is faster")


if __name__ == "__main__":
    main()
