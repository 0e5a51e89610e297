# SPDX-License-Identifier: Apache-2.0
"""Loops of all kinds. Usage: loops.py KIND, where KIND is one of the functions below."""

import os
import pickle
import signal
import sys
import time

import torch
from rows import Model, Rows
from torch.utils.data import DataLoader

model = Model()


def ends_early():
    """Two epochs of some steps, and a result."""
    loader = DataLoader(Rows(1600), batch_size=16)
    for _ in range(2):
        for x, _ in loader:
            model.train(x)
    print("final accuracy 0.9")


def breaks_out():
    """Leaves each epoch after two steps."""
    loader = DataLoader(Rows(), batch_size=16, num_workers=1)
    for _ in range(1000):
        for step, (x, _) in enumerate(loader):
            model.train(x)
            if step == 1:
                break


def draws_from_new_iterators():
    """Each step makes an iterator for its one batch."""
    loader = DataLoader(Rows(), batch_size=16, shuffle=True)
    for _ in range(100000):
        x, _ = next(iter(loader))
        model.train(x)


def built_late():
    """Evaluates once, thinks, and only then makes the loader that trains."""
    evaluate(DataLoader(Rows(64), batch_size=16))
    time.sleep(0.3)
    late_loader = DataLoader(Rows(), batch_size=16, shuffle=True)
    for x, _ in late_loader:
        model.train(x)


def evaluate(loader):
    with torch.no_grad():
        for x, _ in loader:
            model.predict(x)


def validates_first():
    """The loader that comes first, and has most batches, is not the one that trains."""
    val_loader = DataLoader(Rows(640), batch_size=16)
    train_loader = DataLoader(Rows(160), batch_size=16)
    for _ in range(1000):
        evaluate(val_loader)
        for x, _ in train_loader:
            model.train(x)


def evaluates_within_its_loop():
    """For six seconds, after a hundred steps."""
    val_loader = DataLoader(Rows(960), batch_size=16)
    for _ in range(1000):
        for step, (x, _) in enumerate(DataLoader(Rows(), batch_size=16)):
            model.train(x)
            if step % 100 == 99:
                for held_out, _ in val_loader:
                    model.predict(held_out)
                    time.sleep(0.1)


def two_loaders():
    """Trains on both in turn."""
    labelled = DataLoader(Rows(), batch_size=16)
    unlabelled = DataLoader(Rows(), batch_size=8)
    for (x, _), (z, _) in zip(labelled, unlabelled):
        model.train(x)
        model.train(z)


def predicts():
    with torch.no_grad():
        for x, _ in DataLoader(Rows(800), batch_size=16):
            model.predict(x)


def writes_into_its_batches():
    """Each step scales its batch in place: on the same batch twice it fails."""
    for x, _ in DataLoader(Rows(), batch_size=16):
        assert x.sum().item() >= 0, "this batch was used before"
        model.train(x)
        x.mul_(-1)


def says_what_it_got():
    """Twelve steps; the batches and the random state, in the order of what happens."""
    torch.manual_seed(3)
    loader = DataLoader(Rows(samples=96), batch_size=16, shuffle=True, num_workers=1)
    for _ in range(2):
        for x, y in loader:
            model.train(x)
            print(y.tolist(), x.sum().item(), sum(torch.get_rng_state().tolist()), flush=True)


def steps_slowly_with_threads():
    """Each thread of the step costs three milliseconds."""
    for _ in range(1000):
        for x, _ in DataLoader(Rows(load_s=1e-5), batch_size=16):
            time.sleep(0.003 * torch.get_num_threads())
            model.train(x)


def starts_slowly():
    time.sleep(5)
    trains_for_long()


def is_slow_in_fresh_processes():
    """With workers, where nothing is switched."""
    loader = DataLoader(Rows(), batch_size=16)
    for _ in range(1000):
        for x, _ in loader:
            if os.environ.get("FEEDRATE_PLAIN") and loader.num_workers > 0:
                time.sleep(0.1)
            model.train(x)


def fails_with_workers_in_fresh_processes():
    loader = DataLoader(Rows(), batch_size=16)
    for _ in range(1000):
        for x, _ in loader:
            if os.environ.get("FEEDRATE_PLAIN") and loader.num_workers > 0:
                sys.exit("no workers today")
            model.train(x)


def is_slow_with_large_batches_in_fresh_processes():
    """Samples are quick to load, and a step takes as long for any batch."""
    loader = DataLoader(Rows(load_s=0.0002), batch_size=16)
    for _ in range(1000):
        for x, _ in loader:
            time.sleep(0.1 if os.environ.get("FEEDRATE_PLAIN") and len(x) > 16 else 0.003)
            model.train(x)


def steps_in_bf16():
    for _ in range(1000):
        for x, _ in DataLoader(Rows(), batch_size=16):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                model.train(x)


def updates_after_four_batches():
    """As many do whose memory does not hold more samples."""
    for _ in range(1000):
        for step, (x, _) in enumerate(DataLoader(Rows(load_s=1e-5), batch_size=16)):
            time.sleep(0.002)
            (model.weight * x.sum()).sum().backward()
            if step % 4 == 3:
                model.optimizer.step()


def reports_in_each_way():
    """Prints a rate before it trains, has a helper around its loader, and trains."""
    for x, _ in watched_behind_a_print():
        model.train(x)


def reports_without_training():
    """The hook looks for what trains until the helper is taken."""
    with torch.no_grad():
        for x, _ in watched_behind_a_print():
            model.predict(x)


def watched_behind_a_print():
    import feedrate  # that is there below autotune

    print("7 img/s", flush=True)
    for _ in range(1000):
        yield from feedrate.watch(DataLoader(Rows(), batch_size=16))


def crashes():
    print("loading the data")
    raise ValueError("no such data set: /data/x")


def crashes_while_it_trains():
    """In its tenth step."""
    for step, (x, _) in enumerate(DataLoader(Rows(), batch_size=16)):
        model.train(x)
        if step == 9:
            raise ValueError("loss is nan")


def is_first(mark):
    """Whether there is no file of that name yet; then it is made."""
    if os.path.exists(mark):
        return False
    open(mark, "w").close()
    return True


def crashes_once():
    """As long as there is no file `crashed`, in its hundredth step."""
    for _ in range(1000):
        for step, (x, _) in enumerate(DataLoader(Rows(), batch_size=16)):
            model.train(x)
            if step == 99 and is_first("crashed"):
                raise ValueError("sample 17 is broken")


def asks():
    input("Which data set? ")


def unpickles():
    pickle.loads(b"")


def says_nothing():
    pass


def hangs():
    """In its fifteenth step, for ever, against SIGTERM too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for step, (x, _) in enumerate(DataLoader(Rows(), batch_size=16)):
        model.train(x)
        while step == 14:
            time.sleep(1)


def hangs_once():
    """As long as there is no file `hung`, in its fiftieth step: as where storage or a network hangs."""
    for _ in range(1000):
        for step, (x, _) in enumerate(DataLoader(Rows(), batch_size=16)):
            model.train(x)
            if step == 49 and is_first("hung"):
                time.sleep(3600)


def ignores_sigterm():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(1000):
        for x, _ in DataLoader(Rows(), batch_size=16):
            model.train(x)


def leaves_files():
    """Writes what trackers, checkpoints and environments would."""
    import sitecustomize

    with open("found.txt", "w") as found:
        for name in ("WANDB_MODE", "SITE_RAN", "PYTHONPATH"):
            print(name, os.environ.get(name), file=found)
        print("sitecustomize", getattr(sitecustomize, "__file__", None), file=found)
    os.makedirs("checkpoints", exist_ok=True)
    open("weights.pt", "w").close()
    for step, (x, _) in enumerate(DataLoader(Rows(), batch_size=16)):
        model.train(x)
        with open("checkpoints/last.txt", "w") as last:
            print(step, file=last)


def trains_for_long(each=lambda: None):
    loader = DataLoader(Rows(), batch_size=16)
    for _ in range(1000):
        for x, _ in loader:
            each()
            model.train(x)


def forks():
    """A child that does something else for ten minutes."""
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    trains_for_long()


def daemonises():
    """A server of its own, in a session of its own, whose parent is gone."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    os.wait()
    trains_for_long()


def prints_megabytes():
    trains_for_long(lambda: print("x" * 100000))


def goes_elsewhere():
    os.chdir("/")
    trains_for_long()


def zips_two_loaders():
    """Each step takes a batch of both."""
    labelled = DataLoader(Rows(), batch_size=16)
    unlabelled = DataLoader(Rows(2048), batch_size=16)
    for _ in range(1000):
        for (x, _), (u, _) in zip(labelled, unlabelled):
            model.train(x)
            model.predict(u)


def evaluates_first():
    loader, test_loader = DataLoader(Rows(), batch_size=16), DataLoader(Rows(256), batch_size=16)
    for _ in range(1000):
        for x, _ in test_loader:
            model.predict(x)
        for x, _ in loader:
            model.train(x)


class SlowerWhereInherited(Rows):
    """Four times as slow in a process that is a copy of the script's."""

    def __getitems__(self, indices):
        time.sleep(self.load_s * len(indices) * (4 if started_here else 1))
        return [self[i] for i in indices]


def loads_slowly_in_forked_workers():
    loader = DataLoader(SlowerWhereInherited(4096), batch_size=16, num_workers=1)
    for _ in range(1000):
        for x, _ in loader:
            model.train(x)


started_here = False

if __name__ == "__main__":
    started_here = True
    globals()[sys.argv[1]]()
