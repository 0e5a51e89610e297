# SPDX-License-Identifier: Apache-2.0
"""Signs that a loop trains: calls of backward() and of optimizers; and how it copies batches."""

import functools
import sys


def is_non_blocking(args, kwargs):
    """Of a call of Tensor.to() or cuda(): by its place it is the first bool in all their forms."""
    by_place = next((given for given in args if isinstance(given, bool)), False)
    return bool(kwargs.get("non_blocking", by_place))


class TrainingSigns:
    """Sees signs from watch() to forget(); costs nothing before and afterwards.

    `fresh` is raised by each sign; whoever reads it puts it back.
    """

    def __init__(self):
        self.fresh = False
        self._undo = []
        self._copies = 0
        self._non_blocking = 0

    def watch(self):
        torch = sys.modules.get("torch")
        if torch is None or self._undo:
            return
        self._see_calls(torch.autograd, "backward")
        self._see_steps()
        if torch.cuda.is_available():
            self._count_copies(torch.Tensor)

    def forget(self):
        for undo in reversed(self._undo):
            undo()
        self._undo = []

    def copies(self):
        """How batches went to the device while it was watched; None where none did."""
        if self._copies == 0:
            return None
        return {"copies": self._copies, "non_blocking": self._non_blocking}

    def _replace(self, owner, name, replacement):
        original = getattr(owner, name)
        setattr(owner, name, replacement)

        def undo():
            # Somebody else may have put a wrapper of their own around ours.
            if getattr(owner, name) is replacement:
                setattr(owner, name, original)

        self._undo.append(undo)

    def _see_calls(self, owner, name):
        call = getattr(owner, name)

        @functools.wraps(call)
        def seen(*args, **kwargs):
            self.fresh = True
            return call(*args, **kwargs)

        self._replace(owner, name, seen)

    def _see_steps(self):
        optimizers = sys.modules.get("torch.optim.optimizer")
        register = getattr(optimizers, "register_optimizer_step_post_hook", None)
        if register is None:  # before PyTorch 2.0
            return

        def see(*_):
            self.fresh = True

        handle = register(see)
        self._undo.append(handle.remove)

    def _count_copies(self, tensor):
        for name in ("to", "cuda"):
            self._replace(tensor, name, self._counting_copies(getattr(tensor, name)))

    def _counting_copies(self, copy):
        @functools.wraps(copy)
        def counted(batch, *args, **kwargs):
            result = copy(batch, *args, **kwargs)
            if not batch.is_cuda and getattr(result, "is_cuda", False):
                self._copies += 1
                self._non_blocking += is_non_blocking(args, kwargs)
            return result

        return counted
