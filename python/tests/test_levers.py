# SPDX-License-Identifier: Apache-2.0
"""Tests of levers: what is changed within one, and that nothing is behind it."""

import sys
import types
import unittest
from unittest import mock

from stub import torch as stub

from feedrate import levers
from feedrate.levers import Levers, Missing

LAST = "channels_last"
CONFIG = {"precision": "fp32", "pinned": False}


class Data:
    """Numbers that remember how they lie."""

    def __init__(self, values, form="rows", device="cpu"):
        self.values, self.form, self.device = list(values), form, device

    def dim(self):
        return 4

    def contiguous(self, memory_format):
        return Data(self.values, memory_format)

    def is_contiguous(self, memory_format):
        return self.form == memory_format

    def copy_(self, other):
        self.values[:] = other.values
        return self

    def to(self, device):
        return Data(self.values, self.form, device)


class Weight:
    device = "cpu"

    def __init__(self, values, dimensions=4):
        self.data, self._dimensions = Data(values), dimensions

    def dim(self):
        return self._dimensions

    def is_contiguous(self, memory_format):
        return self.data.is_contiguous(memory_format)


class Module(stub.nn.Module):
    _compiled_call_impl = None

    def __init__(self, weights, children=()):
        self._weights, self._children = list(weights), list(children)

    def parameters(self):
        return [*self._weights, *(weight for child in self._children for weight in child.parameters())]

    def modules(self):
        return [self, *(one for child in self._children for one in child.modules())]

    def _call_impl(self):
        return "as it is"


class Adam:
    def __init__(self, weights):
        self.defaults = {"fused": None, "foreach": None}
        self.param_groups = [{"params": list(weights), "fused": None, "foreach": None}]
        self.state = {weight: {"step": Data([1]), "mean": Data([0.5])} for weight in weights}


class Chooser:
    @staticmethod
    def _default_to_fused_or_foreach(weights, differentiable, use_fused=False):
        return False, not differentiable and all(weight.device.startswith("cuda") for weight in weights)


class WithModel(unittest.TestCase):
    def setUp(self):
        self.weight, self.bias = Weight([1, 2]), Weight([3], dimensions=1)
        self.inner = Module([self.weight])
        self.model = Module([self.bias], [self.inner])
        self.stranger = Module([Weight([9])])
        self.optimizer = Adam([self.weight, self.bias])
        self.torch = types.SimpleNamespace(nn=stub.nn, Tensor=type(self.weight), channels_last=LAST, cuda=stub.cuda,
                                           compile=lambda call: ("compiled", call()))
        for patch in (mock.patch.object(levers, "all_optimizers", return_value=[self.optimizer]),
                      mock.patch.dict(sys.modules, {"torch.optim.optimizer": Chooser})):
            patch.start()
            self.addCleanup(patch.stop)
        self.levers = Levers(self.torch, CONFIG)


class Pulled(WithModel):
    def test_the_outermost_modules_that_are_trained_are_the_models(self):
        # Bug: each layer compiled for itself, or a teacher that nobody trains.
        self.assertEqual(levers.models(self.torch, [self.optimizer]), [self.model])

    def test_convolutions_and_their_moments_lie_by_channels_and_go_back_with_what_was_learnt(self):
        before = self.weight.data
        with self.levers.named("channels_last"):
            self.assertEqual(self.weight.data.form, LAST)
            self.assertEqual(self.optimizer.state[self.weight]["mean"].form, LAST)
            self.assertEqual(self.bias.data.form, "rows")
            self.weight.data.values[0] = 7  # the step learns
            self.optimizer.state[self.weight]["mean"].values[0] = 0.25
        self.assertIs(self.weight.data, before)
        self.assertEqual(before.values, [7, 2])
        mean = self.optimizer.state[self.weight]["mean"]
        self.assertEqual((mean.values, mean.form), ([0.25], "rows"))

    def test_the_optimizer_is_fused_and_is_as_before_behind_it(self):
        # Bug: of a model on "cuda:1" the count of steps went to "cuda:0", and the script died.
        group = self.optimizer.param_groups[0]
        self.weight.device = "cuda:1"
        with mock.patch.object(self.levers, "_device", "cuda"), self.levers.named("fused"):
            self.assertEqual((group["fused"], group["foreach"]), (True, False))
            self.assertEqual(self.optimizer.state[self.weight]["step"].device, "cuda:1")
            self.assertEqual(self.optimizer.state[self.bias]["step"].device, "cpu")
        self.assertEqual((group["fused"], group["foreach"]), (None, None))
        self.assertEqual(self.optimizer.state[self.weight]["step"].device, "cpu")

    def test_the_optimizer_updates_by_multi_tensor_kernels_and_as_before_behind_it(self):
        # Bug: a script whose weights are not all on a GPU did not hear of foreach=True.
        group = self.optimizer.param_groups[0]
        with self.levers.named("foreach"):
            self.assertEqual((group["fused"], group["foreach"]), (None, True))
        self.assertEqual((group["fused"], group["foreach"]), (None, None))
        # Bug: the script died in its step, since PyTorch has no such form of these.
        for refused in ({"differentiable": True}, {"lr": self.weight}):
            with mock.patch.dict(group, refused), self.assertRaisesRegex(Missing, "can't have it"):
                self.levers.named("foreach").__enter__()

    def test_the_model_is_compiled_once_and_only_within(self):
        for _ in range(2):
            with self.levers.named("compile"):
                first = self.model._compiled_call_impl
                self.assertEqual(first, ("compiled", "as it is"))
            self.assertIsNone(self.model._compiled_call_impl)
        with self.levers.named("compile"):
            self.assertIs(self.model._compiled_call_impl, first)
        self.assertIsNone(self.inner._compiled_call_impl)

    def test_a_step_that_fails_leaves_nothing_on(self):
        group = self.optimizer.param_groups[0]
        with self.assertRaises(ZeroDivisionError), self.levers.named("fused"):
            raise ZeroDivisionError
        self.assertIsNone(group["fused"])


class Batch:
    """A tensor that notes how it is copied."""

    def __init__(self, pinned=True, is_cuda=False):
        self.pinned, self.is_cuda = pinned, is_cuda

    def is_pinned(self):
        if self.pinned is None:
            raise NotImplementedError("Could not run 'aten::is_pinned' with arguments from the 'SparseCPU' backend")
        return self.pinned

    def to(self, *args, **kwargs):
        return args, kwargs

    def cuda(self, *args, **kwargs):
        return args, kwargs


class Copies(WithModel):
    def setUp(self):
        super().setUp()
        self.torch.Tensor = Batch
        self.gpu = types.SimpleNamespace(type="cuda")

    def levers_of(self, pinned):
        return Levers(self.torch, dict(CONFIG, pinned=pinned))

    def test_from_pinned_memory_to_the_gpu_do_not_wait(self):
        # Bug: x.to(device, dtype, False) with two values for non_blocking, or x.cuda() that waits.
        x, like = Batch(), Batch(is_cuda=True)
        before = Batch.to, Batch.cuda
        with self.levers_of(False).named("non_blocking"):
            for got in (x.to("cuda"), x.to("cuda:1"), x.to(1), x.to(self.gpu), x.to(like), x.cuda(), x.cuda(0),
                        x.to(device="cuda"), x.to(other=like), x.to("cuda", non_blocking=False)):
                self.assertIs(got[1]["non_blocking"], True)
            self.assertEqual(x.to("cuda", "bf16", False, True), (("cuda", "bf16", True, True), {}))
            self.assertEqual(x.cuda(0, True), ((0, True), {}))
        self.assertEqual((Batch.to, Batch.cuda), before)

    def test_of_other_kinds_stay_as_they_are(self):
        # Bug: loss.to("cpu") that does not wait gives the numbers of the step before.
        cpu, dtype = types.SimpleNamespace(type="cpu"), object()
        with self.levers_of(False).named("non_blocking"):
            Batch().cuda()
            for x, args in ((Batch(False), ["cuda"]), (Batch(None), ["cuda"]), (Batch(is_cuda=True), ["cuda"]),
                            (Batch(), ["cpu"]), (Batch(), [cpu]), (Batch(), [dtype]), (Batch(), [Batch()])):
                self.assertEqual(x.to(*args), (tuple(args), {}))

    def test_that_do_not_wait_already_leave_nothing_to_change(self):
        # Bug: "1.00x" of a script that has it already.
        def missing(pinned, copy):
            with self.assertRaises(Missing) as caught, self.levers_of(pinned).named("non_blocking"):
                copy()
            return str(caught.exception)

        self.assertIn("so already", missing(True, lambda: Batch().to("cuda", non_blocking=True)))
        self.assertIn("no pinned batch", missing(True, lambda: Batch(False).to("cuda")))
        with self.levers_of(False).named("non_blocking"):  # but its memory is not pinned
            Batch().to("cuda", non_blocking=True)

    def test_come_with_pinned_memory(self):
        one = self.levers_of(False)
        self.assertEqual(one.config("fused"), CONFIG)
        with self.assertRaises(Missing) as caught:
            one.config("non_blocking")
        self.assertIn("no GPU", str(caught.exception))
        with mock.patch.object(one, "_device", "cuda"):
            self.assertEqual(one.config("non_blocking"), dict(CONFIG, pinned=True))


class Nothing(WithModel):
    def missing(self, name):
        with self.assertRaises(Missing) as caught, self.levers.named(name):
            pass
        return str(caught.exception)

    def test_is_changed_that_is_so_already(self):
        # Bug: "1.00x with a fused optimizer" of a script that has one.
        self.weight.data.form = LAST
        self.assertIn("so already", self.missing("channels_last"))
        self.optimizer.param_groups[0]["fused"] = True
        self.assertIn("fused already", self.missing("fused"))
        self.assertIn("is fused", self.missing("foreach"))
        self.optimizer.param_groups[0].update(fused=None, foreach=True)
        self.assertIn("on already", self.missing("foreach"))
        self.optimizer.param_groups[0]["foreach"] = None
        self.weight.device = self.bias.device = "cuda:1"  # where it is PyTorch's default
        self.assertIn("on already", self.missing("foreach"))
        self.inner._compiled_call_impl = print
        self.assertIn("compiled already", self.missing("compile"))
        # Bug: on a GPU the script died in an assertion of the compiled model.
        self.weight.data.form = "rows"
        self.assertIn("compiled for the present layout", self.missing("channels_last"))
        self.levers = Levers(self.torch, dict(CONFIG, precision="bf16"))
        self.assertIn("in bf16 already", self.missing("bf16"))

    def test_is_changed_that_is_not_there(self):
        for name in ("fp16", "tf32", "cudnn_benchmark"):
            self.assertIn("no GPU", self.missing(name))
        self.optimizer.defaults = {}
        self.assertIn("no fused form", self.missing("fused"))
        self.assertIn("no foreach form", self.missing("foreach"))
        self.optimizer.param_groups[0]["params"] = []
        self.levers = Levers(self.torch, CONFIG)
        self.assertIn("no module", self.missing("compile"))
        self.assertIn("no convolution", self.missing("channels_last"))

    def test_is_changed_that_the_script_sets_by_newer_switches(self):
        # Bug: "The script's loader failed: PyTorch is checking whether allow_tf32 is enabled", where the script had
        # set torch.backends.cudnn.conv.fp32_precision.
        class Mixed:
            @property
            def allow_tf32(self):
                raise RuntimeError("PyTorch is checking whether allow_tf32 is enabled for cuDNN")

        matmul = types.SimpleNamespace(allow_tf32=False)
        self.torch.backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=matmul), cudnn=Mixed())
        with mock.patch.object(self.levers, "_device", "cuda"):
            self.assertIn("sets fp32_precision", self.missing("tf32"))
            self.torch.backends.cudnn = types.SimpleNamespace(allow_tf32=True)
            with self.levers.named("tf32"):
                self.assertTrue(matmul.allow_tf32)
            self.assertFalse(matmul.allow_tf32)
            matmul.allow_tf32 = True
            self.assertIn("on already", self.missing("tf32"))

    def test_of_pytorch_stays_set(self):
        flags = types.SimpleNamespace(benchmark=False)
        self.torch.backends = types.SimpleNamespace(cudnn=flags)
        with mock.patch.object(self.levers, "_device", "cuda"):
            with self.levers.named("cudnn_benchmark"):
                self.assertTrue(flags.benchmark)
            self.assertFalse(flags.benchmark)
            flags.benchmark = True
            self.assertIn("on already", self.missing("cudnn_benchmark"))


if __name__ == "__main__":
    unittest.main()
