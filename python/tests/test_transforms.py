# SPDX-License-Identifier: Apache-2.0
"""Tests of what torchvision's transforms become; with stand-ins of the same names and attributes."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from feedrate import transforms  # noqa: E402


def made(name, module="torchvision.transforms.transforms", **attributes):
    step = type(name, (), {"__module__": module})()
    step.__dict__.update(attributes)
    return step


class Mode:
    """An InterpolationMode."""

    def __init__(self, value):
        self.value = value


def compose(*steps):
    return made("Compose", transforms=list(steps))


def crop(size=(224, 224), **attributes):
    return made("RandomResizedCrop", **dict(dict(
        size=size, scale=(0.08, 1.0), ratio=(0.75, 4 / 3), interpolation=Mode("bilinear"),
        antialias=True), **attributes))


def resize(size, **attributes):
    return made("Resize", **dict(dict(size=size, interpolation=Mode("bilinear"), antialias=True,
                                      max_size=None), **attributes))


FLIP, TO_TENSOR = made("RandomHorizontalFlip", p=0.5), made("ToTensor")
CENTRE = made("CenterCrop", size=(224, 224))
NORMALIZE = made("Normalize", mean=[0.5, 0.4, 0.3], std=[0.2, 0.2, 0.1])


class TestKnown(unittest.TestCase):
    def test_the_transform_of_most_training_scripts(self):
        known = transforms.known(compose(crop(), FLIP, TO_TENSOR, NORMALIZE))
        self.assertEqual(known.options, {
            "upright": False, "flip": 0.5, "transform": "train", "size": 224, "scale": (0.08, 1.0),
            "ratio": (0.75, 4 / 3), "dtype": "float32", "mean": [0.5, 0.4, 0.3],
            "std": [0.2, 0.2, 0.1]})
        self.assertEqual(known.rest, [])

    def test_evaluation_and_stretching(self):
        known = transforms.known(compose(resize(256), CENTRE, TO_TENSOR))
        self.assertEqual((known.options["transform"], known.options["resize"], known.options["size"]),
                         ("evaluate", 256, 224))
        self.assertEqual((known.options["flip"], known.options["mean"], known.options["std"]),
                         (0.0, [0.0] * 3, [1.0] * 3))
        known = transforms.known(compose(resize((64, 64)), FLIP, TO_TENSOR))
        self.assertEqual((known.options["transform"], known.options["size"], known.options["flip"]),
                         ("stretch", 64, 0.5))

    def test_version_two_and_nested_lists(self):
        v2 = "torchvision.transforms.v2._misc"
        known = transforms.known(compose(
            made("ToImage", v2), compose(made("RandomHorizontalFlip", v2, p=0.2), crop(size=96)),
            made("ToDtype", v2, dtype="torch.float32", scale=True), NORMALIZE))
        self.assertEqual((known.options["size"], known.options["flip"]), (96, 0.2))
        known = transforms.known(compose(crop(), made("PILToTensor")))
        self.assertEqual(known.options["dtype"], "uint8")
        self.assertNotIn("mean", known.options)

    def test_colours_change_after_the_crop(self):
        jitter = made("ColorJitter", brightness=(0.6, 1.4), contrast=None, saturation=[0.8, 1.2],
                      hue=(-0.1, 0.1))
        for steps in ([crop(), FLIP, jitter, TO_TENSOR], [crop(), jitter, FLIP, TO_TENSOR],
                      [FLIP, crop(), made("ToImage"), jitter,
                       made("ToDtype", dtype="torch.float32", scale=True)]):
            options = transforms.known(compose(*steps)).options
            self.assertEqual({name: options.get(name) for name in (
                "brightness", "contrast", "saturation", "hue", "flip", "dtype")}, {
                    "brightness": (0.6, 1.4), "contrast": None, "saturation": (0.8, 1.2),
                    "hue": (-0.1, 0.1), "flip": 0.5, "dtype": "float32"})
        late = transforms.known(compose(crop(), TO_TENSOR, jitter, NORMALIZE))
        self.assertEqual(late.rest, [jitter, NORMALIZE])
        self.assertNotIn("brightness", late.options)

    def test_what_follows_the_tensor_is_left_to_python(self):
        erasing = made("RandomErasing")
        known = transforms.known(compose(crop(), TO_TENSOR, NORMALIZE, erasing))
        self.assertEqual(known.rest, [erasing])

    def test_the_transform_of_a_models_weights(self):
        preset = made("ImageClassification", "torchvision.transforms._presets", crop_size=[224],
                      resize_size=[232], mean=[0.1] * 3, std=[0.2] * 3,
                      interpolation=Mode("bilinear"), antialias=True)
        options = transforms.known(preset).options
        self.assertEqual((options["transform"], options["size"], options["resize"]),
                         ("evaluate", 224, 232))

    def test_everything_else_is_named(self):
        # Bug: a transform that is left out in silence, so that the model sees other pictures.
        jitter, blur = made("ColorJitter"), made("GaussianBlur")
        mine = made("RandomResizedCrop", "mine", size=3)
        for steps, words in (
                ([], "nothing is not one of the crops"),
                ([jitter, crop(), TO_TENSOR], "ColorJitter is not one of the crops"),
                ([crop(), jitter, blur, TO_TENSOR], "GaussianBlur comes before the picture is a"),
                ([crop(), jitter, jitter, TO_TENSOR], "ColorJitter comes before the picture is a"),
                ([mine, TO_TENSOR], "RandomResizedCrop is not one of the crops"),
                ([crop(interpolation=Mode("bicubic")), TO_TENSOR], "bicubic"),
                ([crop(antialias=False), TO_TENSOR], "antialiasing"),
                ([made("PILToTensor"), crop(antialias=None)], "antialiasing"),
                ([made("PILToTensor"), crop(antialias="warn")], "antialiasing"),
                ([crop(size=(224, 192)), TO_TENSOR], "square"),
                ([resize(256), TO_TENSOR], "keeps the aspect"),
                ([resize(128), CENTRE, TO_TENSOR], "CenterCrop is larger"),
                ([resize(256, max_size=300), CENTRE, TO_TENSOR], "max_size"),
                ([resize((256, 256)), CENTRE, TO_TENSOR], "two sides"),
                ([resize(256), CENTRE, FLIP, TO_TENSOR], "beside CenterCrop"),
                ([FLIP, crop(), FLIP, TO_TENSOR], "twice"),
                ([crop(), made("RGB")], "before the picture is a tensor"),
                ([crop(), made("ToImage"), made("ToDtype", dtype="torch.float16", scale=True)], "float32"),
                ([crop(), made("ToImage"), made("ToDtype", dtype="torch.float32", scale=False)], "float32"),
                ([crop(), made("ToDtype", dtype="torch.float32", scale=True)], "before the picture is a tensor"),
                ([crop(), TO_TENSOR, made("Normalize", mean=0.5, std=0.5)], "three channels"),
                ([crop(), TO_TENSOR, made("Normalize", mean=[0.5], std=[0.5])], "three channels")):
            with self.assertRaisesRegex(transforms.Unknown, words):
                transforms.known(compose(*steps))
        with self.assertRaisesRegex(transforms.Unknown, "no tensors"):
            transforms.known(None)


if __name__ == "__main__":
    unittest.main()
