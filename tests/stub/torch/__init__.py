# SPDX-License-Identifier: Apache-2.0
"""A small model of PyTorch, for machines without it: what the scripts of the tests use, and what the
hook looks at. Its DataLoader has real worker processes, and the attributes of PyTorch's own."""

import array
import contextlib
import random as _random
import types

__version__ = "0.0+stub"

float32, float16, bfloat16, int64 = "float32", "float16", "bfloat16", "int64"
_generator = _random.Random(0)
_threads = [2]


class Tensor:
    """Numbers with a shape. A product and a sum are all that can be computed with it."""

    is_cuda = False

    def __init__(self, values, shape, dtype=float32, requires_grad=False):
        self._values = array.array("d", values)
        self.shape = tuple(shape)
        self.dtype = dtype
        self.requires_grad = requires_grad
        self._version = 0

    def dim(self):
        return len(self.shape)

    def numel(self):
        return len(self._values)

    def element_size(self):
        return 8 if self.dtype == int64 else 4

    def clone(self):
        return Tensor(self._values, self.shape, self.dtype)

    def equal(self, other):
        return self.shape == other.shape and self._values == other._values

    def detach(self):
        return self

    def _overwrite(self, values):
        self._values[:] = array.array("d", values)
        self._version += 1
        return self

    def copy_(self, other):
        return self._overwrite(other._values)

    def mul_(self, by):
        return self._overwrite([value * by for value in self._values])

    def __len__(self):
        return self.shape[0]

    def __mul__(self, other):
        if not isinstance(other, Tensor):
            return Tensor([value * other for value in self._values], self.shape, self.dtype)
        by = other._values
        return Tensor([value * by[at % len(by)] for at, value in enumerate(self._values)],
                      self.shape, self.dtype, self.requires_grad or other.requires_grad)

    def sum(self):
        return Tensor([sum(self._values)], (), self.dtype, self.requires_grad)

    def item(self):
        return self._values[0]

    def tolist(self):
        return [int(value) if self.dtype == int64 else value for value in self._values]

    def backward(self):
        autograd.backward(self)


def tensor(values, dtype=None):
    """Of a number, or of a list of them."""
    shape = (len(values),) if isinstance(values, (list, tuple)) else ()
    flat = values if shape else [values]
    if dtype is None:
        dtype = int64 if all(isinstance(value, int) for value in flat) else float32
    return Tensor(flat, shape, dtype)


def ones(*shape, requires_grad=False):
    count = 1
    for size in shape:
        count *= size
    return Tensor([1.0] * count, shape, float32, requires_grad)


def rand(count):
    return Tensor([_generator.random() for _ in range(count)], (count,))


def stack(tensors):
    """Tensors of one shape, one after the other."""
    values = array.array("d")
    for one in tensors:
        values.extend(one._values)
    return Tensor(values, (len(tensors), *tensors[0].shape), tensors[0].dtype)


class Generator:
    def __init__(self):
        self._random = _random.Random(0)

    def manual_seed(self, seed):
        self._random.seed(seed)
        return self

    def get_state(self):
        return self._random.getstate()

    def set_state(self, state):
        self._random.setstate(state)


def manual_seed(seed):
    _generator.seed(seed)


def get_rng_state():
    return Tensor(_generator.getstate()[1], (625,), int64)


def set_rng_state(state):
    _generator.setstate((3, tuple(state.tolist()), None))


def get_num_threads():
    return _threads[0]


def set_num_threads(threads):
    _threads[0] = threads


class _Module:
    """A part of a model. Those of the tests are none."""

    def parameters(self):
        return iter(())


nn = types.SimpleNamespace(Module=_Module)

_without_gradients = []
_autocasts = []


def is_grad_enabled():
    return not _without_gradients


@contextlib.contextmanager
def no_grad():
    _without_gradients.append(True)
    try:
        yield
    finally:
        _without_gradients.pop()


class autocast:
    """Tells what it was asked for, in the attributes of PyTorch's own; changes nothing."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        self.device = device_type
        self.fast_dtype = dtype or bfloat16
        self._enabled = enabled

    def __enter__(self):
        _autocasts.append(self)
        return self

    def __exit__(self, *_):
        _autocasts.pop()


def is_autocast_enabled(device_type):
    return any(one._enabled for one in _autocasts[-1:] if one.device == device_type)


def get_autocast_dtype(device_type):
    return _autocasts[-1].fast_dtype if is_autocast_enabled(device_type) else bfloat16


def _backward(tensor):
    if not tensor.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")


autograd = types.SimpleNamespace(backward=_backward)
cuda = types.SimpleNamespace(is_available=lambda: False, is_initialized=lambda: False)
backends = types.SimpleNamespace(cuda=types.SimpleNamespace(is_built=lambda: False))

from . import distributed, optim, utils  # noqa: E402,F401
