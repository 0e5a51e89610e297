# SPDX-License-Identifier: Apache-2.0
"""Tests of which device the script trains on. The GPUs are made up."""

import sys
import types
import unittest
from unittest import mock

from stub import MODULES, torch

from feedrate import device
from feedrate.device import TrainedWeight, device_of, gpu_of
from feedrate.stepping import settle


def weight_on(gpu):
    """A weight on that GPU; None: on the CPU."""
    weight = torch.ones(2, requires_grad=True)
    weight.is_cuda, weight.device = gpu is not None, gpu
    return weight


class Device(unittest.TestCase):
    def setUp(self):
        self.cuda = mock.Mock(spec_set=["is_initialized", "current_device", "max_memory_allocated", "synchronize"])
        self.cuda.is_initialized.return_value = True
        self.cuda.current_device.return_value = 0
        self.cuda.max_memory_allocated.return_value = 0
        self.torch = types.SimpleNamespace(cuda=self.cuda)
        for patch in (mock.patch.dict(sys.modules, MODULES),
                      mock.patch.object(device, "trained_weight", TrainedWeight())):
            patch.start()
            self.addCleanup(patch.stop)

    def test_is_the_gpu_of_the_weights(self):
        # Bug: a DDP rank with `.to(local_rank)` alone made a CUDA context on GPU 0, and waited for that GPU.
        optimizer = torch.optim.SGD([weight_on(None), weight_on(1), weight_on(2)], 0.1)
        self.assertEqual((gpu_of(self.torch), device_of(self.torch)), (1, "cuda"))
        settle(self.torch)
        self.cuda.synchronize.assert_called_once_with(1)
        self.cuda.current_device.assert_not_called()
        del optimizer

    def test_is_the_cpu_where_pinned_memory_alone_initialized_cuda(self):
        # Bug: a script that trains on the CPU of a GPU machine, with pin_memory=True, was tuned as one on a GPU.
        optimizer = torch.optim.SGD([weight_on(None)], 0.1)
        self.assertEqual((gpu_of(self.torch), device_of(self.torch)), (None, "cpu"))
        settle(self.torch)
        self.cuda.synchronize.assert_not_called()
        del optimizer

    def test_is_the_current_gpu_where_weights_are_offloaded(self):
        # Would catch rounds that do not wait for the GPU, because the optimizer works on the CPU.
        optimizer = torch.optim.SGD([weight_on(None)], 0.1)
        self.cuda.max_memory_allocated.return_value = 1000
        self.assertEqual(gpu_of(self.torch), 0)
        self.cuda.max_memory_allocated.side_effect = RuntimeError("this allocator does not count")
        self.assertEqual(gpu_of(self.torch), 0)
        del optimizer

    def test_is_the_current_gpu_until_there_is_an_optimizer(self):
        self.assertEqual(gpu_of(self.torch), 0)
        odd = torch.optim.SGD([], 0.1)
        odd.param_groups = None
        self.assertEqual(gpu_of(self.torch), 0)
        odd.param_groups = [{"params": [weight_on(1)]}]
        self.assertEqual([gpu_of(self.torch) for _ in range(2)], [0, 1])  # the fourth call searches again

    def test_follows_a_model_that_moves_or_is_made_again(self):
        # Would catch a model that the hook keeps alive.
        weight = weight_on(None)
        optimizer = torch.optim.SGD([weight], 0.1)
        self.assertIsNone(gpu_of(self.torch))
        weight.is_cuda, weight.device = True, 1
        self.assertEqual(gpu_of(self.torch), 1)
        del weight
        optimizer.param_groups[0]["params"] = [weight_on(2)]
        self.assertEqual(gpu_of(self.torch), 2)

    def test_is_searched_for_a_few_times(self):
        # Would catch a tenth of a second for each wait for the GPU, in a script that has no optimizer.
        with mock.patch.object(device, "all_optimizers", return_value=[]) as search:
            for _ in range(1000):
                gpu_of(self.torch)
            self.assertEqual(search.call_count, 10)

    def test_is_not_asked_of_a_gpu_that_is_not_in_use(self):
        # Would catch CUDA initialized by the hook.
        self.cuda.is_initialized.return_value = False
        self.assertEqual(device_of(self.torch), "cpu")
        self.assertEqual([call[0] for call in self.cuda.method_calls], ["is_initialized"])


if __name__ == "__main__":
    unittest.main()
