# SPDX-License-Identifier: Apache-2.0
"""The stub of PyTorch, so that the tests need none; to all others `torch` stays what it was."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))


def _load():
    """Its modules by their names."""
    before = _take_away()
    sys.path.insert(0, str(HERE.parents[1] / "tests" / "stub"))
    try:
        __import__("torch")
        return _take_away()
    finally:
        sys.path.pop(0)
        sys.modules.update(before)


def _take_away():
    names = [name for name in sys.modules if name.partition(".")[0] == "torch"]
    return {name: sys.modules.pop(name) for name in names}


MODULES = _load()
torch = MODULES["torch"]
data = torch.utils.data
