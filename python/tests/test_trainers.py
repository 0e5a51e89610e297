# SPDX-License-Identifier: Apache-2.0
"""The callbacks of trainers, against stand-ins for the libraries."""

import contextlib
import io
import pathlib
import pickle
import re
import sys
import types
import unittest
from unittest import mock

from test_health import STANDIN, Array

from feedrate import trainers

DATA = "torch.utils.data.dataloader"


def library(name, **members):
    """The modules that stand in for a library."""
    parts = name.split(".")
    modules = {".".join(parts[:n]): types.ModuleType(".".join(parts[:n]))
               for n in range(1, len(parts) + 1)}
    modules[name].__dict__.update(members)
    return modules


class Callbacks(unittest.TestCase):
    def setUp(self):
        trainers._seen.clear()

    def said(self, make, end, modules):
        torch = library(DATA)
        exec(STANDIN, torch[DATA].__dict__)
        with mock.patch.dict(sys.modules, {**torch, **modules}):
            callback = make()
            for _ in torch[DATA].DataLoader([Array(4)] * 8, batch_size=4):
                pass
            with contextlib.redirect_stderr(io.StringIO()) as told:
                end(callback)
        return told.getvalue()

    def test_the_end_of_training_says_how_well_fed_the_loop_was(self):
        # Bug: a callback that is never called, or that sees no loop.
        lightning = library("lightning.pytorch", Callback=object)
        transformers = library("transformers", TrainerCallback=object)
        for make, end, modules in (
                (trainers.lightning_callback, lambda one: one.on_train_end(None, None), lightning),
                (trainers.transformers_callback,
                 lambda one: one.on_train_end(None, None, None, model=None), transformers)):
            with self.subTest(make.__name__):
                trainers._seen.clear()
                said = self.said(make, end, modules)
                self.assertIn("how well fed", said)
                self.assertIn("8 batches in 1 epoch", said)

    def test_they_are_sent_to_other_processes(self):
        # Bug: training with strategy="ddp_spawn" dies, since the class is in no module.
        lightning = library("lightning.pytorch", Callback=object)
        transformers = library("transformers", TrainerCallback=object)
        for make, modules in ((trainers.lightning_callback, lightning),
                              (trainers.transformers_callback, transformers)):
            torch = library(DATA)
            exec(STANDIN, torch[DATA].__dict__)
            with mock.patch.dict(sys.modules, {**torch, **modules}):
                sent = pickle.loads(pickle.dumps(make()))
            self.assertTrue(callable(sent.on_train_end))

    def test_examples_of_the_page_run(self):
        # Bug: a page that names a callback which is not there.
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "script.md"
        examples = [text for text in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
                    if "feedrate.trainers" in text]
        self.assertEqual(len(examples), 2)
        modules = {**library(DATA), **library("transformers", TrainerCallback=object),
                   **library("lightning.pytorch", Callback=object)}
        exec(STANDIN, modules[DATA].__dict__)
        with mock.patch.dict(sys.modules, modules):
            for text in examples:
                names = {"Trainer": types.SimpleNamespace, "model": None, "args": None,
                         "dataset": None}
                exec(text, names)
                self.assertTrue(callable(names["trainer"].callbacks[0].on_train_end))

    def test_the_older_name_of_lightning_is_taken_where_it_is_in_use(self):
        # Bug: a callback of the other package, which the trainer refuses.
        class Older:
            pass

        modules = library("pytorch_lightning", Callback=Older)
        torch = library(DATA)
        exec(STANDIN, torch[DATA].__dict__)
        with mock.patch.dict(sys.modules, {**torch, **modules, "lightning": None}):
            self.assertIsInstance(trainers.lightning_callback(), Older)

    def test_a_library_that_is_missing_is_named(self):
        # Bug: a trace of imports in the place of what to install.
        with mock.patch.dict(sys.modules, {"transformers": None}):
            with self.assertRaisesRegex(ImportError, "needs transformers: install it first"):
                trainers.transformers_callback()


if __name__ == "__main__":
    unittest.main()
