# SPDX-License-Identifier: Apache-2.0
"""Tests of what is found in batches, and of batches that are given again and again."""

import collections
import dataclasses
import types
import unittest

from stub import torch

from feedrate.batches import Replay, SampleCount, batch_size_of, bytes_of, counter_for, length_of, tensors_of

Pair = collections.namedtuple("Pair", "x y")


@dataclasses.dataclass
class Slotted:
    """Has no __dict__."""

    __slots__ = ("x",)
    x: object


@dataclasses.dataclass
class Whole:
    x: object


class FromInference(torch.Tensor):
    """Has no version, as what was made in inference mode."""

    def __init__(self):
        super().__init__([1.0], (1,))

    _version = property(lambda self: self._fail(), lambda self, value: None)

    def _fail(self):
        raise RuntimeError("Inference tensors do not track version counter.")


class Parts(unittest.TestCase):
    def test_tensors_are_found_in_any_nesting(self):
        x, y, z = torch.ones(2, 3), torch.tensor([0, 1]), torch.ones(2)
        nested = [
            x,
            [x, y],
            {"inputs": {"x": x, "names": ["a", "b"]}, "y": (y, 0.5)},
            Pair(x, [y]),
            types.SimpleNamespace(x=x, more=types.SimpleNamespace(y=y)),
            collections.UserDict(x=x, y=y),
            (None, "text", 3, [[[[z]]]]),
        ]
        found = [[id(tensor) for tensor in tensors_of(batch)] for batch in nested]
        both = [id(x), id(y)]
        self.assertEqual(found, [[id(x)], both, both, both, both, both, [id(z)]])

    def test_samples_and_tensors_are_looked_for_in_the_same_places(self):
        # Would catch a batch whose samples are counted and whose tensors are not restored.
        batch = Slotted(torch.ones(5, 2))
        self.assertEqual([id(tensor) for tensor in tensors_of(batch)], [id(batch.x)])
        self.assertEqual(SampleCount()(batch), 5)

    def test_what_holds_itself_is_searched_only_so_deep(self):
        loop = {}
        loop["self"] = loop
        self.assertEqual(list(tensors_of(loop)), [])

    def test_samples_are_counted_where_the_first_batch_has_as_many_as_its_loader_says(self):
        batch = {"loss": torch.tensor(1), "x": torch.ones(5, 2)}
        for size, data_length in ((5, 100), (5, None), (16, 5), (None, 100)):
            count = counter_for(batch, size, data_length)
            self.assertEqual([count(batch), count({"x": torch.ones(3, 2)})], [5, 3])

    def test_the_batch_size_is_believed_where_the_first_dimension_is_another(self):
        # Would catch the channels of a picture in a list, counted as samples.
        pictures = ([torch.ones(3, 8, 8)] * 4, ["a cat"] * 4)
        for batch in (pictures, [], "text", None, {"a": ["b"]}, [torch.tensor(1.5)]):
            self.assertIsNone(counter_for(batch, 4, 100))
        self.assertIsNone(counter_for("text", None, 100))

    def test_a_sampler_s_batch_size_is_believed_where_the_batch_shows_it(self):
        # Bug: of pictures in a list, drawn by a batch sampler, the three channels were three samples.
        loader = types.SimpleNamespace(batch_size=None, batch_sampler=types.SimpleNamespace(batch_size=2))
        pictures = ((torch.ones(3, 8, 8), torch.ones(3, 9, 9)), ({"boxes": 1}, {"boxes": 2}))
        for batch in (pictures, ["a cat", "a dog"], {"text": ["a cat", "a dog"]}, torch.ones(2, 8)):
            self.assertEqual(batch_size_of(loader, batch), 2)
        # As of a sampler that bounds the tokens of a batch.
        for batch in (torch.ones(5, 8), [torch.ones(5, 8)] * 3, "text", None):
            self.assertIsNone(batch_size_of(loader, batch))
        loader.batch_size = 4
        self.assertEqual(batch_size_of(loader, pictures), 4)
        self.assertIsNone(batch_size_of(types.SimpleNamespace(batch_size=None), pictures))

    def test_a_length_that_is_not_known_is_none(self):
        # Would catch an error of the user's data that ends the script only below autotune.
        class Raises:
            def __init__(self, error):
                self.error = error

            def __len__(self):
                raise self.error

        for unknown in (iter([]), Raises(NotImplementedError), Raises(RuntimeError("not yet"))):
            self.assertIsNone(length_of(unknown))
        self.assertEqual(length_of([1, 2]), 2)

    def test_bytes_are_those_of_all_tensors(self):
        batch = {"x": torch.ones(4, 8), "y": torch.tensor([0, 1])}
        self.assertEqual(bytes_of(batch), 4 * 8 * 4 + 2 * 8)
        self.assertEqual(bytes_of("text"), 0)


class Replays(unittest.TestCase):
    def values(self, batch):
        return [tensor.tolist() for tensor in tensors_of(batch)]

    def test_give_the_very_tensors_in_turn(self):
        batches = [{"x": torch.ones(2) * i} for i in range(3)]
        replay = Replay(batches)
        given = [id(replay.take()["x"]) for _ in range(7)]
        self.assertEqual(given, [id(batches[i % 3]["x"]) for i in range(7)])

    def test_give_again_what_a_step_took_out(self):
        # Bug: KeyError at the second `labels = batch.pop("labels")`, and the run was lost.
        x, y = torch.ones(2), torch.tensor([0, 1])
        replay = Replay([{"x": [x], "labels": {"y": y}}])
        for _ in range(2):
            batch = replay.take()
            self.assertIs(batch["x"].pop(), x)
            self.assertIs(batch.pop("labels").pop("y"), y)

    def test_give_what_was_there_where_a_step_put_something_else(self):
        # Bug: `batch["x"] = batch["x"].to(device)` copied but once, so that the device seemed
        # faster; and what a step overwrote was restored from the copy of another tensor.
        x, y = torch.ones(2), torch.ones(2) * 3
        replay = Replay([{"x": x, "y": y}])
        for _ in range(3):
            batch = replay.take()
            self.assertEqual(self.values(batch), [[1, 1], [3, 3]])
            batch["y"].mul_(7)
            batch["x"], batch["y"] = batch["y"], batch["x"] * 2
        self.assertEqual([id(tensor) for tensor in tensors_of(replay.take())], [id(x), id(y)])

    def test_make_containers_of_all_kinds_anew(self):
        kinds = collections.OrderedDict(
            pair=Pair([torch.ones(1)], {"y": torch.ones(1)}), own=collections.UserDict(x=[1]),
            more=collections.defaultdict(list, x=[2]), data=Whole([3]))
        replay = Replay([kinds])
        for _ in range(2):
            batch = replay.take()
            self.assertEqual([type(part) for part in batch.values()],
                             [Pair, collections.UserDict, collections.defaultdict, Whole])
            self.assertEqual((len(batch["pair"].x), len(batch["pair"].y)), (1, 1))
            self.assertEqual((batch["own"]["x"], batch["more"]["x"], batch["data"].x),
                             ([1], [2], [3]))
            batch["pair"].x.clear()
            batch["pair"].y.clear()
            batch["own"]["x"].clear()
            batch["more"].clear()
            batch["data"].x.clear()
            batch.pop("data").x = None

    def test_give_objects_of_the_scripts_own_with_the_attributes_that_they_had(self):
        # Bug: what a step assigned was there at the next turn: normalized twice, thrice, ...
        replay = Replay([types.SimpleNamespace(x=torch.ones(2))])
        for _ in range(3):
            batch = replay.take()
            self.assertEqual(batch.x.tolist(), [1, 1])
            batch.x = torch.ones(2) * 3

    def test_keep_what_a_named_tuple_has_beside_its_parts(self):
        # Bug: AttributeError in the step.
        class Noted(collections.namedtuple("Noted", "x")):
            pass

        noted = Noted(torch.ones(2))
        noted.why = "augmented"
        self.assertEqual(Replay([noted]).take().why, "augmented")

    def test_give_objects_that_nobody_knows_how_to_copy_as_they_are(self):
        # Would catch a run that ends, or a handle to something outside that there is twice.
        class Alone(dict):
            def __copy__(self):
                raise TypeError("there is but one")

        alone, unknown = Alone(x=torch.ones(2)), types.SimpleNamespace(handle=object())
        batch = Replay([[alone, unknown, "text", Slotted(alone)]]).take()
        self.assertIs(batch[0], alone)
        self.assertIs(batch[1], unknown)
        self.assertIs(batch[3].x, alone)

    def test_restore_what_a_step_overwrote(self):
        # Would catch a step that normalizes its batch in place, and then diverges.
        replay = Replay([{"x": torch.ones(2, 2), "more": [torch.ones(2) * 3]}, torch.ones(2)])
        for _ in range(3):
            batch = replay.take()
            self.assertEqual(self.values(batch), [[1, 1, 1, 1], [3, 3]])
            batch["x"].mul_(7)
            batch["more"][0].mul_(0)
            self.assertEqual(self.values(replay.take()), [[1, 1]])

    def test_copy_nothing_where_nothing_was_written(self):
        batch = torch.ones(2)
        replay = Replay([batch])
        replay.take()
        replay.take()
        self.assertEqual(batch._version, 0)

    def test_take_what_cannot_be_written_into_as_it_is(self):
        batch = FromInference()
        replay = Replay([batch])
        self.assertIs(replay.take(), batch)
        self.assertIs(replay.take(), batch)


if __name__ == "__main__":
    unittest.main()
