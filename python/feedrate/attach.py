# SPDX-License-Identifier: Apache-2.0
"""Attaching to PyTorch's DataLoader, from the moment on when the user's script imports it."""

import functools
import importlib.abc
import importlib.util
import multiprocessing
import os
import sys

from . import worker_info

DATA_MODULE = "torch.utils.data.dataloader"
OPTIMIZER_MODULE = "torch.optim.optimizer"
FASTAI_MODULE = "fastai.data.load"
SPAWN_MODULE = "torch.multiprocessing.spawn"
SPAWNED = "FEEDRATE_SPAWNED"  # set for the processes that it starts


class _Loader(importlib.abc.Loader):
    """Loads a module as its own loader does, then calls back."""

    def __init__(self, loader, callback):
        self._loader = loader
        self._callback = callback

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._callback(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the one module that is waited for, once; leaves all others to the other finders."""

    def __init__(self, module, callback):
        self._module = module
        self._callback = callback

    def find_spec(self, name, path=None, target=None):
        if name != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._callback)
        return spec


def on_import(name, callback):
    """Calls callback(module) as soon as the module of this name was imported."""
    module = sys.modules.get(name)
    if module is not None:
        callback(module)
    else:
        sys.meta_path.insert(0, _Finder(name, callback))


def is_child_of_python():
    """Whether multiprocessing started this process: a worker of a DataLoader, for example."""
    if multiprocessing.parent_process() is not None:
        return True
    # A spawned worker learns of its parent only after the start of Python.
    return "--multiprocessing-fork" in sys.argv or _is_spawn_command()


def _is_spawn_command():
    words = getattr(sys, "orig_argv", [])
    return any("multiprocessing.spawn" in word or "multiprocessing.forkserver" in word
               or "multiprocessing.resource_tracker" in word for word in words)


def _marked(make, making):
    """`make`, a function that makes the iterator of a loader. While it runs, the loader's id is in `making`."""

    def marked_make(loader):
        if id(loader) in making:
            return make(loader)
        making.add(id(loader))
        try:
            return make(loader)
        finally:
            making.discard(id(loader))

    return marked_make


def patch(module, director):
    """Shows the director every DataLoader that is made, and lets it serve their iterators; also
    those of classes that are derived from it and have an `__init__`, `__iter__` or `_get_iterator` of their own,
    which may not call that of DataLoader."""
    loader_class = module.DataLoader
    owner = os.getpid()
    making = set()

    def noted(make):
        @functools.wraps(make)
        def patched_make(self, *args, **kwargs):
            make(self, *args, **kwargs)
            if os.getpid() == owner:
                director.note(self)

        return patched_make

    def patched(original, serve):
        make = _marked(original, making)

        @functools.wraps(original)
        def patched_iterate(self):
            return serve(self, make) if os.getpid() == owner else original(self)

        return patched_iterate

    def serve_direct(loader, make):
        """Classes as ultralytics' call `_get_iterator` past `__iter__`. Where `__iter__` or a lane calls it, the
        iterator is PyTorch's own."""
        is_direct = id(loader) not in making and getattr(loader, "_feedrate_seen", None) is not None
        return director.iterate(loader, make) if is_direct else make(loader)

    def derived(cls, **kwargs):
        super(loader_class, cls).__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = noted(vars(cls)["__init__"])
        if "__iter__" in vars(cls):
            cls.__iter__ = patched(vars(cls)["__iter__"], director.iterate_derived)
        if "_get_iterator" in vars(cls):  # with an __iter__ beside it, as torchdata's, the class keeps what it made
            serve = serve_direct if cls.__iter__ is loader_class.__iter__ else lambda loader, make: make(loader)
            cls._get_iterator = patched(vars(cls)["_get_iterator"], serve)

    loader_class.__init__ = noted(loader_class.__init__)
    loader_class.__iter__ = patched(loader_class.__iter__, director.iterate)
    loader_class._get_iterator = patched(loader_class._get_iterator, serve_direct)
    loader_class.__init_subclass__ = classmethod(derived)
    worker_info.watch(module)
    end_workers_at_once(module)


def waits_at_exit(module=None):
    """Where a script ends while a DataLoader has pinned workers that stay, PyTorch before 2.15 gives each of them 5 s,
    one after another, and then ends it (pytorch/pytorch#81794)."""
    module = module or sys.modules.get(DATA_MODULE)
    return hasattr(getattr(module, "_MultiProcessingDataLoaderIter", None), "_clean_up_worker")


def end_workers_at_once(module):
    """From now on PyTorch ends all workers at once at the end of the script. Its pin thread may then still read from
    one that has ended. That error is not printed: the script's own error shall be the last one."""
    if not waits_at_exit(module):
        return
    pins, ending = module._utils.pin_memory, []
    pin = pins._pin_memory_loop

    @functools.wraps(pin)
    def quiet_pin(*args):
        try:
            pin(*args)
        except Exception:
            if not ending:
                raise

    def end(worker):
        ending.append(True)
        worker.terminate()

    pins._pin_memory_loop = quiet_pin
    module._MultiProcessingDataLoaderIter._clean_up_worker = staticmethod(end)


def mark_spawned(module):
    """Lets the processes that torch.multiprocessing.spawn() starts know that they are no workers."""
    start = module.start_processes

    @functools.wraps(start)
    def marked_start(*args, **kwargs):
        if kwargs.get("start_method", args[5] if len(args) > 5 else "spawn") == "fork":
            return start(*args, **kwargs)
        os.environ[SPAWNED] = "1"
        try:
            return start(*args, **kwargs)
        finally:
            os.environ.pop(SPAWNED, None)

    module.start_processes = marked_start


def attach_fastai(module):
    from . import fastai_loaders

    fastai_loaders.attach(module)


def install():
    """Attaches this process to autotune, unless it is a worker of one that is attached. Of a process
    that torch.multiprocessing.spawn() started only that it trains is seen."""
    is_spawned = os.environ.pop(SPAWNED, None) is not None
    if is_child_of_python() and not is_spawned:
        return

    directors = []

    def director():
        if not directors:
            from .director import Director

            directors.append(Director.from_environment(tells_its_end=not is_spawned))
        return directors[0]

    if is_spawned:
        on_import(OPTIMIZER_MODULE, lambda _: director().watch_for_strangers(
            "trains in processes that torch.multiprocessing.spawn() starts, where no loader is seen: launch it "
            "with torchrun"))
        return
    on_import(SPAWN_MODULE, mark_spawned)
    on_import(DATA_MODULE, lambda module: patch(module, director()))
    on_import(OPTIMIZER_MODULE, lambda _: director().watch_for_strangers())
    on_import(FASTAI_MODULE, attach_fastai)
