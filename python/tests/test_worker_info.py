# SPDX-License-Identifier: Apache-2.0
"""Tests of who asks which worker it is."""

import mmap
import multiprocessing
import sys
import types
import unittest
from unittest import mock

import stub  # noqa: F401

from feedrate import worker_info


class Questions(unittest.TestCase):
    def setUp(self):
        self.info = "worker 0"

        def get_worker_info():
            return self.info

        self.module = types.SimpleNamespace(get_worker_info=get_worker_info)
        self.package = types.SimpleNamespace(get_worker_info=get_worker_info)
        for patch in (mock.patch.object(worker_info, "_asked", mmap.mmap(-1, 1)),
                      mock.patch.dict(sys.modules, {worker_info.DATA_PACKAGE: self.package})):
            patch.start()
            self.addCleanup(patch.stop)
        self.end = worker_info.watch(self.module)

    def ask_as(self, module):
        names = {"__name__": module, "data": self.package}
        exec("info = data.get_worker_info()", names)
        return names["info"]

    def test_are_seen_from_the_script_and_its_libraries(self):
        for name in ("__main__", "webdataset.utils"):
            with mock.patch.object(worker_info, "_asked", [0]):
                self.assertEqual(self.ask_as(name), "worker 0")
                self.assertTrue(worker_info.was_asked(), name)

    def test_of_pytorch_itself_say_nothing(self):
        for name in ("torch.utils.data._utils.collate", "feedrate.watch"):
            self.assertEqual(self.ask_as(name), "worker 0")
        self.assertFalse(worker_info.was_asked())

    def test_outside_of_workers_say_nothing(self):
        self.info = None
        self.assertIsNone(self.ask_as("__main__"))
        self.assertFalse(worker_info.was_asked())

    def test_are_forgotten_before_a_lane_begins_and_seen_no_more_at_the_end(self):
        # Bug: a worker of a loader that validates asks once, and no copies of a stream are found any more.
        self.assertIs(self.module.get_worker_info, self.package.get_worker_info)  # or it could not be pickled
        self.ask_as("__main__")
        worker_info.forget()
        self.assertFalse(worker_info.was_asked())
        self.end()
        self.ask_as("__main__")
        self.assertFalse(worker_info.was_asked())

    def test_in_workers_are_seen_outside(self):
        worker = multiprocessing.get_context("fork").Process(target=self.ask_as, args=("__main__",))
        worker.start()
        worker.join()
        self.assertTrue(worker_info.was_asked())


if __name__ == "__main__":
    unittest.main()
