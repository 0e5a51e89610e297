# SPDX-License-Identifier: Apache-2.0
"""Tests of what decoding costs of a sample. PIL and time are made up."""

import contextlib
import io
import os
import random
import signal
import sys
import tempfile
import types
import unittest
from unittest import mock

from stub import MODULES, data, torch

from feedrate import decoding

OPEN_S, DECODE_S, REST_S = 0.25, 1.0, 0.5  # sums of these are exact


class Clock:
    now_s = 0.0

    @classmethod
    def pass_by(cls, seconds):
        cls.now_s += seconds


class ImageFile:
    def load(self):
        Clock.pass_by(DECODE_S)


def image_open(source):
    Clock.pass_by(OPEN_S)
    return ImageFile()


class Pictures(data.Dataset):
    """Each is opened by its path, or as a file of bytes."""

    def __init__(self, sources, decodes=True):
        self.sources = sources
        self.decodes = decodes

    def __len__(self):
        return len(self.sources)

    def __getitem__(self, index):
        picture = sys.modules["PIL.Image"].open(self.sources[index])
        if self.decodes:
            picture.load()
        random.random()
        Clock.pass_by(REST_S)
        return torch.ones(2)


class Decoding(unittest.TestCase):
    def setUp(self):
        image = types.SimpleNamespace(open=image_open)
        file = types.SimpleNamespace(ImageFile=ImageFile)
        pil = types.SimpleNamespace(Image=image, ImageFile=file)
        modules = {"PIL": pil, "PIL.Image": image, "PIL.ImageFile": file, **MODULES}
        for name in ("torchvision", "torchcodec", "cv2", "numpy"):
            modules[name] = None
        patch = mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)
        for name, value in (("get_num_threads", lambda: 2), ("set_num_threads", self.threads_are),
                            ("get_rng_state", lambda: 1), ("set_rng_state", lambda state: None)):
            patch = mock.patch.object(torch, name, value, create=True)
            patch.start()
            self.addCleanup(patch.stop)
        self.threads = []
        self.image = image
        Clock.now_s = 0.0

    def threads_are(self, count):
        self.threads.append(count)

    def cost(self, dataset):
        return decoding.cost_of(dataset, torch, lambda: Clock.now_s)

    def test_is_told_beside_the_rest_of_a_sample(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, "%d.jpg" % number) for number in range(4)]
            for path in paths:
                with open(path, "wb") as file:
                    file.write(decoding.JPEG + b"...")
            cost = self.cost(Pictures(paths))
        self.assertEqual((cost["samples"], cost["decoded"]), (4, 4))
        self.assertEqual(cost["pil_s"], 4 * (OPEN_S + DECODE_S))
        self.assertEqual(cost["sample_s"], 4 * (OPEN_S + DECODE_S + REST_S))
        self.assertEqual(cost["files"], paths)

    def test_of_files_in_memory_has_no_paths(self):
        # Bug: a file whose position is lost, so that PIL finds its end.
        files = [io.BytesIO(decoding.JPEG + b"...") for _ in range(2)]
        cost = self.cost(Pictures(files))
        self.assertEqual((cost["decoded"], cost["files"]), (2, []))
        self.assertEqual([file.tell() for file in files], [0, 0])

    def test_of_other_formats_and_other_datasets_is_unknown(self):
        self.assertIsNone(self.cost(Pictures([io.BytesIO(b"PNG")])))
        self.assertIsNone(self.cost([torch.ones(2)] * 4))
        self.assertIsNone(self.cost(iter([])))
        del sys.modules["PIL.Image"]
        self.assertIsNone(self.cost(Pictures([])))

    def test_leaves_no_trace(self):
        # Bug: a script whose random numbers, threads or PIL are others after the tuning.
        state = random.getstate()
        self.cost(Pictures([io.BytesIO(decoding.JPEG)]))
        self.assertEqual(random.getstate(), state)
        self.assertEqual(self.threads, [1, 2])
        self.assertIs(self.image.open, image_open)
        self.assertEqual(ImageFile.load.__name__, "load")

    def by_others(self, decoders, installed=True, patience_s=10.0):
        with mock.patch.object(decoding, "DECODERS", decoders), \
                mock.patch.object(decoding, "is_installed", lambda package: installed), \
                mock.patch.object(decoding, "PATIENCE_S", patience_s):
            return decoding.decoded_by_others([b"1", b"2"], lambda: Clock.now_s)

    def test_by_others_is_of_those_that_can(self):
        # Bug: a decoder that fails, hangs, crashes or gives nothing ends the run, or counts as a fast one.
        def missing():
            raise ImportError("a library is not there")

        def fails():
            return lambda content: 1 // 0

        def gives_nothing():
            return lambda content: None

        def crashes():
            return lambda content: os.kill(os.getpid(), signal.SIGKILL)

        def fast():
            def decode(content):
                Clock.pass_by(0.5)
                return content

            return decode

        able = {"fast": fast}
        for decoder in (missing, fails, gives_nothing, crashes):
            self.assertEqual(self.by_others({"bad": decoder, **able}), {"fast": 1.0})
        self.assertEqual(self.by_others(able, installed=False), {})
        self.assertEqual(self.by_others({"hangs": lambda: signal.pause()}, patience_s=0.01), {})
        for no_more in ("fork", "pipe"):
            with mock.patch.object(os, no_more, side_effect=OSError("no more")):
                self.assertEqual(self.by_others(able), {})

    def test_by_others_leaves_the_script_as_it_is(self):
        # Bug: OpenCV and its threads stay in the process whose steps are measured next. Or: a decoder
        # that is installed, and not imported by the script, is passed over.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        package = os.path.join(folder.name, "torchcodec")
        os.mkdir(package)
        with open(os.path.join(package, "__init__.py"), "w") as file:
            file.write("print('Welcome')\nimport os\nos.write(2, b'Beta')\n")
        with open(os.path.join(package, "decoders.py"), "w") as file:
            file.write("from test_decoding import Clock\n"
                       "def decode_image(content):\n    Clock.pass_by(2.0)\n    return content\n")
        del sys.modules["torchcodec"]
        with mock.patch.object(sys, "path", [folder.name, *sys.path]), written() as texts, \
                mock.patch.dict(sys.modules, {"test_decoding": sys.modules[__name__]}):
            self.assertEqual(decoding.decoded_by_others([b"1", b"2"], lambda: Clock.now_s),
                             {"torchcodec.decoders.decode_image": 4.0})
        self.assertNotIn("torchcodec", sys.modules)
        self.assertEqual((texts, self.threads, Clock.now_s), ([b""], [], 0.0))


@contextlib.contextmanager
def written():
    """What processes write meanwhile."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    texts = []
    with tempfile.TemporaryFile() as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            yield texts
        finally:
            sys.stdout.flush()
            for number, old in zip((1, 2), kept):
                os.dup2(old, number)
                os.close(old)
            file.seek(0)
            texts.append(file.read())


if __name__ == "__main__":
    unittest.main()
