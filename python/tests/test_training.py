# SPDX-License-Identifier: Apache-2.0
"""Tests of the signs of training: how batches are copied to the device, which is made up; in which
number format steps are; and how many batches make an update."""

import sys
import types
import unittest
from unittest import mock

from stub import MODULES, torch

from feedrate.training import TrainingSigns, Updates


class Picture:
    """A tensor in memory, and what comes of it on the device."""

    def __init__(self, is_cuda=False):
        self.is_cuda = is_cuda

    def to(self, *args, **kwargs):
        return Picture("cpu" not in args)

    def cuda(self, *args, **kwargs):
        return Picture(True)


class Training(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.dict(sys.modules, MODULES)
        patch.start()
        self.addCleanup(patch.stop)


class Copies(Training):
    def setUp(self):
        super().setUp()
        cuda = types.SimpleNamespace(is_available=lambda: True)
        for patch in (mock.patch.object(torch, "cuda", cuda),
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


class Formats(Training):
    """Of the steps, as they are seen."""

    def precision_of(self, step, device="cpu"):
        signs = TrainingSigns()
        signs.watch()
        try:
            step()
        finally:
            signs.forget()
        return signs.precision(torch, device)

    @staticmethod
    def update(dtype="float32"):
        weight = torch.ones(2, requires_grad=True)
        weight.dtype = dtype
        torch.optim.SGD([weight], 0.1).step()

    def test_are_those_of_autocast(self):
        # Bug: a script in bf16 was taken for fp32, and --what-if bf16 compared it with itself.
        def step(**wanted):
            with torch.autocast("cpu", **wanted):
                self.update()

        enter = torch.autocast.__enter__
        for wanted, precision in (({"dtype": torch.bfloat16}, "bf16"),
                                  ({"dtype": torch.float16}, "fp16"),
                                  ({"dtype": torch.float16, "enabled": False}, "fp32")):
            self.assertEqual(self.precision_of(lambda: step(**wanted)), precision)
        self.assertIs(torch.autocast.__enter__, enter)

    def test_are_those_of_the_weights_else(self):
        self.assertEqual(self.precision_of(lambda: self.update("torch.bfloat16")), "bf16")
        self.assertEqual(self.precision_of(self.update), "fp32")
        self.assertEqual(self.precision_of(lambda: torch.optim.SGD([], 0.1).step()), "fp32")

    def test_are_tf32_where_a_gpu_may_compute_so(self):
        for said, device, precision in (("high", "cuda", "tf32"), ("high", "cpu", "fp32"),
                                        ("highest", "cuda", "fp32")):
            with mock.patch.object(torch, "get_float32_matmul_precision", lambda: said,
                                   create=True):
                self.assertEqual(self.precision_of(self.update, device), precision)
        self.assertEqual(self.precision_of(self.update, "cuda"), "fp32")


class BatchesPerUpdate(Training):
    def test_are_those_of_most_updates(self):
        # A scaled loss skips some updates, and a second optimizer steps behind the first.
        optimizer = torch.optim.SGD([], 0.1)
        updates = Updates()
        self.addCleanup(updates.forget)
        self.assertIsNone(updates.batches_each())
        for batches in (4, 4, 8, 4, 3, 4):
            for _ in range(batches):
                updates.add_batch()
            optimizer.step()
            optimizer.step()
        self.assertEqual(updates.batches_each(), 4)


if __name__ == "__main__":
    unittest.main()
