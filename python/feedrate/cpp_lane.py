# SPDX-License-Identifier: Apache-2.0
"""A lane of feedrate's C++ loader, for a script whose dataset it can load."""

import os
import warnings

from .lanes import Lane
from .levers import Missing

WARM_UP = 4  # batches: more than lie ready


class _Threads:
    """Our loader for a Lane, which sees a DataLoader without worker processes."""

    num_workers, prefetch_factor, _index_sampler = 0, None, None

    def __init__(self, loader):
        self._loader = loader

    def _get_iterator(self):
        return iter(self._loader)


def made(loader, config, torch):
    """The lane, with a thread for each core. Raises Missing with what stands in the way."""
    data = torch.utils.data
    if type(loader) is not data.DataLoader:
        raise Missing("the script's loader is of a class of its own")
    if type(loader.sampler) not in (data.RandomSampler, data.SequentialSampler):
        raise Missing("the script has a sampler of its own")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        other = _kind()(loader.dataset, batch_size=config["batch"], sampler=loader.sampler,
                        num_workers=len(os.sched_getaffinity(0)), drop_last=loader.drop_last,
                        collate_fn=loader.collate_fn, pin_memory=config["pinned"],
                        generator=loader.generator)
    if not other.uses_cpp:
        raise Missing(str(said[-1].message).partition(": ")[2].rstrip("."))
    return Lane(_Threads(other))


def _kind():
    """The DataLoader of the package feedrate in the script's Python."""
    try:
        from . import _core  # noqa: F401
        from .torch import DataLoader
    except ImportError:
        raise Missing("the package feedrate is not installed in the script's Python")
    return DataLoader
