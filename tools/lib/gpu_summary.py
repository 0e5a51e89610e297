# SPDX-License-Identifier: Apache-2.0
"""The table of a run of tools/gpu-suite, as Markdown: what ran, and every figure that it made.

usage: gpu_summary.py DIR
"""

import json
import pathlib
import sys

# What torch_step.py's ratios should be at least, by model and variant.
PROMISED = {("mlp", "eager"): 10, ("mlp", "compile"): 1.5, ("images", "eager"): 1}


def table(heads, rows):
    if not rows:
        return []
    lines = [heads, ["---"] * len(heads), *rows]
    return ["", *("| " + " | ".join(str(cell).replace("|", "/") for cell in line) + " |" for line in lines)]


def documents(folder):
    """(name, document) of every JSON file that is whole."""
    for path in sorted(folder.glob("*.json")):
        try:
            yield path.stem, json.loads(path.read_text())
        except ValueError:
            continue  # the command that wrote it died; the table of runs says so


def number(value):
    return f"{value:.4g}"


def verdict(value, least=None, most=None):
    """'>= 0.85: kept'; empty where nothing is promised."""
    if least is not None:
        return f">= {least:g}: {'kept' if value >= least else '**missed**'}"
    if most is not None:
        return f"<= {most:g}: {'kept' if value <= most else '**missed**'}"
    return ""


def figure_row(name, what, spread, unit, promise):
    low, high = spread["quartiles"]
    return [name, what, f"{number(spread['median'])} {unit}".strip(), f"{number(low)} to {number(high)}", promise]


def bench_rows(folder):
    return [figure_row(name, figure["name"], figure, figure["unit"],
                       verdict(figure["median"], figure.get("at_least"), figure.get("at_most")))
            for name, bench in documents(folder) for figure in bench["figures"]]


def torch_rows(folder):
    for name, result in documents(folder):
        for variant, what in result["variants"].items():
            promise = PROMISED.get((result["model"], variant))
            label = f"{result['model']} {result['precision']}, batch {result['batch']}: PyTorch {variant} / ours"
            yield figure_row(name, label, what["ratio"], "x", verdict(what["ratio"]["median"], promise))


def percent(share):
    return "-" if share is None else f"{100 * share:.0f} %"


def config_text(config):
    return ", ".join(f"{key} {value}".lower() for key, value in config.items())


def trial_row(workload, label, trial):
    rate = trial.get("samples_per_s")
    if not rate:
        return [workload, label, trial["status"], "", "", "", "", config_text(trial["config"])]
    return [workload, label, f"{rate['estimate']:,.0f}", percent(trial.get("of_best")), percent(trial.get("fed")),
            percent(trial.get("busy")), percent(trial.get("nvml_busy")), config_text(trial["config"])]


def autotune_rows(folder):
    for name, report in documents(folder):
        trials = {json.dumps(trial["config"]): trial for trial in report["trials"]}
        yield trial_row(name, "default", report["trials"][report["reference"]["trial"]])
        chosen = (report.get("recommendation") or {}).get("config")
        if chosen and json.dumps(chosen) in trials:
            yield trial_row(name, "recommended", trials[json.dumps(chosen)])


def run_rows(path):
    rows = [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []
    return [[part, name, status if status in ("ok", "skipped") else f"**{status}**", f"{seconds} s", why]
            for part, name, status, seconds, why in rows]


def main():
    folder = pathlib.Path(sys.argv[1])
    run = json.loads((folder / "run.json").read_text())
    lines = [f"# GPU suite, {run['date']}, commit {run['commit']}", "",
             f"{run['gpu'] or 'no GPU'}; {run['cpus']} CPUs. Logs and the commands that made them: logs/."]
    lines += table(["part", "what", "", "time", "why"], run_rows(folder / "runs.tsv"))
    lines += table(["bench", "figure", "median", "quartiles", "promise"],
                   [*bench_rows(folder / "bench"), *torch_rows(folder / "torch")])
    lines += table(["autotune", "config", "samples/s", "utilization", "fed", "busy", "nvidia-smi", ""],
                   list(autotune_rows(folder / "autotune")))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
