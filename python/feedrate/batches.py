# SPDX-License-Identifier: Apache-2.0
"""Looking into batches of any nesting: their tensors, their samples, their bytes."""

import copy
import itertools
import operator

MOST_PARTS = 64  # of a part of a batch that are searched for an array
DEEPEST = 8


def steps_into(part):
    """The functions that lead from a part of a batch to the parts that it is made of."""
    if isinstance(part, (list, tuple)):
        return (operator.itemgetter(at) for at in range(len(part)))
    if isinstance(part, dict) or _is_like_a_dict(part):
        return (operator.itemgetter(key) for key in list(part.keys()))
    if hasattr(part, "__dataclass_fields__"):
        return (operator.attrgetter(name) for name in part.__dataclass_fields__)
    return iter([operator.attrgetter("__dict__")] if hasattr(part, "__dict__") else [])


def _is_like_a_dict(part):
    """Not so a table of pandas, whose `values` are an array."""
    return hasattr(type(part), "__getitem__") and all(
        callable(getattr(part, name, None)) for name in ("keys", "values"))


def is_tensor(part):
    """What has shape, dtype and dim."""
    return hasattr(part, "dim") and hasattr(part, "shape")


def tensors_of(batch, depth=DEEPEST):
    """All tensors of a nested batch."""
    if is_tensor(batch):
        yield batch
        return
    if depth == 0:
        return
    for step in steps_into(batch):
        yield from tensors_of(step(batch), depth - 1)


def are_equal(one, other, depth=DEEPEST):
    """Whether two batches hold the same; False where nobody can tell."""
    if type(one) is not type(other) or depth == 0:
        return False
    try:
        if is_tensor(one):
            return one.shape == other.shape and one.dtype == other.dtype and bool(one.equal(other))
        if hasattr(one, "tobytes"):
            return one.shape == other.shape and one.tobytes() == other.tobytes()
        if one is None or isinstance(one, (str, bytes, int, float)):
            return one == other
        if isinstance(one, dict) or _is_like_a_dict(one):
            return list(one.keys()) == list(other.keys()) and all(
                are_equal(one[key], other[key], depth - 1) for key in one.keys())
        return isinstance(one, (list, tuple)) and len(one) == len(other) and all(
            are_equal(part, of_other, depth - 1) for part, of_other in zip(one, other))
    except Exception:  # whatever a class of the script's does
        return False


def copied(batch):
    """A copy of the batch, which a script does not change; if it can't be copied, an object that equals nothing."""
    try:
        return copy.deepcopy(batch)
    except Exception:
        return object()


class SampleCount:
    """The first dimension of the first array in a batch; None where there is none.

    Where the array lies is remembered from the first batch; how long it is never is, since the last
    batch is smaller. Batches without an array are searched once.
    """

    def __init__(self):
        self._steps = None

    def __call__(self, batch):
        if self._steps is NOWHERE:
            return None
        try:
            part = batch
            for step in self._steps:
                part = step(part)
            return int(part.shape[0])
        except Exception:  # the first batch, or one of another shape
            return self._search(batch)

    def _search(self, batch):
        try:
            self._steps, samples = _find_array(batch)
        except Exception:  # what looks like a dict need not be one
            self._steps, samples = NOWHERE, None
        return samples


NOWHERE = object()


def _find_array(batch):
    """(the functions that lead from a batch to its first array, its samples); else NOWHERE."""
    left = MOST_PARTS
    stack = [((), batch)]
    while stack and left > 0:
        left -= 1
        steps, part = stack.pop()
        samples = _length_of(part)
        if samples is not None:
            return steps, samples
        if len(steps) < DEEPEST:
            into = list(itertools.islice(steps_into(part), MOST_PARTS))
            stack += [(steps + (step,), step(part)) for step in reversed(into)]
    return NOWHERE, None


def _length_of(array):
    """The first dimension; None where this is no array, or one without dimensions."""
    try:
        return int(array.shape[0])
    except Exception:
        return None


def length_of(thing):
    """None where it has none, or fails to tell: that is the script's affair."""
    try:
        return len(thing)
    except Exception:
        return None


def batches_of(loader):
    """The length of a DataLoader, without a trace: PyTorch keeps that of a stream once it was asked for,
    and warns of each batch beyond it, as where each worker reads the whole stream."""
    kept = getattr(loader, "_IterableDataset_len_called", None)
    batches = length_of(loader)
    if getattr(loader, "_IterableDataset_len_called", None) != kept:
        object.__setattr__(loader, "_IterableDataset_len_called", kept)
    return batches


def batch_size_of(loader, batch):
    """Samples in the batches of a DataLoader; None where that is not known. The size of a sampler of batches is
    believed where the batch, or a list in it, is as long: such a sampler may give batches of many sizes."""
    if loader.batch_size is not None:
        return loader.batch_size
    size = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
    lists = [batch, *(batch.values() if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else ())]
    is_seen = any(isinstance(part, (list, tuple)) and len(part) == size for part in lists)
    return size if isinstance(size, int) and (is_seen or SampleCount()(batch) == size) else None


def counter_for(batch, size, data_length):
    """Counts the samples in batches of a DataLoader like this one; None where they are to be taken
    for as many as its batch size says, if it has one.

    An array may have another first dimension than the samples, as pictures in a list have: where
    the first one differs from the batch size, that is believed.
    """
    counter = SampleCount()
    samples = counter(batch)
    wanted = min(size, data_length or size) if isinstance(size, int) else samples
    return counter if samples is not None and samples == wanted else None


def bytes_of(batch):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_of(batch))


def rebuilt(part, depth=DEEPEST):
    """The same tensors in containers of their own, which a script may change. Of another class, as
    of a batch of the script's own, the object is copied, and what it holds is as it is; so is what
    can't be copied."""
    if depth == 0 or is_tensor(part):
        return part
    try:
        return _rebuilt(part, lambda held: rebuilt(held, depth - 1))
    except Exception:  # whatever a class of the script's does when it is copied
        return part


def _rebuilt(part, rebuild):
    """rebuild: makes the contents of the part again."""
    if isinstance(part, tuple):
        made = tuple.__new__(type(part), [rebuild(held) for held in part])
        if hasattr(part, "__dict__"):
            vars(made).update(vars(part))
    elif isinstance(part, list):
        made = copy.copy(part)
        made[:] = [rebuild(held) for held in part]
    elif isinstance(part, dict):
        made = copy.copy(part)
        for key in list(part.keys()):
            made[key] = rebuild(part[key])
    elif _is_like_a_dict(part) or hasattr(part, "__dataclass_fields__"):
        made = copy.copy(part)
        vars(made).update({name: rebuild(held) for name, held in vars(part).items()})
    elif any(True for _ in tensors_of(part)):
        made = copy.copy(part)
    else:
        made = part
    return made


class Replay:
    """A few batches that are given again and again, as they were: a step that writes into its batch
    is noticed by PyTorch's version counters, and the batch is restored. What holds the tensors is
    made again each time, so that a step may take them out, or put others in their place."""

    def __init__(self, batches):
        self._batches = batches
        self._tensors = [list(tensors_of(batch)) for batch in batches]
        self._copies = [[tensor.clone() for tensor in tensors] for tensors in self._tensors]
        self._versions = [self._version(tensors) for tensors in self._tensors]
        self._next = 0

    def __len__(self):
        return len(self._batches)

    @staticmethod
    def _version(tensors):
        try:
            return [tensor._version for tensor in tensors]
        except RuntimeError:  # made in inference mode: nobody writes into those
            return None

    def take(self):
        at = self._next
        self._next = (at + 1) % len(self._batches)
        if self._version(self._tensors[at]) != self._versions[at]:
            self._restore(at)
        return rebuilt(self._batches[at])

    def _restore(self, at):
        for tensor, copied in zip(self._tensors[at], self._copies[at]):
            tensor.detach().copy_(copied)
        self._versions[at] = self._version(self._tensors[at])
