# SPDX-License-Identifier: Apache-2.0
"""The results of tools/gpu-suite as one document: results/CARD.json."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))

from origin import origin  # noqa: E402

FORMAT = 1
QUERY = ["name", "driver_version", "clocks.max.sm", "power.limit", "pcie.link.gen.max",
         "pcie.link.width.max"]
# The least ratios of torch_step.py, by model and variant.
PROMISED = {("mlp", "eager"): 10, ("mlp", "compile"): 1.5, ("images", "eager"): 1}
PARTS = ["build", "tests", "bench", "torch", "autotune", "wheel", "sanitizer"]


def first_gpu():
    """The GPU that is used, the first that CUDA_VISIBLE_DEVICES names; empty without an answer."""
    index = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
    command = ["nvidia-smi", "-i", index, f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        values = done.stdout.splitlines()[0].split(", ")
    except (OSError, subprocess.SubprocessError, IndexError):
        return {}
    return dict(zip(QUERY, map(str.strip, values)))


def describe():
    return {**origin(), "gpu": first_gpu()}


def slug(gpu):
    """NVIDIA H100 80GB HBM3: h100-80gb-hbm3."""
    words = re.sub(r"\b(NVIDIA|Tesla|GeForce)\b", "", gpu.get("name", "")).lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-") or "unknown-gpu"


def documents(folder):
    """(name, document) of every complete JSON file."""
    for path in sorted(folder.glob("*.json")):
        try:
            yield path.stem, json.loads(path.read_text())
        except ValueError:
            continue  # the command that wrote it died; the table of runs says so


def described(folder):
    """Commit, machine and card of a run, which must be the same in all its parts."""
    each = [run for _, run in documents(folder / "runs")]
    for key in ("commit", "gpu"):
        if len({json.dumps(run[key]) for run in each}) > 1:
            sys.exit(f"The parts in {folder} differ in their {key}; use a separate folder for each run.")
    return max(each, key=lambda run: run["date"]) if each else None


def runs(folder):
    for part in PARTS:
        path = folder / "runs" / part
        for line in path.read_text().splitlines() if path.exists() else []:
            name, status, seconds, why = line.split("\t")
            yield {"part": part, "name": name, "status": status, "seconds": int(seconds), "why": why}


def found_in(folder, read):
    """The results of `read(name, document)`. Only an invalid document is left out."""
    for name, document in documents(folder):
        try:
            yield from list(read(name, document))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            print(f"tools: {folder / name}.json is left out: it is not as its command writes it "
                  f"({type(error).__name__}: {error}).", file=sys.stderr)


def checked(figure):
    """A figure with all values that the tables show."""
    low, high = figure["quartiles"]
    if not low <= figure["median"] <= high:
        raise ValueError(f"the median of {figure['name']} is not between its quartiles")
    return {"unit": "", **figure}


def bench_figures(name, bench):
    for figure in bench["figures"]:
        yield checked({"bench": name, **figure})


def torch_figures(name, result):
    for variant, what in result["variants"].items():
        figure = {"bench": f"torch {name}", "name": f"PyTorch {variant} / ours", "unit": "x", **what["ratio"],
                  "torch": result["torch"], "torch_step_s": what["torch_step_s"], "our_step_s": result["our_step_s"]}
        least = PROMISED.get((result["model"], variant))
        yield checked(figure if least is None else {
            **figure, "at_least": least, "kept": figure["median"] >= least})


def trial_of(report, config):
    return next((trial for trial in report["trials"] if trial["config"] == config), None)


def short(trial):
    keys = ("status", "config", "samples_per_s", "of_best", "fed", "busy", "nvml_busy")
    return trial and {key: trial.get(key) for key in keys}


def answers(name, report):
    """The reference and the recommended config of a report of autotune."""
    recommendation = report.get("recommendation") or {}
    yield {"name": name, "commit": report["tool"]["commit"],
           "default": short(report["trials"][report["reference"]["trial"]]),
           "recommended": short(trial_of(report, recommendation.get("config"))),
           "status": recommendation.get("status"), "verified": recommendation.get("verified")}


def card_of(folder):
    """The whole document; None if no part has run."""
    run = described(folder)
    return run and {"gpu_suite": FORMAT, **run, "runs": list(runs(folder)),
                    "figures": [*found_in(folder / "bench", bench_figures), *found_in(folder / "torch", torch_figures)],
                    "autotune": list(found_in(folder / "autotune", answers))}


def without_places(text, folder):
    """A report without paths of this machine, ready to be committed."""
    for path, name in ((folder, "DIR"), (ROOT, "."), (os.path.expanduser("~"), "~")):
        if str(path) != "/":  # the home of a user whom nobody knows
            text = text.replace(str(path), name)
    return text


def with_short_lines(report):
    """The text of a report with one line for each config: a GPU's space has thousands."""
    rows = {"trials": report["trials"], "not_reached": report["space"]["not_reached"]}
    space = {**report["space"], "not_reached": ["<not_reached>"]}
    text = json.dumps({**report, "trials": ["<trials>"], "space": space}, indent=2, ensure_ascii=False)
    for name, values in rows.items():
        text = text.replace(f'"<{name}>"', ",\n".join(json.dumps(value, ensure_ascii=False) for value in values))
    return text + "\n"


def write_results(folder, card):
    """Writes results/ of the folder, with the names to commit."""
    results, name = folder / "results", slug(card["gpu"])
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    (results / f"{name}.json").write_text(without_places(json.dumps(card, indent=1) + "\n", folder))
    for answer in card["autotune"]:
        report = json.loads((folder / "autotune" / f"{answer['name']}.json").read_text())
        text = without_places(with_short_lines(report), folder)
        (results / f"{name}-{answer['name']}.json").write_text(text)
