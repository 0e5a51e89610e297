# SPDX-License-Identifier: Apache-2.0
"""Tests of what decoding costs of a sample. PIL and time are made up."""

import io
import os
import random
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
        for name in ("torchvision", "cv2", "numpy"):
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

    def test_by_others_is_of_those_that_can(self):
        def fails(content):
            raise RuntimeError("built without JPEG")

        def decodes(content):
            Clock.pass_by(0.5)

        with mock.patch.object(decoding, "installed",
                               return_value=[("broken", fails), ("fast", decodes)]):
            seconds = decoding.decoded_by_others([b"1", b"2"], lambda: Clock.now_s)
        self.assertEqual(seconds, {"fast": 1.0})


if __name__ == "__main__":
    unittest.main()
