#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts large photographs into a folder of small ones, with a class for each, to compare loaders on.

    apt-get download mate-backgrounds plasma-workspace-wallpapers     # photographs that anybody can get
    for deb in *.deb; do dpkg -x $deb photographs; done
    python3 bench/peers/cut_photographs.py photographs DIR [--images 2000]

Each image is a random window of one photograph, scaled to 500 x 375 pixels and saved as JPEG of quality
95. Pictures named in DRAWN are no photographs. Needs PIL.
"""
import argparse
import pathlib
import random
import sys

from PIL import Image

WIDTH, HEIGHT, QUALITY = 500, 375, 95
# Of the two packages above.
DRAWN = {"DarkestHour", "Elephants", "Elephants_3840x2160", "Elephants_5640x3172", "Flow",
         "GreenTraditional", "Grey", "Honeywave", "Kite", "PastelHills", "SafeLanding", "Shell", "Volna",
         "summer_1am"}


def photographs(folder):
    """The largest file of each photograph, by its name: that of the file or, where files are named by
    their size, of a folder above."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*.jp*g")):
        name = path.stem if not path.stem[0].isdigit() else path.parents[2].name
        with Image.open(path) as image:
            pixels, short = image.width * image.height, min(image.size)
        if short >= 2 * HEIGHT and name not in DRAWN and pixels > found.get(name, (0, None))[0]:
            found[name] = (pixels, path)
    return {name: path for name, (_, path) in found.items()}


def window(image, rng):
    """A random part of the picture with the aspect of the samples."""
    largest = min(image.width, image.height * WIDTH // HEIGHT)
    width = rng.randint(WIDTH, largest)
    height = width * HEIGHT // WIDTH
    left, top = rng.randint(0, image.width - width), rng.randint(0, image.height - height)
    return image.resize((WIDTH, HEIGHT), Image.LANCZOS, (left, top, left + width, top + height))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--images", type=int, default=2000)
    options = parser.parse_args()
    chosen = photographs(options.source)
    if not chosen:
        sys.exit(f"There is no photograph of at least {2 * HEIGHT} pixels below '{options.source}'.")
    rng = random.Random(9000011)
    each = -(-options.images // len(chosen))
    for name, path in chosen.items():
        (options.target / name).mkdir(parents=True)
        with Image.open(path) as opened:
            image = opened.convert("RGB")
        for i in range(each):
            window(image, rng).save(options.target / name / f"{i:04}.jpg", quality=QUALITY)
    print(f"{each} images of each of {len(chosen)} photographs in {options.target}")


if __name__ == "__main__":
    main()
