# SPDX-License-Identifier: Apache-2.0
"""Signs that a loop trains: calls of backward() and of optimizers; how it copies batches, and in
which number format it steps."""

import collections
import functools
import sys

from .stepping import name_of_format


def is_non_blocking(args, kwargs):
    """Of a call of Tensor.to() or cuda(): by its place it is the first bool in all their forms."""
    by_place = next((given for given in args if isinstance(given, bool)), False)
    return bool(kwargs.get("non_blocking", by_place))


def on_updates(see):
    """Calls see(optimizer, ...) behind each update of weights from now on; gives what ends that.
    Before PyTorch 2.0 nothing is seen."""
    optimizers = sys.modules.get("torch.optim.optimizer")
    register = getattr(optimizers, "register_optimizer_step_post_hook", None)
    return register(see).remove if register is not None else lambda: None


class TrainingSigns:
    """Sees signs from watch() to forget(); costs nothing before and afterwards.

    `fresh` is raised by each sign; whoever reads it puts it back.
    """

    def __init__(self):
        self.fresh = False
        self._undo = []
        self._copies = 0
        self._non_blocking = 0
        self._autocast = None
        self._weights = None

    def watch(self):
        torch = sys.modules.get("torch")
        if torch is None or self._undo:
            return
        self._see_calls(torch.autograd, "backward")
        self._undo.append(on_updates(self._see_update))
        self._see_autocast(torch.autocast)
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

    def precision(self, torch, device):
        """In which number format steps are: that of autocast, else of the weights."""
        return self._autocast or self._weights or (
            "tf32" if device == "cuda" and uses_tf32(torch) else "fp32")

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

    def _see_update(self, optimizer, *_):
        self.fresh = True
        if self._weights is None:
            self._weights = name_of_format(dtype_of_weights(optimizer))

    def _see_autocast(self, autocast):
        enter = autocast.__enter__

        @functools.wraps(enter)
        def seen(context):
            if getattr(context, "_enabled", False):
                self._autocast = name_of_format(getattr(context, "fast_dtype", None))
            return enter(context)

        self._replace(autocast, "__enter__", seen)

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


def dtype_of_weights(optimizer):
    """Of those that come first; None where there are none."""
    groups = getattr(optimizer, "param_groups", None) or [{}]
    weights = groups[0].get("params") or [None]
    return getattr(weights[0], "dtype", None)


def uses_tf32(torch):
    """Whether products of fp32 may be computed in TF32."""
    try:
        return torch.get_float32_matmul_precision() != "highest"
    except (AttributeError, RuntimeError):  # no such choice, or one made in another way
        return False


class Updates:
    """Counts the batches that a loop takes for one update of its weights."""

    def __init__(self):
        self._batches = 0  # since the last update
        self._updates = collections.Counter()  # by their batches
        self.forget = on_updates(self._see)

    def add_batch(self):
        self._batches += 1

    def _see(self, *_):
        if self._batches > 0:  # else another optimizer has seen them
            self._updates[self._batches] += 1
        self._batches = 0

    def batches_each(self):
        """Of most updates: a scaled loss skips some, and a loop that is left ends one early. None
        where no update was seen."""
        return self._updates.most_common(1)[0][0] if self._updates else None
