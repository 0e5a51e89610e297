"""The C++ loader of feedrate."""

from collections.abc import Sequence
import os
from typing import Annotated

import numpy
from numpy.typing import NDArray

from feedrate import SampleError as SampleError


class Dataset:
    """What a Loader reads."""

    def __len__(self) -> int:
        """Number of samples."""

class ImageFolder(Dataset):
    """
    A folder of class folders of JPEG files.

        ImageFolder("train/", size=224)                       # crop at random, mirror, normalise
        ImageFolder("val/", transform="evaluate")             # shorter side to size * 256 / 224, centre
        ImageFolder(paths=paths, labels=labels)               # files that are listed already

    Its fields are "image", [3, size, size] (or [size, size, 3] with channels_last) of dtype "float32"
    or "uint8", and "label", an int32: the index in `classes`. Floats are (level / 255 - mean) / std.

    transform: "train" (random-resized-crop by `scale` and `ratio`, then mirrored with probability
    `flip`), "evaluate" (shorter side resized to `resize` pixels, then the centre), or "stretch" (the
    whole picture to size x size, then mirrored with probability `flip`).
    brightness, contrast, saturation, hue: bounds of the factors that torchvision's ColorJitter draws, such
    as (0.6, 1.4); of hue, in turns of the colour wheel, such as (-0.1, 0.1).
    upright: turn pictures as their EXIF data say. torchvision does not.
    fast_scaling: decode at 1/2, 1/4 or 1/8 where the crop is that much larger than the sample. It is
    faster, but levels differ by several.

    Raises ValueError for an invalid option, RuntimeError where no image can be read.
    """

    def __init__(self, root: str | os.PathLike | None = None, *, paths: Sequence[str] = [], labels: Sequence[int] = [], size: int = 224, transform: str = 'train', scale: tuple[float, float] = (0.08, 1.0), ratio: tuple[float, float] = (0.75, 1.3333333333333333), flip: float = 0.5, brightness: tuple[float, float] = (1.0, 1.0), contrast: tuple[float, float] = (1.0, 1.0), saturation: tuple[float, float] = (1.0, 1.0), hue: tuple[float, float] = (0.0, 0.0), resize: int = 0, dtype: str = 'float32', channels_last: bool = False, mean: Sequence[float] = ..., std: Sequence[float] = ..., upright: bool = True, fast_scaling: bool = False) -> None: ...

    @property
    def classes(self) -> list[str]:
        """Names of the class folders, by label."""

    def path(self, sample: int) -> str:
        """The file of a sample."""

    def label(self, sample: int) -> int:
        """The class of a sample."""

class NpyFile(Dataset):
    """
    A .npy file, mapped into memory; its first axis counts samples.

    Its fields are "input", one row of the array, and "label", an int32 of the one-dimensional .npy file
    `labels` (of integers), or 0 without one. Raises RuntimeError naming a file that can't be
    read.
    """

    def __init__(self, path: str | os.PathLike, labels: str | os.PathLike | None = None) -> None: ...

class Health:
    """How well a loader fed its consumer since the last reading."""

    @property
    def fed(self) -> float:
        """Share of the time in which the consumer did not wait."""

    @property
    def elapsed_s(self) -> float: ...

    @property
    def waited_s(self) -> float: ...

    @property
    def workers(self) -> int: ...

    @property
    def samples(self) -> int: ...

    @property
    def headroom(self) -> float | None:
        """So many times as fast the workers could load, or None."""

    @property
    def limit(self) -> str:
        """'consumer', 'workers', 'prefetch' or 'caller': what limits the rate."""

    def __str__(self) -> str: ...

class Epoch:
    """One loop over a Loader."""

    def __iter__(self) -> object: ...

    def __next__(self) -> dict: ...

class Loader:
    """
    Loads batches by threads in C++, in order.

        loader = Loader(ImageFolder("train/"), batch=64, workers=4)
        for batch in loader:                                  # one epoch; the next loop is the next one
            train(batch["image"], batch["label"])             # NumPy arrays: [count, 3, 224, 224], [count]

    An array shares the loader's memory and is valid as long as it lives. Bytes and their order depend on
    `seed`, the epoch and the dataset alone, never on `workers`. With 0 workers the caller loads.

    batch: samples in each batch. workers: threads; "automatic": the number is found while you train.
    prefetch: batches kept ready, of all workers together.
    shuffle: a new order in each epoch. drop_last: leave out what does not fill a batch.
    rank, world: the part of each epoch that this process of several reads.
    max_skips: samples that may be left out as unreadable; beyond, and by default, they raise SampleError.
    stall_s: seconds without a finished sample after which RuntimeError names the file that hangs; to go
    on waiting, call next() again.

    Threads may share a loader, and the iterator of one loop: each batch goes to exactly one of them. close()
    ends the loops of all. The thread that begins a newer loop ends the older one for the others.

    Raises ValueError for an invalid option, MemoryError where the batches don't fit in memory.
    """

    def __init__(self, dataset: Dataset, *, batch: int = 32, workers: int | str = 0, prefetch: int = 2, shuffle: bool = True, drop_last: bool = False, seed: int = 0, rank: int = 0, world: int = 1, max_skips: int = 0, stall_s: float = 60.0) -> None: ...

    def __len__(self) -> int:
        """Batches in an epoch."""

    def __iter__(self) -> Epoch:
        """Begins the next epoch. What is left of the last one is dropped."""

    @property
    def epoch(self) -> int:
        """The epoch that the next loop will be, from 0."""

    def set_epoch(self, epoch: int) -> None:
        """Makes the next loop that epoch."""

    def state_dict(self) -> dict:
        """Where training stands: epoch and sample, from 0."""

    def load_state_dict(self, state: dict) -> None:
        """
        Makes the next loop go on there, with any batch size. Raises ValueError for an epoch that is shorter.
        """

    @property
    def workers(self) -> int:
        """Threads that load now; may be set at any time, also to 'automatic'."""

    @workers.setter
    def workers(self, arg: int | str, /) -> None: ...

    def health(self) -> Health:
        """How well the loop was fed since the last call."""

    def skips(self) -> list[tuple[int, str, str]]:
        """(sample, path, reason) of each sample that was left out."""

    @property
    def memory_bytes(self) -> int:
        """Bytes that its batches take."""

    def close(self) -> None:
        """Ends the threads. Arrays stay valid."""

    def _begin(self, samples: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> None: ...

    def _next(self) -> object: ...
