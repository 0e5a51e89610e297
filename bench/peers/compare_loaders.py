#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our loader against PyTorch's and tf.data's on the same files, in turn, as ratios.

    python3 bench/peers/compare_loaders.py --data DIR --bench build/bench/bench_images \\
        --torch-python TORCH_VENV/bin/python --tf-python TF_VENV/bin/python --output FILE.json

Ours runs before and after each run of a rival, and counts with the mean of the two, since machines
drift. A rival counts with its best setting: the one with the highest median. Standard library only;
the rivals run in the virtual environments that hold them.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

from origin import origin

HERE = pathlib.Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of class folders of JPEG files")
    parser.add_argument("--bench", required=True, help="our bench_images program")
    parser.add_argument("--torch-python", help="a Python with torch and torchvision")
    parser.add_argument("--tf-python", help="a Python with tensorflow")
    parser.add_argument("--workers", default="0,1,2,4", help="PyTorch's worker counts")
    parser.add_argument("--ours", type=int, default=len(os.sched_getaffinity(0)), help="our workers")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", help="where the JSON goes; standard output if not given")
    return parser.parse_args()


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def ours(arguments):
    return float(run([arguments.bench, arguments.data, str(arguments.ours), str(arguments.seconds)]))


def rival(python, script, arguments, *options):
    """Rates by setting, and the versions."""
    result = json.loads(run([python, str(HERE / script), "--data", arguments.data, "--seconds",
                             str(arguments.seconds), "--json", *options]))
    return {setting: rates[0] for setting, rates in result["images_per_s"].items()}, result["versions"]


def compare(python, script, arguments, *options):
    mine, theirs, versions = [ours(arguments)], [], None
    for _ in range(arguments.repeats):
        rates, versions = rival(python, script, arguments, *options)
        theirs.append(rates)
        mine.append(ours(arguments))
        print(f"{script}: ours {mine[-1]:.0f}, theirs {rates}", file=sys.stderr)
    best = max(theirs[0], key=lambda setting: statistics.median(rates[setting] for rates in theirs))
    ratios = [(before + after) / 2 / rates[best] for before, rates, after in zip(mine, theirs, mine[1:])]
    return {"versions": versions, "ours_images_per_s": mine, "theirs_images_per_s": theirs,
            "best_setting": best, "ratios": ratios, "ratio_median": statistics.median(ratios)}


def jpeg_files(folder):
    """The pictures, by the endings that our loader and tf.data take."""
    return [path for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg")]


def main():
    arguments = parse_arguments()
    files = jpeg_files(arguments.data)
    result = {"what": "images/s: random-resized-crop 224, mirror, normalise; ratio is ours / theirs",
              **origin(),
              "images": len(files), "bytes_per_image": sum(map(os.path.getsize, files)) // max(1, len(files)),
              "our_workers": arguments.ours, "seconds": arguments.seconds}
    if arguments.torch_python:
        result["torch"] = compare(arguments.torch_python, "torch_loader.py", arguments,
                                  "--workers", arguments.workers)
    if arguments.tf_python:
        result["tfdata"] = compare(arguments.tf_python, "tfdata_loader.py", arguments)
    text = json.dumps(result, indent=1) + "\n"
    if arguments.output:
        pathlib.Path(arguments.output).write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
