# SPDX-License-Identifier: Apache-2.0
"""Several answers of autotune on one workload, measured against their reference in turn.

    python3 bench/answers.py --workload tabular --cost latency
    python3 bench/answers.py --neighbour 5:5 --workload tabular

Runs autotune several times, one after the other, and then bench_answers on the reports. What it
does not know itself is passed on to autotune, which else runs at its defaults. With --neighbour a
process beside each run of autotune computes and rests by turns; bench_answers then measures without
it. Standard library only.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build"


def burn(on_s, off_s, began_s, parent):
    """Computes for on_s and rests for off_s, by turns, while the parent lives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this process
    while os.getppid() == parent:
        at_s = (time.monotonic() - began_s) % (on_s + off_s)
        if at_s >= on_s:
            time.sleep(min(on_s + off_s - at_s, 0.2))
            continue
        for number in range(10_000):
            number * number


class Neighbour:
    """A neighbour on the machine: processes of our own, which end with the `with` block."""

    def __init__(self, text, on_s, off_s, threads):
        self.text = text
        self._times = on_s, off_s
        self._threads = threads
        self._processes = []

    def __enter__(self):
        arguments = (*self._times, time.monotonic(), os.getpid())
        for _ in range(self._threads):
            process = multiprocessing.Process(target=burn, args=arguments, daemon=True)
            process.start()
            self._processes.append(process)
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.kill()
            process.join()
        self._processes.clear()


def parse_neighbour(text):
    """SECONDS_ON:SECONDS_OFF[:THREADS]"""
    parts = text.split(":")
    try:
        on_s, off_s = float(parts[0]), float(parts[1])
        threads = int(parts[2]) if len(parts) > 2 else 1
    except (ValueError, IndexError):
        on_s = off_s = threads = 0
    if len(parts) > 3 or not (0 < on_s < 1e6 and 0 <= off_s < 1e6 and threads > 0):
        raise argparse.ArgumentTypeError(
            "%r is no SECONDS_ON:SECONDS_OFF[:THREADS], such as 5:5 or 2:8:2" % text)
    return Neighbour(text, on_s, off_s, threads)


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("%s is less than 1" % text)
    return value


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--autotune", default=BUILD / "tuner/autotune")
    parser.add_argument("--bench", default=BUILD / "bench/bench_answers")
    parser.add_argument("--runs", type=positive, default=10, help="of autotune")
    parser.add_argument("--neighbour", type=parse_neighbour, metavar="ON:OFF[:THREADS]",
                        help="seconds in which another process computes and rests")
    parser.add_argument("--passes", type=int, default=30, help="rounds of each config at the end")
    parser.add_argument("--round", type=float, default=0.4, help="seconds of each")
    parser.add_argument("--reports", help="a folder in which autotune's reports are kept")
    parser.add_argument("--output", help="where the JSON goes; the default is nowhere")
    options, passed_on = parser.parse_known_args()
    for word in ("--", "--json", "--resume"):
        if word in passed_on:
            parser.error("%s can't be passed on: reports are read, of runs on a built-in workload "
                         "or --data" % word)
    return options, passed_on


def ask(options, passed_on, path):
    """One run of autotune, and its line."""
    command = [options.autotune, "--quiet", "--output", path, *passed_on]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    report = json.loads(path.read_text())
    recommended = report["recommendation"]
    print("%s: %s, %.0f s, %s" % (path.stem, recommended["status"], report["tool"]["wall_s"],
                                  config_text(recommended["config"])), flush=True)


def ask_all(options, passed_on, folder):
    """The reports of all runs."""
    paths = [folder / ("answer-%d.json" % (run + 1)) for run in range(options.runs)]
    for path in paths:
        for old in (path, path.with_suffix(".jsonl")):
            old.unlink(missing_ok=True)
        if not options.neighbour:
            ask(options, passed_on, path)
            continue
        with options.neighbour:
            ask(options, passed_on, path)
    return paths


def measure(options, paths, folder):
    """What bench_answers says of the reports."""
    output = folder / "measured.json"
    subprocess.run([options.bench, "--passes", str(options.passes), "--round", str(options.round),
                    "--output", output, *paths], check=True, stdout=subprocess.DEVNULL)
    return json.loads(output.read_text())


def config_text(config):
    return " ".join("%s %s" % pair for pair in config.items())


def ratio_text(ratio):
    return "%.3f (%.3f to %.3f)" % (ratio["estimate"], ratio["low"], ratio["high"])


def print_result(result):
    summary = result["summary"]
    for answer in result["answers"]:
        claimed = ratio_text(answer["claimed"]) if answer["claimed"] else "nothing"
        print("%s: %s of the reference's rate, claimed %s" % (
            answer["report"], ratio_text(answer["ratio"]), claimed))
    print("%d answers, %d configs; the fastest over the slowest %s" % (
        summary["answers"], summary["distinct_configs"],
        ratio_text(summary["fastest_over_slowest"])))
    print("%d slower than the reference, %d of %d claims hold, median wall time %.0f s" % (
        summary["slower_than_reference"], summary["claims_that_hold"], summary["claims"],
        summary["median_wall_s"]))


def run(options, passed_on, folder):
    paths = ask_all(options, passed_on, folder)
    result = measure(options, paths, folder)
    result["arguments"] = passed_on
    result["neighbour"] = options.neighbour.text if options.neighbour else None
    print_result(result)
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


def main():
    options, passed_on = parse_arguments()
    if options.reports:
        folder = pathlib.Path(options.reports).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        run(options, passed_on, folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(options, passed_on, pathlib.Path(folder))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except subprocess.CalledProcessError as error:
        sys.exit("%s ended with exit code %d" % (error.cmd[0], error.returncode))
