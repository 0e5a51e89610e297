# SPDX-License-Identifier: Apache-2.0
"""Tests of what steps are taken in, with PyTorch's own autocast."""

import importlib.util
import unittest

from feedrate.stepping import name_of_format, number_format, step_settings

HAS_TORCH = importlib.util.find_spec("torch") is not None


@unittest.skipUnless(HAS_TORCH, "there is no PyTorch here")
class Steps(unittest.TestCase):
    def test_in_another_format_are_on_the_weights_of_now(self):
        # Would catch weights that autocast converted for the first step, and kept for all others.
        import torch

        layer = torch.nn.Linear(2, 1, bias=False)
        optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
        x = torch.ones(1, 2)
        with step_settings(torch, {"step_threads": 1, "precision": "bf16"}, "fp32"):
            outputs = [layer(x)]
            outputs[0].sum().backward()
            optimizer.step()  # takes one from each of the two weights
            outputs.append(layer(x))
        before, after = (output.item() for output in outputs)
        self.assertEqual({output.dtype for output in outputs}, {torch.bfloat16})
        self.assertAlmostEqual(after - before, -2, delta=0.05)


class Formats(unittest.TestCase):
    def test_of_the_script_s_own_are_left_alone(self):
        # Bug: autocast around a script's own autocast keeps the weights that the latter converted.
        for own in ("fp32", "tf32", "bf16"):
            with number_format(None, "cpu", own, own):
                pass

    def test_are_known_by_the_names_of_pytorch(self):
        names = [name_of_format(dtype) for dtype in ("torch.bfloat16", "float16", "torch.float32",
                                                     None)]
        self.assertEqual(names, ["bf16", "fp16", None, None])

    def test_that_a_script_cannot_be_given_are_refused(self):
        with self.assertRaisesRegex(ValueError, "precision tf32 can't be tried in a script"):
            number_format(None, "cpu", "tf32", "fp32")


if __name__ == "__main__":
    unittest.main()
