# SPDX-License-Identifier: Apache-2.0
"""Levers: changes of a step that a script's author could write in a line, switched on and off in the
running script, so that its own loop shows what each is worth.

Each lever is a context: within it the step has the change, behind it the step is as before. It raises
Missing where the script has nothing to change.
"""

import contextlib
import functools
import gc
import sys

from .device import all_optimizers, device_of, weights_of
from .stepping import number_format
from .training import is_non_blocking


class Missing(Exception):
    """Why there is nothing to change: the middle of a sentence."""


def models(torch, optimizers):
    """The outermost modules whose weights an optimizer updates."""
    trained = {id(weight) for weight in weights_of(optimizers)}
    modules = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.nn.Module)]
    having = [one for one in modules if any(id(weight) in trained for weight in one.parameters())]
    inner = {id(child) for one in having for child in one.modules() if child is not one}
    return [one for one in having if id(one) not in inner]


class Levers:
    """What is switched in this script."""

    def __init__(self, torch, config):
        """`config` of the rounds without a lever."""
        self._torch = torch
        self._own = config["precision"]
        self._config = config
        self._device = device_of(torch)
        self._optimizers = all_optimizers()
        self._models = models(torch, self._optimizers)
        self._compiled = {}  # by module

    def named(self, name):
        """The context of a lever. Raises Missing, here or where it is entered."""
        return getattr(self, name)()

    def config(self, name):
        """Of the rounds with a lever. Raises Missing."""
        if name != "non_blocking":
            return self._config
        self._only_on_gpus()
        return dict(self._config, pinned=True)

    def bf16(self):
        return self._autocast("bf16")

    def fp16(self):
        self._only_on_gpus()
        return self._autocast("fp16")

    def _autocast(self, precision):
        if self._own in ("bf16", "fp16"):
            raise Missing("the steps are in %s already" % self._own)
        return number_format(self._torch, self._device, precision, self._own)

    def tf32(self):
        self._only_on_gpus()
        if self._own != "fp32":
            raise Missing("the steps are in %s already" % self._own)
        switches = (self._torch.backends.cuda.matmul, self._torch.backends.cudnn)
        try:
            are_on = [switch.allow_tf32 for switch in switches]
        except RuntimeError:  # since PyTorch 2.9, where fp32_precision says more than allow_tf32 can
            raise Missing("the script sets fp32_precision of torch.backends itself") from None
        if all(are_on):
            raise Missing("it is on already")
        return _set(*((switch, "allow_tf32", True) for switch in switches))

    def cudnn_benchmark(self):
        self._only_on_gpus()
        if self._torch.backends.cudnn.benchmark:
            raise Missing("it is on already")
        return _set((self._torch.backends.cudnn, "benchmark", True))

    def _only_on_gpus(self):
        if self._device != "cuda":
            raise Missing("the script trains on no GPU")

    @contextlib.contextmanager
    def channels_last(self):
        weights = [weight for one in self._models for weight in one.parameters() if weight.dim() == 4]
        if not weights:
            raise Missing("the model has no convolution of images")
        if all(self._is_last(weight) for weight in weights):
            raise Missing("the weights are so already")
        if self._is_compiled():
            raise Missing("the model is compiled for the present layout")
        before = [(weight, weight.data) for weight in weights]
        states = [(values, key, value) for values in self._states_of(weights)
                  for key, value in values.items() if getattr(value, "dim", int)() == 4]
        torch_format = self._torch.channels_last
        for weight in weights:
            weight.data = weight.data.contiguous(memory_format=torch_format)
        for values, key, value in states:
            values[key] = value.contiguous(memory_format=torch_format)
        try:
            yield
        finally:
            for weight, data in before:
                weight.data = data.copy_(weight.data)
            for values, key, value in states:
                values[key] = value.copy_(values[key])

    def _is_last(self, weight):
        return weight.is_contiguous(memory_format=self._torch.channels_last)

    def _states_of(self, weights):
        """What optimizers keep for each weight, such as moments."""
        return [optimizer.state[weight] for optimizer in self._optimizers for weight in weights
                if weight in optimizer.state]

    @contextlib.contextmanager
    def fused(self):
        optimizers = self._optimizers_with("fused")
        groups = [group for one in optimizers for group in one.param_groups]
        if all(group.get("fused") for group in groups):
            raise Missing("the optimizer is fused already")
        before = [(group, group.get("fused"), group.get("foreach")) for group in groups]
        steps = [(weight, values, values["step"]) for one in optimizers
                 for weight, values in one.state.items() if hasattr(values.get("step"), "to")]
        for weight, values, step in steps:  # a fused update counts where it computes
            values["step"] = step.to(weight.device)
        for group in groups:
            group.update(fused=True, foreach=False)
        try:
            yield
        finally:
            for group, fused, foreach in before:
                group.update(fused=fused, foreach=foreach)
            for _, values, step in steps:
                values["step"] = values["step"].to(step.device)

    @contextlib.contextmanager
    def foreach(self):
        groups = [group for one in self._optimizers_with("foreach") for group in one.param_groups]
        if all(group.get("fused") for group in groups):
            raise Missing("the optimizer is fused")
        if any(cant_be_foreach(self._torch, group) for group in groups):
            raise Missing("the optimizer can't have it with a tensor as lr, or with differentiable=True")
        groups = [group for group in groups if not group.get("fused") and not self._is_foreach(group)]
        if not groups:
            raise Missing("it is on already")
        before = [(group, group.get("foreach")) for group in groups]
        for group in groups:
            group["foreach"] = True
        try:
            yield
        finally:
            for group, foreach in before:
                group["foreach"] = foreach

    def _optimizers_with(self, form):
        found = [one for one in self._optimizers if form in getattr(one, "defaults", ())]
        if not found:
            raise Missing("the script's optimizer has no %s form" % form)
        return found

    def _is_foreach(self, group):
        """Whether it is on, or left to PyTorch, which chooses it for weights that are all on a GPU."""
        if group.get("foreach") is not None:
            return group["foreach"]
        choose = sys.modules["torch.optim.optimizer"]._default_to_fused_or_foreach
        return choose(group["params"], group.get("differentiable", False))[1]

    @contextlib.contextmanager
    def non_blocking(self):
        """Together with pinned memory, without which a copy waits all the same."""
        tensor, copies = self._torch.Tensor, PinnedCopies()
        with _set((tensor, "to", copies.not_waiting(tensor.to, names_gpu)),
                  (tensor, "cuda", copies.not_waiting(tensor.cuda, lambda *_: True))):
            yield
        if copies.number == 0:
            raise Missing("the loop copies no pinned batch to the GPU by to() or cuda()")
        if copies.changed == 0 and self._config["pinned"]:
            raise Missing("the copies are so already")

    @contextlib.contextmanager
    def compile(self):
        if not self._models:
            raise Missing("no module was found whose weights are updated")
        if self._is_compiled():
            raise Missing("the model is compiled already")
        for one in self._models:
            if id(one) not in self._compiled:
                self._compiled[id(one)] = self._torch.compile(one._call_impl)
            one._compiled_call_impl = self._compiled[id(one)]
        try:
            yield
        finally:
            for one in self._models:
                one._compiled_call_impl = None

    def _is_compiled(self):
        return any(getattr(one, "_compiled_call_impl", None) or hasattr(one, "_orig_mod")
                   for model in self._models for one in model.modules())


def cant_be_foreach(torch, group):
    """Whether PyTorch refuses it in the step."""
    if group.get("differentiable"):
        return True
    return not group.get("capturable") and isinstance(group.get("lr"), torch.Tensor)


class PinnedCopies:
    """Copies of tensors from pinned memory to a GPU, which need not wait. All others stay as they are: a copy to the
    CPU that does not wait gives wrong data."""

    def __init__(self):
        self.number = self.changed = 0

    def not_waiting(self, copy, goes_to_gpu):
        """In the place of Tensor.to() or cuda()."""
        @functools.wraps(copy)
        def copied(batch, *args, **kwargs):
            if goes_to_gpu(args, kwargs) and _is_pinned(batch):
                self.number += 1
                if not is_non_blocking(args, kwargs):
                    self.changed += 1
                    args, kwargs = non_blocking_call(args, kwargs)
            return copy(batch, *args, **kwargs)

        return copied


def names_gpu(args, kwargs):
    """Whether a call of Tensor.to() names a GPU, or a tensor on one."""
    device = kwargs.get("device", kwargs.get("other", args[0] if args else None))
    if isinstance(device, str):
        return device.partition(":")[0] == "cuda"
    if isinstance(device, int):  # as a number, it is a GPU
        return True
    return getattr(device, "is_cuda", False) or getattr(device, "type", None) == "cuda"


def non_blocking_call(args, kwargs):
    """The arguments of a call of Tensor.to() or cuda() that then does not wait."""
    place = next((place for place, given in enumerate(args) if isinstance(given, bool)), None)
    if place is None:
        return args, dict(kwargs, non_blocking=True)
    return (*args[:place], True, *args[place + 1:]), kwargs


def _is_pinned(tensor):
    try:
        return not tensor.is_cuda and tensor.is_pinned()
    except RuntimeError:  # sparse ones can't tell
        return False


@contextlib.contextmanager
def _set(*changes):
    """Attributes of modules, and behind it what they were."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
    for owner, name, value in changes:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)
