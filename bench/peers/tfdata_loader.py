#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tf.data delivers from a folder of JPEG files.

    python3 bench/peers/tfdata_loader.py --data DIR --parallel auto,2 --batch 64 --seconds 5 --json

The work per image: decode_and_crop_jpeg, which decodes only the crop, with the rule of
random-resized-crop (8 to 100 % of the area, aspect 3/4 to 4/3, ten tries); bilinear resize to 224;
mirroring; normalisation to float32.
"""
import argparse
import json
import os
import pathlib
import sys
import time

from origin import origin

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
try:
    import tensorflow as tf
except ImportError as error:
    sys.exit(f"{error.name} is missing; make a virtual environment outside of the source tree and "
             "run its 'pip install tensorflow-cpu'.")

MEAN = tf.constant([0.485, 0.456, 0.406]) * 255
STD = tf.constant([0.229, 0.224, 0.225]) * 255


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of class folders of JPEG files")
    parser.add_argument("--parallel", default="auto,2", help="num_parallel_calls to measure")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5, help="per setting and repeat")
    parser.add_argument("--repeats", type=int, default=1, help="rounds over all settings")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser.parse_args()


def random_window(data):
    """Row, column, height and width of the crop."""
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.image.extract_jpeg_shape(data), tf.zeros([1, 0, 4]), min_object_covered=0.0,
        aspect_ratio_range=(3 / 4, 4 / 3), area_range=(0.08, 1.0), max_attempts=10,
        use_image_if_no_bounding_boxes=True)
    return tf.concat([begin[:2], size[:2]], 0)


def load(path, label):
    data = tf.io.read_file(path)
    image = tf.image.decode_and_crop_jpeg(data, random_window(data), channels=3)
    image = tf.image.resize(image, [224, 224], "bilinear")
    image = tf.image.random_flip_left_right(image)
    return (image - MEAN) / STD, label


def list_files(folder):
    root = pathlib.Path(folder)
    classes = sorted(path for path in root.iterdir() if path.is_dir())
    found = [(str(path), label) for label, folder in enumerate(classes)
             for path in sorted(folder.rglob("*")) if path.suffix.lower() in (".jpg", ".jpeg")]
    if not found:
        sys.exit(f"'{root}' holds no JPEG file in class folders; name another folder.")
    return [list(column) for column in zip(*found)]


def pipeline(paths, labels, parallel, batch):
    calls = tf.data.AUTOTUNE if parallel == "auto" else int(parallel)
    files = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(len(paths)).repeat()
    return files.map(load, calls).batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def images_per_s(batches, batch, seconds, warm_up_s=2):
    """Steady rate: the clock starts when the tuner has had time to settle."""
    batches = iter(batches)
    start = time.perf_counter()
    while time.perf_counter() - start < warm_up_s:
        next(batches)
    start = now = time.perf_counter()
    images = 0
    while now - start < seconds:
        next(batches)
        images += batch
        now = time.perf_counter()
    return images / (now - start)


def main():
    arguments = parse_arguments()
    paths, labels = list_files(arguments.data)
    settings = arguments.parallel.split(",")
    rates = {setting: [] for setting in settings}
    for _ in range(arguments.repeats):
        for setting in settings:
            batches = pipeline(paths, labels, setting, arguments.batch)
            rates[setting].append(images_per_s(batches, arguments.batch, arguments.seconds))
    result = {"loader": "tf.data", "batch": arguments.batch, "images": len(paths),
              "images_per_s": rates, **origin(), "versions": {"tensorflow": tf.__version__}}
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        for setting, values in rates.items():
            print(f"num_parallel_calls {setting}: {max(values):.0f} images/s")


if __name__ == "__main__":
    main()
