# SPDX-License-Identifier: Apache-2.0
"""How much the ratio of two configs changes from run to run, beyond what the pairs of a run show.

    python3 bench/slow_change.py --runs 16 --output results/slow-change.json
    python3 bench/slow_change.py REPORT.json REPORT.json ...

Each run of autotune measures no worker, one and two in turn for 20 s. Its proof allows for such a
slow change (wander_of in race_noise.hpp), which no pair shows. Without reports the runs are made
first. Standard library only.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

AUTOTUNE = pathlib.Path(__file__).resolve().parent.parent / "build/tuner/autotune"
OPTIONS = ["--workers", "0,1,2", "--prefetch", "1", "--step-threads", "2", "--precision", "fp32", "--batch", "32",
           "--search", "grid", "--budget", "20s", "--no-card", "--quiet"]
LONGEST_GAP_S = 2  # between the starts of two rounds of a pair


def rounds_of(report):
    """(start in seconds, logarithm of the rate) of each round, by the number of workers."""
    return {trial["config"]["workers"]: [(one["start_s"], math.log(one["samples"] / one["duration_s"]))
                                         for one in trial["rounds"]] for trial in report["trials"]}


def log_ratios(of_a, of_b):
    """Each round of a with the nearest one of b that is not taken yet."""
    free, ratios = list(of_b), []
    for start_s, rate in of_a:
        nearest = min(free, key=lambda other: abs(other[0] - start_s), default=None)
        if nearest is None or abs(nearest[0] - start_s) > LONGEST_GAP_S:
            continue
        free.remove(nearest)
        ratios.append(rate - nearest[1])
    return ratios


def change_between(reports, a, b):
    """Standard deviations of log-ratios of the workers a and b."""
    runs = [log_ratios(rounds_of(report)[a], rounds_of(report)[b]) for report in reports]
    runs = [ratios for ratios in runs if len(ratios) > 2]
    of_a_pair = statistics.mean(statistics.variance(ratios) for ratios in runs)
    by_chance = statistics.mean(of_a_pair / len(ratios) for ratios in runs)
    of_means = statistics.variance([statistics.mean(ratios) for ratios in runs])
    return {"workers": [a, b], "runs": len(runs), "pairs": sum(map(len, runs)), "pair": math.sqrt(of_a_pair),
            "mean_of_a_run": math.sqrt(of_means), "by_chance": math.sqrt(by_chance),
            "slow_change": math.sqrt(max(0, of_means - by_chance))}


def run_autotune(runs, folder):
    for number in range(runs):
        file = folder / f"run-{number + 1}.json"
        subprocess.run([AUTOTUNE, *OPTIONS, "--output", file], check=True, stdout=subprocess.DEVNULL)
        yield json.loads(file.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="*", type=pathlib.Path, help="of runs that were made before")
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--output", type=pathlib.Path, help="where the JSON goes; else it is printed")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reports = [json.loads(file.read_text()) for file in wanted.reports]
        reports = reports or list(run_autotune(wanted.runs, pathlib.Path(folder)))
    if len(reports) < 3:
        sys.exit("At least three runs are needed to see how they differ: give more.")
    machine = reports[0]["machine"]
    result = {"commit": reports[0]["tool"]["commit"], "date": reports[0]["tool"]["started_at"][:10],
              "machine": {"cpu": machine["cpu_model"], "cpus": machine["cpus"]["usable"], "system": machine["kernel"]},
              "options": OPTIONS, "changes": [change_between(reports, *pair) for pair in ((1, 0), (2, 0), (2, 1))]}
    text = json.dumps(result, indent=1) + "\n"
    if wanted.output:
        wanted.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
