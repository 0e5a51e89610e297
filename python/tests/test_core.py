# SPDX-License-Identifier: Apache-2.0
"""Tests of the C++ loader in Python: skipped where the package was not built, or NumPy is missing."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
PICTURES = HERE.parents[1] / "tests" / "fixtures" / "images"

try:
    import numpy
    import feedrate
    from feedrate import _core
except ImportError as reason:
    raise unittest.SkipTest("the package is not built, or there is no NumPy: %s" % reason)


def jpegs():
    return [str(PICTURES / name) for name in sorted(os.listdir(PICTURES))
            if name.endswith(".jpg") and name not in ("pixel.jpg", "tiny.jpg")]


def numbers(folder, rows=100, width=3):
    """A dataset of rows of equal numbers, with their index as the label."""
    path, labels = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
    numpy.save(path, numpy.repeat(numpy.arange(rows, dtype="f4")[:, None], width, axis=1))
    numpy.save(labels, numpy.arange(rows, dtype="i8"))
    return feedrate.NpyFile(path, labels)


class WithNumbers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dataset = numbers(self.folder.name)

    def loader(self, **keywords):
        return feedrate.Loader(self.dataset, **dict({"batch": 8, "workers": 2, "seed": 9000019},
                                                    **keywords))


def labels_of(loader):
    return [int(label) for batch in loader for label in batch["label"]]


class TestEpochs(WithNumbers):
    def test_each_loop_is_one_epoch_and_the_bytes_do_not_depend_on_workers(self):
        # Bug: a loop that goes on into the next epoch, or an order that depends on who loads.
        loader = self.loader()
        self.assertEqual(len(loader), 13)
        first, second = labels_of(loader), labels_of(loader)
        self.assertEqual(sorted(first), list(range(100)))
        self.assertNotEqual(first, second)
        for workers in (0, 1, 3):
            again = self.loader(workers=workers)
            self.assertEqual([labels_of(again), labels_of(again)], [first, second])

    def test_a_place_that_was_set_is_the_state_at_once(self):
        # Bug: a checkpoint between load_state_dict() and the next batch held where the loop before was left.
        loader = self.loader()
        loop = iter(loader)
        next(loop), next(loop)
        loader.load_state_dict({"epoch": 7, "sample": 32})
        self.assertEqual(loader.state_dict(), {"epoch": 7, "sample": 32})
        next(iter(loader))
        self.assertEqual(loader.state_dict(), {"epoch": 7, "sample": 40})
        loader.set_epoch(5)
        self.assertEqual(loader.state_dict(), {"epoch": 5, "sample": 0})

    def test_a_loop_that_is_left_early_is_over(self):
        # Bug: the next loop goes on in the middle of the epoch that was left.
        loader = self.loader()
        epochs = [labels_of(loader) for _ in range(3)]
        other = self.loader()
        for _ in other:
            break
        self.assertEqual(labels_of(other), epochs[1])
        other.set_epoch(2)
        self.assertEqual(other.epoch, 2)
        self.assertEqual(labels_of(other), epochs[2])

    def test_training_resumes_where_its_state_was_saved(self):
        # Bug: batches that lay ready count as trained on.
        loader, seen = self.loader(), []
        for batch in loader:
            seen += batch["label"].tolist()
            if len(seen) == 40:
                break
        state = loader.state_dict()
        self.assertEqual(state, {"epoch": 0, "sample": 40})
        other = self.loader()
        other.load_state_dict(state)
        self.assertEqual(sorted(seen + labels_of(other)), list(range(100)))
        self.assertEqual(other.state_dict(), {"epoch": 1, "sample": 0})
        larger = self.loader(batch=50)
        larger.load_state_dict(state)
        self.assertEqual(sorted(seen + labels_of(larger)), list(range(100)))
        with self.assertRaisesRegex(ValueError, "must have the same dataset"):
            larger.load_state_dict({"epoch": 0, "sample": 101})

    def test_closing_a_loader_ends_a_loop_in_another_thread(self):
        # Bug: the loader's memory ends under a thread that waits for a batch.
        for _ in range(20):
            loader = self.loader(workers=1, prefetch=1)
            told = []

            def consume(loader=loader, told=told):
                try:
                    while True:
                        for _ in loader:
                            loader.health()
                except ValueError as error:
                    told.append(str(error))

            thread = threading.Thread(target=consume)
            thread.start()
            time.sleep(0.002)
            loader.close()
            thread.join(30)
            self.assertFalse(thread.is_alive())
            self.assertIn("is closed", told[0])

    def test_the_number_of_workers_can_be_left_to_the_loader(self):
        loader = self.loader(workers="automatic")
        fixed = self.loader(workers=1)
        self.assertEqual([labels_of(loader) for _ in range(3)], [labels_of(fixed) for _ in range(3)])
        self.assertGreaterEqual(loader.workers, 1)
        loader.workers = 2
        self.assertEqual(loader.workers, 2)
        loader.workers = "automatic"
        with self.assertRaisesRegex(ValueError, "number or 'automatic'"):
            loader.workers = "many"

    def test_an_older_loop_is_told_that_a_newer_one_has_begun(self):
        loader = self.loader()
        older = iter(loader)
        next(older)
        next(iter(loader))
        with self.assertRaisesRegex(ValueError, "newer loop"):
            next(older)

    def test_ranks_share_an_epoch(self):
        parts = [labels_of(self.loader(rank=rank, world=2)) for rank in (0, 1)]
        self.assertEqual(sorted(parts[0] + parts[1]), list(range(100)))


class TestMemory(WithNumbers):
    def test_every_batch_stays_valid_as_long_as_it_is_held(self):
        # Bug: a list of all batches waits for ever, or shows the last one many times.
        for workers in (0, 2):
            loader = self.loader(workers=workers, shuffle=False)
            batches = list(loader) + list(loader)
            del loader
            gc.collect()
            labels = [int(label) for batch in batches for label in batch["label"]]
            self.assertEqual(labels, list(range(100)) * 2)
            for batch in batches:
                self.assertTrue((batch["input"][:, 2] == batch["label"]).all())

    def test_every_batch_can_be_held_where_none_is_loaded_ahead(self):
        # Bug: with prefetch=0 the third batch that a loop kept raised "All 2 slots of the loader are leased".
        for workers in (0, 2):
            batches = list(self.loader(workers=workers, prefetch=0, shuffle=False))
            self.assertEqual([int(label) for batch in batches for label in batch["label"]], list(range(100)))

    def test_arrays_share_the_memory_of_the_loader(self):
        # Bug: each batch is copied. The second batch's memory lies in one slab with the first's.
        loader = self.loader(shuffle=False)
        for index, batch in enumerate(loader):
            address = batch["input"].__array_interface__["data"][0]
            if index == 0:
                first = address
            self.assertLess(abs(address - first), loader.memory_bytes)
            if index == 4:
                break
        self.assertFalse(batch["input"].flags.owndata)
        self.assertTrue(batch["input"].flags.writeable)

    def test_a_kept_batch_survives_an_epoch_that_begins_anew(self):
        loader = self.loader(shuffle=False)
        kept = [batch for batch, _ in zip(loader, range(2))]
        for _ in range(5):
            next(iter(loader))
        self.assertEqual(kept[0]["label"].tolist(), list(range(8)))
        self.assertEqual(kept[1]["label"].tolist(), list(range(8, 16)))


class TestThreads(WithNumbers):
    def in_threads(self, count, call):
        """What `call` returned in each of so many threads that begin together, or said as it failed."""
        begin, results = threading.Barrier(count), []

        def run_one():
            begin.wait()
            try:
                results.append(call())
            except ValueError as error:
                results.append(str(error))

        threads = [threading.Thread(target=run_one, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            self.assertFalse(thread.is_alive())
        return results

    def test_threads_that_share_a_loop_get_each_batch_once(self):
        # Bug: at the end of an epoch most of them got "All 4 slots of the loader are leased".
        for workers in (0, 1, 3):
            loader = self.loader(batch=1, workers=workers)
            for epoch in range(1, 4):
                shared = iter(loader)
                labels = self.in_threads(8, lambda shared=shared: labels_of(shared))
                self.assertEqual(sorted(sum(labels, [])), list(range(100)))
                self.assertEqual(loader.state_dict(), {"epoch": epoch, "sample": 0})

    def test_batches_that_a_thread_keeps_are_dropped_by_another(self):
        # Bug: a batch that is kept shows another's samples, or its memory ends with the thread that took it.
        loader = self.loader(batch=1, workers=2)
        for _ in range(3):
            shared = iter(loader)
            kept = sum(self.in_threads(8, lambda shared=shared: list(shared)), [])
            self.assertTrue(all((batch["input"] == batch["label"][0]).all() for batch in kept))
            self.assertEqual(sorted(int(batch["label"][0]) for batch in kept), list(range(100)))

            def drop(kept=kept):
                try:
                    while True:
                        kept.pop()
                except IndexError:
                    return "empty"

            self.assertEqual(self.in_threads(8, drop), ["empty"] * 8)

    def test_each_thread_may_have_a_loader_of_its_own(self):
        expected = labels_of(self.loader())
        self.assertEqual(self.in_threads(8, lambda: labels_of(self.loader())), [expected] * 8)

    def test_closing_ends_all_threads_that_share_a_loader(self):
        # Bug: one of them waits on for a batch, or the loader's memory ends under it.
        for _ in range(5):
            loader = self.loader(batch=1, workers=1, prefetch=1)
            taken = threading.Semaphore(0)

            def loop(loader=loader, taken=taken):
                while True:
                    try:
                        for _ in loader:
                            taken.release()
                    except ValueError as error:
                        if "newer loop" not in str(error):
                            raise

            def close(loader=loader, taken=taken):
                for _ in range(50):
                    taken.acquire()
                loader.close()
                return "closed"

            calls = iter([close] + [loop] * 8)
            said = self.in_threads(9, lambda calls=calls: next(calls)())
            self.assertEqual([words for words in said if "closed" not in words], [])

    def test_all_that_a_loader_has_can_be_used_at_once(self):
        # Bug: a thread that reads or sets something meets what another one changes.
        loader = self.loader(batch=1, workers=2)
        shared = iter(loader)

        def use():
            loader.workers = 1 + (loader.workers + loader.epoch) % 3
            loader.load_state_dict(loader.state_dict())
            return len(loader), loader.memory_bytes > 0, loader.skips(), loader.health().workers > 0, len(labels_of(shared))

        results = self.in_threads(8, use)
        self.assertEqual([result[:4] for result in results], [(100, True, [], True)] * 8)
        self.assertEqual(sum(result[4] for result in results), 100)


class TestProcess(WithNumbers):
    def test_a_fork_is_told_and_ends(self):
        # Bug: the child waits for threads that it does not have, when it uses the loader or ends.
        loader = self.loader()
        next(iter(loader))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                next(iter(loader))
            except ValueError as error:
                status = 0 if "fork" in str(error) else 2
            del loader
            gc.collect()
            os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(labels_of(loader)), 100)

    def test_a_fork_beside_a_thread_that_waits_ends(self):
        # Bug: the child waits for ever for the loader, which a thread had that it does not have.
        paths = jpegs() * 30
        images = feedrate.ImageFolder(paths=paths, labels=[0] * len(paths), size=500)
        loader = feedrate.Loader(images, batch=len(paths), prefetch=0, workers=0)
        thread = threading.Thread(target=lambda: next(iter(loader)))
        thread.start()
        time.sleep(0.05)
        child = os.fork()
        if child == 0:
            loader.close()
            os._exit(0)
        for _ in range(200):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            time.sleep(0.1)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        thread.join()
        self.assertEqual((ended, status), (child, 0))

    def test_a_program_that_ends_in_the_middle_of_an_epoch_ends(self):
        script = ("import feedrate; l = feedrate.Loader(feedrate.NpyFile(%r), workers=3, batch=8); "
                  "next(iter(l)); print('done')" % os.path.join(self.folder.name, "x.npy"))
        self.assertEqual(run(script), (0, "done\n"))

    def test_closing_ends_it(self):
        loader = self.loader()
        batch = next(iter(loader))
        loader.close()
        loader.close()
        self.assertEqual(len(batch["label"]), 8)
        with self.assertRaisesRegex(ValueError, "closed"):
            next(iter(loader))

    def test_other_threads_run_while_it_waits(self):
        # Bug: the GIL is held while a batch is awaited, with workers or without.
        paths = jpegs() * 3
        for workers in (0, 1):
            images = feedrate.ImageFolder(paths=paths, labels=[0] * len(paths), size=500)
            loader = feedrate.Loader(images, batch=len(paths), prefetch=0, workers=workers)
            waiting, ticks = threading.Event(), 0
            thread = threading.Thread(target=lambda: (next(iter(loader)), waiting.set()))
            thread.start()
            while not waiting.is_set():
                time.sleep(0.001)
                ticks += 1
            thread.join()
            self.assertGreater(ticks, 3)

    def test_workers_can_change_while_it_runs(self):
        loader = self.loader(workers=1, shuffle=False)
        labels = []
        for batch in loader:
            labels += batch["label"].tolist()
            loader.workers = 1 + len(labels) // 8 % 3
        self.assertEqual(labels, list(range(100)))
        self.assertIn(loader.workers, (1, 2, 3))


def run(script):
    folders = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, PYTHONPATH=folders))
    return done.returncode, done.stdout + done.stderr


class TestImages(unittest.TestCase):
    def test_a_folder_has_classes_and_images_of_the_asked_form(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, path in enumerate(jpegs()[:6]):
                place = pathlib.Path(folder, "cat" if number % 2 else "dog")
                place.mkdir(exist_ok=True)
                (place / pathlib.Path(path).name).write_bytes(pathlib.Path(path).read_bytes())
            images = feedrate.ImageFolder(pathlib.Path(folder), size=32)
            self.assertEqual((len(images), images.classes), (6, ["cat", "dog"]))
            batch = next(iter(feedrate.Loader(images, batch=6)))
            self.assertEqual((batch["image"].shape, batch["image"].dtype), ((6, 3, 32, 32), "float32"))
            self.assertEqual(sorted(batch["label"].tolist()), [0, 0, 0, 1, 1, 1])
            self.assertIn(images.label(0), (0, 1))
            self.assertTrue(images.path(0).startswith(folder))

    def test_bytes_and_floats_are_the_same_picture(self):
        keywords = dict(paths=jpegs(), labels=list(range(len(jpegs()))), size=24, upright=False)
        small = [next(iter(feedrate.Loader(feedrate.ImageFolder(**keywords, **form), batch=64,
                                           shuffle=False, seed=5)))
                 for form in ({"dtype": "uint8", "channels_last": True},
                              {"mean": (0, 0, 0), "std": (1, 1, 1)})]
        levels = small[0]["image"].transpose(0, 3, 1, 2).astype("f4")
        self.assertLess(abs(levels - 255 * small[1]["image"]).max(), 0.01)

    def test_wrong_options_are_refused_in_one_sentence(self):
        paths, labels = jpegs()[:1], [0]
        for keywords, words in (({"transform": "crop"}, "no transform 'crop'; use one of train, evaluate"),
                                ({"dtype": "float16"}, "use one of float32, uint8"),
                                ({"std": (1, 0, 1)}, "std"), ({"size": 0}, "image size"),
                                ({"root": "/tmp"}, "not both"), ({"labels": []}, "0 labels")):
            with self.assertRaisesRegex(ValueError, words):
                feedrate.ImageFolder(**dict(dict(paths=paths, labels=labels), **keywords))
        with self.assertRaisesRegex(RuntimeError, "nowhere"):
            feedrate.ImageFolder("/nowhere/at/all")
        images = feedrate.ImageFolder(paths=paths, labels=labels)
        for keywords in ({"batch": 0}, {"workers": -1}, {"prefetch": -1}, {"stall_s": 0},
                         {"rank": 2, "world": 2}):
            with self.assertRaises(ValueError):
                feedrate.Loader(images, **keywords)
        with self.assertRaises(MemoryError):
            feedrate.Loader(images, batch=1 << 24)

    def test_a_damaged_file_is_named_and_the_next_batch_comes(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = os.path.join(folder, "bad.jpg")
            pathlib.Path(bad).write_bytes(b"\xff\xd8 not a picture")
            paths = jpegs()[:3] + [bad] + jpegs()[3:6]
            images = feedrate.ImageFolder(paths=paths, labels=[0] * 7, size=16)
            epoch = iter(feedrate.Loader(images, batch=2, workers=1, shuffle=False))
            next(epoch)
            with self.assertRaisesRegex(feedrate.SampleError, "bad.jpg") as caught:
                next(epoch)
            self.assertEqual(caught.exception.sample, 3)
            self.assertEqual(len(next(epoch)["label"]), 2)
            loader = feedrate.Loader(images, batch=7, max_skips=1, shuffle=False)
            self.assertEqual(len(next(iter(loader))["label"]), 6)
            self.assertEqual([(sample, path) for sample, path, _ in loader.skips()], [(3, bad)])

    def test_what_was_left_out_stays_known_while_a_batch_is_held(self):
        # Bug: a batch that is held when a loop begins elsewhere: no skip is listed, and none counts as allowed.
        with tempfile.TemporaryDirectory() as folder:
            bad = os.path.join(folder, "bad.jpg")
            pathlib.Path(bad).write_bytes(b"\xff\xd8 not a picture")
            images = feedrate.ImageFolder(paths=[bad] + jpegs()[:2] + [bad], labels=[0] * 4, size=16)
            for holds in (True, False):
                loader = feedrate.Loader(images, batch=2, max_skips=1, shuffle=False, prefetch=0)
                batch = next(iter(loader))
                if not holds:
                    del batch
                    gc.collect()
                loader.load_state_dict({**loader.state_dict(), "epoch": 5, "sample": 2})
                with self.assertRaisesRegex(feedrate.SampleError, "1 sample"):
                    next(iter(loader))
                self.assertEqual([sample for sample, _, _ in loader.skips()], [0])

    def test_an_epoch_whose_last_batch_was_left_out_is_over(self):
        # Bug: a checkpoint behind it began in that epoch, with a loop of no batch.
        with tempfile.TemporaryDirectory() as folder:
            bad = os.path.join(folder, "bad.jpg")
            pathlib.Path(bad).write_bytes(b"\xff\xd8 not a picture")
            images = feedrate.ImageFolder(paths=jpegs()[:2] + [bad] * 2, labels=[0] * 4, size=16)
            loader = feedrate.Loader(images, batch=2, max_skips=2, shuffle=False, workers=1)
            for epoch in range(3):
                self.assertEqual(len(list(loader)), 1)
                state = loader.state_dict()
                self.assertEqual((state["epoch"], state["sample"]), (epoch + 1, 0))


class TestHealth(WithNumbers):
    def test_it_tells_how_well_the_loop_was_fed(self):
        loader = self.loader()
        for _ in loader:
            time.sleep(0.002)
        health = loader.health()
        self.assertEqual((health.samples, health.workers), (100, 2))
        self.assertTrue(0 <= health.fed <= 1)
        self.assertIn("fed", str(health))
        self.assertIn(health.limit, ("consumer", "workers", "prefetch"))


class TestSignals(WithNumbers):
    def test_ctrl_c_ends_a_loop_that_waits(self):
        # Bug: the interpreter looks at signals only when a batch has come.
        script = ("import feedrate, signal, sys; "
                  "signal.signal(signal.SIGINT, signal.default_int_handler); "  # a job may ignore it
                  "l = feedrate.Loader(feedrate.ImageFolder(paths=%r * 40, labels=[0] * %d, size=300), "
                  "batch=%d, prefetch=0, workers=1); print('begun', flush=True); list(l); list(l)"
                  % (jpegs(), 40 * len(jpegs()), 40 * len(jpegs())))
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True,
                                 env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual(child.stdout.readline(), "begun\n")
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        self.assertIn("KeyboardInterrupt", child.communicate(timeout=30)[1])


if __name__ == "__main__":
    unittest.main()
