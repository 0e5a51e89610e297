# SPDX-License-Identifier: Apache-2.0
"""ultralytics: a small YOLO, with a folder of pictures and labels that this script writes."""

import os
import pathlib

os.environ.setdefault("YOLO_CONFIG_DIR", os.getcwd())
os.environ.setdefault("YOLO_OFFLINE", "true")

from PIL import Image  # noqa: E402
from ultralytics import YOLO  # noqa: E402

PICTURES = 96


def write(folder):
    for part, pictures in (("train", PICTURES), ("val", 8)):
        for kind in ("images", "labels"):
            (folder / kind / part).mkdir(parents=True, exist_ok=True)
        for index in range(pictures):
            picture = Image.new("RGB", (64, 64), (index, 99, 0))
            picture.paste((255, 255, 255), (16, 16, 48, 48))
            picture.save(folder / "images" / part / f"{index}.jpg")
            (folder / "labels" / part / f"{index}.txt").write_text(f"{index % 2} 0.5 0.5 0.5 0.5\n")
    (folder / "data.yaml").write_text(f"path: {folder}\ntrain: images/train\nval: images/val\n"
                                      "names: {0: square, 1: block}\n")


def main():
    folder = pathlib.Path("pictures").resolve()
    write(folder)
    YOLO("yolov8n.yaml").train(data=str(folder / "data.yaml"), epochs=100, imgsz=64, batch=8, workers=1,
                               device="cpu", amp=False, plots=False, val=False, save=False, verbose=False)


if __name__ == "__main__":
    main()
