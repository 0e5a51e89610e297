# SPDX-License-Identifier: Apache-2.0
"""Tests of what stands between fastai and PyTorch. fastai itself is a row of tools/real-loaders."""

import importlib
import sys
import types
import unittest
from unittest import mock

from stub import MODULES, data


class Own:
    """A loader of fastai's, as far as it is asked."""

    def __init__(self, batches):
        self.batches = batches

    def __len__(self):
        return len(self.batches)


class StandIn:
    """What fastai gives PyTorch's iterators in the place of a DataLoader."""

    prefetch_factor, timeout, pin_memory, worker_init_fn = 2, 7, False, None

    def __init__(self, batches, num_workers=0):
        self.d, self.num_workers = Own(batches), num_workers

    def collate_fn(self, batch):
        return batch

    def __iter__(self):
        return iter(self.d.batches)


class Between(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.dict(sys.modules, MODULES)
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(sys.modules.pop, "feedrate.fastai_loaders", None)
        made = self.made = []

        class Noted(data.DataLoader):
            def __init__(self, dataset, **keywords):
                super().__init__(dataset, **keywords)
                made.append((dataset, keywords))

        with mock.patch.object(data, "DataLoader", Noted):
            self.loaders = importlib.import_module("feedrate.fastai_loaders")
        fastai = types.SimpleNamespace(_loaders=None)
        self.loaders.attach(fastai)
        self.iterate = fastai._loaders[True]
        self.assertIs(fastai._loaders[False], self.iterate)

    def test_gives_the_batches_of_each_epoch(self):
        # Bug: 240 s without a word, and no answer.
        stand_in = StandIn([1, 2, 3])
        self.assertEqual(list(self.iterate(stand_in)), [1, 2, 3])
        stand_in.d.batches = [3, 1, 2]  # fastai shuffles
        self.assertEqual(list(self.iterate(stand_in)), [3, 1, 2])

    def test_is_one_loader_in_all_epochs(self):
        # Bug: no fresh process could be measured behind its first epoch.
        first, second = StandIn([1]), StandIn([1])
        for stand_in in (first, first, second):
            list(self.iterate(stand_in))
        datasets = [dataset for dataset, _ in self.made]
        self.assertIs(datasets[0], datasets[1])
        self.assertIsNot(datasets[0], datasets[2])
        self.assertEqual((datasets[0].d, len(datasets[0])), (first.d, 1))

    def test_gives_tuples_as_fastai_makes_them(self):
        # Bug: with pinned memory, PyTorch gave lists, which fastai's transforms pass over.
        self.assertEqual(list(self.iterate(StandIn([[1, 2], (3, 4)]))), [(1, 2), (3, 4)])

    def test_has_the_settings_of_fastai(self):
        # Would catch a loader that PyTorch refuses: without workers there is no timeout, and nothing ahead.
        self.iterate(StandIn([1]))
        self.assertEqual(self.made[0][1]["num_workers"], 0)
        self.assertFalse({"timeout", "prefetch_factor"} & set(self.made[0][1]))
        with mock.patch.object(self.loaders, "map", lambda _, loader: loader, create=True):
            self.iterate(StandIn([1], num_workers=2))
        keywords = self.made[1][1]
        self.assertEqual((keywords["num_workers"], keywords["timeout"], keywords["prefetch_factor"]), (2, 7, 2))


if __name__ == "__main__":
    unittest.main()
