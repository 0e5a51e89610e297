# SPDX-License-Identifier: Apache-2.0
"""Uses the C++ loader as no test does, for long: loops that are left, batches that are kept, forks,
errors, workers that come and go.

    python3 python/tests/soak.py --seconds 600

Every batch is compared with what its samples are. Ends with exit code 1 where a byte is wrong, where
nothing moves for a minute, or where the memory grows.
"""

import argparse
import collections
import faulthandler
import os
import pathlib
import random
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import numpy  # noqa: E402

import feedrate  # noqa: E402

ROWS, WIDTH = 5000, 64
PICTURES = HERE.parents[1] / "tests" / "fixtures" / "images"
QUIET_S = 60
MOST_GROWTH = 1.1


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Soak:
    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        numbers = numpy.random.default_rng(seed).integers(0, 256, (ROWS, WIDTH), dtype="u1")
        numpy.save(folder / "x.npy", numbers)
        numpy.save(folder / "y.npy", numpy.arange(ROWS, dtype="i8"))
        (folder / "bad.jpg").write_bytes(b"\xff\xd8 no picture")
        self.numbers = numbers
        self.dataset = feedrate.NpyFile(folder / "x.npy", folder / "y.npy")
        paths = [str(path) for path in sorted(PICTURES.glob("*.jpg"))] * 3 + [str(folder / "bad.jpg")]
        self.images = feedrate.ImageFolder(paths=paths, labels=list(range(len(paths))), size=48)
        self.kept = collections.deque(maxlen=40)
        self.done = collections.Counter()
        self.loader = self.made()

    def made(self):
        return feedrate.Loader(self.dataset, batch=self.random.choice((1, 7, 64, 500)),
                               workers=self.random.randrange(4), prefetch=self.random.randrange(1, 5),
                               seed=self.random.randrange(1 << 30))

    def check(self, batch):
        if not (batch["input"] == self.numbers[batch["label"]]).all():
            sys.exit("A batch has wrong bytes after %s." % dict(self.done))

    def step(self):
        action = self.random.choice((self.epoch, self.broken, self.broken, self.keep, self.fork,
                                     self.damaged, self.resize, self.replace, self.resume))
        action()
        self.done[action.__name__] += 1
        for batch in self.kept:
            self.check(batch)

    def epoch(self):
        seen = []
        for batch in self.loader:
            self.check(batch)
            seen += batch["label"].tolist()
        if sorted(seen) != list(range(ROWS)):
            sys.exit("An epoch has %d samples." % len(seen))

    def broken(self):
        for batch in self.loader:
            self.check(batch)
            if self.random.random() < 0.2:
                return

    def keep(self):
        for batch in self.loader:
            self.kept.append(batch)
            if self.random.random() < 0.3:
                return

    def fork(self):
        next(iter(self.loader))
        child = os.fork()
        if child == 0:
            try:
                next(iter(self.loader))
            except ValueError:
                os._exit(0)
            os._exit(1)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("A forked process did not end as it should.")

    def damaged(self):
        errors = 0
        epoch = iter(feedrate.Loader(self.images, batch=8, workers=self.random.randrange(3)))
        while True:
            try:
                next(epoch)
            except StopIteration:
                break
            except feedrate.SampleError:
                errors += 1
        if errors != 1:
            sys.exit("%d batches failed for one damaged file." % errors)

    def resize(self):
        for batch in self.loader:
            self.check(batch)
            if self.random.random() < 0.1:
                self.loader.workers = self.random.randrange(4)
            if self.random.random() < 0.05:
                return

    def replace(self):
        if self.random.random() < 0.5:
            self.loader.close()
        self.loader = self.made()

    def resume(self):
        state = self.loader.state_dict()
        self.loader.load_state_dict(state)
        samples = sum(len(batch["label"]) for batch in self.loader)
        if samples != len(self.numbers) - state["sample"]:
            sys.exit("What is left of an epoch has %d samples." % samples)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=9000041)
    options = parser.parse_args()
    end_s, early = time.monotonic() + options.seconds, None
    with tempfile.TemporaryDirectory() as name:
        soak = Soak(pathlib.Path(name), options.seed)
        while time.monotonic() < end_s:
            faulthandler.dump_traceback_later(QUIET_S, exit=True)
            soak.step()
            if early is None and end_s - time.monotonic() < 0.8 * options.seconds:
                early = resident_bytes()
    late = resident_bytes()
    print("%s; resident memory %.1f MB after a fifth of the time, %.1f MB at the end"
          % (dict(soak.done), early / 1e6, late / 1e6))
    sys.exit(late > MOST_GROWTH * early)


if __name__ == "__main__":
    main()
