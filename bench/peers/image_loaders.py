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
        if entry.name.isdigit() and (stat := about(entry.name, "stat")):
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def cpu_s(processes):
    total = 0
    for process in processes:
        fields = about(process, "stat").rpartition(")")[2].split() or 13 * [0]
        total += int(fields[11]) + int(fields[12])
    return total / TICKS_PER_S


def memory_bytes(processes):
    total = 0
    for process in processes:
        lines = about(process, "smaps_rollup").splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return 1024 * total


def about(process, file):
    """A file of /proc; nothing of a process that has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/{file}").read_text()
    except OSError:
        return ""


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

    return torch_batches(Decoded(folder(options).samples, decode, tensor_transform(options.form)),
                         options)


def torchcodec(options):
    from torchcodec.decoders import decode_image

    return torch_batches(Decoded(folder(options).samples, lambda path: decode_image(read(path)),
                                 tensor_transform(options.form)), options)


def simplejpeg(options):
    import torch
    from simplejpeg import decode_jpeg

    def decode(path):
        return torch.from_numpy(decode_jpeg(read(path))).permute(2, 0, 1)

    return torch_batches(Decoded(folder(options).samples, decode, tensor_transform(options.form)),
                         options)


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


def spdl(options):
    """Threads run FFmpeg, with a filter for each picture; crops are those of torchvision."""
    import random

    import spdl.io
    import torch
    from spdl.pipeline import PipelineBuilder
    from torchvision.transforms import RandomResizedCrop

    files = folder(options).samples
    try:
        spdl.io.load_image(files[0][0])  # what fails in the pipeline is left out, and tried for ever
    except RuntimeError as error:
        raise ImportError(error) from error
    mean, std = torch.tensor(MEAN).view(3, 1, 1), torch.tensor(STD).view(3, 1, 1)

    def batches_of_files():
        while True:
            order = random.sample(files, len(files))
            for i in range(0, len(order) - options.batch + 1, options.batch):
                yield order[i:i + options.batch]

    def decode(path):
        packets = spdl.io.demux_image(path)
        shape = torch.empty((1, packets.height, packets.width), device="meta")
        y, x, h, w = RandomResizedCrop.get_params(shape, [0.08, 1.0], [3 / 4, 4 / 3])
        mirror = ",hflip" if random.random() < 0.5 else ""
        return spdl.io.decode_packets(packets, filter_desc=f"crop={w}:{h}:{x}:{y},"
                                      f"scale=224:224:flags=bilinear{mirror},format=pix_fmts=rgb24")

    def load(chosen):
        frames = [decode(path) for path, _ in chosen]
        images = spdl.io.to_torch(spdl.io.convert_frames(frames)).permute(0, 3, 1, 2)
        images = (images.contiguous() if options.form == "uint8"
                  else images.float().div_(255).sub_(mean).div_(std).contiguous())
        return images, torch.tensor([label for _, label in chosen])

    def batches():
        workers = max(1, options.workers)
        pipeline = (PipelineBuilder().add_source(batches_of_files()).pipe(load, concurrency=workers)
                    .add_sink(2).build(num_threads=workers))
        with pipeline.auto_stop():
            yield from pipeline

    torch.set_num_threads(1)  # each of the threads has a batch of its own
    return batches()


def web_shards(options):
    from converted_images import webdataset
    from torch.utils.data import DataLoader

    dataset = webdataset(folder(options).samples, pil_transform(options.form))
    return iter(DataLoader(dataset, options.batch, num_workers=options.workers))


def ffcv(options):
    from converted_images import ffcv as batches

    normalized = [[255 * x for x in values] for values in (MEAN, STD)]
    return batches(folder(options), options.batch, options.workers,
                   None if options.form == "uint8" else normalized)


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
           "torchcodec": torchcodec, "simplejpeg": simplejpeg, "dali": dali, "spdl": spdl,
           "ffcv": ffcv, "webdataset": web_shards, "tf.data": tf_data}


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
