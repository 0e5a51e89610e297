# SPDX-License-Identifier: Apache-2.0
"""Keep the GPU fed: `watch(loader)` shows autotune a loop, `python -m feedrate` a script."""

from .watch import watch

__all__ = ["watch"]
__version__ = "0.1.0"
