# SPDX-License-Identifier: Apache-2.0
"""Whether the script asks in a worker which one it is, as a stream must of which each worker reads its own part."""

import functools
import mmap
import sys

DATA_PACKAGE = "torch.utils.data"

_asked = mmap.mmap(-1, 1)  # shared with the workers that fork makes


def was_asked():
    """By the script or one of its libraries; workers that spawn makes do not tell."""
    return _asked[0] != 0


def watch(module):
    """From now on the questions to `module`, that of PyTorch's DataLoader, and to its package are seen."""
    for holder in (module, sys.modules.get(DATA_PACKAGE)):
        if hasattr(holder, "get_worker_info"):
            holder.get_worker_info = _seen(holder.get_worker_info)


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
