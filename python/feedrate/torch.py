# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader, with JPEG files loaded by threads in C++.

    from feedrate.torch import DataLoader      # in place of torch.utils.data's; nothing else changes

Where the dataset is a torchvision ImageFolder, or a Subset of one, with transforms that the C++
loader knows (`feedrate.transforms.known`), it decodes, crops, mirrors and normalises there. Samples
come in the order of PyTorch's own loader with the same seed. Crops and mirror images are drawn from a
generator of its own. Everything else is loaded by PyTorch, and a warning says why.
"""

import functools
import itertools
import os
import random
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.utils import data

from . import transforms
from .batches import length_of
from .random_numbers import kept_random_numbers

try:
    from torchvision.datasets import DatasetFolder, ImageFolder
    from torchvision.datasets.folder import default_loader
except ImportError:  # then there is no dataset that could be loaded here
    DatasetFolder = ImageFolder = default_loader = None

__all__ = ["DataLoader", "ImageFolder"]

# PyTorch's own, which counts per worker. Workers share each batch here, so it counts them all.
PREFETCH = 2
MOST_PASSES = 2  # over the files or the sampler's length, in an epoch that has an end
END = object()  # in the place of a batch


class DataLoader(data.DataLoader):
    """Takes what torch.utils.data.DataLoader takes, and `memory_format`: torch.channels_last gives
    images of that layout.

    Batches are [images, labels], float32 or uint8 [count, 3, size, size] and int64 [count], in plain
    or (`pin_memory`) page-locked memory; a custom `collate_fn` gets a list of (image, label).
    `num_workers` are threads, 0 loads in the caller. `prefetch_factor` counts batches of all threads
    together. `worker_init_fn`, `multiprocessing_context` and `in_order` have no effect on threads.
    `uses_cpp` tells who loads. Raises feedrate.SampleError for a file that can't be decoded.
    """

    def __init__(self, dataset, *args, memory_format=torch.contiguous_format, **kwargs):
        super().__init__(dataset, *args, **kwargs)
        self._memory_format = memory_format
        self._seed = None
        self._look_at_files()
        if self.uses_cpp and self.worker_init_fn is not None:
            warnings.warn("worker_init_fn is not called: feedrate's workers are threads in C++, in "
                          "which no Python runs.", stacklevel=2)

    def check_worker_number_rationality(self):
        # PyTorch's, which warns of more processes than cores: in the constructor, where nobody knows yet who
        # loads, and before PyTorch does.
        if hasattr(self, "_files"):
            super().check_worker_number_rationality()

    @property
    def uses_cpp(self):
        """Whether the C++ loader is used; else PyTorch's own."""
        return self._files is not None

    def _look_at_files(self):
        self._files, self._threads = None, None
        self._idle = []  # threads that no loop uses: loops over one loader may be nested
        self._process = os.getpid()  # which has those threads
        try:
            self._files = _Files(self)
        except transforms.Unknown as reason:
            self._leave_to_pytorch(reason, 4)

    def _leave_to_pytorch(self, reason, level):
        """`level`: how many calls up the script is."""
        self._files = None
        warnings.warn("feedrate leaves this DataLoader to PyTorch: %s." % reason, stacklevel=level)

    def __iter__(self):
        if self._files is not None and not self._is_as_it_was():
            self._look_at_files()
        if self._files is not None:
            try:
                return _Loop(self, self._files, self._idle)
            except transforms.Unknown as reason:
                self._leave_to_pytorch(reason, 3)
        return super().__iter__()

    def _is_as_it_was(self):
        return self._process == os.getpid() and self._files.are_as_they_were(self)

    def health(self):
        """How well the loop was fed since the last call, as `feedrate.Health`; None before the first
        epoch, and where PyTorch loads."""
        return self._threads.health() if self._threads is not None else None

    def __getstate__(self):
        return dict(self.__dict__, _threads=None, _idle=[])  # C++ objects are not sent to other processes

    def _next_seed(self):
        """Of an epoch's crops and mirror images. PyTorch draws one for each iterator that it makes, and workers that
        stay keep theirs."""
        if self._seed is None or not self.persistent_workers:
            self._seed = torch.empty((), dtype=torch.int64).random_(generator=self.generator).item()
        else:
            self._seed = (self._seed + 1) % 2**63
        return self._seed


class _Epoch:
    """The batches of an epoch that has begun, as they come from C++ threads."""

    def __init__(self, files, threads, samples, batch, seed):
        threads._begin(samples, seed)
        self.threads = threads
        self._files, self._samples, self._batch, self._at = files, samples, batch, 0
        self._seeds = random.Random(seed)

    def take(self):
        """The next batch, in pinned memory where that is asked for; END behind the last one. The script's own functions
        are called by this thread."""
        from ._core import SampleError

        try:
            batch = self.threads._next()
        except SampleError:
            self._at += 1
            raise
        if batch is None:
            return END
        self._at += 1
        files = self._files
        batch = files.computed(self._seeds.getrandbits(63), *batch) if files.calls_script else files.plain(*batch)
        return files.pinned(batch)

    def take_by_pytorch(self, error):
        """The batch that was taken last, of which the C++ side refused a file."""
        samples = self._samples[(self._at - 1) * self._batch:self._at * self._batch].tolist()
        return self._files.pinned(self._files.by_pytorch(samples, self._seeds.getrandbits(63), error))


class _Loop:
    """A loop over one epoch. Behind an error it goes on with the next batch, as PyTorch's does."""

    _epoch = _pool = _coming = None

    def __init__(self, loader, files, idle):
        """Raises Unknown where the epoch may have no end. `idle`: threads that no loop uses."""
        self._loader, self._idle = loader, idle
        # PyTorch's iterator draws these in this order, so the same seed gives the same samples.
        seed = loader._next_seed()
        samples = files.samples(loader.sampler)
        if len(samples) < (loader.batch_size if loader.drop_last else 1):
            return
        try:
            threads = idle.pop()  # not asked first: a loop in another thread may take the last
        except IndexError:
            threads = files.threads(loader)
        self._epoch = _Epoch(files, threads, samples, loader.batch_size, seed)
        loader._threads = threads
        if files.pins and not files.calls_script:
            self._pool = ThreadPoolExecutor(1, "feedrate-pin")

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def __next__(self):
        from ._core import SampleError

        if self._epoch is None:
            raise StopIteration
        try:
            batch = self._epoch.take() if self._pool is None else self._taken_ahead()
        except SampleError as error:
            batch = self._epoch.take_by_pytorch(error)
        if batch is END:
            self._end()
            raise StopIteration
        return batch

    def __del__(self):
        self._end()

    def _end(self):
        if self._pool is not None:
            self._pool.shutdown()
        if self._epoch is not None and not self._idle:
            self._idle.append(self._epoch.threads)
        self._epoch = self._pool = self._coming = None

    def _taken_ahead(self):
        """The next batch is pinned by another thread while the loop steps. That thread holds the epoch and not the loop:
        a loop that it held would not end where it is left."""
        take = self._epoch.take
        coming = self._coming = self._coming or self._pool.submit(take)
        try:
            batch = coming.result()
        except BaseException:
            if coming.done() and coming.exception() is not None:  # else the wait was interrupted
                self._coming = None
            raise
        self._coming = self._pool.submit(take) if batch is not END else None
        return batch


class _Files:
    """The images of a DataLoader's dataset, and what Python does to their batches."""

    def __init__(self, loader):
        _check(loader)
        self.dataset = loader.dataset
        self.indices, folder = _folder_of(loader.dataset)
        found = transforms.known(folder.transform)
        self.seen = self._settings_of(folder, found), _settings_of_loader(loader)
        self.folder = folder
        self.channels_last = loader._memory_format == torch.channels_last
        self.options = dict(found.options, channels_last=self.channels_last)
        self.rest, self.target_transform = found.rest, folder.target_transform
        self.collate_fn = None if loader.collate_fn is data.default_collate else loader.collate_fn
        self.pins = loader.pin_memory and getattr(torch, "accelerator", torch.cuda).is_available()
        self.paths, labels = zip(*folder.samples)
        self.labels = list(labels)
        _check_names(self.paths)
        self.images = self._images()

    def __getstate__(self):
        return dict(self.__dict__, images=None)

    @staticmethod
    def _settings_of(folder, found):
        return found.options, list(map(id, found.rest)), folder.target_transform, list(folder.samples)

    def are_as_they_were(self, loader):
        """Whether the dataset has the transforms, their parameters, the files and the labels that it had, and the
        loader has the settings that it had."""
        try:
            indices, folder = _folder_of(self.dataset)
            seen = self._settings_of(folder, transforms.known(folder.transform))
        except transforms.Unknown:
            return False
        if _settings_of_loader(loader) != self.seen[1]:
            return False
        same = indices is self.indices or (indices is not None and self.indices is not None
                                           and torch.equal(indices, self.indices))
        return same and all(now is then or now == then for now, then in zip(seen, self.seen[0]))

    def _images(self):
        """The C++ side of the folder. Raises Unknown where that refuses what PyTorch takes."""
        from ._core import ImageFolder as Images

        try:
            return Images(paths=self.paths, labels=self.labels, **self.options)
        except (TypeError, ValueError, RuntimeError) as reason:
            raise transforms.Unknown(str(reason).partition("\n")[0].rstrip(".")) from None

    def samples(self, sampler):
        """The samples of an epoch, as indices of the whole folder. Raises Unknown where there may be no end of them."""
        most = self._most(sampler)
        drawn = list(itertools.islice(sampler, most + 1))
        if len(drawn) > most:
            raise transforms.Unknown("its sampler draws more than %d samples an epoch" % most)
        chosen = torch.as_tensor(drawn, dtype=torch.int64, device="cpu")
        chosen = chosen if self.indices is None else self.indices[chosen]
        return torch.where(chosen < 0, chosen + len(self.paths), chosen)  # from the end, as in a list

    def _most(self, sampler):
        """Samples that an epoch may have."""
        return MOST_PASSES * max(len(self.paths), length_of(sampler) or 0)

    def threads(self, loader):
        """A C++ loader with the options of a DataLoader. Raises Unknown where its batches don't fit into memory."""
        from ._core import Loader

        self.images = self.images or self._images()
        try:
            return Loader(self.images, batch=min(loader.batch_size, self._most(loader.sampler)),
                          workers=loader.num_workers, prefetch=loader.prefetch_factor or PREFETCH,
                          drop_last=loader.drop_last, stall_s=loader.timeout or 60)
        except (MemoryError, ValueError) as reason:
            raise transforms.Unknown(str(reason).rstrip(".")) from None

    def by_pytorch(self, samples, seed, error):
        """A batch of which the C++ side refused a file, as PyTorch loads it: it may be no JPEG but be named so, or be
        damaged where PIL does not mind. Raises the error where PyTorch can't load it either."""
        with kept_random_numbers(torch):
            seed_random_numbers(seed)
            try:
                pairs = [self.folder[sample] for sample in samples]
            except Exception:
                raise error from None
            warnings.warn("PyTorch loads this batch, and others with such files: %s" % error, stacklevel=4)
            batch = (self.collate_fn or data.default_collate)(pairs)
        if self.collate_fn is None:
            batch[0] = self._laid_out(batch[0])
        return batch

    def _laid_out(self, images):
        """In the memory format that was asked for, which stacking loses."""
        is_other = self.channels_last and isinstance(images, torch.Tensor) and images.dim() == 4
        return images.contiguous(memory_format=torch.channels_last) if is_other else images

    @property
    def calls_script(self):
        """Whether there is more to do than the C++ side does."""
        return bool(self.rest) or self.target_transform is not None or self.collate_fn is not None

    def plain(self, images, labels):
        return [images.permute(0, 3, 1, 2) if self.channels_last else images, labels.long()]

    def computed(self, seed, images, labels):
        """A batch with what the script's functions make of it. As in a worker, they have random numbers of their own."""
        images, labels = self.plain(images, labels)
        with kept_random_numbers(torch):
            seed_random_numbers(seed)
            if self.rest:
                images = [functools.reduce(lambda image, step: step(image), self.rest, image) for image in images]
            targets = labels.tolist()
            if self.target_transform is not None:
                targets = [self.target_transform(target) for target in targets]
            if self.collate_fn is not None:
                return self.collate_fn(list(zip(images, targets)))
        images = self._laid_out(data.default_collate(images)) if self.rest else images
        return [images, data.default_collate(targets)]

    def pinned(self, batch):
        """Where it is asked for, in memory of PyTorch's own allocator, which waits for copies that are under way."""
        return data._utils.pin_memory.pin_memory(batch) if self.pins else batch


def seed_random_numbers(seed):
    """Of Python, NumPy and PyTorch on the CPU."""
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def _settings_of_loader(loader):
    """What a program may set at a DataLoader that is there."""
    return (loader.collate_fn, loader.pin_memory, loader.num_workers, loader.prefetch_factor, loader.timeout)


def _check(loader):
    if type(loader.batch_sampler) is not data.BatchSampler:
        raise transforms.Unknown("it has a batch_sampler of its own" if loader.batch_sampler
                                 else "it has no batches")
    if loader.batch_sampler.sampler is not loader.sampler:
        raise transforms.Unknown("its batch_sampler has a sampler of its own")


def _folder_of(dataset):
    """(indices or None, folder): the ImageFolder below any number of Subsets."""
    chain = []
    while type(dataset) is data.Subset:
        chain.append(torch.as_tensor(list(dataset.indices), dtype=torch.int64, device="cpu"))
        dataset = dataset.dataset
    if DatasetFolder is None or not isinstance(dataset, DatasetFolder):
        raise transforms.Unknown("its dataset is %s, not a torchvision ImageFolder"
                                 % type(dataset).__name__)
    if type(dataset).__getitem__ is not DatasetFolder.__getitem__:
        raise transforms.Unknown("%s replaces __getitem__" % type(dataset).__name__)
    if hasattr(dataset, "__getitems__"):
        raise transforms.Unknown("%s has a __getitems__ of its own" % type(dataset).__name__)
    if dataset.loader is not default_loader:
        raise transforms.Unknown("its dataset has a loader function of its own")
    if not dataset.samples:
        raise transforms.Unknown("its dataset is empty")
    indices = None
    for outer in reversed(chain):
        indices = outer if indices is None else indices[outer]
    return indices, dataset


def _check_names(paths):
    for path in paths:
        if os.path.splitext(path)[1].lower() not in (".jpg", ".jpeg"):
            raise transforms.Unknown("its dataset has files that are not JPEG, such as %s" % path)
