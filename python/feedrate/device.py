# SPDX-License-Identifier: Apache-2.0
"""Which device the script trains on: the one that holds the weights of its optimizers. A script may train on another
GPU than the current one of its process, and on the CPU although pinned memory has initialized CUDA."""

import gc
import sys
import weakref


def all_optimizers():
    """Every optimizer of PyTorch's in this process."""
    kind = getattr(sys.modules.get("torch.optim.optimizer"), "Optimizer", ())
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]


def weights_of(optimizers):
    return [weight for one in optimizers for group in one.param_groups for weight in group["params"]]


class TrainedWeight:
    """A weight that an optimizer updates: the first one on a GPU, or the first one of all.

    A search takes up to a tenth of a second in a large script, and the script may build its optimizer late. So calls
    1, 2, 4, 8 and so on search, until a weight on a GPU is found.
    """

    def __init__(self):
        self._found = lambda: None  # a weak reference, which keeps no model alive
        self._calls = 0  # without a weight on a GPU

    def __call__(self):
        weight = self._found()
        if weight is None or not weight.is_cuda:
            self._calls += 1
            if self._calls & (self._calls - 1) == 0:
                weight = self._search()
                self._found = weakref.ref(weight) if weight is not None else lambda: None
        return weight

    @staticmethod
    def _search():
        try:
            weights = weights_of(all_optimizers())
            return next((weight for weight in weights if weight.is_cuda), weights[0] if weights else None)
        except Exception:  # an optimizer of somebody's own may be like no other
            return None


trained_weight = TrainedWeight()


def gpu_of(torch):
    """The GPU that the script trains on, in a form that functions of torch.cuda take; None: it trains on the CPU.
    Initializes nothing. The current GPU is returned if no weight is found, or if that GPU has held tensors although
    the weights are on the CPU, as with offloading."""
    if not torch.cuda.is_initialized():
        return None
    weight = trained_weight()
    if weight is not None and weight.is_cuda:
        return weight.device
    return torch.cuda.current_device() if weight is None or _held_tensors(torch.cuda) else None


def _held_tensors(cuda):
    try:
        return cuda.max_memory_allocated() > 0
    except RuntimeError:  # an allocator that does not count
        return True


def device_of(torch):
    """The type of the device that the script trains on."""
    return "cpu" if gpu_of(torch) is None else "cuda"
