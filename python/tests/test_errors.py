# SPDX-License-Identifier: Apache-2.0
"""Tests of the sentences for what goes wrong in a loader."""

import os
import pathlib
import pickle
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from feedrate.errors import (DataErrors, IN_A_ROW, LONGEST, is_of_config,  # noqa: E402
                             sentence_of)

# As PyTorch words them.
BUS_ERROR = ("DataLoader worker (pid 11849) is killed by signal: Bus error. It is possible that "
             "dataloader's workers are out of shared memory. Please try to raise your shared "
             "memory limit.")
NO_ROOM = ("Caught RuntimeError in DataLoader worker process 0.\nOriginal Traceback (most recent "
           "call last):\n  File \"worker.py\", line 349, in _worker_loop\nRuntimeError: unable to "
           "allocate shared memory(shm) for file </torch_11849_37_0>: No space left on device (28)")
KILLED = "DataLoader worker (pid 7) is killed by signal: Killed. "
EXITED = "DataLoader worker (pid(s) 7, 8) exited unexpectedly"
IN_WORKER = ("Caught %s in DataLoader worker process 0.\nOriginal Traceback (most recent call "
             "last):\n  File \"rows.py\", line 3, in __getitem__\n    %s\n%s\n")


class Sentences(unittest.TestCase):
    def test_of_too_little_shared_memory_say_how_much_there_is(self):
        # Would catch advice to look at a worker that died, where docker's 64 MiB are the reason.
        sizes = types.SimpleNamespace(f_blocks=16384, f_frsize=4096)
        for text in (BUS_ERROR, NO_ROOM):
            with mock.patch.object(os, "statvfs", return_value=sizes):
                said = sentence_of(RuntimeError(text))
            self.assertIn("out of shared memory: /dev/shm has 64 MiB in all; make it larger", said)
            self.assertNotIn("\n", said)

    def test_of_shared_memory_that_is_not_there_say_so(self):
        with mock.patch.object(os, "statvfs", side_effect=FileNotFoundError):
            self.assertIn("/dev/shm has no room in all", sentence_of(RuntimeError(BUS_ERROR)))

    def test_of_a_worker_that_died_quote_pytorch(self):
        for text in (KILLED, EXITED):
            self.assertEqual(sentence_of(RuntimeError(text)),
                             "A worker of the DataLoader died: %s." % text.strip().rstrip("."))

    def test_of_a_dataset_that_cannot_be_pickled_name_it_so(self):
        for error in (pickle.PicklingError("Can't pickle <function <lambda>>"),
                      AttributeError("Can't pickle local object 'main.<locals>.<lambda>'"),
                      AttributeError("Can't get local object 'main.<locals>.<lambda>'"),
                      TypeError("cannot pickle '_io.TextIOWrapper' object"),
                      TypeError("h5py objects cannot be pickled"),
                      TypeError("self.file cannot be converted to a Python object for pickling")):
            self.assertIn("since the dataset can't be pickled: %s" % error, sentence_of(error))

    def test_of_a_worker_that_reads_a_broken_pickle_do_not_blame_the_dataset(self):
        # Would catch the very same word in the traceback of a worker.
        last = "_pickle.UnpicklingError: pickle data was truncated"
        text = IN_WORKER % ("UnpicklingError", "return pickle.load(file)", last)
        self.assertEqual(sentence_of(pickle.UnpicklingError(text)),
                         "The script's loader failed: UnpicklingError: pickle data was truncated "
                         "(rows.py:3).")

    def test_of_anything_else_are_its_last_line(self):
        text = IN_WORKER % ("KeyError", "self.rows[i]", "KeyError: 'no row 7'")
        self.assertEqual(sentence_of(KeyError(text)).splitlines(), [sentence_of(KeyError(text))])
        self.assertEqual(sentence_of(ValueError()),
                         "The script's loader failed: ValueError: without a message.")
        self.assertLess(len(sentence_of(ValueError("x" * 5000))), LONGEST + 100)


class ReadTimeout(OSError):
    """As requests has it."""


class Whose(unittest.TestCase):
    def test_what_a_config_asks_too_much_of_is_the_config_s(self):
        # Would catch a config that is tried again and again although this machine can't have it.
        for error in (RuntimeError(BUS_ERROR), RuntimeError(KILLED), MemoryError(),
                      OSError(24, "Too many open files"), OSError(12, "Cannot allocate memory"),
                      RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
                      RuntimeError("can't start new thread"),
                      RuntimeError("DataLoader timed out after 5 seconds"),
                      pickle.PicklingError("Can't pickle <function <lambda>>")):
            self.assertTrue(is_of_config(error), error)

    def test_what_the_data_are_is_the_script_s(self):
        # Bug: one corrupt record cost whichever config drew it: "SET workers 0" where 8 were 8 times as fast.
        truncated = "_pickle.UnpicklingError: pickle data was truncated"
        for error in (KeyError(IN_WORKER % ("KeyError", "self.rows[i]", "KeyError: 7")),
                      ValueError("not a JPEG"), FileNotFoundError(2, "No such file"),
                      pickle.UnpicklingError(IN_WORKER % ("UnpicklingError", "x", truncated))):
            self.assertFalse(is_of_config(error), error)

    def test_what_the_data_are_is_the_script_s_also_without_workers(self):
        # Bug: one broken pickle, or one slow answer of a network storage, failed the script's own 0 workers at once:
        # "Workers can't be started".
        for error in (pickle.UnpicklingError("pickle data was truncated"),
                      pickle.UnpicklingError("Failed to interpret file 'x.npy' as a pickle"),
                      ValueError("Object arrays cannot be loaded when allow_pickle=False"),
                      FileNotFoundError(2, "No such file or directory", "/data/x.pickle"),
                      ReadTimeout("HTTPSConnectionPool(host='data', port=443): Read timed out. (read timeout=5)"),
                      TimeoutError(110, "Connection timed out")):
            self.assertFalse(is_of_config(error), error)
            self.assertTrue(sentence_of(error).startswith("The script's loader failed: "), error)

    def test_it_is_said_where_it_was_thrown_and_for_which_sample(self):
        rows = {"__name__": "rows"}
        exec(compile("class Rows:\n  def __getitem__(self, i):\n    return {}[i]\n", "/home/me/rows.py",
                     "exec"), rows)
        try:
            rows["Rows"]()[7]
        except KeyError as error:
            self.assertEqual(sentence_of(error),
                             "The script's loader failed: KeyError: 7 (rows.py:3, sample 7).")
        text = IN_WORKER % ("KeyError", "self.rows[i]", "KeyError: 'no row 7'")
        self.assertIn("KeyError: 'no row 7' (rows.py:3).", sentence_of(KeyError(text)))

    def test_some_are_passed_over_and_told_once(self):
        errors = DataErrors()
        self.assertIsNone(errors.told())
        for _ in range(5):
            self.assertTrue(errors.may_go_on(ValueError("not a JPEG")))
            errors.went_well()
        self.assertTrue(errors.may_go_on(KeyError("once")))
        self.assertEqual(errors.told(), {"error": "ValueError: not a JPEG", "count": 6})

    def test_many_in_a_row_are_not_passed_over(self):
        # Would catch a round without an end, of data that always fail.
        errors = DataErrors()
        went_on = [errors.may_go_on(ValueError("no disk")) for _ in range(IN_A_ROW)]
        self.assertEqual(went_on, [True] * (IN_A_ROW - 1) + [False])
        self.assertFalse(DataErrors().may_go_on(MemoryError()))

    def test_with_one_config_alone_are_not_of_the_data(self):
        # Bug: "the script's own data failed in 3 batches, whatever the settings", of a dataset that fails in
        # workers alone.
        errors = DataErrors()
        while errors.may_go_on(ValueError("not in a worker")):
            pass
        errors.went_well()
        self.assertIsNone(errors.told())

    def test_are_not_told_where_they_are_of_a_config(self):
        errors = DataErrors()
        for config in ("own", "other", "other"):
            self.assertTrue(errors.may_go_on(ValueError("bad zip file"), config))
            errors.went_well()
        errors.forget("other")
        self.assertEqual(errors.told()["count"], 1)

    def test_of_samples_on_a_gpu_are_of_the_config(self):
        # Bug: the same, of a dataset whose tensors lie on the GPU.
        for text in ("Cannot re-initialize CUDA in forked subprocess.", "CUDA error: initialization error",
                     "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"):
            self.assertTrue(is_of_config(RuntimeError(text)), text)


if __name__ == "__main__":
    unittest.main()
