# SPDX-License-Identifier: Apache-2.0
"""The DataLoader, with its two kinds of iterators."""

import multiprocessing
import queue

import torch

from .sampler import (BatchSampler, InfiniteSampler, IterableDataset, RandomSampler,
                      SequentialSampler)
from .worker import OVER, RESUME, Failure, fetcher, work

POLL_S = 0.1  # between two looks at whether the workers still live


def default_collate(samples):
    """Samples of any nesting as one batch."""
    first = samples[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(samples)
    if isinstance(first, (int, float)):
        return torch.tensor(list(samples))
    if isinstance(first, dict):
        return {key: default_collate([sample[key] for sample in samples]) for key in first}
    if isinstance(first, (list, tuple)):
        return [default_collate(part) for part in zip(*samples)]
    return samples


def default_convert(sample):
    return sample


class DataLoader:
    _initialized = False

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None,
                 num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0,
                 worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False):
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing.")
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            sampler = _usual_sampler(dataset, shuffle, generator)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        batched = batch_sampler is not None
        self.dataset, self.batch_size, self.sampler = dataset, batch_size, sampler
        self.batch_sampler, self.num_workers = batch_sampler, num_workers
        self.pin_memory = pin_memory
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self.drop_last, self.timeout, self.worker_init_fn = drop_last, timeout, worker_init_fn
        self.__multiprocessing_context = multiprocessing_context
        self.generator, self.persistent_workers = generator, persistent_workers
        self.prefetch_factor = prefetch_factor or (2 if num_workers > 0 else None)
        self._iterator = None
        self._initialized = True

    def __setattr__(self, name, value):
        if self._initialized and name in ("batch_size", "batch_sampler", "sampler", "drop_last",
                                          "dataset", "persistent_workers"):
            raise ValueError("%s attribute should not be set after DataLoader is initialized"
                             % name)
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self):
        context = self.__multiprocessing_context
        known = context is None or isinstance(context, str)
        return multiprocessing.get_context(context) if known else context

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _get_iterator(self):
        kind = _MultiProcessingDataLoaderIter if self.num_workers else _SingleProcessDataLoaderIter
        return kind(self)

    def __iter__(self):
        if not self.persistent_workers:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        return len(self._index_sampler)


def _usual_sampler(dataset, shuffle, generator):
    if isinstance(dataset, IterableDataset):
        return InfiniteSampler(dataset)
    return RandomSampler(dataset, generator) if shuffle else SequentialSampler(dataset)


class _BaseDataLoaderIter:
    def __init__(self, loader):
        source = loader.generator._random if loader.generator else torch._generator
        self._base_seed = source.getrandbits(62)
        self._iterable = isinstance(loader.dataset, IterableDataset)
        self._kind = (loader.dataset, loader.collate_fn, loader.batch_sampler is not None,
                      self._iterable)
        self._length = loader.__len__
        self._sampler_iter = iter(loader._index_sampler)

    def __iter__(self):
        return self

    def __len__(self):
        return self._length()


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self._fetch = fetcher(*self._kind)

    def __next__(self):
        return self._fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self._timeout, self._persistent = loader.timeout, loader.persistent_workers
        self._num_workers, self._prefetch_factor = loader.num_workers, loader.prefetch_factor
        self._shutdown, self._workers, self._index_queues = False, [], []
        context = loader.multiprocessing_context
        self._data_queue = self._worker_result_queue = context.Queue()
        for worker in range(self._num_workers):
            wanted = context.Queue()
            wanted.cancel_join_thread()
            process = context.Process(
                target=work, daemon=True,
                args=(worker, self._num_workers, self._base_seed + worker, self._kind,
                      loader.worker_init_fn, wanted, self._worker_result_queue))
            process.start()
            self._index_queues.append(wanted)
            self._workers.append(process)
        self._reset(loader, first_iter=True)

    def _reset(self, loader, first_iter=False):
        self._send_idx = self._rcvd_idx = self._turn = 0
        self._task_info = {}  # (worker,) of what is being loaded, (worker, data) of what is there
        self._workers_status = [True] * self._num_workers
        if not first_iter:
            self._sampler_iter = iter(loader._index_sampler)
            self._resume()
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _resume(self):
        for wanted in self._index_queues:
            wanted.put(RESUME)
        left = self._num_workers
        while left:
            left -= self._received()[0] == RESUME

    def _try_put_index(self):
        if not any(self._workers_status):
            return
        try:
            drawn = next(self._sampler_iter)
        except StopIteration:
            return
        while not self._workers_status[self._turn % self._num_workers]:
            self._turn += 1
        worker = self._turn % self._num_workers
        self._turn += 1
        self._index_queues[worker].put((self._send_idx, drawn))
        self._task_info[self._send_idx] = (worker,)
        self._send_idx += 1

    def _received(self):
        """The next (number, data); notices workers that died."""
        left_s = self._timeout or float("inf")
        while left_s > 0:
            try:
                return self._data_queue.get(timeout=POLL_S)
            except queue.Empty:
                left_s -= POLL_S
            dead = [str(process.pid) for process in self._workers if not process.is_alive()]
            if dead:
                raise RuntimeError("DataLoader worker (pid(s) %s) exited unexpectedly"
                                   % ", ".join(dead))
        raise RuntimeError("DataLoader timed out after %s seconds" % self._timeout)

    def __next__(self):
        while self._rcvd_idx < self._send_idx:
            info = self._task_info[self._rcvd_idx]
            if len(info) == 1:
                number, data = self._received()
                self._task_info[number] += (data,)
                continue
            del self._task_info[self._rcvd_idx]
            self._rcvd_idx += 1
            if info[1] == OVER:
                self._workers_status[info[0]] = False
                continue
            self._try_put_index()
            if isinstance(info[1], Failure):
                info[1].reraise()
            return info[1]
        if not self._persistent:
            self._shutdown_workers()
        raise StopIteration

    def _shutdown_workers(self):
        if self._shutdown:
            return
        self._shutdown = True
        for wanted in self._index_queues:
            wanted.put(None)
        for process in self._workers:
            process.join(timeout=1)
            if process.is_alive():
                process.terminate()
                process.join(timeout=1)
        self._worker_result_queue.cancel_join_thread()

    def __del__(self):
        self._shutdown_workers()
