# SPDX-License-Identifier: Apache-2.0
"""What autotune is told first of a loader: the script's own settings, and what of them can't be changed."""

import os
import sys

from .attach import waits_at_exit
from .batches import batches_of, length_of
from .device import gpu_of
from .lanes import attributes_of, has_plain_batches, reference_to
from .start_methods import OWN, start_method_of, why_fixed, why_not_importable

LONGEST_TUPLE = 8  # of numbers and words
MOST_DATASETS = 64  # that are looked at
MOST_ELEMENTS = 16  # of a list or an array, about


class Greeting:
    """Says hello. It has the loader, and its first batch was counted."""

    def greet(self, choice):
        loader, torch = self._loader, self._torch
        gpu = gpu_of(torch)
        message = {
            "hello": "loader",
            "pid": os.getpid(),
            "config": self.config(),
            "persistent": bool(loader.persistent_workers),
            "iterable": self._is_iterable(),
            "dataset": type(loader.dataset).__name__,
            "samples": length_of(loader.dataset) or 0,
            "batches": batches_of(loader) or 0,
            "sample_bytes": self._batch_bytes // max(self._batch, 1),
            "batch_fixed": self._why_batch_is_fixed(),
            "start_fixed": self._why_workers_do_not_stay(),
            "prefetch_fixed": self._fixed_by_its_maker("prefetch"),
            "device": "cpu" if gpu is None else "cuda",
            "gpu": None if gpu is None else torch.cuda.get_device_name(gpu),
            "torch": torch.__version__,
            "python": sys.version.split()[0],
            "start_method": start_method_of(loader, self.config()),
            "start_method_fixed": why_fixed(self._site),
            "not_importable": why_not_importable(),
            "waits_at_exit": waits_at_exit(),
        }
        message.update(place_of(torch))
        message.update(choice)
        self._channel.send(message)

    def config(self):
        """The script's own settings."""
        loader = self._loader
        workers = loader.num_workers
        return {
            "workers": workers,
            "prefetch": (loader.prefetch_factor or 2) if workers > 0 else 0,
            "pinned": bool(loader.pin_memory and self._torch.cuda.is_available()),
            "persistent": bool(workers > 0 and loader.persistent_workers),
            "start_method": OWN,
            "step_threads": self._torch.get_num_threads(),
            "precision": self._precision,
            "batch": self._batch,
            "accumulate": 1,
        }

    def _is_iterable(self):
        return isinstance(self._loader.dataset, self._torch.utils.data.IterableDataset)

    def _why_batch_is_fixed(self):
        loader, data = self._loader, self._torch.utils.data
        if self._is_iterable():
            return None if loader.batch_size else "the dataset makes the batches itself"
        return None if has_plain_batches(loader, data) else "the script has its own batch sampler"

    def _fixed_by_its_maker(self, setting):
        return getattr(type(self._loader.dataset), "_feedrate_fixed", {}).get(setting)

    def _why_workers_do_not_stay(self):
        if self._overlaps:
            return ("the script starts a pass over it before an earlier one has ended, and workers that stay serve only "
                    "one pass")
        for one in (*with_inner(self._loader.dataset), self._loader.collate_fn):
            if callable(getattr(one, "set_epoch", None)):
                return "workers that stay would not see what set_epoch() of dataset or collate_fn sets"
        return self._fixed_by_its_maker("persistent")

    def _members_that_stay(self):
        """What the dataset holds now, and workers which stay would not see change."""
        return members_of(self._loader.dataset) if self._why_workers_do_not_stay() is None else {}


def with_inner(dataset):
    """A dataset and those that it is made of, as Subset and ConcatDataset hold them."""
    found, left = [], [dataset]
    while left and len(found) < MOST_DATASETS:
        one = left.pop()
        found.append(one)
        held = attributes_of(one)
        several = held.get("datasets")
        inner = [held.get("dataset"), *(several[:MOST_DATASETS] if isinstance(several, (list, tuple)) else ())]
        left += [other for other in inner if other is not None and all(other is not seen for seen in found)]
    return found


def members_of(dataset):
    """What it holds now, and what is inside of it, by where that is and its name."""
    return {(index, name): Member(value) for index, one in enumerate(with_inner(dataset))
            for name, value in attributes_of(one).items() if value is not None}


class Member:
    """What a dataset held: a number or a word, or what else. Of lists, arrays and tensors some elements tell whether
    they were changed in place; None among them is a place that is still to be filled."""

    def __init__(self, value):
        self._value = (lambda: value) if _is_plain(value) else reference_to(value)
        self._elements = elements_of(value)

    def is_now(self, value):
        held = self._value()
        if _is_plain(held):
            # NaN differs from itself, but not within tuples. What is no plain value may not tell whether it is equal.
            return _is_plain(value) and (value,) == (held,)
        if value is not held:
            return False
        now = elements_of(value)
        return len(now) == len(self._elements) and all(
            then is None or then is other or (_is_plain(then) and _is_plain(other) and then == other)
            for then, other in zip(self._elements, now))


def elements_of(value):
    """Of a list or an array its length and some elements, evenly spread; of a tensor how often it was changed."""
    try:
        if isinstance(getattr(value, "_version", None), int):
            return [value._version]
        flat = value if isinstance(value, list) else value.flat
        places = range(0, len(flat), max(1, len(flat) // MOST_ELEMENTS))
        return [len(flat), *(_kept(flat[place]) for place in places)]
    except Exception:  # it is of another kind
        return []


def _kept(element):
    """NumPy returns a new object for each of its numbers, so their text is compared."""
    return str(element) if hasattr(element, "dtype") and getattr(element, "ndim", None) == 0 else element


def _is_plain(value):
    if isinstance(value, tuple):
        return len(value) <= LONGEST_TUPLE and all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, str))


def place_of(torch):
    """Which of several processes that train together this is."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return {"rank": distributed.get_rank(), "world": distributed.get_world_size()}
    return {"rank": 0, "world": 1}
