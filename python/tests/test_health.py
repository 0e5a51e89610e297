# SPDX-License-Identifier: Apache-2.0
"""Tests of `python -m feedrate`: the script runs as without it, and what is said of it is right.

Most run against a stand-in for torch.utils.data; where there is PyTorch, some run against that too.
"""

import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PACKAGE))

from feedrate import health  # noqa: E402

HAS_TORCH = importlib.util.find_spec("torch") is not None
STANDIN = '''
class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._loader, self._batches = loader, iter(loader.dataset)
    def __iter__(self):
        return self
    def __len__(self):
        return len(self._loader)
    def __next__(self):
        return next(self._batches)

class DataLoader:
    def __init__(self, dataset, batch_size=1, num_workers=0, pin_memory=False):
        self.dataset, self.batch_size = dataset, batch_size
        self.num_workers, self.pin_memory = num_workers, pin_memory
    def __iter__(self):
        return _BaseDataLoaderIter(self)
    def __len__(self):
        return len(self.dataset)
'''


class Array:
    def __init__(self, *shape):
        self.shape = shape


class Timed:
    """A dataset of which each batch takes a while, by the clock of the test."""

    def __init__(self, test, seconds, batches=4, size=2):
        self.test, self.seconds, self.batches, self.size = test, seconds, batches, size

    def __len__(self):
        return self.batches * self.size

    def __iter__(self):
        for at in range(self.batches):
            self.test.now_s += self.seconds + (1.0 if at == 0 else 0.0)
            yield Array(self.size)


class Clocked(unittest.TestCase):
    """Looks at a stand-in by a clock that the test sets."""

    def setUp(self):
        self.now_s = 0.0
        self.health = health.Health(clock=lambda: self.now_s)
        module = types.ModuleType("dataloader")
        exec(STANDIN, module.__dict__)
        self.health.attach(module)
        self.DataLoader = module.DataLoader

    def step(self, seconds=3.0):
        self.now_s += seconds

    def only(self):
        loop, = self.health.loops()
        return loop


class Sums(Clocked):
    """The arithmetic."""

    def test_waiting_first_batch_and_boundary(self):
        loader = self.DataLoader(Timed(self, 1.0), batch_size=2)
        for _ in range(3):
            for _ in loader:
                self.step()
        loop = self.only()
        # 3 epochs of (2 + 1 + 1 + 1) s of waiting and 4 steps of 3 s.
        self.assertEqual((loop.epochs, loop.batches, loop.samples), (3, 12, 24))
        self.assertAlmostEqual(loop.wait_s, 15)
        self.assertAlmostEqual(loop.loop_s, 51)
        self.assertAlmostEqual(loop.waiting, 15 / 51)
        self.assertAlmostEqual(loop.first_batch_s, 2)
        self.assertAlmostEqual(loop.boundary_s, 1)

    def test_time_between_epochs_is_not_the_loop_s(self):
        loader = self.DataLoader(Timed(self, 1.0), batch_size=2)
        for _ in range(2):
            list(loader)
            self.step(100)
        self.assertAlmostEqual(self.only().loop_s, 10)

    def test_a_validation_within_is_not_the_loop_s_time(self):
        # Would catch a loop that seems well fed because it validates for long.
        train = self.DataLoader(Timed(self, 1.0))
        val = self.DataLoader(Timed(self, 10.0))
        for at, _ in enumerate(train):
            self.step()
            if at == 1:
                for _ in val:
                    self.step()
        loops = {loop.wait_s: loop.loop_s for loop in self.health.loops()}
        self.assertEqual(loops, {5.0: 17.0, 41.0: 53.0})

    def test_loops_side_by_side_are_not_within_each_other(self):
        one = self.DataLoader(Timed(self, 1.0))
        two = self.DataLoader(Timed(self, 2.0))
        for _ in zip(one, two):
            self.step()
        loops = {loop.wait_s: loop.loop_s for loop in self.health.loops()}
        # zip does not ask the second for a fifth batch, so its last step is not known.
        self.assertEqual(loops, {5.0: 26.0, 9.0: 21.0})

    def test_loaders_with_an_iter_of_their_own_are_seen_once(self):
        # Bug: "no DataLoader was iterated", of torchdata's, and of feedrate.torch's.
        iterator_class = type(iter(self.DataLoader(Timed(self, 0.0))))

        class Own(self.DataLoader):
            def __iter__(self):
                return iterator_class(self)

        class Above(self.DataLoader):
            def __iter__(self):
                return super().__iter__()

        class Other:
            def __init__(self, loader):
                self._batches = iter(loader.dataset)

            def __next__(self):
                return next(self._batches)

            __iter__ = None

        class Foreign(self.DataLoader):
            def __iter__(self):
                return Other(self)

        self.health.attach_iterators(Other)
        for loader_class in (Own, Above, Foreign):
            loader = loader_class(Timed(self, 1.0))
            for _ in range(2):
                batches = iter(loader)
                with self.assertRaises(StopIteration):
                    while True:
                        next(batches)
                        self.step()
        self.assertEqual(sum(loop.epochs for loop in self.health.loops()), 6)

    def test_a_look_at_the_data_is_no_loop(self):
        loader = self.DataLoader(Timed(self, 1.0))
        next(iter(loader))
        loop = self.only()
        self.assertEqual((loop.batches, loop.first_batch_s), (0, 2.0))

    def test_a_loop_that_is_left_counts(self):
        for at, _ in enumerate(self.DataLoader(Timed(self, 1.0))):
            self.step()
            if at == 2:
                break
        loop = self.only()
        self.assertEqual((loop.batches, loop.wait_s, loop.loop_s), (3, 4.0, 10.0))

    def test_asking_beyond_the_end_counts_once(self):
        iterator = iter(self.DataLoader(Timed(self, 1.0)))
        list(iterator)
        self.assertEqual(list(iterator), [])
        self.assertEqual(self.only().epochs, 1)

    def test_the_iterator_is_pytorch_s_own(self):
        # Would catch a generator in its place, which has no length.
        iterator = iter(self.DataLoader(Timed(self, 1.0)))
        self.assertEqual((type(iterator).__name__, len(iterator)), ("_BaseDataLoaderIter", 8))

    def test_a_picture_s_channels_are_no_samples(self):
        loader = self.DataLoader([[Array(3, 8, 8)] * 16] * 5, batch_size=16)
        list(loader)
        self.assertEqual(self.only().samples, 80)

    def test_a_smaller_last_batch(self):
        loader = self.DataLoader([Array(4)] * 5 + [Array(1)], batch_size=4)
        list(loader)
        self.assertEqual(self.only().samples, 21)

    def test_batches_without_a_size_are_counted_as_such(self):
        loader = self.DataLoader([["a"]] * 5, batch_size=None)
        list(loader)
        self.assertEqual((self.only().samples, self.only().has_samples), (5, False))

    def test_loaders_made_anew_each_epoch_are_one(self):
        for _ in range(3):
            list(self.DataLoader(Timed(self, 1.0)))
        self.assertEqual(self.only().epochs, 3)

    def test_pytorch_does_not_hear_that_the_length_of_a_stream_was_asked_for(self):
        # Bug: a warning of PyTorch's for each batch of the second epoch, which the script alone does not get.
        class Keeps(self.DataLoader):
            _IterableDataset_len_called = None

            def __len__(self):
                self._IterableDataset_len_called = 4
                return 4

        loader = Keeps(Timed(self, 1.0))
        for _ in loader:
            pass
        self.assertIsNone(loader._IterableDataset_len_called)
        len(loader)
        for _ in loader:
            pass
        self.assertEqual(loader._IterableDataset_len_called, 4)

    def test_a_library_s_copy_of_the_user_s_loader_has_the_user_s_line(self):
        loader = self.DataLoader(Timed(self, 1.0))
        line = sys._getframe().f_lineno - 1
        scope = {"__name__": "accelerate.data_loader", "DataLoader": self.DataLoader}
        exec("def prepare(loader): return DataLoader(loader.dataset)", scope)
        copy = scope["prepare"](loader)
        list(copy)
        self.assertEqual((self.only().site.line, self.only().name), (line, "loader"))


class Sentences(Clocked):
    def said(self):
        return health.text_of(self.health, "python train.py")

    def test_what_is_said_of_a_hungry_and_of_a_fed_loop(self):
        hungry = self.DataLoader(Timed(self, 5.0), batch_size=2)
        fed = self.DataLoader(Timed(self, 0.0, batches=100), batch_size=2, num_workers=3)
        for _ in hungry:
            self.step()
        for _ in fed:
            self.step()
        text = "\n".join(self.said())
        text = re.sub(r"\([\w/]*test_health.py:\d+\)", "(HERE)", text)
        self.assertIn("""
  fed (HERE): well fed: the loop waits for data 0 % of its time.
    100 batches in 1 epoch, 0.664 samples/s; the first batch came after 1 s
    batch_size=2, num_workers=3, pin_memory=False
  hungry (HERE): fed 36 %: the loop waits for data 64 % of its time; run \
'autotune -- python train.py' to see what to change.
    4 batches in 1 epoch, 0.242 samples/s; the first batch came after 6 s
    batch_size=2, num_workers=0, pin_memory=False""", text)

    def test_a_minor_loop_is_left_in_peace(self):
        for _ in self.DataLoader(Timed(self, 0.0, batches=100)):
            self.step()
        list(self.DataLoader(Timed(self, 1.0)))
        self.assertIn("fed 0 %, but only 1.6 % of the time of all loops is spent here.",
                      self.said()[4])

    def test_little_was_seen(self):
        nothing = "feedrate: no DataLoader was iterated in 'python train.py'."
        self.assertEqual(self.said(), [nothing])
        next(iter(self.DataLoader(Timed(self, 1.0))))
        self.assertIn("too few batches to say how well fed it is.", self.said()[1])

    def test_durations(self):
        texts = {4e-5: "40 us", 0.0123: "12.3 ms", 1.234: "1.23 s", 61.26: "61.3 s", 3600: "3600 s"}
        self.assertEqual({seconds: health._duration(seconds) for seconds in texts}, texts)


class Scripts(unittest.TestCase):
    """Whole programs, with and without us."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        data = self.folder / "torch" / "utils" / "data"
        data.mkdir(parents=True)
        (self.folder / "torch" / "__init__.py").write_text("")
        (self.folder / "torch" / "utils" / "__init__.py").write_text("")
        (data / "__init__.py").write_text("from .dataloader import DataLoader\n")
        (data / "dataloader.py").write_text(STANDIN)
        self.environment = dict(os.environ, PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1")

    def write(self, text, name="train.py"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))

    def run_python(self, *arguments):
        done = subprocess.run([sys.executable, *arguments], cwd=str(self.folder), timeout=120,
                              env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def both(self, *arguments):
        """Runs a command without and with us; returns what we said."""
        code, out, err = self.run_python(*arguments)
        our_code, our_out, our_err = self.run_python("-m", "feedrate", *arguments)
        kept, _, said = our_err.partition("feedrate: ")
        self.assertEqual((our_code, our_out, kept), (code, out, err))
        return said

    def test_a_script_finds_all_as_without_us(self):
        self.write("import sys\nprint('imported', __name__)\n", "sub/neighbour.py")
        self.write("""
            '''Its text.'''
            import sys, neighbour
            names = sorted(name for name in globals() if not name.startswith("_wh"))
            print(names, __name__, __doc__, __file__, __package__, __spec__, sys.argv, sys.path[0])
            print(type(__loader__).__name__, __builtins__, sys.modules["__main__"].names is names)
            def f(x: int): pass
            y: int = 3
            print(f.__annotations__)
            """, "sub/train.py")
        self.assertIn("no DataLoader was seen", self.both("sub/train.py", "--lr", "3", "-m"))
        self.both("./sub/train.py")
        self.both(str(self.folder / "sub" / "train.py"))

    def test_exit_codes(self):
        self.write("import sys; sys.exit(eval(sys.argv[1]))")
        for code in ("0", "3", "'a sentence'", "None"):
            self.both("train.py", code)

    def test_tracebacks(self):
        # Would catch our frames, or runpy's, in what the user reads.
        self.write("""
            import torch.utils.data
            def data():
                yield 1
                try:
                    1 / 0
                except ZeroDivisionError as error:
                    raise KeyError("x")
            for x in torch.utils.data.DataLoader(data()):
                pass
            """)
        self.both("train.py")
        self.write("x = = 3\n")
        self.both("train.py")
        self.write("raise KeyboardInterrupt")
        self.both("train.py")
        self.write("""
            import sys, traceback
            def hook(kind, error, trace):
                print("mine", kind, error, [f.name for f in traceback.extract_tb(trace)])
            sys.excepthook = hook
            raise ValueError(3)
            """)
        self.both("train.py")

    def test_modules(self):
        self.write("print('package', __name__)", "package/__init__.py")
        self.write("""
            from . import other
            import sys
            print(__name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0])
            """, "package/run.py")
        self.write("", "package/other.py")
        self.write("import sys; print(__name__, __package__, sys.argv, sys.path[0])",
                   "package/__main__.py")
        self.both("-m", "package.run", "--lr", "3")
        self.both("-m", "package")
        self.both("package")

    def test_children_by_spawn_find_the_script(self):
        # Would catch children that import our __main__ in its place.
        self.write("""
            import multiprocessing
            def f(x):
                return x + 1
            if __name__ == "__main__":
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    print(pool.map(f, [1]))
            """)
        self.both("train.py")

    def test_a_child_by_fork_says_nothing(self):
        self.write("""
            import os, sys
            if os.fork() == 0:
                sys.exit(0)
            os.wait()
            """)
        self.assertEqual(self.both("train.py").count("DataLoader"), 1)

    def test_what_is_said(self):
        self.write("""
            import time
            from torch.utils.data import DataLoader
            def main():
                loader = DataLoader(
                    [1, 2, 3, 4])
                for x in loader:
                    time.sleep(0.01)
            main()
            """)
        said = self.both("train.py", "a b")
        self.assertIn("how well fed 'python train.py 'a b'' was\n  loader (train.py:4): ", said)
        self.assertIn("4 batches in 1 epoch", said)

    def test_an_interrupt_still_tells(self):
        self.write("""
            import time
            from torch.utils.data import DataLoader
            for x in DataLoader(range(100000)):
                print(x, flush=True)
                time.sleep(0.01)
            """)
        process = subprocess.Popen([sys.executable, "-m", "feedrate", "train.py"],
                                   cwd=str(self.folder), env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertRegex(err.decode(),
                         r"KeyboardInterrupt\n+feedrate: how well fed(.|\n)*batches in 1 epoch")

    def refused(self, sentence, *arguments):
        code, out, err = self.run_python("-m", "feedrate", *arguments)
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, "feedrate: " + sentence + "\n")

    def test_refusals(self):
        (self.folder / "empty").mkdir()
        self.refused("Name a script to run: python -m feedrate train.py.")
        self.refused("Name a module to run: python -m feedrate -m package.module.", "-m")
        self.refused("The script 'none.py' can't be read: No such file or directory.", "none.py")
        self.refused("There is no __main__.py in 'empty'; name a script.", "empty")
        self.refused("There is no option '--lr'; see python -m feedrate --help.", "--lr", "3")
        code, out, err = self.run_python("-m", "feedrate", "-m", "nope.nope")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(err, r"^feedrate: The module 'nope.nope' can't be run: [^\n]*nope.*\n$")

    def test_help_and_version(self):
        told = self.run_python("-m", "feedrate", "--help")[1]
        self.assertIn("python -m feedrate -m MODULE", told)
        told = self.run_python("-m", "feedrate", "--version")[1]
        self.assertRegex(told, r"^feedrate \d+\.\d+\.\d+\n$")


@unittest.skipUnless(HAS_TORCH, "there is no PyTorch here")
class WithTorch(Scripts):
    """The same against PyTorch itself."""

    def setUp(self):
        super().setUp()
        for path in sorted((self.folder / "torch").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (self.folder / "torch").rmdir()

    def test_workers_that_stay(self):
        self.write("""
            import time, torch
            from torch.utils.data import DataLoader, TensorDataset
            class Slow(TensorDataset):
                def __getitem__(self, at):
                    time.sleep(0.01)
                    return super().__getitem__(at)
            loader = DataLoader(Slow(torch.zeros(40, 3)), batch_size=8, num_workers=1,
                                persistent_workers=True)
            for _ in range(3):
                for x, in loader:
                    pass
            """)
        said = self.both("train.py")
        self.assertRegex(said, r"loader \(train.py:7\): fed \d %: the loop waits for data \d+ %")
        self.assertIn("15 batches in 3 epochs", said)
        self.assertIn("prefetch_factor=2, persistent_workers=True", said)
        rate = float(re.search(r"([\d.]+) samples/s", said).group(1))
        self.assertLess(rate, 100)


if __name__ == "__main__":
    unittest.main()
