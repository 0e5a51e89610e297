# SPDX-License-Identifier: Apache-2.0
"""What runs in a worker: it loads what it is asked for, until it is told to end."""

import os
import queue
import random
import traceback

import torch

POLL_S = 2.0  # between two looks at whether the parent still lives
RESUME, OVER = "resume", "over"

_info = None


class WorkerInfo:
    def __init__(self, worker, workers, seed, dataset):
        self.id = worker
        self.num_workers = workers
        self.seed = seed
        self.dataset = dataset


def get_worker_info():
    return _info


class Failure:
    """An exception of a worker, with the text of its traceback."""

    def __init__(self, error, worker):
        self._type = type(error)
        self._text = "Caught %s in DataLoader worker process %d.\nOriginal %s" % (
            type(error).__name__, worker, traceback.format_exc())

    def reraise(self):
        raise self._type(self._text)


def fetcher(dataset, collate, batched, iterable):
    """A function of what the sampler draws."""
    if not iterable:
        whole = getattr(dataset, "__getitems__", lambda drawn: [dataset[i] for i in drawn])
        return lambda drawn: collate(whole(drawn) if batched else dataset[drawn])
    samples = iter(dataset)

    def fetch(drawn):
        if not batched:
            return collate(next(samples))
        some = [sample for _, sample in zip(drawn, samples)]
        if not some:
            raise StopIteration
        return collate(some)

    return fetch


def work(worker, workers, seed, kind, init, wanted, results):
    global _info
    dataset = kind[0]
    random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    _info = WorkerInfo(worker, workers, seed, dataset)
    if init is not None:
        init(worker)
    parent, fetch = os.getppid(), fetcher(*kind)
    while os.getppid() == parent:
        try:
            task = wanted.get(timeout=POLL_S)
        except queue.Empty:
            continue
        if task is None:
            return
        if task == RESUME:
            fetch = fetcher(*kind)
            results.put((RESUME, None))
            continue
        results.put((task[0], _loaded(fetch, task[1], worker)))


def _loaded(fetch, drawn, worker):
    try:
        return fetch(drawn)
    except StopIteration:
        return OVER
    except Exception as error:
        return Failure(error, worker)
