#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch's training step of a model of ours: the same model, batch and optimizer.

    python torch_step.py --threads 1 --batch 64 [--format channels_last] [--json]
    python torch_step.py --against build/bench/bench_step      ours and PyTorch's, in turn
    python torch_step.py --device cuda --model mlp --batch 128 --precision bf16 \\
        --variants eager,compile --against build/bench/bench_cuda_step

With --against, short rounds of all alternate in random order, and the ratio is that of rounds of
one pass: its median, and the quartiles. Above 1, ours is faster. The rounds drift together on a
busy machine.

On the GPU, bf16 and fp16 are automatic mixed precision (fp16 with a gradient scaler), and tf32 is
allowed in products and convolutions; fp32 allows neither. The variants: `eager` is what one writes
first; `compile` is model and loss in torch.compile(mode="reduce-overhead"), which records CUDA
graphs, with the fused optimizer.
"""

import argparse
import contextlib
import json
import random
import statistics
import subprocess
import sys
import time

from origin import origin

try:
    import torch
    from torch import nn
except ImportError as error:
    sys.exit(f"{error.name} is missing; make a virtual environment outside of the source tree and "
             "run its 'pip install torch'.")

IMAGES, SMALL_IMAGES, MLP = "images", "small-images", "mlp"
CLASSES = 10
SAMPLES = {IMAGES: (3, 224, 224), SMALL_IMAGES: (1, 28, 28), MLP: (512,)}
NARROW = {"bf16": torch.bfloat16, "fp16": torch.float16}


def small_images():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(),
        nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, CLASSES))


def images():
    return nn.Sequential(
        nn.Conv2d(3, 32, 7, stride=4, padding=3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(128, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(2304, CLASSES))


def mlp(width=512, layers=4):
    hidden = [part for _ in range(layers - 1) for part in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(width, CLASSES))


MODELS = {IMAGES: images, SMALL_IMAGES: small_images, MLP: mlp}


class Training:
    """A model with a batch of random samples, on one device."""

    def __init__(self, options, variant="eager"):
        torch.manual_seed(1)
        self.cuda = options.device == "cuda"
        self.compiled = variant == "compile"
        channels_last = options.format == "channels_last" and len(SAMPLES[options.model]) == 3
        layout = {"memory_format": torch.channels_last} if channels_last else {}
        model = MODELS[options.model]().to(options.device, **layout)
        self.x = torch.rand(options.batch, *SAMPLES[options.model]).to(options.device, **layout)
        self.y = torch.randint(CLASSES, (options.batch,), device=options.device)
        fused = {"fused": True} if self.compiled else {}
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, **fused)
        self.narrow = NARROW.get(options.precision)
        scales = self.cuda and options.precision == "fp16"
        self.scaler = torch.amp.GradScaler("cuda", enabled=True) if scales else None
        self.loss_of = self.make_loss(model)

    def make_loss(self, model):
        criterion = nn.CrossEntropyLoss(ignore_index=-1)

        def loss_of(x, y):
            return criterion(model(x), y)

        return torch.compile(loss_of, mode="reduce-overhead") if self.compiled else loss_of

    def cast(self):
        return torch.autocast(self.x.device.type, self.narrow) if self.narrow else contextlib.nullcontext()

    def step(self):
        if self.compiled:
            torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad()
        with self.cast():
            loss = self.loss_of(self.x, self.y)
        if self.scaler:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward()
            self.optimizer.step()
        return loss

    def synchronize(self):
        if self.cuda:
            torch.cuda.synchronize()

    def check(self):
        """A loss that is no number, or does not go down, is no training: nothing is timed then."""
        first = self.step().item()
        for _ in range(20):
            last = self.step().item()
        if not last < first:
            sys.exit(f"PyTorch's loss went from {first} to {last}: nothing was timed.")

    def seconds_per_step(self, steps):
        self.synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            self.step()
        self.synchronize()
        return (time.perf_counter() - start) / steps


class Ours:
    """Our own step in another process, which waits while PyTorch's runs."""

    def __init__(self, program, *words):
        self.process = subprocess.Popen([program, "--serve", *map(str, words)],
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


def in_turn(runners, rounds, steps):
    """Seconds per step of each runner, [name][round]; each pass is in random order."""
    seconds = {name: [] for name in runners}
    for _ in range(rounds):
        for name in random.sample(list(runners), len(runners)):
            seconds[name].append(runners[name].seconds_per_step(steps))
    return seconds


def spread_of(ratios):
    low, median, high = statistics.quantiles(ratios, n=4)
    return {"median": median, "quartiles": [low, high]}


def parse_arguments():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    arguments.add_argument("--model", choices=list(MODELS), default=SMALL_IMAGES)
    arguments.add_argument("--precision", choices=["fp32", "tf32", "bf16", "fp16"], default="fp32")
    arguments.add_argument("--variants", default="eager", help="eager, compile, or both: eager,compile")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--steps", type=int, default=10, help="steps per round")
    arguments.add_argument("--rounds", type=int, default=24)
    arguments.add_argument("--format", choices=["contiguous", "channels_last"],
                           default="contiguous")
    arguments.add_argument("--against", metavar="PROGRAM",
                           help="our bench_step program, or bench_cuda_step on the GPU")
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()
    options.variants = options.variants.split(",")
    if unknown := set(options.variants) - {"eager", "compile"}:
        arguments.error(f"there is no variant {', '.join(sorted(unknown))}")
    if options.device == "cpu" and (options.variants != ["eager"] or options.precision != "fp32"):
        arguments.error("on the cpu there is the variant eager in fp32 alone")
    if options.device == "cpu" and options.against and options.model != SMALL_IMAGES:
        arguments.error("bench_step serves small-images alone")
    return options


def prepare(options):
    torch.set_num_threads(options.threads)
    if options.device == "cpu":
        return
    if not torch.cuda.is_available():
        print("There is no GPU that PyTorch can use.", file=sys.stderr)
        sys.exit(77)
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.benchmark = True  # it tries its algorithms, as ours does


def serve(options):
    if options.device == "cpu":
        return Ours(options.against, options.threads, options.batch)
    return Ours(options.against, options.model, options.batch, options.precision)


def measure(options):
    runners = {}
    for variant in options.variants:
        runners[variant] = training = Training(options, variant)
        training.check()
        training.seconds_per_step(5)
    if options.against:
        runners["ours"] = serve(options)
    seconds = in_turn(runners, options.rounds, options.steps)
    if options.against:
        runners["ours"].close()
    return seconds


def result_of(options, seconds):
    result = {"model": options.model, "torch": torch.__version__, "device": options.device,
              "precision": options.precision, "format": options.format, "threads": options.threads,
              "batch": options.batch, "steps": options.steps, "rounds": options.rounds, **origin()}
    if options.device == "cuda":
        result["gpu"] = torch.cuda.get_device_name()
    first = options.variants[0]
    result["torch_step_s"] = statistics.median(seconds[first])
    result["variants"] = {variant: {"torch_step_s": statistics.median(seconds[variant])}
                          for variant in options.variants}
    if options.against:
        result["our_step_s"] = statistics.median(seconds["ours"])
        for variant in options.variants:
            ratios = [theirs / mine for theirs, mine in zip(seconds[variant], seconds["ours"])]
            result["variants"][variant]["ratio"] = spread_of(ratios)
        result["ratio"] = result["variants"][first]["ratio"]
    return result


def print_text(options, result):
    print(f"PyTorch {result['torch']}, {result.get('gpu', f'{options.threads} threads')}, {options.model}, "
          f"{options.precision}, {options.format}, batch {options.batch}:")
    for variant, what in result["variants"].items():
        print(f"  {variant}: {what['torch_step_s'] * 1e3:.3f} ms a step")
    if not options.against:
        return
    print(f"  feedrate: {result['our_step_s'] * 1e3:.3f} ms a step")
    for variant, what in result["variants"].items():
        low, high = what["ratio"]["quartiles"]
        print(f"  paired ratio against {variant}: {what['ratio']['median']:.2f} (quartiles {low:.2f} to "
              f"{high:.2f}), above 1 ours is faster")


def main():
    options = parse_arguments()
    prepare(options)
    result = result_of(options, measure(options))
    if options.json:
        print(json.dumps(result))
    else:
        print_text(options, result)


if __name__ == "__main__":
    main()
