# SPDX-License-Identifier: Apache-2.0
"""What torchvision's transforms are to the C++ loader."""

from collections import namedtuple

# options: keywords of feedrate.ImageFolder. rest: transforms for the finished tensor, in order.
Known = namedtuple("Known", "options rest")


class Unknown(Exception):
    """What the C++ loader does not know, as the middle of a sentence."""


def known(transform):
    """The `Known` that `transform`, of a dataset of JPEG files, stands for.

    It must be one of torchvision (v1 or v2) that crops or resizes to a square, may mirror and change
    colours, makes a tensor, and may normalise; anything may follow. Raises Unknown with what stands
    in the way.
    """
    if _is_preset(transform):
        return Known(_preset(transform), [])
    steps = _Steps(_flat(transform))
    options = {"upright": False, "flip": 0.0}
    options.update(steps.geometry())
    options.update(steps.numbers())
    return Known(options, steps.left)


def _name(step):
    return type(step).__name__


def _is_of_torchvision(step):
    return type(step).__module__.startswith("torchvision.")


def _flat(transform):
    if transform is None:
        raise Unknown("without a transform there are no tensors")
    if _name(transform) == "Compose" and _is_of_torchvision(transform):
        return [step for part in transform.transforms for step in _flat(part)]
    return [transform]


def _square(size, what):
    """The side of a square, given as a number or two."""
    sides = [size] if isinstance(size, int) else list(size)
    if len(sides) > 2 or sides[0] != sides[-1]:
        raise Unknown("%s is not to a square" % what)
    return int(sides[0])


def _check_filter(step, is_tensor):
    """`is_tensor`: of tensors, for which the default differs among versions of torchvision; pictures of PIL are
    always antialiased."""
    name = getattr(step.interpolation, "value", step.interpolation)
    if name not in ("bilinear", 2):
        raise Unknown("%s interpolates by %s, not bilinear" % (_name(step), name))
    if getattr(step, "antialias", None) is not True and (is_tensor or getattr(step, "antialias", True) is False):
        raise Unknown("%s is without antialiasing" % _name(step))


class _Steps:
    """Takes steps from the front of a list, as long as they are known."""

    def __init__(self, steps):
        self.left = list(steps)
        self._is_tensor = False

    def _take(self, *names):
        """The first step, if it is one of these and torchvision's."""
        if self.left and _name(self.left[0]) in names and _is_of_torchvision(self.left[0]):
            return self.left.pop(0)
        return None

    def _flip(self):
        step = self._take("RandomHorizontalFlip")
        return {} if step is None else {"flip": float(step.p)}

    def _color(self):
        self._skip_conversions()
        step = self._take("ColorJitter")
        ranges = ("brightness", "contrast", "saturation", "hue")
        found = {name: getattr(step, name, None) for name in ranges}
        return {name: tuple(float(x) for x in value) for name, value in found.items() if value}

    def _skip_conversions(self):
        """What does nothing to the levels of an RGB picture."""
        while step := self._take("ToImage", "PILToTensor", "RGB", "Identity"):
            self._is_tensor = self._is_tensor or _name(step) in ("ToImage", "PILToTensor")

    def geometry(self):
        """What is cut out of a picture, whether it is mirrored, and how its colours change."""
        self._skip_conversions()
        before, shape = self._flip(), self._shape()
        flip, color = self._flip(), self._color()
        flips = [step for step in (before, flip, self._flip()) if step]
        if len(flips) > 1:
            raise Unknown("RandomHorizontalFlip stands there twice")
        if flips and shape["transform"] == "evaluate":
            raise Unknown("RandomHorizontalFlip stands beside CenterCrop")
        return {**shape, **(flips[0] if flips else {}), **color}

    def _shape(self):
        step = self._take("RandomResizedCrop")
        if step is not None:
            _check_filter(step, self._is_tensor)
            return {"transform": "train", "size": _square(step.size, "RandomResizedCrop"),
                    "scale": tuple(step.scale), "ratio": tuple(step.ratio)}
        step = self._take("Resize")
        if step is None:
            raise Unknown("%s is not one of the crops that it knows" % self._first())
        _check_filter(step, self._is_tensor)
        if getattr(step, "max_size", None) is not None:
            raise Unknown("Resize has a max_size")
        crop = self._take("CenterCrop")
        if crop is None:
            if isinstance(step.size, int) or len(step.size) == 1:
                raise Unknown("Resize keeps the aspect, so pictures differ in size")
            return {"transform": "stretch", "size": _square(step.size, "Resize")}
        shorter = step.size if isinstance(step.size, int) else step.size[0]
        if not isinstance(step.size, int) and len(step.size) == 2:
            raise Unknown("Resize to two sides is followed by CenterCrop")
        size = _square(crop.size, "CenterCrop")
        if shorter < size:
            raise Unknown("CenterCrop is larger than what Resize leaves")
        return {"transform": "evaluate", "size": size, "resize": int(shorter)}

    def _first(self):
        return _name(self.left[0]) if self.left else "nothing"

    def numbers(self):
        """The type of the elements, and their normalisation."""
        self._skip_conversions()
        if not self._to_float():
            if not self._is_tensor:
                raise Unknown("%s comes before the picture is a tensor" % self._first())
            return {"dtype": "uint8"}
        step = self._take("Normalize")
        mean, std = ([0.0] * 3, [1.0] * 3) if step is None else (step.mean, step.std)
        if not all(hasattr(values, "__len__") and len(values) == 3 for values in (mean, std)):
            raise Unknown("Normalize is not of three channels")
        return {"dtype": "float32", "mean": [float(x) for x in mean], "std": [float(x) for x in std]}

    def _to_float(self):
        if not self._is_tensor:  # what converts tensors leaves a picture as it is, and the other way round
            return self._take("ToTensor") is not None
        step = self._take("ToDtype", "ConvertImageDtype")
        if step is None:
            return False
        if str(step.dtype) != "torch.float32" or not getattr(step, "scale", True):
            raise Unknown("%s is not to float32 of 0 to 1" % _name(step))
        return True


def _is_preset(transform):
    """The transform that comes with a torchvision model's weights."""
    return _name(transform) == "ImageClassification" and _is_of_torchvision(transform)


def _preset(preset):
    _check_filter(preset, False)
    size, shorter = _square(preset.crop_size, "crop_size"), _square(preset.resize_size, "resize_size")
    if shorter < size:
        raise Unknown("its crop is larger than what is left of the picture")
    return {"upright": False, "flip": 0.0, "transform": "evaluate", "size": size, "resize": shorter,
            "dtype": "float32", "mean": [float(x) for x in preset.mean],
            "std": [float(x) for x in preset.std]}
