# SPDX-License-Identifier: Apache-2.0
"""What decoding by PIL costs of a sample, and what other decoders cost for the same files.

Some samples of the script's own dataset are taken in its own process, while PIL is watched. Then the
JPEG files that it decoded are decoded again by what else the script has imported. All times are CPU
time of one thread, as a worker has: what the store takes is no part of them.
"""

import contextlib
import random
import sys
import time

SAMPLES = 48
LIMIT_S = 3.0  # for the samples, and again for the files
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
    count = _length_of(dataset)
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
            "others": decoded_by_others([content for _, content in files], now)}


def decoded_by_others(contents, now=time.thread_time):
    """Seconds for all files, by name of the decoder."""
    seconds = {}
    for name, decode in installed():
        try:
            decode(contents[0])
            began_s = now()
            for content in contents:
                decode(content)
            seconds[name] = now() - began_s
        except Exception:  # a file that it can't decode, or a build without JPEG
            continue
    return seconds


def installed():
    """Decoders to RGB, those that the script has imported: (name, function of the bytes)."""
    torch, vision, cv2 = (sys.modules.get(name) for name in ("torch", "torchvision", "cv2"))
    if vision is not None and torch is not None:
        from torchvision import io

        def by_torchvision(content):
            data = torch.frombuffer(bytearray(content), dtype=torch.uint8)
            return io.decode_jpeg(data, mode=io.ImageReadMode.RGB)

        yield "torchvision.io.decode_jpeg", by_torchvision
    if cv2 is not None:
        import numpy

        def by_opencv(content):
            return cv2.imdecode(numpy.frombuffer(content, numpy.uint8), cv2.IMREAD_COLOR)

        yield "cv2.imdecode", by_opencv


@contextlib.contextmanager
def kept_state(torch):
    """Transforms draw numbers, and a worker has one thread: the script shall not notice."""
    numpy_random = getattr(sys.modules.get("numpy"), "random", None)
    threads, state, torch_state = torch.get_num_threads(), random.getstate(), torch.get_rng_state()
    numpy_state = numpy_random.get_state() if numpy_random else None
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        random.setstate(state)
        torch.set_rng_state(torch_state)
        if numpy_random:
            numpy_random.set_state(numpy_state)


def _length_of(dataset):
    try:
        return len(dataset)
    except (TypeError, NotImplementedError):
        return 0
