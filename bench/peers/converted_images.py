# SPDX-License-Identifier: Apache-2.0
"""The loaders of image_loaders.py that want the files in a form of their own: they are converted first,
which no figure counts."""
import itertools
import os
import pathlib
import statistics
import tempfile


def scratch():
    """A new folder below $TMPDIR, which compare_images.py removes."""
    return pathlib.Path(tempfile.mkdtemp(prefix="converted-images-"))


def web_shards(files, shards=16):
    """Tar files of the JPEG files as they are, and their labels."""
    import webdataset

    folder = scratch()
    for shard in range(shards):
        with webdataset.TarWriter(str(folder / f"{shard:02}.tar")) as tar:
            for i, (path, label) in list(enumerate(files))[shard::shards]:
                tar.write({"__key__": f"{i:06}", "jpg": pathlib.Path(path).read_bytes(), "cls": label})
    return [str(folder / f"{shard:02}.tar") for shard in range(shards)]


def webdataset(files, transform):
    """A dataset that goes on for ever, in an order that it shuffles in memory."""
    import webdataset as wds

    data = wds.WebDataset(web_shards(files), resampled=True, shardshuffle=False,
                          nodesplitter=wds.split_by_node)
    return data.shuffle(500).decode("pil").to_tuple("jpg", "cls").map_tuple(transform, int)


def beton(folder):
    """FFCV's file of a torchvision ImageFolder. It encodes every picture again: with that quality of 85,
    90 and 95 which comes nearest to the size of the files."""
    from ffcv.fields import IntField, RGBImageField
    from ffcv.writer import DatasetWriter

    target = statistics.mean(pathlib.Path(path).stat().st_size for path, _ in folder.samples)
    made = {}
    for quality in (85, 90, 95):
        file = scratch() / f"{quality}.beton"
        fields = {"image": RGBImageField(write_mode="jpg", jpeg_quality=quality), "label": IntField()}
        DatasetWriter(str(file), fields, num_workers=2).from_indexed_dataset(folder)
        made[abs(file.stat().st_size / len(folder) - target)] = str(file)
    return made[min(made)]


def ffcv(folder, batch, workers, normalized):
    """Batches for ever; `normalized` is (mean, std) of levels, or None for bytes."""
    import numpy
    from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage

    image = [RandomResizedCropRGBImageDecoder((224, 224)), RandomHorizontalFlip()]
    if normalized:
        mean, std = (numpy.array(values, dtype=numpy.float32) for values in normalized)
        image.append(NormalizeImage(mean, std, numpy.float32))
    # Planes, not channels_last, as all others give them.
    image += [ToTensor(), ToTorchImage(channels_last=False)]
    cores = len(os.sched_getaffinity(0))  # more workers it refuses
    loader = Loader(beton(folder), batch_size=batch, num_workers=min(max(1, workers), cores),
                    drop_last=True, order=OrderOption.RANDOM, os_cache=True,
                    pipelines={"image": image, "label": [IntDecoder(), ToTensor()]})
    return itertools.chain.from_iterable(itertools.repeat(loader))
