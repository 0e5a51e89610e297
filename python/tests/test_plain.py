# SPDX-License-Identifier: Apache-2.0
"""Tests of a launch with fixed settings: what is told of it, and of the GPU. Time is made up."""

import io
import itertools
import json
import sys
import types
import unittest
from unittest import mock

from stub import MODULES, data, torch
from trainers import ahead

from feedrate import plain as plain_launch
from feedrate.evaluation import OtherPass
from feedrate.plain import Plain, PlainReporter


class Connection:
    """Autotune's end: what was told."""

    def __init__(self):
        self.said = b""

    def send(self, text, _):
        self.said += text
        return len(text)

    def messages(self):
        return [json.loads(line) for line in self.said.splitlines()]


class Cuda:
    """A GPU whose tensors take more and more."""

    def __init__(self, uuid="5fc0-11"):
        self.initialized = True
        self.gpu = 1  # that the script trains on
        self.taken = 0
        self.properties = types.SimpleNamespace(**({} if uuid is None else {"uuid": uuid}))

    def is_initialized(self):
        return self.initialized

    def current_device(self):
        return 1

    def get_device_properties(self, device):
        assert device == self.gpu
        return self.properties

    def synchronize(self, device):
        pass

    def max_memory_allocated(self, device=1):
        assert device == self.gpu
        self.taken += 1000
        return self.taken


class Launch(unittest.TestCase):
    def setUp(self):
        self.now_s = 0.0
        clock = mock.patch.object(plain_launch.time, "monotonic", lambda: self.now_s)
        hooks = mock.patch.dict(MODULES["torch.optim.optimizer"]._hooks)
        no_weight = mock.patch("feedrate.device.trained_weight", return_value=None)
        for patch in (mock.patch.dict(sys.modules, MODULES), hooks, clock, no_weight):
            patch.start()
            self.addCleanup(patch.stop)
        self.optimizer = torch.optim.SGD([], 0.1)

    def told(self, cuda=None, loader=None, epochs=1, step=lambda batch: None, config=None, **options):
        """What autotune is told of epochs of steps of 0.6 s, on this GPU."""
        connection = Connection()
        plain = Plain(lambda: PlainReporter(connection), config, torch, **options)
        loader = loader or data.DataLoader([torch.ones(2)] * 12, batch_size=4)
        with mock.patch.object(torch, "cuda", cuda or torch.cuda):
            for _ in range(epochs):
                for batch in plain.iterate(loader, iter):
                    self.now_s += 0.6
                    self.optimizer.step()
                    step(batch)
        return connection.messages()


class Gpu(Launch):
    def test_is_named_once_and_its_memory_once_a_second(self):
        # Would catch a look at the GPU for each batch, and a UUID that NVML does not know.
        told = self.told(Cuda())
        self.assertEqual([message.get("gpu") for message in told], ["GPU-5fc0-11"] + [None] * 3)
        self.assertEqual([message.get("device_bytes") for message in told],
                         [1000, None, 2000, None])

    def test_is_that_of_the_weights(self):
        # Bug: of `model.to("cuda:0")` where another GPU is current, the figures of that other one were shown.
        weight = types.SimpleNamespace(is_cuda=True, device=0)
        cuda = Cuda()
        cuda.gpu = 0
        with mock.patch("feedrate.device.trained_weight", return_value=weight):
            self.assertEqual(self.told(cuda)[0]["gpu"], "GPU-5fc0-11")

    def test_has_a_uuid_as_nvml_spells_it(self):
        for uuid, spelt in (("5fc0", "GPU-5fc0"), ("GPU-5fc0", "GPU-5fc0"), ("MIG-1", "MIG-1"),
                            (None, None)):
            first = self.told(Cuda(uuid))[0]
            self.assertEqual((first["gpu"], first["device_bytes"]), (spelt, 1000))

    def test_is_the_instance_that_the_environment_names(self):
        # Would catch the gauges of the whole GPU, or none, for a script on an instance of it.
        for shown, spelt in (("MIG-1,MIG-2", "MIG-1"), ("GPU-5fc0", "GPU-5fc0-11"), ("0", "GPU-5fc0-11")):
            with mock.patch.dict("os.environ", CUDA_VISIBLE_DEVICES=shown):
                self.assertEqual(self.told(Cuda())[0]["gpu"], spelt)

    def test_is_told_of_from_the_batch_on_with_which_it_is_used(self):
        # Would catch a hook that initializes CUDA: a script that forks later fails by that.
        cuda = Cuda()
        cuda.initialized = False
        cuda.current_device = mock.Mock(side_effect=AssertionError("CUDA is initialized by us"))
        self.assertFalse([message for message in self.told(cuda) if "device_bytes" in message])
        self.assertFalse([message for message in self.told() if "device_bytes" in message])

    def test_that_fails_does_not_end_the_loop(self):
        cuda = Cuda()
        cuda.max_memory_allocated = mock.Mock(side_effect=RuntimeError("CUDA error"))
        self.assertEqual(self.told(cuda)[-1]["batches"], 3)


class Settings(Launch):
    CONFIG = {"workers": 0, "prefetch": 0, "pinned": False, "step_threads": 2, "precision": "fp32",
              "batch": 4, "persistent": False, "start_method": "own", "device": "cuda", "own_precision": "fp32"}

    def test_are_those_of_the_step_too(self):
        # Would catch a confirmation of bf16 in fp32, or of one thread with all of them; also where
        # each step makes an iterator of its own, as in next(iter(loader)).
        seen, formats = [], mock.MagicMock()
        entered = formats.return_value
        self.addCleanup(torch.set_num_threads, torch.get_num_threads())
        plain = Plain(lambda: PlainReporter(Connection()),
                      dict(self.CONFIG, step_threads=5, precision="bf16"), torch)
        loader = data.DataLoader([torch.ones(2)] * 12, batch_size=4)
        with mock.patch.object(torch, "autocast", formats):
            for _ in range(3):
                next(plain.iterate(loader, iter))
                seen.append((torch.get_num_threads(), entered.__enter__.call_count,
                             entered.__exit__.call_count))
        formats.assert_called_once_with("cuda", dtype=torch.bfloat16, cache_enabled=False)
        self.assertEqual(seen, [(5, 1, 0)] * 3)

    def test_are_given_to_each_loader_once(self):
        # Would catch epochs behind the first, whose loaders were made again, as the script has them.
        plain = Plain(lambda: PlainReporter(Connection()), dict(self.CONFIG, workers=3, prefetch=2),
                      torch)
        for _ in range(2):
            loader = data.DataLoader([torch.ones(2)] * 12, batch_size=4)
            for workers in (3, 7):
                list(plain.iterate(loader, lambda one: iter([])))
                self.assertEqual(loader.num_workers, workers)
                loader.num_workers = 7  # whatever the script does with it then, is its own

    def test_that_are_the_script_s_own_leave_the_step_alone(self):
        with mock.patch.object(torch, "autocast", side_effect=AssertionError), \
                mock.patch.object(torch, "set_num_threads", side_effect=AssertionError):
            self.assertEqual(self.told(config=self.CONFIG)[-1]["batches"], 3)
            own = dict(self.CONFIG, precision="bf16", own_precision="bf16")
            self.assertEqual(self.told(config=own)[-1]["batches"], 3)


class Boundaries(Launch):
    """Passes of two batches: workers start for 3 s, each batch takes 1 s, the end 4 s, validation 7 s."""

    def passes(self, number, taken=2, before_first_s=0, keeps_iterator=False):
        def begin(loader):
            self.now_s += 3
            return batches()

        def batches():
            for batch in ([1], [2]):
                self.now_s += 1
                yield batch
            self.now_s += 4

        connection = Connection()
        plain = Plain(lambda: PlainReporter(connection), None, torch)
        plain.keeps_iterator = keeps_iterator
        for _ in range(number):
            loader = data.DataLoader([torch.ones(2)] * 2, batch_size=1, num_workers=1)
            passing = plain.iterate(loader, begin)
            self.now_s += before_first_s
            for _ in range(taken):
                next(passing)
            if taken == 2:
                self.assertIsNone(next(passing, None))
            del passing
            self.now_s += 7
        return plain._reporter

    def test_are_from_the_end_of_a_pass_to_the_first_batch_of_the_next(self):
        # Bug: workers that start at each epoch were taken off a confirmation as time outside of the loop.
        told = self.passes(3)
        self.assertEqual((told.passes, told.start_s, told.boundary_s), (3, 4, 2 * (4 + 4)))
        self.assertEqual((told.outside_s, told.wait_s, told.pass_batches), (2 * 7, 3 * 1, 2))

    def test_are_without_what_the_script_does_before_it_asks_for_the_first_batch(self):
        # Bug: a script that makes its iterator, then builds its model: that time counted in each epoch, and a gain
        # was confirmed that was far too high.
        told = self.passes(3, before_first_s=50)
        self.assertEqual((told.start_s, told.boundary_s), (4, 2 * (4 + 4)))
        self.assertEqual((told.outside_s, told.wait_s), (2 * (7 + 50), 3 * 1))

    def test_count_an_iterator_once_that_is_made_while_the_last_one_is_held(self):
        plain = Plain(lambda: PlainReporter(Connection()), None, torch)
        loader = data.DataLoader([torch.ones(2)] * 2, batch_size=1, num_workers=1)

        def begin(loader):
            self.now_s += 3
            return iter([1, 2])

        for _ in range(3):
            passing = plain.iterate(loader, begin)
            next(passing)
        self.assertEqual((plain._reporter.boundary_s, plain._reporter.outside_s), (2 * 3, 0))

    def test_cost_nothing_where_the_loader_keeps_its_iterator(self):
        # Bug: the start of workers counted in each epoch of timm's MultiEpochsDataLoader, which starts them once.
        self.assertEqual(self.passes(1, keeps_iterator=True).start_s, 0)
        plain = Plain(lambda: PlainReporter(Connection()), None, torch)
        loader = data.DataLoader([torch.ones(2)] * 2, batch_size=1, num_workers=1)
        passing = plain.iterate(loader, lambda loader: itertools.repeat(torch.ones(2)))
        lengths = [next(passing) and plain._reporter.pass_batches for _ in range(6)]
        self.assertEqual(lengths, [2, 2, 0, 0, 0, 0])

    def test_are_told_of_passes_that_the_loop_leaves(self):
        told = self.passes(3, taken=1)
        self.assertEqual((told.boundary_s, told.outside_s, told.pass_batches), (2 * 4, 2 * 7, 1))

    def test_include_the_end_of_workers_that_do_not_stay(self):
        # Bug: workers that ended behind the loop, and cost nothing.
        class Ending:
            def __init__(ending, batches):
                ending.batches = iter(batches)

            def __iter__(ending):
                return ending

            def __next__(ending):
                return next(ending.batches)

            def _shutdown_workers(ending):
                self.now_s += 5

        class Wrapping(Ending):  # as PyTorch Geometric has it
            _shutdown_workers = property()

            def __init__(wrapping, batches):
                wrapping.batches = wrapping.iterator = Ending(batches)

        for kind, stays, seconds in ((Ending, False, 5), (Wrapping, False, 5), (Ending, True, 0)):
            plain = Plain(lambda: PlainReporter(Connection()), None, torch)
            loader = data.DataLoader([torch.ones(2)] * 2, num_workers=1, persistent_workers=stays)
            for _ in range(2):
                passing = plain.iterate(loader, lambda _: kind([[1], [2]]))
                next(passing)
                del passing
            self.assertEqual(plain._reporter.boundary_s, seconds)


class Evaluations(Launch):
    def told_of_an_evaluation(self, leaves):
        """What autotune is told of steps of half a second, of which the second evaluates, and may be the last."""
        connection = Connection()
        plain = Plain(lambda: PlainReporter(connection), None, torch)
        for step, _ in enumerate(plain.iterate(data.DataLoader([torch.ones(2)] * 12, batch_size=4), iter)):
            self.now_s += 0.5
            self.optimizer.step()
            if step == 1:
                for _ in OtherPass(plain.evaluations, lambda: iter(range(3))):
                    self.now_s += 100
                if leaves:
                    break
        return connection.messages()

    def test_within_the_loop_are_outside_of_it(self):
        # Bug: a launch that confirms, slow by the validation that it met; or ended for its silence meanwhile.
        told = self.told_of_an_evaluation(leaves=False)
        self.assertEqual([message["batches"] for message in told], [1, 2, 2, 2, 2, 2, 3])
        self.assertEqual([message["t"] - message["outside_s"] for message in told],
                         [0, 0.5, 0.5, 0.5, 0.5, 0.5, 1.5])

    def test_in_the_last_step_of_a_loop_that_is_left_are_outside_of_it(self):
        # Bug: the last report of a loop that ends by break, with the evaluation before it in its rate.
        last = self.told_of_an_evaluation(leaves=True)[-1]
        self.assertEqual((last["batches"], last["t"] - last["outside_s"]), (2, 1))

    def test_behind_a_loop_that_is_left_are_outside_of_it_once(self):
        # Bug: those of a loop that ends by break count for the next one.
        plain = Plain(lambda: PlainReporter(Connection()), None, torch)
        for _ in range(3):
            for _ in plain.iterate(data.DataLoader([torch.ones(2)] * 12, batch_size=4), iter):
                self.now_s += 1
                break
            for _ in OtherPass(plain.evaluations, lambda: iter(range(3))):
                self.now_s += 100
        self.assertEqual(plain._reporter.outside_s, 2 * 300)

    def test_are_none_where_the_script_trains_on_another_loader(self):
        plain = Plain(lambda: PlainReporter(Connection()), None, torch)
        for _ in plain.iterate(data.DataLoader([torch.ones(2)] * 12, batch_size=4), iter):
            for _ in OtherPass(plain.evaluations, lambda: iter(range(3))):
                self.now_s += 1
                plain.evaluations.updated()
        self.assertEqual(plain._reporter.outside_s, 0)


class Slow(data.Dataset):
    """A sample takes 1/16 s of the test's clock."""

    def __init__(self, test, samples):
        self.test, self.samples = test, samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        self.test.now_s += 0.0625
        return torch.ones(2)


class Groups(Launch):
    """A loop that takes all batches of an update at once, and then does all their steps of 1/4 s."""

    def reports(self, each, groups, updates=True):
        """(batches, seconds in the loop, and in all) as they are told."""
        connection = Connection()
        plain = Plain(lambda: PlainReporter(connection), None, torch)
        batches = plain.iterate(data.DataLoader(Slow(self, 8 * each * groups), batch_size=2), iter)
        for _ in range(groups):
            for _ in list(itertools.islice(batches, each)):
                self.now_s += 0.25
            if updates:
                self.optimizer.step()
        del batches
        return [(told["batches"], told["t"] - told["outside_s"], told["t"]) for told in connection.messages()]

    def test_are_told_whole(self):
        # Bug: a launch that confirms, with the rate of batches that were taken and not stepped on yet.
        for each in (1, 4, 16):
            told = self.reports(each, 8)
            self.assertEqual(len({batches for batches, _, _ in told[:-1]}), 8)
            for batches, inside_s, _ in told[:-1]:  # the last is of a loop that was left
                self.assertAlmostEqual(inside_s - told[0][1], (batches - 1) * (0.125 + 0.25))

    def test_go_on_while_their_batches_are_waited_for(self):
        # Bug: a launch that was ended for its silence, or a rate that counts a wait without a step.
        times = [now_s for _, _, now_s in self.reports(64, 3)]
        self.assertLess(max(after - before for before, after in zip(times, times[1:])), 64 * 0.25 + 0.5)

    def test_are_not_waited_for_in_a_loop_without_updates(self):
        told = self.reports(1, 30, updates=False)
        self.assertEqual(told[-1][0], 30)
        self.assertLess(len([batches for batches, _, _ in told if batches == 1]), 7)

    def test_are_not_waited_for_behind_a_pass_that_had_none(self):
        # Bug: a launch of a second, of which nothing was told.
        self.assertEqual(self.reports(1, 3, updates=False)[-1][0], 3)


class TakenAhead(Launch):
    """A loop that takes a batch ahead, so that it has still to step when its pass is over."""

    def told_of_passes(self, each, batches, elsewhere=False):
        """Seconds in the loop by batches, of ten passes of so many, each followed by a validation of ten seconds."""
        connection = Connection()
        plain = Plain(lambda: PlainReporter(connection), None, torch)
        loader = data.DataLoader(Slow(self, 2 * batches), batch_size=2)
        for _ in range(10):
            taken = ahead(plain.iterate(loader, iter))
            for _ in range(0, batches, each):
                for _ in list(itertools.islice(taken, each)):
                    self.now_s += 0.25
                self.optimizer.step()
            for _ in OtherPass(plain.evaluations, lambda: iter(range(2))):
                self.now_s += 5
                if elsewhere:
                    self.optimizer.step()
        told = {}
        for one in connection.messages():  # the first of each: it may be told of again, at the end of a pass
            told.setdefault(one["batches"], one["t"] - one["outside_s"])
        return list(told.items())[1:]

    def test_has_all_its_steps(self):
        # Bug: the last step of each pass, or all of its last update, counted as time outside of the loop.
        for each, batches in ((1, 4), (1, 50), (4, 5), (4, 10), (4, 50)):
            for elsewhere in (False, True):
                (first, began_s), *others = self.told_of_passes(each, batches, elsewhere)
                self.assertGreater(len(others), 5)
                for at, inside_s in others:
                    self.assertAlmostEqual(inside_s - began_s, (at - first) * (0.25 + 0.125))

    def test_has_its_steps_where_each_makes_an_iterator(self):
        # Bug: next(iter(loader)), whose steps all counted as time outside of the loop.
        connection = Connection()
        plain = Plain(lambda: PlainReporter(connection), None, torch)
        loader = data.DataLoader(Slow(self, 100), batch_size=2)
        for _ in range(10):
            next(plain.iterate(loader, iter))
            self.now_s += 0.25
            self.optimizer.step()
        first, *_, last = connection.messages()
        inside_s = last["t"] - last["outside_s"] - first["t"]
        self.assertAlmostEqual(inside_s, (last["batches"] - first["batches"]) * (0.25 + 0.125))


class Passes(Launch):
    def test_have_what_the_iterator_has(self):
        # Bug: len(iter(loader)) was a TypeError in the launches that confirm, and only there.
        loader = data.DataLoader([torch.ones(2)] * 12, batch_size=4)
        passing = Plain(lambda: PlainReporter(Connection()), None, torch).iterate(loader, iter)
        self.assertEqual(len(passing), 3)
        self.assertIs(iter(passing), passing)
        self.assertFalse(passing._iterable)
        with self.assertRaises(AttributeError):
            passing.missing
        with self.assertRaises(AttributeError):
            object.__new__(type(passing)).missing
        self.assertEqual(len(list(passing)), 3)


class Rows(data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        if index == 5:
            raise ValueError("row 5: bad checksum")
        return torch.ones(2)


class Data(Launch):
    def test_that_can_t_be_read_costs_its_batch_alone(self):
        # Bug: one launch that drew the corrupt record of a large dataset ended the confirmation, and a
        # change of 8x was withdrawn.
        with mock.patch("sys.stderr", io.StringIO()) as stderr:
            told = self.told(loader=data.DataLoader(Rows(), batch_size=4), leaves_out=True)
        self.assertEqual(told[-1]["samples"], 8)
        self.assertIn("left out a batch: ValueError: row 5: bad checksum", stderr.getvalue())

    def test_that_never_can_be_read_ends_the_launch(self):
        with mock.patch("sys.stderr", io.StringIO()), self.assertRaises(ValueError):
            self.told(loader=data.DataLoader(Rows(), batch_size=1, sampler=[5] * 9), leaves_out=True)

    def test_that_can_t_be_read_and_is_passed_over_by_the_script_is_no_end(self):
        # Bug: under `autotune ab` the epoch of a script that catches such errors ended at the first one.
        loader = data.DataLoader(Rows(), batch_size=4)
        passing = Plain(lambda: PlainReporter(Connection()), None, torch).iterate(loader, iter)
        taken = failed = 0
        while True:
            try:
                next(passing)
                taken += 1
            except StopIteration:
                break
            except ValueError:
                failed += 1
        self.assertEqual((taken, failed), (2, 1))

    def test_that_can_t_be_read_ends_a_launch_that_confirms_nothing(self):
        # Bug: `autotune ab` passes a command that dies of its own data.
        with self.assertRaisesRegex(ValueError, "row 5"):
            self.told(loader=data.DataLoader(Rows(), batch_size=4))


class Samples(Launch):
    def test_are_counted_in_all_passes(self):
        told = self.told(epochs=2)
        self.assertEqual((told[-1]["batches"], told[-1]["samples"]), (6, 24))

    def test_of_pictures_in_a_list_are_what_the_loader_says(self):
        # Would catch the channels of the first picture.
        loader = data.DataLoader([torch.ones(3, 8, 8)] * 8, batch_size=4, collate_fn=list)
        self.assertEqual(self.told(loader=loader)[-1]["samples"], 8)


if __name__ == "__main__":
    unittest.main()
