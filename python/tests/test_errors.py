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

from feedrate.errors import LONGEST, sentence_of  # noqa: E402

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
                      TypeError("cannot pickle '_io.TextIOWrapper' object")):
            self.assertIn("since the dataset can't be pickled: %s" % error, sentence_of(error))

    def test_of_a_worker_that_reads_a_broken_pickle_do_not_blame_the_dataset(self):
        # Would catch the very same word in the traceback of a worker.
        last = "_pickle.UnpicklingError: pickle data was truncated"
        text = IN_WORKER % ("UnpicklingError", "return pickle.load(file)", last)
        self.assertEqual(sentence_of(pickle.UnpicklingError(text)),
                         "The script's loader failed: UnpicklingError: %s." % last)

    def test_of_anything_else_are_its_last_line(self):
        text = IN_WORKER % ("KeyError", "self.rows[i]", "KeyError: 'no row 7'")
        self.assertEqual(sentence_of(KeyError(text)).splitlines(), [sentence_of(KeyError(text))])
        self.assertEqual(sentence_of(ValueError()),
                         "The script's loader failed: ValueError: without a message.")
        self.assertLess(len(sentence_of(ValueError("x" * 5000))), LONGEST + 100)


if __name__ == "__main__":
    unittest.main()
