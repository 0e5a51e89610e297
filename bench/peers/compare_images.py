#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""feedrate.torch against other loaders of images for Python, on the same files, in turn, as ratios.

    python3 bench/peers/compare_images.py --data DIR --python TORCH_VENV/bin/python \\
        --tf-python TF_VENV/bin/python --output FILE.json
    python3 bench/peers/compare_images.py --table FILE.json

The rival "c++" is our own loader without Python, bench_images (float32 only, with our number of
workers): the ratio is what Python costs.

TORCH_VENV has the wheel of feedrate, torch, torchvision, and as many rivals as install: torchcodec,
simplejpeg, nvidia-dali-cuda130. Ours runs before and after each rival, and counts with the mean of the
two, since machines drift. A rival counts with its number of workers whose median rate is highest.
Standard library only.
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
FIGURES = ("images_per_s", "cpu_s_per_1000", "first_batch_s", "memory_bytes")
PACKAGES = {"torchvision": ("torchvision", "pillow"), "torchvision-v2": ("torchvision",),
            "torchcodec": ("torchcodec",), "simplejpeg": ("simplejpeg",),
            "dali": ("nvidia-dali-cuda130",), "tf.data": ("tensorflow-cpu",), "c++": ()}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of class folders of JPEG files")
    parser.add_argument("--python", help="a Python with feedrate, torch and torchvision")
    parser.add_argument("--tf-python", help="a Python with tensorflow")
    parser.add_argument("--bench", default="build/bench/bench_images")
    parser.add_argument("--rivals", default=",".join(PACKAGES))
    parser.add_argument("--forms", default="float32,uint8")
    parser.add_argument("--workers", default="1,2,3,4", help="numbers of workers of a rival")
    parser.add_argument("--ours", type=int, default=len(os.sched_getaffinity(0)), help="our workers")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output")
    parser.add_argument("--table", metavar="FILE", help="print an output as Markdown")
    return parser.parse_args()


def run(python, loader, form, workers, arguments):
    if loader == "c++":
        done = subprocess.run([arguments.bench, arguments.data, str(workers), str(arguments.seconds)],
                              capture_output=True, text=True, check=True)
        return {"images_per_s": float(done.stdout)}
    command = [python, str(HERE / "image_loaders.py"), loader, "--data", arguments.data, "--form", form,
               "--workers", str(workers), "--seconds", str(arguments.seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it said nothing"])[-1])
    return json.loads(done.stdout.splitlines()[-1])


def version(python, packages):
    text = "import importlib.metadata as m, sys; print(*[p + ' ' + m.version(p) for p in sys.argv[1:]])"
    done = subprocess.run([python, "-c", text, *packages], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def compare(rival, form, arguments):
    python = arguments.tf_python if rival == "tf.data" else arguments.python
    if not python:
        return {"skipped": "no Python with it was named"}
    if rival == "c++" and form != "float32":
        return {"skipped": "bench_images makes floats"}
    counts = [int(count) for count in arguments.workers.split(",")]
    counts = [arguments.ours] if rival == "c++" else counts
    theirs = {count: [] for count in counts}
    try:
        mine = [run(arguments.python, "feedrate", form, arguments.ours, arguments)]
        for _ in range(arguments.repeats):
            for count in counts:
                theirs[count].append(run(python, rival, form, count, arguments))
                mine.append(run(arguments.python, "feedrate", form, arguments.ours, arguments))
    except RuntimeError as error:
        return {"skipped": str(error)}
    best = max(counts, key=lambda count: statistics.median(one["images_per_s"] for one in theirs[count]))
    offset = counts.index(best)
    result = {"versions": version(python, PACKAGES[rival]), "workers": best, "ours": mine,
              "theirs": theirs[best], "others": {n: theirs[n] for n in counts if n != best}, "ratios": {}}
    for figure in theirs[best][0]:
        pairs = [(mine[len(counts) * i + offset][figure], mine[len(counts) * i + offset + 1][figure],
                  their[figure]) for i, their in enumerate(theirs[best])]
        ratios = [(before + after) / 2 / their for before, after, their in pairs]
        result["ratios"][figure] = {"median": statistics.median(ratios), "all": ratios}
    return result


def table(result):
    print("| loader | form | workers | images/s, ours / theirs | CPU time | first batch | memory |")
    print("|---|---|---|---|---|---|---|")
    for form, rivals in result["forms"].items():
        for rival, found in rivals.items():
            if "skipped" in found:
                print(f"| {rival} | {form} | | skipped: {found['skipped'][:80]} | | | |")
                continue
            rate, *rest = (found["ratios"].get(figure) for figure in FIGURES)
            print(f"| {found['versions'] or rival} | {form} | {found['workers']} | {rate['median']:.2f} "
                  f"({min(rate['all']):.2f} to {max(rate['all']):.2f}) | "
                  + " | ".join(f"{each['median']:.2f}" if each else "" for each in rest) + " |")


def main():
    arguments = parse_arguments()
    if arguments.table:
        return table(json.loads(pathlib.Path(arguments.table).read_text()))
    files = [path for path in pathlib.Path(arguments.data).rglob("*") if path.suffix.lower() == ".jpg"]
    result = {"what": "ratios are ours / theirs: random-resized-crop 224, mirror; float32 is normalised",
              **origin(), "images": len(files),
              "bytes_per_image": sum(map(os.path.getsize, files)) // max(1, len(files)),
              "our_workers": arguments.ours, "seconds": arguments.seconds, "forms": {}}
    for form in arguments.forms.split(","):
        result["forms"][form] = {}
        for rival in arguments.rivals.split(","):
            found = result["forms"][form][rival] = compare(rival, form, arguments)
            print(form, rival, found.get("skipped") or found["ratios"]["images_per_s"], file=sys.stderr)
            if arguments.output:
                pathlib.Path(arguments.output).write_text(json.dumps(result, indent=1) + "\n")
    return None if arguments.output else print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
