# SPDX-License-Identifier: Apache-2.0
"""Keep the GPU fed: `autotune(loader, step)` tunes a loader in a notebook, `watch(loader)` shows the
command autotune a loop, `python -m feedrate` tells how well a script is fed, `feedrate.torch` is
PyTorch's DataLoader with images loaded in C++, and `Loader` is that loader without PyTorch."""

import os as _os
import sys as _sys

from .watch import watch

# Of the C++ loader, which is imported where one of these is asked for.
_CORE = ("Dataset", "Health", "ImageFolder", "Loader", "NpyFile", "SampleError")

__all__ = ["autotune", "watch"] + list(_CORE)
__version__ = "0.1.0"

# Under the command autotune this package comes from a folder of its own, without the C++ loader. What
# is missing there is that of the package that pip installed.
__path__ += [_folder for _folder in (_os.path.join(_entry, "feedrate") for _entry in _sys.path)
             if _folder not in __path__ and _os.path.isdir(_folder)]


def __getattr__(name):
    """What is loaded where it is asked for: scripts below the command come without it."""
    if name == "autotune":
        from .notebook import autotune

        return autotune
    if name in _CORE:
        from . import _core

        return getattr(_core, name)
    raise AttributeError("module 'feedrate' has no attribute '%s'" % name)
