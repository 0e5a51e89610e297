# SPDX-License-Identifier: Apache-2.0
"""`for batch in feedrate.watch(loader):` tells autotune the rate of a loop, where autotune runs it.

Without autotune it only yields. Whatever happens to autotune, the script goes on.
"""

import operator
import os
import sys
import time

from .batches import SampleCount

PERIOD_S = 0.1  # between two messages, at least
PATIENCE_S = 1.0  # for the connection


def watch(loader, samples=None):
    """Yields what an iterable yields, and has its length. Below autotune, its rate is reported.

    `samples` in a batch: a number, or a function of the batch. Else it is the first dimension of
    the first tensor or array in the batch, which may be a nest of tuples, lists, dicts and objects;
    where there is none, batches are counted. Give it where that is something else, as the channels
    of a picture in a list. Raises TypeError where `samples` is neither.
    """
    kind = _Sized if hasattr(type(loader), "__len__") else _Watched
    return kind(loader, _counting(samples))


class _Watched:
    """Stands for an iterable: what else it has is still there, as `loader.sampler`."""

    def __init__(self, iterable, count):
        self._iterable = iterable
        self._count = count

    def __iter__(self):
        reporter = _reporter()
        if reporter is None:
            return iter(self._iterable)
        return reported(self._iterable, self._count or SampleCount(), reporter)

    def __getattr__(self, name):
        if name == "_iterable":  # while it is being copied
            raise AttributeError(name)
        return getattr(self._iterable, name)


class _Sized(_Watched):
    def __len__(self):
        return len(self._iterable)


def reported(iterable, count, reporter, before_end=lambda: None):
    """Yields what an iterable yields, and adds it up: also the wait that finds its end. `before_end()`
    is called before the last report, also where the loop is left."""
    clock = time.monotonic
    add = reporter.add
    asked_s = clock()
    try:
        for batch in iterable:
            add(count(batch), asked_s, clock())
            yield batch
            asked_s = clock()
        reporter.end(clock() - asked_s)
    finally:
        before_end()
        reporter.send(clock())


# How many samples a batch has.

def _counting(samples):
    """A function of the batch; None where it is still to be found."""
    if samples is None:
        return None
    if callable(samples):
        return lambda batch: int(samples(batch))
    try:
        number = operator.index(samples)
    except TypeError:
        raise TypeError("samples is %r; give the number of samples in a batch, or a function of "
                        "the batch that tells it." % (samples,)) from None
    return lambda batch: number


# The way to autotune.

class Reporter:
    """Sums over all watched loops of this process, and tells autotune."""

    source = "helper"

    def __init__(self, connection):
        self._connection = connection
        self._due_s = 0.0
        self._unsent = b""
        self._has_samples = True
        self.batches = 0
        self.samples = 0
        self.wait_s = 0.0

    def add(self, samples, asked_s, now_s):
        """A batch that was asked for, and is there now; `samples` is None where nobody knows."""
        self.batches += 1
        self.wait_s += now_s - asked_s
        if samples is None:
            self._has_samples = False
        else:
            self.samples += samples
        if now_s >= self._due_s:
            self.send(now_s)

    def end(self, waited_s):
        """A pass is over; that was found after so long."""
        self.wait_s += waited_s

    def send(self, now_s):
        """Never waits: a message that does not go through is made up for by the next, of sums."""
        self._due_s = now_s + PERIOD_S
        if self._connection is None:
            return
        if not self._unsent:
            self._unsent = _line(self._message(now_s))
        try:
            self._unsent = self._unsent[self._connection.send(self._unsent, _no_signal()):]
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def _message(self, now_s):
        message = {"batches": self.batches, "samples": self.samples, "t": now_s,
                   "wait_s": self.wait_s}
        if not self._has_samples:
            message.update(samples=self.batches, unit="batches")
        return message

    def close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _line(message):
    import json

    return json.dumps(message).encode() + b"\n"


def _no_signal():
    """Scripts may have set SIGPIPE back to what ends them."""
    import socket

    return getattr(socket, "MSG_NOSIGNAL", 0)


_own = {}  # the process' reporter by its id; None where autotune could not be reached


def _reporter():
    """This process' reporter; None where there is nobody to report to."""
    path = os.environ.get("FEEDRATE_ATTACH")
    if not path or _is_worker():
        return None
    pid = os.getpid()
    if pid not in _own:
        _own[pid] = connect(path)
    return _own[pid]


def _is_worker():
    """Whether this is a worker of a DataLoader: what it iterates is a part of what is watched."""
    data = sys.modules.get("torch.utils.data")
    return hasattr(data, "get_worker_info") and data.get_worker_info() is not None


def connect(path, reporter=Reporter):
    """A reporter to autotune; None where it can't be reached."""
    connection = _greeted(path, dict(_place(), hello="watch", source=reporter.source, pid=os.getpid()))
    if connection is None:
        return None
    connection.setblocking(False)
    return reporter(connection)


def announce(path):
    """Tells autotune that there may be a better reporter soon."""
    connection = _greeted(path, {"hello": "looking", "pid": os.getpid()})
    if connection is not None:
        connection.close()


def _greeted(path, hello):
    """A connection to autotune that has said hello; None where it can't be reached."""
    import socket

    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(PATIENCE_S)
    try:
        connection.connect(path)
        connection.sendall(_line(hello))
    except OSError:
        connection.close()
        return None
    return connection


def _place():
    """Which of several processes that train together this is: below srun and mpirun PyTorch alone knows it."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return {"rank": distributed.get_rank(), "world": distributed.get_world_size()}
    return {"rank": _number("RANK", 0), "world": _number("WORLD_SIZE", 1)}


def _number(variable, otherwise):
    try:
        return int(os.environ.get(variable) or otherwise)
    except ValueError:
        return otherwise


def _forget():
    """A child made by fork does not speak for its parent."""
    for reporter in _own.values():
        if reporter is not None:
            reporter.close()
    _own.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
