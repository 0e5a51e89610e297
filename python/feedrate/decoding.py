# SPDX-License-Identifier: Apache-2.0
"""What decoding by PIL costs of a sample, and what other decoders cost for the same files.

Some samples of the script's own dataset are taken in its own process, while PIL is watched. Then the
JPEG files that it decoded are decoded again by what else is installed. All times are CPU time of
one thread, as a worker has: what the store takes is no part of them.
"""

import contextlib
import importlib.util
import multiprocessing
import os
import sys
import time
import warnings

from .batches import length_of
from .random_numbers import kept_random_numbers

SAMPLES = 48
LIMIT_S = 3.0  # for the samples
PATIENCE_S = 10.0  # with another decoder, its import included
JPEG = b"\xff\xd8\xff"


class Watched:
    """PIL's Image.open and the decoding that follows: their time, and the files."""

    def __init__(self, image, now):
        self._image = image
        self._now = now
        self.seconds = 0.0
        self.aside_s = 0.0  # that watching takes
        self.files = []  # (path or None, bytes)
        self._depth = 0

    def __enter__(self):
        self._open, self._load = self._image.open, self._file_class().load
        self._image.open = self._timed(self._open, opens=True)
        self._file_class().load = self._timed(self._load)
        return self

    def __exit__(self, *_):
        self._image.open = self._open
        self._file_class().load = self._load

    def _file_class(self):
        from PIL import ImageFile

        return ImageFile.ImageFile

    def _timed(self, function, opens=False):
        def timed(first, *more, **named):
            if opens:
                self._remember(first)
            began_s = self._now()
            self._depth += 1
            try:
                return function(first, *more, **named)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds += self._now() - began_s

        return timed

    def _remember(self, source):
        """The bytes of a path, or of a file that is open and stays where it is."""
        began_s = self._now()
        try:
            if hasattr(source, "read"):
                at = source.tell()
                content = source.read()
                source.seek(at)
                name = getattr(source, "name", None)
                self.files.append((name if isinstance(name, str) else None, content))
            else:
                with open(source, "rb") as file:
                    self.files.append((str(source), file.read()))
        except (OSError, ValueError):
            pass  # PIL will say it better
        self.aside_s += self._now() - began_s


def cost_of(dataset, torch, now=time.thread_time):
    """Seconds of PIL and of whole samples, and of other decoders for the same files; None where the
    dataset has no index, or PIL decodes nothing in it."""
    image = sys.modules.get("PIL.Image")
    count = length_of(dataset) or 0
    if image is None or count == 0 or isinstance(dataset, torch.utils.data.IterableDataset):
        return None
    chosen = range(0, count, max(1, count // SAMPLES))[:SAMPLES]
    with kept_state(torch), Watched(image, now) as watched:
        dataset[chosen[0]]  # what only the first sample costs
        watched.seconds, watched.aside_s, watched.files = 0.0, 0.0, []
        samples, due_s, began_s = 0, time.monotonic() + LIMIT_S, now()
        while samples < len(chosen) and time.monotonic() < due_s:
            dataset[chosen[samples]]
            samples += 1
        sample_s = now() - began_s - watched.aside_s
    files = [(path, content) for path, content in watched.files if content.startswith(JPEG)]
    if not files or len(files) < len(watched.files):
        return None
    return {"samples": samples, "sample_s": sample_s, "pil_s": watched.seconds, "decoded": len(files),
            "files": [path for path, _ in files if path is not None],
            "others": decoded_by_others([content for _, content in files])}


def decoded_by_others(contents, now=time.thread_time):
    """Seconds for all files, by name of the decoder; without those that fail or take too long."""
    seconds = {name: seconds_apart(decoder, contents, now) for name, decoder in DECODERS.items()
               if is_installed(name.partition(".")[0])}
    return {name: one for name, one in seconds.items() if one is not None}


def is_installed(package):
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # a module in its place that has no spec
        return False


def seconds_apart(decoder, contents, now):
    """Seconds of a decoder in a process of its own, as a worker is one: the script imports nothing by
    it, and goes on where the decoder hangs or crashes. None where it can't decode the files."""
    try:
        process, receiver = _started(decoder, contents, now)
    except (OSError, AssertionError):  # no more processes or files, or a daemon of multiprocessing
        return None
    try:
        return receiver.recv() if receiver.poll(PATIENCE_S) else None
    except (OSError, EOFError):
        return None
    finally:
        receiver.close()
        process.kill()
        process.join()


def _started(*given):
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_tell, args=(sender, *given), daemon=True)
    with sender, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of a fork beside threads
        process.start()
    return process, receiver


def _tell(sender, decoder, contents, now):
    sys.stdout = sys.stderr = open(os.devnull, "w")
    os.dup2(sys.stdout.fileno(), 1)
    os.dup2(sys.stdout.fileno(), 2)
    sys.modules["torch"].set_num_threads(1)
    decode = decoder()
    if decode(contents[0]) is None:  # so says OpenCV that it can't
        return
    began_s = now()
    for content in contents:
        decode(content)
    sender.send(now() - began_s)


def _torchvision():
    import torch
    from torchvision import io

    def decode(content):
        data = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        return io.decode_jpeg(data, mode=io.ImageReadMode.RGB)

    return decode


def _torchcodec():
    from torchcodec.decoders import decode_image

    return decode_image


def _opencv():
    import cv2
    import numpy

    cv2.setNumThreads(1)
    return lambda content: cv2.imdecode(numpy.frombuffer(content, numpy.uint8), cv2.IMREAD_COLOR)


# By name, that which makes the function of a file's bytes.
DECODERS = {"torchvision.io.decode_jpeg": _torchvision, "torchcodec.decoders.decode_image": _torchcodec,
            "cv2.imdecode": _opencv}


@contextlib.contextmanager
def kept_state(torch):
    """Transforms draw numbers, and a worker has one thread: the script shall not notice."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with kept_random_numbers(torch):
            yield
    finally:
        torch.set_num_threads(threads)
