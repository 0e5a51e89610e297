# SPDX-License-Identifier: Apache-2.0
"""The GPU table in results/README.md is what tools/gpu-tables makes of results/."""

import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile

from harness import ROOT, Tap

loader = importlib.machinery.SourceFileLoader("gpu_tables", str(ROOT / "tools/gpu-tables"))
tables = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_tables", loader))
sys.dont_write_bytecode = True
loader.exec_module(tables)


def run(root, *words):
    """What the tool says where it ends with a failure."""
    sys.argv = ["gpu-tables", *words]
    try:
        tables.main(root)
    except SystemExit as end:
        return str(end.code)
    return ""


def figure(bench, name, value, **more):
    return {"bench": bench, "name": name, "unit": "x", "median": value, "quartiles": [value, value], **more}


def planted_card():
    trials = [{"busy": busy, "samples_per_s": {"estimate": rate}} for busy, rate in ((0.41, 1200), (None, 3000))]
    return {"gpu_suite": 1, "commit": "c0ffee1", "gpu": {"name": "NVIDIA H9"},
            "figures": [figure("cuda_gemm", "bf16: step / product", 0.8, kept=False)],
            "autotune": [{"name": "images", "default": trials[0], "recommended": trials[1], "status": "verified",
                          "verified": {"estimate": 2.5, "low": 2.25, "high": 2.75}},
                         {"name": "tabular", "default": trials[0], "recommended": trials[0], "status": "reference",
                          "verified": None}]}


def copy_of_the_page(folder, card):
    (folder / tables.PAGE).parent.mkdir(exist_ok=True)
    shutil.copy(ROOT / tables.PAGE, folder / tables.PAGE)
    (folder / "results/h9.json").write_text(json.dumps(card))
    (folder / "results/other.json").write_text("[1, 2]")
    return folder


def lacking(text, *wanted):
    return [f"{part!r} is not in the table" for part in wanted if part not in text]


tap = Tap()

# Bug: a table that was edited by hand, or committed results that are in no table.
tap.check("the table is what the results say", run(ROOT, "--check"))

# Bug: a bench that names its figure differently, so its promise stays "not yet" for ever.
sources = {path.stem: path.read_text() for path in (ROOT / "bench").glob("cuda_*.cpp")}
tap.check("each promised figure is one of its bench", [
    f"{row.bench} has no figure '{name}'" for row in tables.ROWS if row.bench in sources for name in row.figures
    if f'"{name}"' not in sources[row.bench] and f'": {name.rpartition(": ")[2]}"' not in sources[row.bench]])

with tempfile.TemporaryDirectory() as name:
    tree = copy_of_the_page(pathlib.Path(name), planted_card())
    tap.check("a new result makes the table stale", "" if "run tools/gpu-tables" in run(tree, "--check") else "not said")
    said = run(tree)
    page = (tree / tables.PAGE).read_text()
    # Bug: a missed promise that reads like a kept one, or links that lead nowhere.
    tap.check("a measured figure is in the table", [said] if said else lacking(
        page, "[NVIDIA H9](h9.json), commit c0ffee1", "0.8 (0.8 to 0.8), missed",
        "[2.5x (2.25 to 2.75)](h9-images.json): 1,200 to 3,000 samples/s; the GPU is busy 41 % to - of the time",
        "[nothing, reference](h9-tabular.json)", tables.NOT_YET))
    tap.check("the table is right once it is written", run(tree, "--check"))

with tempfile.TemporaryDirectory() as name:
    # Bug: a bench renames its figure, and the promise then counts as not measured.
    card = planted_card()
    card["figures"][0]["name"] = "bf16: step over product"
    said = run(copy_of_the_page(pathlib.Path(name), card))
    tap.check("a figure that its bench no longer has is named", "" if "no figure 'bf16: step / product'" in said else said or "not said")
tap.finish()
