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
        self.cuda = mock.Mock()
        for patch in (mock.patch.object(torch, "cuda", self.cuda),
                      mock.patch.object(torch.backends.cuda, "is_built", lambda: True),
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

    def test_are_counted_without_a_question_to_the_driver(self):
        # Bug: processes that the script started by fork failed: "Cannot re-initialize CUDA in forked subprocess".
        Picture().cuda()
        self.assertEqual(self.signs.copies()["copies"], 1)
        self.assertEqual(self.cuda.method_calls, [])

    def test_that_stay_where_they_are_are_none(self):
        Picture().to("cpu", True)
        Picture(is_cuda=True).to("cuda", True)
        self.assertIsNone(self.signs.copies())


class Formats(Training):
    """Of the steps, as they are seen."""

    def precision_of(self, step, device="cpu"):
        """Of steps of which one was watched."""
        signs = TrainingSigns()
        signs.watch()
        try:
            step()
        finally:
            signs.forget()
        return signs.precision(torch, device)

    @staticmethod
    def optimizer(*dtypes):
        """Of weights of these, each of as many numbers as its place."""
        weights = []
        for place, dtype in enumerate(dtypes, 1):
            weights.append(torch.ones(place, requires_grad=True))
            weights[-1].dtype = dtype
        return torch.optim.SGD(weights, 0.1)

    def test_are_those_of_autocast(self):
        # Bug: a script in bf16 was taken for fp32, and --what-if bf16 compared it with itself.
        def step(device="cpu", **wanted):
            with torch.autocast(device, **wanted):
                self.optimizer("float32").step()

        enter = torch.autocast.__enter__
        for wanted, precision in (({"dtype": torch.bfloat16}, "bf16"),
                                  ({"dtype": torch.float16}, "fp16"),
                                  ({"dtype": torch.float16, "enabled": False}, "fp32"),
                                  ({"dtype": torch.float16, "device": "cuda"}, "fp32")):
            self.assertEqual(self.precision_of(lambda: step(**wanted)), precision)
        self.assertIs(torch.autocast.__enter__, enter)

    def test_are_those_of_an_autocast_around_the_loop(self):
        # Bug: it was entered before anybody looked.
        with torch.autocast("cpu", dtype=torch.float16):
            self.assertEqual(self.precision_of(lambda: None), "fp16")
        self.assertEqual(self.precision_of(lambda: None), "fp32")

    def test_are_not_those_of_what_does_not_train(self):
        # Bug: a teacher in bf16 makes its student one.
        def step():
            with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
                pass

        self.assertEqual(self.precision_of(step), "fp32")

    def test_are_those_of_most_weights_else(self):
        # Also where gradients are added up, so that no update is seen while somebody looks.
        optimizer = self.optimizer("torch.float32", "torch.bfloat16")
        self.assertEqual(self.precision_of(lambda: None), "bf16")
        optimizer = self.optimizer("torch.bfloat16", "torch.float32")
        self.assertEqual(self.precision_of(optimizer.step), "fp32")
        optimizer.param_groups = None
        self.assertEqual(self.precision_of(lambda: None), "fp32")

    def test_are_tf32_where_a_gpu_computes_so(self):
        for said, asked, capability, device, precision in (
                ("high", None, 8, "cuda", "tf32"), ("high", None, 8, "cpu", "fp32"),
                ("high", None, 7, "cuda", "fp32"), ("highest", None, 9, "cuda", "fp32"),
                ("highest", "tf32", 9, "cuda", "tf32")):
            cuda = types.SimpleNamespace(is_initialized=lambda: False,
                                         get_device_capability=lambda gpu: (capability, 0))
            matmul = types.SimpleNamespace(**({"fp32_precision": asked} if asked else {}))
            backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=matmul, is_built=lambda: False))
            with mock.patch.multiple(torch, create=True, cuda=cuda, backends=backends,
                                     get_float32_matmul_precision=lambda: said):
                self.assertEqual(self.precision_of(lambda: None, device), precision)
        self.assertEqual(self.precision_of(lambda: None, "cuda"), "fp32")


class BatchesPerUpdate(Training):
    def setUp(self):
        super().setUp()
        self.optimizer = torch.optim.SGD([], 0.1)
        self.updates = Updates()
        self.addCleanup(self.updates.forget)

    def update_after(self, *batches):
        for some in batches:
            for batch in range(some):
                if batch == some - 1:
                    self.optimizer.step()
                    self.optimizer.step()  # a second optimizer
                self.updates.add_batch(1.0)

    def test_are_those_of_most_updates(self):
        # The first is found in its midst, and a scaled loss skips some.
        self.assertIsNone(self.updates.batches_each())
        self.update_after(3)
        self.assertIsNone(self.updates.batches_each())
        self.update_after(4, 8, 4, 3, 4)
        self.assertEqual(self.updates.batches_each(), 4)

    def take(self, each, updates, others_s, own_s):
        for _ in range(updates):
            for batch in range(each):
                if batch == each - 1:
                    self.optimizer.step()
                self.updates.add_batch(own_s if batch == each - 1 else others_s)

    def test_are_taken_at_once_where_their_steps_come_with_the_update_alone(self):
        # Bug: rounds of at least 256 batches of a loop that has a step for each of them.
        for each, others_s, own_s, at_once in (
                (4, 0.01, 4.0, 4), (4, 1.0, 3.0, 1), (1, 0.0, 1.0, 1), (256, 0.0, 1.0, 256)):
            self.updates = Updates()
            self.addCleanup(self.updates.forget)
            self.take(each, 3, others_s, own_s)
            self.assertEqual((self.updates.at_once(), self.updates.batches_each()), (at_once, each))

    def test_that_are_taken_at_once_are_not_told_by_what_the_script_does_elsewhere(self):
        self.take(4, 3, 1.0, 1.0)
        self.optimizer.step()
        self.updates.add_batch(None)
        self.assertEqual(self.updates.at_once(), 1)

    def test_are_awaited_until_an_update_is_seen(self):
        self.assertTrue(self.updates.are_awaited())
        self.take(4, 1, 0.0, 1.0)
        self.assertEqual((self.updates.are_awaited(), self.updates.are_awaited(exactly=True)), (False, True))
        self.take(4, 1, 0.0, 1.0)
        self.assertFalse(self.updates.are_awaited(exactly=True))
        self.updates.begin(False)
        self.assertTrue(self.updates.are_awaited())
        self.updates.give_up()
        self.assertFalse(self.updates.are_awaited())

    def test_of_another_batch_are_not_awaited_where_each_has_a_step_of_its_own(self):
        # Bug: three seconds of each round with another batch, in a loop with an update after 256.
        self.take(4, 2, 1.0, 1.0)
        self.updates.begin(False)
        self.assertFalse(self.updates.are_awaited())

    def test_are_those_of_the_script_s_own_batch(self):
        # Bug: of a loop that has an update after so many samples, the count depends on the batch.
        self.update_after(1, 4)
        self.updates.begin(False)
        self.update_after(2, 2, 2)
        self.updates.begin(True)
        self.updates.begin(True)
        self.assertEqual(self.updates.batches_each(), 4)
        self.update_after(3, 5, 5)
        self.assertEqual(self.updates.batches_each(), 5)


if __name__ == "__main__":
    unittest.main()
