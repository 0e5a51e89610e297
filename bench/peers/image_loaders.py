#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one loader of images for Python delivers, what it costs, and how soon it begins.

    python3 bench/peers/image_loaders.py LOADER --data DIR --workers 2 [--form uint8]

LOADER is a name in LOADERS. It runs in a Python that has it, and prints one JSON object. The work per
image is a random-resized-crop to 224 x 224 pixels and a mirror image every other time; then float32,
normalised, or (--form uint8) bytes. The rate is the steady one: the clock starts after the first
batches. CPU time and memory are those of all processes of the loader; memory is the proportional set
size beyond what the process had before its first batch, which is PyTorch's or TensorFlow's own.
"""
import argparse
import json
import os
import pathlib
import sys
import time

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def descendants():
    """The processes below this one, and itself."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                pass
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def cpu_s(processes):
    total = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS_PER_S


def memory_bytes(processes):
    total = 0
    for process in processes:
        lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return 1024 * total


class Decoded:
    """Files that `decode` makes tensors of, transformed, with their labels."""

    def __init__(self, files, decode, transform):
        self.files, self.decode, self.transform = files, decode, transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path, label = self.files[i]
        return self.transform(self.decode(path)), label


def torch_batches(dataset, options, kind=None, **more):
    from torch.utils.data import DataLoader

    loader = (kind or DataLoader)(dataset, batch_size=options.batch, shuffle=True, drop_last=True,
                                  num_workers=options.workers,
                                  persistent_workers=options.workers > 0, **more)
    while True:
        yield from loader


def pil_transform(form):
    from torchvision import transforms

    steps = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip()]
    last = [transforms.PILToTensor()] if form == "uint8" else [transforms.ToTensor(),
                                                               transforms.Normalize(MEAN, STD)]
    return transforms.Compose(steps + last)


def tensor_transform(form):
    import torch
    from torchvision.transforms import v2

    steps = [v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()]
    last = [] if form == "uint8" else [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    return v2.Compose(steps + last)


def folder(options, transform=None):
    from torchvision.datasets import ImageFolder

    return ImageFolder(options.data, transform)


def feedrate(options):
    from feedrate.torch import DataLoader

    return torch_batches(folder(options, pil_transform(options.form)), options, DataLoader)


def torchvision(options):
    return torch_batches(folder(options, pil_transform(options.form)), options)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def torchvision_v2(options):
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg

    def decode(path):
        data = torch.frombuffer(bytearray(read(path)), dtype=torch.uint8)
        return decode_jpeg(data, mode=ImageReadMode.RGB)

    return torch_batches(Decoded(folder(options).samples, decode,
                                       tensor_transform(options.form)), options)


def torchcodec(options):
    from torchcodec.decoders import decode_image

    return torch_batches(Decoded(folder(options).samples, lambda path: decode_image(read(path)),
                                       tensor_transform(options.form)), options)


def simplejpeg(options):
    import torch
    from simplejpeg import decode_jpeg

    def decode(path):
        return torch.from_numpy(decode_jpeg(read(path))).permute(2, 0, 1)

    return torch_batches(Decoded(folder(options).samples, decode,
                                       tensor_transform(options.form)), options)


def dali(options):
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIClassificationIterator

    @pipeline_def(batch_size=options.batch, num_threads=max(1, options.workers), device_id=None, seed=7)
    def pipeline():
        files, labels = fn.readers.file(file_root=options.data, random_shuffle=True, name="reader")
        images = fn.decoders.image_random_crop(files, device="cpu", random_area=[0.08, 1.0],
                                               random_aspect_ratio=[3 / 4, 4 / 3])
        images = fn.resize(images, size=[224, 224], antialias=True)
        mirror = fn.random.coin_flip(probability=0.5)
        if options.form == "uint8":
            images = fn.transpose(fn.flip(images, horizontal=mirror), perm=[2, 0, 1])
        else:
            images = fn.crop_mirror_normalize(images, mirror=mirror, dtype=types.FLOAT,
                                              mean=[255 * m for m in MEAN], std=[255 * s for s in STD])
        return images, labels

    def batches():
        loader = DALIClassificationIterator(pipeline(), reader_name="reader", auto_reset=True)
        while True:
            for batch in loader:
                yield batch[0]["data"], batch[0]["label"]

    return batches()


def tf_data(options):
    import tfdata_loader as ours

    if options.form == "uint8":
        ours.MEAN, ours.STD = 0.0, 1.0
    paths, labels = ours.list_files(options.data)
    load = ours.load
    if options.form == "uint8":
        import tensorflow as tf

        def load(path, label, floats=ours.load):
            image, label = floats(path, label)
            return tf.cast(image, tf.uint8), label

    ours.load = load
    return iter(ours.pipeline(paths, labels, str(options.workers) if options.workers else "auto",
                              options.batch))


LOADERS = {"feedrate": feedrate, "torchvision": torchvision, "torchvision-v2": torchvision_v2,
           "torchcodec": torchcodec, "simplejpeg": simplejpeg, "dali": dali, "tf.data": tf_data}


def measured(batches, options):
    own_bytes, begin = memory_bytes([os.getpid()]), time.perf_counter()
    next(batches)
    first_s = time.perf_counter() - begin
    for _ in range(2 * options.workers + 1):
        next(batches)
    processes = descendants()
    before_s, start, images = cpu_s(processes), time.perf_counter(), 0
    while time.perf_counter() - start < options.seconds:
        images += len(next(batches)[1])
    elapsed_s = time.perf_counter() - start
    return {"images_per_s": images / elapsed_s,
            "cpu_s_per_1000": 1000 * (cpu_s(processes) - before_s) / images,
            "first_batch_s": first_s, "memory_bytes": memory_bytes(processes) - own_bytes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loader", choices=LOADERS)
    parser.add_argument("--data", required=True, help="folder of class folders of JPEG files")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--form", choices=("float32", "uint8"), default="float32")
    parser.add_argument("--seconds", type=float, default=4)
    options = parser.parse_args()
    try:
        batches = LOADERS[options.loader](options)
        result = measured(batches, options)
    except ImportError as error:
        sys.exit(f"{options.loader}: {error}")
    print(json.dumps(result), flush=True)
    os._exit(0)  # at once: some of them take seconds to end their workers


if __name__ == "__main__":
    main()
