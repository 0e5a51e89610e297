# SPDX-License-Identifier: Apache-2.0
"""Whether the script asks in a worker which one it is, as a stream must of which each worker reads its own part."""

import functools
import mmap
import sys

DATA_PACKAGE = "torch.utils.data"

_asked = mmap.mmap(-1, 1)  # shared with the workers that fork makes


def was_asked():
    """By the script or one of its libraries, since the last forget(); workers that spawn makes do not tell."""
    return _asked[0] != 0


def forget():
    _asked[0] = 0


def watch(module):
    """From now on the questions to `module`, that of PyTorch's DataLoader, are seen; returns a function that ends that.
    get_worker_info has several names. All must be the same object, or it can't be pickled."""
    workers = getattr(getattr(module, "_utils", None), "worker", None)
    holders = [holder for holder in (workers, module, sys.modules.get(DATA_PACKAGE))
               if hasattr(holder, "get_worker_info")]

    def put(get):
        for holder in holders:
            holder.get_worker_info = get

    if not holders:
        return lambda: None
    original = holders[0].get_worker_info
    put(_seen(original))
    return lambda: put(original)


def _seen(get):
    @functools.wraps(get)
    def get_worker_info():
        info = get()
        if info is not None and not _is_own(sys._getframe(1).f_globals.get("__name__") or ""):
            _asked[0] = 1
        return info

    return get_worker_info


def _is_own(name):
    """Whether the caller is PyTorch's own, as the collate function is, or of this package."""
    return name.startswith((DATA_PACKAGE + ".", "feedrate."))
