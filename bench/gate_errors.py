#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how often `autotune ab` is wrong on this machine, on programs whose true loss is known.

    bench/gate_errors.py --aa N --planted N [--output FILE] [--compare-py PATH] [--benchmark PROGRAM]

Compares a loader (the workload `tabular`) and a Google Benchmark program with themselves, N times
each, and with themselves slowed by 5, 10 and 20 %, N times each, in random order. Two usual rules
judge the same runs: Google Benchmark's compare.py by its U test (needs its path, and scipy), and
"the mean is worse by 5 %". An output that is there already is continued: the order depends on the
seed alone.
"""

import argparse
import collections
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench/peers"))
import origin  # noqa: E402

U_TEST_ALPHA = 0.05  # compare.py's own default


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--autotune", default=str(ROOT / "build/tuner/autotune"))
    parser.add_argument("--benchmark", default=str(ROOT / "build/bench/bench_step"))
    parser.add_argument("--filter", default="small_images_fp32/64/1", help="which benchmarks of that program")
    parser.add_argument("--min-time", default="0.05", help="of each benchmark, seconds")
    parser.add_argument("--seconds", default="100ms", help="measured of each run of the loader")
    parser.add_argument("--compare-py", type=pathlib.Path)
    parser.add_argument("--aa", type=int, default=100)
    parser.add_argument("--planted", type=int, default=20)
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which it stops")
    parser.add_argument("--seed", type=int, default=9000001)
    parser.add_argument("--output", type=pathlib.Path)
    return parser.parse_args()


def programs(options):
    """What is compared: the words behind `autotune ab`, and behind its options."""
    benchmark = [options.benchmark, f"--benchmark_min_time={options.min_time}"]
    if options.filter:
        benchmark.append(f"--benchmark_filter={options.filter}")
    return {"tabular": (["--workload", "tabular", "--base", "workers=1", "--seconds", options.seconds],
                        []),
            "benchmark": (["--benchmark-json"], ["--", *benchmark])}


def gate_of(options, program, loss, seed):
    """The document of one comparison, and its seconds."""
    words, command = program
    check = ["--plant", f"{loss}%"] if loss else ["--aa"]
    begin = time.monotonic()
    done = subprocess.run([options.autotune, "ab", "--json", *check, "--seed", str(seed), *words, *command],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), time.monotonic() - begin


def verdict_of(gate, loss):
    """pass, slower or open; of a planted loss, the requirement has it."""
    if not loss:
        return {"pass": "pass", "slower": "slower"}.get(gate["conclusion"], "open")
    fulfilment = gate["requirements"][0]["fulfilment"] if gate["requirements"] else "inconclusive"
    return {"met": "slower", "not_met": "pass"}.get(fulfilment, "open")


def judged(gate):
    """Numbers of the metrics that decide: those of the loader but its rate only explain."""
    names = [metric["name"] for metric in gate["metrics"]]
    return [0] if "samples_per_s" in names else range(len(names))


def times_of(gate, metric, side):
    """Seconds, or a time in another unit: less is better."""
    higher = gate["metrics"][metric]["higher_is_better"]
    values = [run["values"][metric] for run in gate["runs"] if run["side"] == side and run["block"] < 6]
    return [1 / value for value in values] if higher else values


def is_mean_worse(gate):
    return any(statistics.fmean(times_of(gate, metric, "head")) >
               statistics.fmean(times_of(gate, metric, "base")) / 0.95 for metric in judged(gate))


def is_u_test_different(compare_py, gate):
    """What compare.py says of the first six blocks: 12 repetitions of each. Empty where it is not there."""
    if not compare_py:
        return None

    def document(side):
        return {"context": {}, "benchmarks": [
            {"name": str(metric), "run_name": str(metric), "run_type": "iteration",
             "repetitions": 12, "repetition_index": number, "threads": 1, "iterations": 1,
             "real_time": seconds, "cpu_time": seconds, "time_unit": "s"}
            for metric in judged(gate) for number, seconds in enumerate(times_of(gate, metric, side))]}

    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / side for side in ("base.json", "head.json")]
        for path in paths:
            path.write_text(json.dumps(document(path.stem)))
        out = pathlib.Path(folder) / "out.json"
        subprocess.run([sys.executable, str(compare_py), "-d", str(out), "benchmarks", *map(str, paths)],
                       check=True, capture_output=True)
        rows = json.loads(out.read_text())
    return any(row["utest"].get("time_pvalue", 1) < U_TEST_ALPHA for row in rows)


def row_of(options, name, loss, seed):
    gate, seconds = gate_of(options, programs(options)[name], loss, seed)
    row = {"commit": gate["tool"]["commit"], "program": name, "loss_share": loss / 100, "verdict": verdict_of(gate, loss),
           "wall_s": round(seconds, 2), "blocks": len(gate["runs"]) // 4,
           "others_share": max((run["others_share"] or 0 for run in gate["runs"]), default=None),
           "speed_ratios": [gate["metrics"][metric]["speed_ratio"] for metric in judged(gate)]
                           if gate["runs"] else []}
    if gate["runs"] and row["blocks"] >= 6:
        row["mean_alarm"] = is_mean_worse(gate)
        row["u_test_alarm"] = is_u_test_different(options.compare_py, gate)
    return row


def table_of(rows):
    """program, loss -> counts."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["program"], row["loss_share"]].append(row)
    return [{"program": program, "loss_share": loss, "comparisons": len(group),
             **{verdict: sum(row["verdict"] == verdict for row in group)
                for verdict in ("pass", "slower", "open")},
             "u_test_alarms": sum(bool(row.get("u_test_alarm")) for row in group),
             "mean_alarms": sum(bool(row.get("mean_alarm")) for row in group),
             "median_wall_s": round(statistics.median(row["wall_s"] for row in group), 1),
             "median_blocks": statistics.median(row["blocks"] for row in group)}
            for (program, loss), group in sorted(groups.items())]


def rows_so_far(options, cases):
    """Of an output that was begun with the same cases."""
    if not options.output or not options.output.exists():
        return []
    begun = json.loads(options.output.read_text())
    if (begun["seed"], begun["planned"]) != (options.seed, len(cases)):
        raise SystemExit(f"{options.output} has other cases: choose another file")
    return begun["comparisons"]


def main():
    options = parse()
    cases = [(name, loss) for name in programs(options)
             for loss, count in ((0, options.aa), (5, options.planted), (10, options.planted),
                                 (20, options.planted)) for _ in range(count)]
    random.Random(options.seed).shuffle(cases)
    rows, begin = rows_so_far(options, cases), time.monotonic()
    for number, (name, loss) in list(enumerate(cases))[len(rows):]:
        if time.monotonic() - begin > options.limit:
            print(f"stopped by --limit after {number} of {len(cases)} comparisons", file=sys.stderr)
            break
        rows.append(row_of(options, name, loss, options.seed + number))
        if options.output:
            document = {**origin.origin(), "command": " ".join(["bench/gate_errors.py", *sys.argv[1:]]),
                        "seed": options.seed, "planned": len(cases), "table": table_of(rows), "comparisons": rows}
            options.output.write_text(json.dumps(document, indent=1) + "\n")
        print(number + 1, "of", len(cases), name, loss, rows[-1]["verdict"], rows[-1]["wall_s"], "s",
              file=sys.stderr, flush=True)
    for row in table_of(rows):
        print(row)


if __name__ == "__main__":
    main()
