#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our loaders of images against those of others, on the same files, in turn, as ratios.

    python3 bench/peers/compare_images.py --data DIR --python TORCH_VENV/bin/python \\
        --tf-python TF_VENV/bin/python --output FILE.json
    python3 bench/peers/compare_images.py --table FILE.json

Ours is feedrate.torch, or, with --ours c++, the loader without Python (bench_images, floats alone).
TORCH_VENV has the wheel of feedrate, torch, torchvision, and as many rivals as install: torchcodec,
simplejpeg, nvidia-dali-cuda130, spdl_io (with FFmpeg's libraries), webdataset. FFCV needs an older NumPy:
--ffcv-python names the Python of an environment of its own. Ours runs before and after each rival, and
counts with the mean of the two, since machines drift. A rival counts with its number of workers whose
median rate is highest. FILE.json is written after each rival. Standard library only.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from origin import origin

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = ("images_per_s", "cpu_s_per_1000", "first_batch_s", "memory_bytes")
# By loader, the packages whose versions are told; c++ is ours without Python.
PACKAGES = {"torchvision": ("torchvision", "pillow"), "torchvision-v2": ("torchvision",),
            "torchcodec": ("torchcodec",), "simplejpeg": ("simplejpeg",),
            "dali": ("nvidia-dali-cuda130",), "spdl": ("spdl_io",),
            "webdataset": ("webdataset", "pillow"), "ffcv": ("ffcv",),
            "tf.data": ("tensorflow-cpu",), "c++": ()}


class Skip(Exception):
    """Why a rival does not run here."""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of class folders of JPEG files")
    parser.add_argument("--ours", choices=("feedrate", "c++"), default="feedrate")
    parser.add_argument("--python", help="a Python with feedrate, torch and torchvision")
    parser.add_argument("--tf-python", help="a Python with tensorflow")
    parser.add_argument("--ffcv-python", help="a Python with ffcv, torch and torchvision")
    parser.add_argument("--bench", default="build/bench/bench_images")
    parser.add_argument("--rivals", default=",".join(PACKAGES))
    parser.add_argument("--forms", default="float32,uint8")
    parser.add_argument("--workers", default="1,2,3,4", help="numbers of workers of a rival")
    parser.add_argument("--our-workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output")
    parser.add_argument("--table", metavar="FILE", help="print an output as Markdown")
    return parser.parse_args()


class Runs:
    """Runs one loader at a time, in one form of pixels."""

    def __init__(self, form, arguments):
        self.form, self.arguments = form, arguments

    def python_of(self, loader):
        others = {"tf.data": self.arguments.tf_python, "ffcv": self.arguments.ffcv_python}
        return others.get(loader, self.arguments.python)

    def run(self, loader, workers):
        """What image_loaders.py prints; of c++ the rate alone."""
        options = self.arguments
        if loader == "c++":
            if self.form != "float32":
                raise Skip("bench_images makes floats")
            return {"images_per_s": float(self.output_of(
                [options.bench, options.data, str(workers), str(options.seconds)]))}
        if not self.python_of(loader):
            raise Skip("no Python with it was named")
        return json.loads(self.output_of(
            [self.python_of(loader), str(HERE / "image_loaders.py"), loader, "--data", options.data,
             "--form", self.form, "--workers", str(workers), "--seconds", str(options.seconds)]))

    @staticmethod
    def output_of(command):
        """The last line."""
        with tempfile.TemporaryDirectory() as scratch:  # some convert the files first
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  env={**os.environ, "TMPDIR": scratch})
        if done.returncode != 0:
            raise Skip((done.stderr.strip().splitlines() or ["it said nothing"])[-1])
        return done.stdout.splitlines()[-1]

    def ours(self):
        return self.run(self.arguments.ours, self.arguments.our_workers)

    def compare(self, rival):
        counts = [int(count) for count in self.arguments.workers.split(",")]
        counts = [self.arguments.our_workers] if rival == "c++" else counts
        mine, theirs = [self.ours()], {count: [] for count in counts}
        for _ in range(self.arguments.repeats):
            for count in counts:
                theirs[count].append(self.run(rival, count))
                mine.append(self.ours())
        best = max(counts, key=lambda count: statistics.median(
            one["images_per_s"] for one in theirs[count]))
        at = counts.index(best)
        beside = [mine[len(counts) * i + at:][:2] for i in range(self.arguments.repeats)]
        return {"versions": self.versions(rival), "workers": best, "ours": mine, "theirs": theirs[best],
                "others": {n: theirs[n] for n in counts if n != best},
                "ratios": {figure: ratio(figure, beside, theirs[best]) for figure in FIGURES
                           if figure in theirs[best][0] and figure in mine[0]}}

    def versions(self, rival):
        text = "import importlib.metadata as m, sys; print(*[p + ' ' + m.version(p) for p in sys.argv[1:]])"
        return self.output_of([self.python_of(rival) or sys.executable, "-c", text, *PACKAGES[rival]])


def ratio(figure, beside, theirs):
    """Ours, the mean of the runs before and after, divided by theirs."""
    ratios = [(before[figure] + after[figure]) / 2 / their[figure]
              for (before, after), their in zip(beside, theirs)]
    return {"median": statistics.median(ratios), "all": ratios}


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


def measured(arguments):
    files = [path for path in pathlib.Path(arguments.data).rglob("*")
             if path.suffix.lower() in (".jpg", ".jpeg")]
    result = {"what": "ratios are ours / theirs: random-resized-crop 224, mirror; float32 is normalised",
              **origin(), "ours": arguments.ours, "images": len(files),
              "bytes_per_image": sum(map(os.path.getsize, files)) // max(1, len(files)),
              "our_workers": arguments.our_workers, "seconds": arguments.seconds, "forms": {}}
    for form in arguments.forms.split(","):
        found = result["forms"][form] = {}
        for rival in arguments.rivals.split(","):
            try:
                found[rival] = Runs(form, arguments).compare(rival)
            except Skip as why:
                found[rival] = {"skipped": str(why)}
            print(form, rival, found[rival].get("skipped") or found[rival]["ratios"]["images_per_s"],
                  file=sys.stderr)
            if arguments.output:
                pathlib.Path(arguments.output).write_text(json.dumps(result, indent=1) + "\n")
    return result


def main():
    arguments = parse_arguments()
    if arguments.table:
        return table(json.loads(pathlib.Path(arguments.table).read_text()))
    result = measured(arguments)
    return None if arguments.output else print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
