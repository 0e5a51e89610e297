# SPDX-License-Identifier: Apache-2.0
"""Signs that a loop trains: calls of backward() and of optimizers; how it copies batches, and in
which number format it steps."""

import collections
import functools
import sys

from .device import all_optimizers, gpu_of, weights_of
from .stepping import name_of_format

AWAITED_S, AWAITED_BATCHES = 5.0, 64  # until a loop is taken for one without updates
AT_ONCE = 0.1  # of a step with an update, and those without one are none


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

    `fresh` is raised by each sign; whoever reads it puts it back. Each backward() calls `see_backward`.
    """

    def __init__(self, see_backward=lambda: None):
        self.fresh = False
        self._see_backward = see_backward
        self._undo = []
        self._copies = 0
        self._non_blocking = 0
        self._autocasts = {}  # the last number format, by type of device

    def watch(self):
        torch = sys.modules.get("torch")
        if torch is None or self._undo:
            return
        self._see_calls_of_backward(torch.autograd)
        self._undo.append(on_updates(self._see_update))
        self._see_autocast(torch)
        if torch.backends.cuda.is_built():  # torch.cuda.is_available() asks the driver: no fork could use CUDA then
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
        """In which number format steps are: that of autocast, around the loop or in it, else of the
        weights. To be called by the thread that steps."""
        return autocast_now(torch, device) or self._autocasts.get(device) or format_of_weights() or (
            "tf32" if device == "cuda" and uses_tf32(torch) else "fp32")

    def _replace(self, owner, name, replacement):
        original = getattr(owner, name)
        setattr(owner, name, replacement)

        def undo():
            # Somebody else may have put a wrapper of their own around ours.
            if getattr(owner, name) is replacement:
                setattr(owner, name, original)

        self._undo.append(undo)

    def _see_calls_of_backward(self, autograd):
        call = autograd.backward

        @functools.wraps(call)
        def seen(*args, **kwargs):
            self.fresh = True
            self._see_backward()
            return call(*args, **kwargs)

        self._replace(autograd, "backward", seen)

    def _see_update(self, *_):
        self.fresh = True

    def _see_autocast(self, torch):
        """What is computed without gradients, or elsewhere, does not train."""
        enter = torch.autocast.__enter__

        @functools.wraps(enter)
        def seen(context):
            if getattr(context, "_enabled", False) and torch.is_grad_enabled():
                device = getattr(context, "device", None)
                self._autocasts[device] = name_of_format(getattr(context, "fast_dtype", None))
            return enter(context)

        self._replace(torch.autocast, "__enter__", seen)

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


def autocast_now(torch, device):
    """The number format of the autocast that this thread is in; None outside of one."""
    try:
        if hasattr(torch, "get_autocast_dtype"):  # since PyTorch 2.4
            inside, dtype = torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
        elif device == "cuda":
            inside, dtype = torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype()
        else:
            inside, dtype = torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()
    except (AttributeError, RuntimeError, TypeError):
        return None
    return name_of_format(dtype) if inside else None


def format_of_weights():
    """bf16 or fp16, where most weights that optimizers update are so; else None. Of a model of few
    bits with weights of fp32 beside it those are seen."""
    weights = collections.Counter()
    try:
        for weight in weights_of(all_optimizers()):
            weights[weight.dtype] += weight.numel()
    except Exception:  # an optimizer of somebody's own may be like no other
        return None
    return name_of_format(weights.most_common(1)[0][0]) if weights else None


def uses_tf32(torch):
    """Whether products of fp32 are computed in TF32."""
    try:
        if torch.cuda.get_device_capability(gpu_of(torch))[0] < 8:
            return False
        asked = getattr(torch.backends.cuda.matmul, "fp32_precision", None)  # since PyTorch 2.9
        return asked == "tf32" or torch.get_float32_matmul_precision() != "highest"
    except (AttributeError, RuntimeError):
        return False


class Updates:
    """Counts the batches that a loop takes for one update of its weights. Each update calls `see`.

    A loop may take all batches of an update at once, and then do all their steps, as transformers'
    Trainer does to add up gradients: its batches have no time of their own, but its updates have."""

    def __init__(self, see=lambda: None):
        self.updated = False
        self._see_update = see
        self.since = None  # batches since the last update; None before one was seen
        self.batches = 0  # that were followed by an update
        self._counting = True
        self._updates = collections.Counter()  # by their batches
        self._steps, self._steps_s = [0, 0], [0.0, 0.0]  # without an update, and with one
        self._are_in_vain = False  # to be waited for
        self.forget = on_updates(self._see)

    def _see(self, *_):
        self.updated = True  # and little more: a compiled update has this in its trace
        self._see_update()

    def begin(self, counting):
        """Whether the batches from now on count: others than the script's own do not. Those that were
        taken at once so far may be of another size."""
        if counting != self._counting or not counting and self.take_at_once():
            self.since = None
        self._counting = counting

    def add_batch(self, step_s=None):
        """The loop asks for the next batch, after a step of so long; None: it was elsewhere, too."""
        if step_s is not None:
            self._steps[self.updated] += 1
            self._steps_s[self.updated] += step_s
        if self.since is not None:
            self.since += 1
        if self.updated:
            self.batches += 1
            if self.since and self._counting:
                self._updates[self.since] += 1
            self.since = 0
            self.updated = False

    def batches_each(self):
        """Of most updates: a scaled loss skips some, and a loop that is left ends one early. None
        where no two updates were seen."""
        return self._updates.most_common(1)[0][0] if self._updates else None

    def longest(self):
        """Batches of the longest update that was counted; 0: none was."""
        return max(self._updates, default=0)

    def most_batches(self):
        """Of the longest update so far, which may not have come yet."""
        return max(self.since or 0, self.longest())

    def take_at_once(self):
        """Whether the loop takes all batches of an update before it does their steps."""
        others, own = self._steps
        return own * self._steps_s[0] < AT_ONCE * others * self._steps_s[1]

    def at_once(self):
        """Batches that the loop takes so, as far as they are known; 1 where each has a step of its own."""
        return (self.batches_each() or 1) if self.take_at_once() else 1

    def are_awaited(self, exactly=False):
        """Whether it matters, and is not known yet, where the loop is between two updates; `exactly`: how many
        batches they have."""
        if self._are_in_vain:
            return False
        if exactly:
            return not self._updates
        return self.since is None and (self._steps[True] == 0 or self.take_at_once())

    def give_up(self):
        """None was seen for long: there may be none."""
        self._are_in_vain = True
