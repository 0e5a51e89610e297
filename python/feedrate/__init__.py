# SPDX-License-Identifier: Apache-2.0
"""Keep the GPU fed: `autotune(loader, step)` tunes a loader in a notebook, `watch(loader)` shows the
command autotune a loop, and `python -m feedrate` tells how well a script is fed."""

from .watch import watch

__all__ = ["autotune", "watch"]
__version__ = "0.1.0"


def __getattr__(name):
    """`autotune` where it is asked for: scripts below the command come without it."""
    if name != "autotune":
        raise AttributeError("module 'feedrate' has no attribute '%s'" % name)
    from .notebook import autotune

    return autotune
