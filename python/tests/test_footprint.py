# SPDX-License-Identifier: Apache-2.0
"""The memory of a config, measured and predicted."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from feedrate import process  # noqa: E402
from feedrate.footprint import Footprint  # noqa: E402
from feedrate.process import Memory  # noqa: E402

CONFIG = {"workers": 2, "prefetch": 2, "pinned": False, "batch": 4, "persistent": True, "start_method": "own"}
WORKERS, PARKED = [-2, -3], [-4]  # no processes


def footprint(**memories):
    """Batches of 10 bytes; memories of the script, of each worker, and of those that are parked."""
    by_pid = {os.getpid(): memories["main"], **dict.fromkeys(WORKERS, memories["worker"]),
              **dict.fromkeys(PARKED, memories.get("parked", Memory()))}
    return Footprint(4, 10, lambda pids: sum((by_pid[pid] for pid in pids), Memory()))


class OfAConfig(unittest.TestCase):
    def test_of_a_measured_config_is_what_its_processes_have(self):
        # Bug: only the batches that lie ready count, and never what a worker has.
        seen = footprint(main=Memory(1000, 900), worker=Memory(300, 200))
        seen.measure(CONFIG, WORKERS, [], ready=0)
        self.assertEqual(seen.of(CONFIG), 1600)

    def test_parked_workers_neither_count_nor_take_a_share_away(self):
        # Bug: a config seems to need less the more lanes are parked beside it.
        seen = footprint(main=Memory(900, 800), worker=Memory(250, 200), parked=Memory(700, 500))
        seen.measure(CONFIG, WORKERS, PARKED, ready=0)
        self.assertEqual(seen.of(CONFIG), 900 + 2 * 250 + 700 - 500)

    def test_batches_in_a_queue_count_once(self):
        # Bug: what no process has mapped is forgotten, or what one has mapped counts twice.
        for shared, total in ((0, 1640), (30, 1610), (50, 1600)):
            seen = footprint(main=Memory(1000, 900, shared), worker=Memory(300, 200))
            seen.measure(CONFIG, WORKERS, [], ready=4)
            self.assertEqual(seen.of(CONFIG), total)

    def test_other_configs_are_predicted_from_what_was_measured(self):
        # Bug: the memory of workers left out of configs that have more of them.
        seen = footprint(main=Memory(1000, 900), worker=Memory(300, 200))
        self.assertEqual(seen.of(dict(CONFIG, workers=0, prefetch=0)), 1000 + 10)
        seen.measure(CONFIG, WORKERS, [], ready=0)
        many = dict(CONFIG, workers=8, batch=8)
        self.assertEqual(seen.of(many), 1200 + 8 * 200 + 17 * 20)


class OfAProcess(unittest.TestCase):
    def read(self, **files):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(root + "/7")
            for name, text in files.items():
                pathlib.Path(root, "7", name).write_text(text)
            read = process.memory(7, root)
        return read.proportional, read.private, read.shared, read.by_share

    def test_shares_are_those_of_the_kernel(self):
        # Bug: another unit, or shared pages counted as private.
        told = "00400000-7fff ---p 00000000 00:00 0 [rollup]\nRss: 90 kB\nPss: 50 kB\n" \
               "Pss_Shmem: 8 kB\nShared_Clean: 30 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 40 kB\n"
        self.assertEqual(self.read(smaps_rollup=told), (50 << 10, 41 << 10, 8 << 10, True))

    def test_a_kernel_without_shares_tells_all_pages(self):
        # Bug: no memory at all where the kernel is built without smaps_rollup.
        told = "Name:\tpython\nVmRSS:\t 90 kB\nRssShmem:\t 8 kB\n"
        self.assertEqual(self.read(status=told), (90 << 10, 82 << 10, 8 << 10, False))

    def test_a_process_that_is_gone_has_none(self):
        # Bug: a worker that ended meanwhile ends the round.
        self.assertEqual(process.memory_of([0], "/nowhere").proportional, 0)
        self.assertGreater(process.memory_of([os.getpid()]).proportional, 1 << 20)


if __name__ == "__main__":
    unittest.main()
