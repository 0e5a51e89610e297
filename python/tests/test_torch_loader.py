# SPDX-License-Identifier: Apache-2.0
"""Tests of feedrate.torch against PyTorch's own DataLoader: skipped without torch and torchvision,
or where the package is not built."""

import io
import itertools
import os
import pathlib
import pickle
import random
import signal
import sys
import tempfile
import threading
import unittest
import warnings
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

try:
    import torch
    import torchvision.transforms as v1
    from PIL import Image, ImageFile
    from torch.utils import data
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    from feedrate import _core  # noqa: F401
    from feedrate.torch import DataLoader
except (ImportError, AttributeError) as reason:
    raise unittest.SkipTest("there is no torch, torchvision or built package: %s" % reason)

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
EVALUATE = v1.Compose([v1.Resize(72), v1.CenterCrop(64), v1.ToTensor(), v1.Normalize(MEAN, STD)])
TRAIN = v1.Compose([v1.RandomResizedCrop(64), v1.RandomHorizontalFlip(), v1.ToTensor(),
                    v1.Normalize(MEAN, STD)])


def picture(number):
    """A JPEG file of 150 x 100 or so pixels, smooth with some noise."""
    generator = torch.Generator().manual_seed(9000023 + number)
    coarse = torch.rand(1, 3, 5, 7, generator=generator)
    smooth = torch.nn.functional.interpolate(coarse, (100 + number, 150), mode="bicubic")[0]
    noise = 0.05 * torch.randn(1, 100 + number, 150, generator=generator)
    levels = (255 * (smooth + noise)).clamp(0, 255).byte().permute(1, 2, 0).numpy()
    memory = io.BytesIO()
    Image.fromarray(levels).save(memory, "JPEG", quality=92)
    return memory.getvalue()


class WithFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.temporary.name)
        for number in range(41):
            place = cls.root / "abc"[number % 3]
            place.mkdir(exist_ok=True)
            (place / ("%02d.jpg" % number)).write_bytes(picture(number))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def folder(self, transform, **keywords):
        return ImageFolder(str(self.root), transform, **keywords)

    def both(self, dataset, epochs=2, **keywords):
        """The batches of several epochs of PyTorch's loader, and of ours."""
        results = []
        for kind in (data.DataLoader, DataLoader):
            torch.manual_seed(9000029)
            loader = kind(dataset, **dict({"num_workers": 1}, **keywords))
            results.append([batch for _ in range(epochs) for batch in loader])
        self.assertTrue(loader.uses_cpp)
        return results


class TestSameAsPyTorch(WithFolder):
    def check(self, theirs, ours, levels=0.3, largest=4):
        """The same labels, and pictures that differ by less than `levels` of 255 in the mean."""
        self.assertEqual(len(theirs), len(ours))
        for (images, labels), (our_images, our_labels) in zip(theirs, ours):
            self.assertTrue(torch.equal(labels, our_labels))
            self.assertEqual((images.shape, images.dtype), (our_images.shape, our_images.dtype))
            scale = 1 if images.dtype == torch.uint8 else 255 * sum(STD) / 3
            difference = (images.double() - our_images.double()).abs() * scale
            self.assertLess(difference.mean().item(), levels)
            self.assertLess(difference.max().item(), largest)

    def test_order_shapes_types_and_pixels(self):
        for keywords in ({"batch_size": 8, "shuffle": True}, {"batch_size": 8, "drop_last": True},
                         {}, {"batch_size": 64}):
            with self.subTest(**keywords):
                self.check(*self.both(self.folder(EVALUATE), **keywords))

    def test_other_transforms(self):
        for transform in (v1.Compose([v1.Resize((48, 48)), v1.ToTensor(), v1.Normalize(MEAN, STD)]),
                          v2.Compose([v2.Resize(72), v2.CenterCrop(64), v2.ToImage(),
                                      v2.ToDtype(torch.float32, scale=True),
                                      v2.Normalize(MEAN, STD)]),
                          v1.Compose([v1.Resize(72), v1.CenterCrop(64), v1.PILToTensor()]),
                          v2.Compose([v2.ToImage(), v2.Resize(72), v2.CenterCrop(64), v2.ToTensor()]),
                          v1.Compose([v1.Resize((72, 72)), v1.PILToTensor(), v1.FiveCrop(64),
                                      v1.Lambda(torch.stack)]),
                          v1.Compose([v1.Resize((64, 64)), v1.ColorJitter((1.2, 1.2)), v1.ToTensor()]),
                          v1.Compose([v1.Resize(72), v1.CenterCrop(64), v1.ToTensor(),
                                      v1.Normalize(MEAN, STD), v1.Grayscale(3)])):
            with self.subTest(transform=transform):
                self.check(*self.both(self.folder(transform), batch_size=16))

    def test_a_turned_hue(self):
        # Where a channel is a level off, the hue is another of PIL's 256, several levels away.
        hue = v1.ColorJitter(hue=(0.2, 0.2))
        folder = self.folder(v1.Compose([v1.Resize((64, 64)), hue, v1.PILToTensor()]))
        self.check(*self.both(folder, batch_size=16), levels=0.6, largest=32)

    def test_subsets_and_samplers(self):
        folder = self.folder(EVALUATE)
        parts = data.random_split(folder, [30, 11], torch.Generator().manual_seed(1))
        for part in (parts[0], data.Subset(parts[0], range(5, 25))):
            self.check(*self.both(part, batch_size=7, shuffle=True))
        # Bug: "A sampler chose a negative sample", which PyTorch counts from the end.
        self.check(*self.both(data.Subset(folder, range(-9, 0)), batch_size=4))
        self.check(*self.both(folder, batch_size=4, sampler=[-1, 3, -41]))
        # Bug: memory for four batches of so many samples.
        self.check(*self.both(folder, batch_size=1_000_000_000))
        weights = torch.arange(41.0)
        for sampler in (data.WeightedRandomSampler(weights, 60), data.SubsetRandomSampler([3, 1, 2]),
                        data.distributed.DistributedSampler(folder, 3, 1)):
            self.check(*self.both(folder, batch_size=7, sampler=sampler))

    def test_workers_that_stay(self):
        # Bug: another order from the second epoch on, where PyTorch draws no number for a new iterator.
        self.check(*self.both(self.folder(EVALUATE), 3, batch_size=8, shuffle=True, persistent_workers=True))

    def test_a_generator_of_its_own(self):
        results = []
        for kind in (data.DataLoader, DataLoader):
            loader = kind(self.folder(EVALUATE), batch_size=8, shuffle=True, num_workers=1,
                          generator=torch.Generator().manual_seed(9000031))
            results.append([batch for _ in range(2) for batch in loader])
        self.check(*results)

    def test_targets_and_collate(self):
        folder = self.folder(EVALUATE, target_transform=lambda label: label / 10)
        self.check(*self.both(folder, batch_size=8))

        def collate(samples):
            return torch.stack([image for image, _ in samples]), torch.tensor(
                [label + 100 for _, label in samples])

        self.check(*self.both(self.folder(EVALUATE), batch_size=8, collate_fn=collate))

    def test_length_and_attributes(self):
        loader = DataLoader(self.folder(EVALUATE), batch_size=8, num_workers=2)
        self.assertIsInstance(loader, data.DataLoader)
        self.assertEqual((len(loader), loader.batch_size, loader.num_workers), (6, 8, 2))


class TestLoops(WithFolder):
    def loader(self, **keywords):
        torch.manual_seed(9000037)
        return DataLoader(self.folder(TRAIN), **dict({"batch_size": 8, "num_workers": 2,
                                                      "shuffle": True}, **keywords))

    def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers(self):
        epochs = []
        for workers in (0, 1, 3):
            loader = self.loader(num_workers=workers)
            epochs.append([images for _ in range(2) for images, _ in loader])
        for other in epochs[1:]:
            self.assertTrue(all(torch.equal(a, b) for a, b in zip(epochs[0], other)))
        self.assertFalse(torch.equal(epochs[0][0], epochs[0][6]))

    def test_loops_that_are_left_nested_or_kept(self):
        # Bug: an inner loop takes the batches of the outer one, or a kept batch changes.
        loader = self.loader(shuffle=False)
        expected = [labels.tolist() for _, labels in loader]
        for _ in loader:
            break
        pairs = [(a[1].tolist(), b[1].tolist()) for a, b in zip(loader, loader)]
        self.assertEqual(pairs, [(labels, labels) for labels in expected])
        batches = [batch for _ in range(4) for batch in loader]
        self.assertEqual([labels.tolist() for _, labels in batches], expected * 4)
        self.assertFalse(any(torch.equal(batches[0][0], batch[0]) for batch in batches[1:]))

    def test_a_transform_that_is_replaced_counts_from_the_next_epoch(self):
        # Bug: the transforms that the dataset had when the loader was made.
        folder = self.folder(EVALUATE)
        loader = DataLoader(folder, batch_size=8)
        self.assertEqual(next(iter(loader))[0].shape[2:], (64, 64))
        folder.transform = v1.Compose([v1.Resize((32, 32)), v1.ToTensor()])
        self.assertEqual(next(iter(loader))[0].shape[2:], (32, 32))
        self.assertTrue(loader.uses_cpp)
        folder.transform = v1.Compose([v1.Resize((16, 16)), v1.Grayscale(), v1.ToTensor()])
        with self.assertWarnsRegex(UserWarning, "Grayscale"):
            self.assertEqual(next(iter(loader))[0].shape[1:], (1, 16, 16))

    def test_what_changes_in_place_counts_from_the_next_epoch(self):
        # Bug: the old size from threads that a half-read loop gives back, or the old part of a dataset.
        folder = self.folder(v1.Compose([v1.Resize((64, 64)), v1.ToTensor()]))
        loader = DataLoader(folder, batch_size=8)
        left = iter(loader)
        next(left)
        folder.transform.transforms[0].size = (32, 32)
        left = iter(loader)  # ends the first one, which gives its threads back
        self.assertEqual(next(left)[0].shape[2:], (32, 32))
        self.assertEqual({images.shape[2:] for images, _ in loader}, {(32, 32)})
        part = data.Subset(folder, [0, 1])
        loader = DataLoader(part, batch_size=3)
        self.assertEqual(next(iter(loader))[1].tolist(), [folder.targets[0], folder.targets[1]])
        part.indices = [40, 2, 20]
        self.assertEqual(next(iter(loader))[1].tolist(), [folder.targets[i] for i in part.indices])
        folder.samples[40] = (folder.samples[40][0], 0)
        self.assertEqual(next(iter(loader))[1].tolist()[0], 0)
        self.assertTrue(loader.uses_cpp)

    def test_a_loader_can_be_sent_to_another_process(self):
        # Bug: mp.spawn(train, (loader,)) refused for the loader's C++ side, before its first epoch or after.
        loader = DataLoader(self.folder(EVALUATE), batch_size=8)
        for _ in range(2):
            sent = pickle.loads(pickle.dumps(loader))
            batches, others = list(loader), list(sent)
            self.assertTrue(sent.uses_cpp)
            self.assertEqual(len(others), len(batches))
            for (images, _), (other, _) in zip(batches, others):
                self.assertTrue(torch.equal(images, other))

    def test_channels_last(self):
        images, _ = next(iter(self.loader(memory_format=torch.channels_last)))
        self.assertTrue(images.is_contiguous(memory_format=torch.channels_last))
        self.assertTrue(torch.equal(images, next(iter(self.loader()))[0]))
        # Bug: the layout is lost where more is done to each image.
        erased = v1.Compose([*EVALUATE.transforms, v1.RandomErasing(1.0)])
        images, _ = next(iter(DataLoader(self.folder(erased), batch_size=8, memory_format=torch.channels_last)))
        self.assertTrue(images.is_contiguous(memory_format=torch.channels_last))

    def test_pinned_batches_are_made_by_another_thread(self):
        # Bug: the loop waits for each copy, or a loop that is left keeps the loader busy. There is no
        # accelerator here: a copy stands for pinned memory.
        loader = self.loader(shuffle=False)
        expected = [images for images, _ in self.loader(shuffle=False)]
        makers = set()

        def pinned(batch):
            makers.add(threading.current_thread().name)
            return [tensor.clone() for tensor in batch] if isinstance(batch, list) else batch

        loader._files.pins, loader._files.pinned = True, pinned
        for _ in loader:
            break
        torch.manual_seed(9000037)
        found = [images for images, _ in loader]
        self.assertEqual(len(found), len(expected))
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(found, expected)))
        self.assertEqual({name.rpartition("_")[0] for name in makers}, {"feedrate-pin"})

    def test_functions_of_the_script_are_called_by_its_own_thread(self):
        # Bug: a transform that draws numbers or counts, beside the loop that does so too.
        callers = set()

        def collate(samples):
            callers.add(threading.current_thread())
            return data.default_collate(samples)

        expected = list(self.loader(shuffle=False))
        loader = self.loader(shuffle=False, collate_fn=collate)
        loader._files.pins, loader._files.pinned = True, lambda batch: batch
        found = list(loader)
        self.assertEqual(callers, {threading.current_thread()})
        self.assertEqual([labels.tolist() for _, labels in found], [labels.tolist() for _, labels in expected])
        self.assertTrue(all(torch.equal(a, b) for (a, _), (b, _) in zip(found, expected)))

    def test_functions_of_the_script_have_random_numbers_of_their_own(self):
        # Bug: with RandomErasing the order of samples was another than PyTorch's from the second epoch on.
        epochs = []
        for drawn, stay in ((0, True), (3, True)):
            def draw(image):
                self.numbers.append([torch.rand(1).item() for _ in range(drawn)] + [random.random()])
                return image

            self.numbers = []
            torch.manual_seed(9000041)
            random.seed(9000041)
            loader = DataLoader(self.folder(v1.Compose([*EVALUATE.transforms, v1.Lambda(draw)])), batch_size=8,
                                num_workers=1, shuffle=True, persistent_workers=stay)
            epochs.append([labels.tolist() for _ in range(2) for _, labels in loader])
            self.assertTrue(loader.uses_cpp)
            self.assertEqual(random.random(), random.Random(9000041).random())
        self.assertEqual(epochs[0], epochs[1])
        self.assertEqual(len(set(map(tuple, self.numbers))), 82)  # others for each sample

    def test_a_sampler_without_an_end_is_left_to_pytorch(self):
        # Bug: memory that fills up before the first batch.
        class Endless(data.Sampler):
            def __iter__(self):
                return itertools.cycle(range(41))

        loader = DataLoader(self.folder(EVALUATE), batch_size=8, sampler=Endless())
        with self.assertWarnsRegex(UserWarning, "its sampler draws more than 82 samples"):
            batches = list(itertools.islice(loader, 7))
        self.assertEqual(len(batches), 7)
        self.assertFalse(loader.uses_cpp)

    def test_what_the_loader_is_set_to_counts_from_the_next_epoch(self):
        # Bug: a collate_fn that is set later was never called, and workers stayed as they were.
        loader = self.loader(shuffle=False)
        list(loader)
        loader.collate_fn, loader.num_workers = (lambda pairs: len(pairs)), 1
        self.assertEqual(sum(loader), 41)
        self.assertTrue(loader.uses_cpp)
        self.assertEqual(loader._threads.workers, 1)

    def test_an_iterator_draws_and_counts_as_pytorchs(self):
        # Bug: the seed was drawn with the first batch, after the weights of a model that was made meanwhile.
        drawn = []
        for kind in (data.DataLoader, DataLoader):
            torch.manual_seed(9000041)
            loop = iter(kind(self.folder(EVALUATE), batch_size=8, shuffle=True, num_workers=1))
            drawn.append((torch.rand(3).tolist(), len(loop), next(loop)[1].tolist()))
        self.assertEqual(drawn[0], drawn[1])

    def test_a_loop_goes_on_behind_a_damaged_file(self):
        # Bug: the rest of the epoch was lost in silence, where a script passes over bad batches.
        bad = self.root / "a" / "09.jpg"
        whole = bad.read_bytes()
        try:
            bad.write_bytes(whole[:200])
            for keywords in ({}, {"collate_fn": data.default_collate}, {"num_workers": 0}):
                failed, counts = 0, []
                loop = iter(self.loader(shuffle=False, **keywords))
                while True:
                    try:
                        counts.append(len(next(loop)[1]))
                    except StopIteration:
                        break
                    except RuntimeError:
                        failed += 1
                self.assertEqual((failed, sum(counts)), (1, 41 - 8), keywords)
        finally:
            bad.write_bytes(whole)

    def test_a_picture_that_is_named_as_a_jpeg_file_is_left_to_pytorch(self):
        # Bug: one PNG file of ImageNet, named .JPEG, ended a training in the midst of its first epoch.
        bad = self.root / "b" / "10.jpg"
        whole = bad.read_bytes()
        try:
            Image.open(io.BytesIO(whole)).save(bad, "PNG")
            for transform in (EVALUATE, v1.Compose([v1.Resize((32, 32)), v1.PILToTensor()])):
                folder = self.folder(transform)
                theirs = list(data.DataLoader(folder, batch_size=8))
                loader = DataLoader(folder, batch_size=8, num_workers=2)
                with self.assertWarnsRegex(UserWarning, "PyTorch loads this batch, .*10.jpg"):
                    ours = list(loader)
                self.assertEqual([labels.tolist() for _, labels in ours], [labels.tolist() for _, labels in theirs])
                self.assertEqual([(one.shape, one.dtype) for one, _ in ours], [(one.shape, one.dtype) for one, _ in theirs])
        finally:
            bad.write_bytes(whole)

    def test_a_file_that_pil_reads_is_left_to_pytorch(self):
        # Bug: a training that ends at a truncated file, where PIL was told to take such files.
        bad = self.root / "a" / "00.jpg"
        whole = bad.read_bytes()
        try:
            bad.write_bytes(whole[:-len(whole) // 3])
            with mock.patch.object(ImageFile, "LOAD_TRUNCATED_IMAGES", True):
                with self.assertWarnsRegex(UserWarning, "PyTorch loads this batch, .*00.jpg"):
                    self.assertEqual(sum(len(labels) for _, labels in self.loader()), 41)
            with self.assertRaisesRegex(RuntimeError, "00.jpg"):
                list(self.loader())
        finally:
            bad.write_bytes(whole)

    def test_a_loader_goes_on_in_a_process_made_by_fork(self):
        # Bug: an error about threads, in the first loop of a process that PyTorch's loader serves.
        loader = self.loader(shuffle=False, num_workers=1)
        self.assertEqual(sum(len(labels) for _, labels in loader), 41)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(60)  # a child that waits for ever ends
                os.write(write, b"%d" % sum(len(labels) for _, labels in loader))
            finally:
                os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with os.fdopen(read) as said:
            self.assertEqual(said.read(), "41")

    def test_health_and_a_damaged_file(self):
        loader = self.loader()
        self.assertIsNone(loader.health())
        list(loader)
        self.assertEqual(loader.health().samples, 41)
        bad = self.root / "a" / "00.jpg"
        whole = bad.read_bytes()
        try:
            bad.write_bytes(whole[:200])
            with self.assertRaisesRegex(RuntimeError, "00.jpg"):
                list(loader)
        finally:
            bad.write_bytes(whole)
        self.assertEqual(sum(len(labels) for _, labels in loader), 41)


class Several(ImageFolder):
    """Makes of some samples at once what it likes, as PyTorch's fetcher asks it to."""

    def __getitems__(self, samples):
        return [self[sample] for sample in samples]


class TestLeftToPyTorch(WithFolder):
    def test_each_reason_is_a_warning_and_the_batches_come(self):
        # Bug: something is ignored in silence, or refused although PyTorch can do it.
        plain, blur = self.folder(EVALUATE), v1.GaussianBlur(3)
        other_loader = self.folder(EVALUATE, loader=lambda path: Image.open(path).convert("RGB"))
        tensors = data.TensorDataset(torch.zeros(8, 2))
        changed = v1.Compose([v1.Resize((48, 48)), blur, v1.ToTensor()])
        for dataset, keywords, words in (
                (tensors, {}, "TensorDataset"), (other_loader, {}, "loader function"),
                (self.folder(changed), {}, "GaussianBlur"), (Several(self.root, EVALUATE), {}, "__getitems__"),
                (self.folder(v1.Compose([v1.RandomResizedCrop(8, (0.8, 1.2)), v1.ToTensor()])), {}, "scale|area"),
                (plain, {"batch_size": None}, "no batches"),
                (plain, {"batch_sampler": [[1, 2], [3]]}, "batch_sampler")):
            with self.assertWarnsRegex(UserWarning, words):
                loader = DataLoader(dataset, **keywords)
            self.assertFalse(loader.uses_cpp)
            self.assertIsNotNone(next(iter(loader)))
            self.assertIsNone(loader.health())

    def test_worker_init_fn_is_said_to_have_no_effect(self):
        with self.assertWarnsRegex(UserWarning, "worker_init_fn"):
            loader = DataLoader(self.folder(EVALUATE), worker_init_fn=print)
        self.assertTrue(loader.uses_cpp)

    def test_a_known_dataset_warns_of_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(DataLoader(self.folder(TRAIN), batch_size=8, num_workers=2))

    def test_more_workers_than_cores_are_warned_of_where_they_are_processes(self):
        # Bug: "this DataLoader will create 8 worker processes", of a loader that has none.
        workers = 2 * len(os.sched_getaffinity(0))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(DataLoader(self.folder(TRAIN), batch_size=8, num_workers=workers))
        with self.assertWarnsRegex(UserWarning, "TensorDataset"):
            processes = DataLoader(data.TensorDataset(torch.zeros(8, 2)), num_workers=workers)
        with self.assertWarnsRegex(UserWarning, "worker processes"):
            next(iter(processes))


if __name__ == "__main__":
    unittest.main()
