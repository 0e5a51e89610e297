# SPDX-License-Identifier: Apache-2.0
"""Tests of tuning in the process that has the loader. The command autotune is a short script here."""

import os
import random
import stat
import sys
import tempfile
import types
import unittest
from unittest import mock

from stub import MODULES, data, torch

from feedrate import notebook

# Asks for one round of the loader as it is, and answers with what it was told.
COMMAND = """\
#!%s
import json, os, socket, subprocess, sys, tempfile
words = sys.argv[1:]
report = words[words.index("--output") + 1]
if "--fails" in words:
    sys.exit("autotune: no such option.")
with tempfile.TemporaryDirectory() as folder:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(folder + "/socket")
    listener.listen()
    relay = subprocess.Popen(words[words.index("--") + 1:],
                             env=dict(os.environ, FEEDRATE_ATTACH=folder + "/socket"),
                             stdout=subprocess.DEVNULL)
    try:
        lines = listener.accept()[0].makefile("rw")
        hello = json.loads(lines.readline())
        question = {"ask": "run", "part": "coupled", "variant": "as_is", "config": hello["config"],
                    "seconds": 0.01, "min_batches": 3, "max_batches": 5, "own_precision": "fp32"}
        lines.write(json.dumps(question) + "\\n")
        lines.flush()
        answer = {"beat": 0}
        while "beat" in answer or "outside" in answer:
            answer = json.loads(lines.readline())
    finally:
        relay.kill()
        relay.wait()
config = dict(hello["config"], workers=2, prefetch=4, persistent=True, step_threads=1)
with open(report, "w") as file:
    json.dump({"hello": hello, "answer": answer, "workload": {"script": {"config": dict(hello["config"], step_threads=2)}},
               "recommendation": {"config": config, "tier": "safe", "tiers": {"safe": {
                   "speedup": {"estimate": 2, "low": 1.8, "high": 2.2}}}},
               "trials": [{"config": config, "samples_per_s": {"estimate": 400}},
                          {"config": hello["config"], "samples_per_s": {"estimate": 200}},
                          {"config": hello["config"], "samples_per_s": None}]}, file)
print("SET  workers 2\\nNEXT  autotune again\\nreport: /tmp/gone")
"""


class Module:
    """What has a state, as a model."""

    def __init__(self):
        self.weights = [0.0]

    def state_dict(self):
        return {"weights": self.weights}

    def load_state_dict(self, state):
        self.weights = list(state["weights"])


class Notebook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.command = os.path.join(folder.name, "autotune")
        with open(self.command, "w") as file:
            file.write(COMMAND % sys.executable)
        os.chmod(self.command, stat.S_IRWXU)
        patch = mock.patch.dict(sys.modules, dict(MODULES, numpy=None))
        patch.start()
        self.addCleanup(patch.stop)
        self.loader = data.DataLoader([torch.ones(2)] * 40, batch_size=4)

    def tuned(self, step, *options, **named):
        return notebook.autotune(self.loader, step, *options, command=self.command, **named)

    def test_steps_here_and_has_the_report(self):
        # Bug: a loop that autotune never sees, so that a notebook waits until the command gives up.
        steps = []
        result = self.tuned(steps.append)
        self.assertGreaterEqual(len(steps), 4)
        self.assertEqual(result.report["hello"]["pid"], os.getpid())
        self.assertGreaterEqual(result.report["answer"]["round"]["batches"], 3)
        self.assertEqual(result.config["workers"], 2)
        self.assertEqual(result.speedup, (2, 1.8, 2.2))
        self.assertEqual(result.arguments, {"num_workers": 2, "pin_memory": False, "batch_size": 4,
                                            "prefetch_factor": 4, "persistent_workers": True})
        self.assertEqual(repr(result), "SET  workers 2\n")

    def test_shows_a_table(self):
        table = self.tuned(lambda batch: None)._repr_html_()
        self.assertIn("num_workers=2", table)
        self.assertIn("<b>400</b>", table)
        self.assertEqual(table.count("<tr>"), 3)
        # Bug: a gain of fewer threads of the step, of which the table said nothing.
        self.assertIn("after torch.set_num_threads(1)", table)

    def test_leaves_the_batch_to_who_makes_it(self):
        # Bug: a batch_size for a loader whose dataset gives whole batches, which are then put together.
        self.loader = data.DataLoader([torch.ones(4, 2)] * 40, batch_size=None)
        self.assertNotIn("batch_size", self.tuned(lambda batch: None).arguments)

    def test_restores_what_is_to_be_kept(self):
        # Bug: a model that was trained on batches that nobody counted.
        model = Module()

        def step(batch):
            model.weights[0] += random.random()

        random.seed(5)
        expected = random.Random(5).random()
        self.tuned(step, keep=[model])
        self.assertEqual(model.weights, [0.0])
        self.assertEqual(random.random(), expected)

    def test_refuses_a_class_that_changes_its_batches(self):
        # Bug: from the second batch on, the step got what PyTorch's own iterator gives.
        class ToDict(data.DataLoader):
            def __iter__(self):
                for x in super().__iter__():
                    yield {"x": x}

        self.loader = ToDict([torch.ones(2)] * 40, batch_size=4)
        steps = []
        with self.assertRaisesRegex(TypeError, "A ToDict has an __iter__ of its own"):
            self.tuned(steps.append)
        self.assertEqual(steps, [])

    def test_restores_gradients_that_were_added_up(self):
        # Bug: the first update behind it has gradients of batches that nobody trains on.
        with_one, without = types.SimpleNamespace(grad=torch.ones(2)), types.SimpleNamespace(grad=None)
        model = Module()
        model.parameters = lambda: iter([with_one])
        optimizer = Module()
        optimizer.param_groups = [{"params": [without]}]

        def step(batch):
            with_one.grad = without.grad = torch.ones(2) * 7

        self.tuned(step, keep=[model, optimizer])
        self.assertTrue(with_one.grad.equal(torch.ones(2)))
        self.assertIsNone(without.grad)

    def test_restores_the_generator_of_the_loader(self):
        # Bug: the training behind it draws another order than without it.
        generator = torch.Generator()
        self.loader = data.DataLoader([torch.ones(2)] * 40, batch_size=4, shuffle=True, generator=generator)
        before = generator.get_state()
        self.tuned(lambda batch: generator.manual_seed(7))
        self.assertEqual(generator.get_state(), before)

    def test_lets_errors_of_the_step_through(self):
        # Bug: a command that goes on in the background, or an error that becomes another.
        def step(batch):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            self.tuned(step)
        self.assertEqual(len(list(self.loader)), 10)

    def test_says_why_there_is_no_answer(self):
        with self.assertRaisesRegex(RuntimeError, "autotune: no such option."):
            self.tuned(lambda batch: None, "--fails")
        with self.assertRaisesRegex(FileNotFoundError, "no program 'nowhere/autotune'"):
            notebook.autotune(self.loader, print, command="nowhere/autotune")


if __name__ == "__main__":
    unittest.main()
