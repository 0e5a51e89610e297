# SPDX-License-Identifier: Apache-2.0
"""Tests of feedrate.watch: what the loop sees, what autotune is told, what happens without it."""

import collections
import dataclasses
import importlib.util
import json
import os
import pathlib
import pickle
import signal
import socket
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import feedrate  # noqa: E402

watching = sys.modules["feedrate.watch"]  # feedrate.watch is the function
HAS_TORCH = importlib.util.find_spec("torch") is not None


class Array:
    """Has a shape, as tensors and arrays have."""

    def __init__(self, *shape):
        self.shape = shape


class Sized(list):
    sampler = "its sampler"


@dataclasses.dataclass
class Pair:
    name: str
    data: object


class Listening(unittest.TestCase):
    """A stand-in for autotune that listens at a socket."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "socket")
        self.server = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.server.close)
        self.server.bind(self.path)
        self.server.listen(4)
        self.server.settimeout(30)
        self.set_environment(FEEDRATE_ATTACH=self.path)
        watching._forget()
        self.addCleanup(watching._forget)

    def set_environment(self, **values):
        before = dict(os.environ)

        def restore():
            os.environ.clear()
            os.environ.update(before)

        self.addCleanup(restore)
        os.environ.update(values)

    def lines(self):
        """All that one process has sent."""
        connection, _ = self.server.accept()
        with connection:
            watching._forget()
            connection.settimeout(30)
            text = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        return [json.loads(line) for line in text.splitlines()]


class Loop(Listening):
    """What the script's loop sees."""

    def test_yields_the_very_batches(self):
        batches = [Array(4), "text", None]
        self.assertTrue(all(one is other for one, other in zip(feedrate.watch(batches), batches)))
        self.assertEqual(len(list(feedrate.watch(batches))), 3)

    def test_nothing_is_between_without_autotune(self):
        del os.environ["FEEDRATE_ATTACH"]
        batches = iter([1, 2])
        self.assertIs(iter(feedrate.watch(batches)), batches)

    def test_has_the_length_that_there_is_and_none_else(self):
        # Would catch `if loader:` and list(loader) failing for iterables without a length.
        self.assertEqual(len(feedrate.watch([1, 2])), 2)
        generator = feedrate.watch(x for x in range(3))
        self.assertFalse(hasattr(generator, "__len__"))
        self.assertTrue(generator)
        self.assertEqual(list(generator), [0, 1, 2])

    def test_has_what_the_iterable_has(self):
        watched = feedrate.watch(Sized([1]))
        self.assertEqual(watched.sampler, "its sampler")
        with self.assertRaises(AttributeError):
            watched.missing
        self.assertEqual(list(pickle.loads(pickle.dumps(watched))), [1])

    def test_errors_of_the_iterable_arrive(self):
        def failing():
            yield 1
            raise KeyError("x")

        with self.assertRaises(KeyError):
            list(feedrate.watch(failing()))
        self.assertEqual(self.lines()[-1]["batches"], 1)

    def test_a_wrong_number_of_samples_is_refused(self):
        with self.assertRaisesRegex(TypeError, "samples is 'many'; give the number"):
            feedrate.watch([1], samples="many")

    def test_goes_on_when_autotune_is_not_there(self):
        os.environ["FEEDRATE_ATTACH"] = os.path.join(self.folder.name, "nobody")
        self.assertEqual(list(feedrate.watch([1, 2])), [1, 2])

    def test_goes_on_when_autotune_goes_away(self):
        # Would catch death by SIGPIPE in scripts that have set it back.
        before = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGPIPE, before)
        seen = []
        for batch in feedrate.watch(range(5)):
            if batch == 1:
                self.server.accept()[0].close()
            watching._reporter()._due_s = 0
            seen.append(batch)
        self.assertEqual(seen, list(range(5)))

    def test_goes_on_when_autotune_does_not_read(self):
        # Would catch a blocking send.
        for _ in feedrate.watch(range(20000)):
            watching._reporter()._due_s = 0
        lines = self.lines()
        self.assertLess(len(lines), 20000)
        self.assertEqual([line["batches"] for line in lines[1:]],
                         sorted(line["batches"] for line in lines[1:]))


class Messages(Listening):
    """What autotune is told."""

    def test_says_hello_once_for_all_loops_of_a_process(self):
        self.set_environment(RANK="3", WORLD_SIZE="8")
        for _ in range(3):
            list(feedrate.watch([Array(2, 5)]))
        hello, *rest = self.lines()
        self.assertEqual(hello, {"hello": "watch", "source": "helper", "pid": os.getpid(),
                                 "rank": 3, "world": 8})
        self.assertEqual((rest[-1]["batches"], rest[-1]["samples"]), (3, 6))

    def test_tells_sums_at_most_ten_times_a_second_and_at_the_end(self):
        list(feedrate.watch([Array(4, 9), Array(4, 9), Array(1, 9)]))
        _, first, last = self.lines()
        self.assertEqual((first["batches"], first["samples"]), (1, 4))
        self.assertEqual((last["batches"], last["samples"]), (3, 9))
        self.assertGreaterEqual(last["t"], first["t"])
        self.assertNotIn("unit", last)

    def test_tells_at_the_end_of_a_loop_that_is_left(self):
        for at, _ in enumerate(feedrate.watch([Array(4)] * 9)):
            if at == 4:
                break
        self.assertEqual(self.lines()[-1]["samples"], 20)

    def test_waiting_is_the_iterable_s_time_and_not_the_loop_s(self):
        now = [0.0]
        clock = types.SimpleNamespace(monotonic=lambda: now[0])
        before, watching.time = watching.time, clock
        self.addCleanup(setattr, watching, "time", before)

        def slow():
            for _ in range(3):
                now[0] += 2.0
                yield Array(1)
            now[0] += 1.0

        for _ in feedrate.watch(slow()):
            now[0] += 10.0
        self.assertEqual(self.lines()[-1], {"batches": 3, "samples": 3, "t": 37.0, "wait_s": 7.0})

    def test_samples_as_the_user_counts_them(self):
        list(feedrate.watch(["ab", "abc"], samples=len))
        list(feedrate.watch(["ab", "abc"], samples=16))
        self.assertEqual(self.lines()[-1]["samples"], 37)

    def test_batches_are_counted_where_there_are_no_arrays(self):
        list(feedrate.watch([["a", "b"], ["c"]]))
        last = self.lines()[-1]
        self.assertEqual((last["samples"], last["unit"]), (2, "batches"))

    def test_a_child_by_fork_speaks_for_itself_alone(self):
        # Would catch a worker's messages among those of the script.
        loop = iter(feedrate.watch([Array(1)] * 4))
        next(loop)
        child = os.fork()
        if child == 0:
            list(loop)
            list(feedrate.watch([Array(7)]))
            os._exit(0)
        os.waitpid(child, 0)
        list(loop)
        self.assertEqual(self.lines()[-1]["samples"], 4)
        hello, *rest = self.lines()
        self.assertEqual((hello["pid"], rest[-1]["samples"]), (child, 7))

    def test_workers_of_a_loader_say_nothing(self):
        name = "torch.utils.data"
        before = sys.modules.get(name)
        sys.modules[name] = types.SimpleNamespace(get_worker_info=lambda: "a worker")
        self.addCleanup(lambda: sys.modules.update({name: before}) if before
                        else sys.modules.pop(name))
        self.assertIsNone(watching._reporter())


class Counts(unittest.TestCase):
    """How many samples a batch has."""

    def count(self, *batches):
        count = watching.SampleCount()
        return [count(batch) for batch in batches]

    def test_in_any_nest(self):
        array = Array(3, 2)
        named = collections.namedtuple("Named", "x y")(Array(), array)
        for batch in (array, [array], ("a", [array]), {"x": {"y": array}}, Pair("a", array), named,
                      collections.UserDict(x=array), [Pair("a", ["b", array])],
                      types.SimpleNamespace(name="a", x=types.SimpleNamespace(y=array))):
            self.assertEqual(self.count(batch), [3])

    def test_of_the_last_batch_too(self):
        self.assertEqual(self.count([Array(3)], [Array(2)]), [3, 2])

    def test_of_batches_of_another_shape(self):
        self.assertEqual(self.count([Array(3)], {"x": Array(2)}, Array(4)), [3, 2, 4])

    def test_no_array_in_sight(self):
        for batch in (None, 3, "abc", [], ["a"] * 1000 + [Array(3)], Array(), Array(None)):
            self.assertEqual(self.count(batch), [None])
        endless = []
        endless.append(endless)
        self.assertEqual(self.count(endless), [None])

    def test_what_looks_like_a_dict_and_is_none_has_no_samples(self):
        # Would catch a training loop that our search for an array ends.
        class Odd:
            def keys(self, of):
                return []

        self.assertEqual(self.count(Odd()), [None])

    @unittest.skipUnless(HAS_TORCH, "there is no PyTorch here")
    def test_of_what_a_dataloader_gives(self):
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        loader = DataLoader(TensorDataset(torch.zeros(10, 2), torch.zeros(10)), batch_size=4)
        self.assertEqual(self.count(*feedrate.watch(loader)), [4, 4, 2])
        self.assertEqual(len(feedrate.watch(loader)), 3)


class Import(unittest.TestCase):
    def test_is_light(self):
        # autotune's hook imports the package at the start of every Python program.
        import subprocess
        code = "import sys, feedrate; print({'json', 'socket', 'ast'} & set(sys.modules))"
        package = pathlib.Path(feedrate.__file__).parent.parent
        printed = subprocess.run([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE,
                                 env=dict(os.environ, PYTHONPATH=str(package)), check=True,
                                 timeout=60).stdout
        self.assertEqual(printed.decode().strip(), "set()")


if __name__ == "__main__":
    unittest.main()
