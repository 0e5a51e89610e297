# SPDX-License-Identifier: Apache-2.0
"""Tests of the signs of training: how batches are copied to the device. The device is made up."""

import sys
import types
import unittest
from unittest import mock

from stub import MODULES, torch

from feedrate.training import TrainingSigns


class Picture:
    """A tensor in memory, and what comes of it on the device."""

    def __init__(self, is_cuda=False):
        self.is_cuda = is_cuda

    def to(self, *args, **kwargs):
        return Picture("cpu" not in args)

    def cuda(self, *args, **kwargs):
        return Picture(True)


class Copies(unittest.TestCase):
    def setUp(self):
        cuda = types.SimpleNamespace(is_available=lambda: True)
        for patch in (mock.patch.dict(sys.modules, MODULES),
                      mock.patch.object(torch, "cuda", cuda),
                      mock.patch.object(torch, "Tensor", Picture)):
            patch.start()
            self.addCleanup(patch.stop)
        self.signs = TrainingSigns()
        self.signs.watch()
        self.addCleanup(self.signs.forget)

    def test_that_do_not_block_are_told_from_those_that_do(self):
        # Bug: x.cuda(0, True) and x.to(device, dtype, True) were told as copies that block.
        x, like = Picture(), Picture()
        for copy in (lambda: x.cuda(0, True), lambda: x.to("cuda", "bf16", True),
                     lambda: x.to(like, True), lambda: x.to("cuda", non_blocking=True)):
            copy()
        self.assertEqual(self.signs.copies(), {"copies": 4, "non_blocking": 4})
        for copy in (x.cuda, lambda: x.cuda(1), lambda: x.to("cuda"),
                     lambda: x.to("cuda", "bf16", False, True),
                     lambda: x.to("cuda", non_blocking=False), lambda: x.to("cuda", copy=True)):
            copy()
        self.assertEqual(self.signs.copies(), {"copies": 10, "non_blocking": 4})

    def test_that_stay_where_they_are_are_none(self):
        Picture().to("cpu", True)
        Picture(is_cuda=True).to("cuda", True)
        self.assertIsNone(self.signs.copies())


if __name__ == "__main__":
    unittest.main()
