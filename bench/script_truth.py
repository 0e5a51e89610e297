# SPDX-License-Identifier: Apache-2.0
"""autotune on unedited scripts against the truth: each config, launched alone.

    python3 bench/script_truth.py --autotune build/tuner/autotune --python venv/bin/python

Needs a Python with torch, torchvision and accelerate. The pictures are those of autotune's own
workload `images`, which makes them where it runs first. Launched is, several times and in turn,
each number of workers that autotune measured or predicted, with prefetch 2 (PyTorch's own), and its
answer. Where samples wait, numbers of workers differ by factors. Where they compute, on few cores,
most are as fast as launches can tell, and their rank correlation is chance: with --batches the
batch of these scripts varies, too, with their own among its values, and the grid is asked for,
which measures all of them several times, not only those that may be best. Per script:

- the rank correlation (Spearman) between the rates that autotune measured or predicted within one
  launch and the truth, and, since launches scatter, that of each pass of launches with the others,
  in the mean: where that is low, the order of what is nearly as fast is chance;
- how many pairs of configs the launches tell apart (95 %), how many of these autotune has in the
  same order, and the rank correlation that follows from these alone (Goodman and Kruskal's gamma);
- how much slower its recommendation is than the best of those whose mean is within a tenth of the
  highest; these and the answer are launched --finals times more for that, since three launches
  may scatter by more than such configs differ; in each pass the best is chosen by the others, so
  that none is best by luck;
- the wall time of both.

With --runs N autotune answers N times instead, and nothing is launched beside it: per answer what
it recommends, what it says of the gain, and the wall time.
"""

import argparse
import json
import math
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
PICTURES = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),
                        "feedrate", "images")
SCRIPTS = {
    "waiting": ["rows.py", "waiting"],
    "computing": ["rows.py", "computing"],
    "images": ["images.py", PICTURES],
    "text": ["text.py"],
    "accelerated": ["accelerated.py"],
}
BATCHES = {"computing": "32,128,512", "images": "4,16,64", "text": "2,8,32"}
WITH_BATCHES = ["--allow", "training", "--workers", "0,1,2,4", "--prefetch", "2",
                "--search", "grid", "--budget", "150s", "--batch"]


def command_of(options, name):
    script, *words = SCRIPTS[name]
    return [options.python, os.path.join(HERE, "scripts", script), *words]


def autotune(options, name, folder, run=1):
    """One run of autotune: its report, and its wall time."""
    report = os.path.join(options.reports or folder, "%s-%d.json" % (name, run))
    for path in (report, report + "l"):
        if os.path.exists(path):
            os.remove(path)
    began_s = time.monotonic()
    asked = [*WITH_BATCHES, BATCHES[name]] if options.batches else []
    subprocess.run([options.autotune, "--quiet", "--json", "--output", report, *asked, "--",
                    *command_of(options, name)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    wall_s = time.monotonic() - began_s
    with open(report) as file:
        return json.load(file), wall_s


class Launch:
    """One launch of a script with fixed settings, whose rate is reported over a socket."""

    def __init__(self, options, name, config, index, folder):
        self._listener = socket.socket(socket.AF_UNIX)
        path = os.path.join(folder, "socket")
        if os.path.exists(path):
            os.remove(path)
        self._listener.bind(path)
        self._listener.listen()
        environment = dict(os.environ, FEEDRATE_ATTACH=path, FEEDRATE_PLAIN="1",
                           FEEDRATE_LOADER=str(index), FEEDRATE_CONFIG=json.dumps(config),
                           PYTHONPATH=os.path.join(TOP, "python"))
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(command_of(options, name), cwd=folder, env=environment,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=self._errors, start_new_session=True)

    def rate(self, seconds, patience_s=120):
        """Samples/s over so many seconds, behind the first tenth of them."""
        connection = self._connection(patience_s)
        connection.settimeout(patience_s)
        reports, first = [], None
        try:
            for message in map(json.loads, connection.makefile()):
                if "samples" not in message:
                    continue
                now_s = message["t"] - message.get("outside_s", 0)
                first = now_s if first is None else first
                if now_s - first >= 0.1 * seconds:
                    reports.append((now_s, message["samples"]))
                if now_s - first >= 1.1 * seconds:
                    break
        except socket.timeout:
            pass  # what it has reported until then counts
        if len(reports) < 2:
            sys.exit("The script ended, or fell silent, before its rate was known: "
                     + self._last_line())
        (begin_s, before), (end_s, after) = reports[0], reports[-1]
        return (after - before) / (end_s - begin_s)

    def _connection(self, patience_s):
        self._listener.settimeout(1)
        due_s = time.monotonic() + patience_s
        while time.monotonic() < due_s:
            try:
                return self._listener.accept()[0]
            except socket.timeout:
                if self._process.poll() is not None:
                    break
        sys.exit("The script never reported: " + self._last_line())

    def _last_line(self):
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1] if lines else "it wrote nothing to stderr."

    def end(self):
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended
        self._process.wait()
        self._listener.close()
        self._errors.close()


class Truth:
    """What launches say: rates in samples/s by config, one for each pass."""

    def __init__(self, rates):
        self.rates = rates

    @property
    def passes(self):
        return len(next(iter(self.rates.values())))

    def mean(self, key, without=None):
        """Geometric, over the passes but one."""
        return statistics.geometric_mean(rate for at, rate in enumerate(self.rates[key])
                                         if at != without)

    def of(self, keys):
        """Of these configs alone, so far."""
        return Truth({key: list(self.rates[key]) for key in keys})

    def near_best(self):
        """The configs within a tenth of the best."""
        least = 0.9 * self.mean(self.best())
        return [key for key in self.rates if self.mean(key) >= least]

    def best(self, without=None):
        return max(self.rates, key=lambda key: self.mean(key, without))

    def regret(self, answer):
        """How much slower an answer is than the best, and the standard error; (None, None) below two
        passes."""
        if self.passes < 2:
            return None, None
        behind = [math.log(self.rates[self.best(without=at)][at] / self.rates[answer][at])
                  for at in range(self.passes)]
        return (math.expm1(statistics.mean(behind)),
                statistics.stdev(behind) / math.sqrt(self.passes))

    def agreement(self):
        """The mean rank correlation of a pass with the others; None below two passes."""
        if self.passes < 2:
            return None
        return statistics.mean(
            rank_correlation([rates[at] for rates in self.rates.values()],
                             [self.mean(key, without=at) for key in self.rates])
            for at in range(self.passes))

    def told_apart(self):
        """The pairs (slower, faster) whose means differ beyond a 95 % interval."""
        least = self._least_difference()
        return [(a, b) for a in self.rates for b in self.rates
                if math.log(self.mean(b) / self.mean(a)) > least]

    def _least_difference(self):
        """Of the logarithms of two means. The error is that of the two-way layout without repeats,
        e.g. Scheffe, 1959, chapter 4."""
        configs = len(self.rates)
        freedom = (configs - 1) * (self.passes - 1)
        if freedom == 0:
            return math.inf
        logs = [[math.log(rate) for rate in rates] for rates in self.rates.values()]
        of_pass = [statistics.mean(column) for column in zip(*logs)]
        whole = statistics.mean(of_pass)
        squares = sum((value - statistics.mean(row) - of_pass[at] + whole) ** 2
                      for row in logs for at, value in enumerate(row))
        error = math.sqrt(2 * squares / freedom / self.passes)
        return error * student_quantile(freedom)


def student_quantile(freedom):
    """Of a two-sided 95 % interval. Source: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical
    Functions", 1964, 26.7.5."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return (z + (z**3 + z) / (4 * freedom)
            + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3))


def gamma(in_order, pairs):
    """The rank correlation of those pairs that are not tied; None where all are. Source: L. A.
    Goodman, W. H. Kruskal, "Measures of association for cross classifications", 1954, section 6."""
    return 2 * in_order / pairs - 1 if pairs else None


def launched_rate(options, name, config, index, folder):
    launch = Launch(options, name, config, index, folder)
    try:
        return launch.rate(options.seconds)
    finally:
        launch.end()


KEYS = ("workers", "prefetch", "batch")  # what tells configs apart


def key_of(config):
    return tuple(config[name] for name in KEYS)


def configs_of(report):
    """Those with PyTorch's own prefetch that were measured or predicted, and the answer."""
    wanted = {}
    answer = report["recommendation"]["config"]
    for trial in report["trials"]:
        config = trial["config"]
        if trial["status"] in ("measured", "predicted") and config["prefetch"] in (0, 2):
            wanted[key_of(config)] = config
    wanted[key_of(answer)] = answer
    return list(wanted.values())


def believed_of(report, config):
    """What autotune says of a config: measured, or predicted."""
    for trial in report["trials"]:
        if trial["config"] == config:
            measured = trial.get("samples_per_s")
            return measured["estimate"] if measured else trial["predicted_samples_per_s"]
    return None


def ranks(values):
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]


def rank_correlation(a, b):
    """Spearman's."""
    return statistics.correlation(ranks(a), ranks(b))


def launch_all(options, name, report, folder, rates, passes):
    """Adds to the rates of each config, launched in turn, each pass in another order."""
    script = report["workload"]["script"]
    index = script["loader"]["index"]
    configs = [config for config in configs_of(report) if key_of(config) in rates]
    for number in passes:
        random.Random(number).shuffle(configs)
        for config in configs:
            settings = dict(config, persistent=True, device=script["device"])
            rates[key_of(config)].append(launched_rate(options, name, settings, index, folder))
            print("  launch %d of %s: %.0f samples/s" % (number + 1, key_of(config),
                                                        rates[key_of(config)][-1]), flush=True)


def truth_of(options, name, report, folder):
    """What launches say of all configs, and of those that may be best and the answer; and the
    seconds that the former took."""
    began_s = time.monotonic()
    truth = Truth({key_of(config): [] for config in configs_of(report)})
    launch_all(options, name, report, folder, truth.rates, range(options.launches))
    took_s = time.monotonic() - began_s
    finals = truth.of({*truth.near_best(), key_of(report["recommendation"]["config"])})
    if len(finals.rates) > 1:
        launch_all(options, name, report, folder, finals.rates,
                   range(options.launches, options.launches + options.finals))
    return truth, finals, took_s


def answer_of(report, wall_s):
    """What a report says, beside the wall time of its run."""
    recommendation = report["recommendation"]
    return {
        "autotune_s": wall_s,
        "start_s": report["workload"]["script"]["start_s"],
        "recommended": recommendation["config"],
        "status": recommendation["status"],
        "speedup": list(recommendation["tiers"].values())[-1]["speedup"],
        "confirmation": report["confirmation"],
        "tool": report["tool"],
        "machine": dict(report["machine"]["cpus"], cpu=report["machine"]["cpu_model"]),
    }


def answers(options, name, folder):
    """Those of several runs."""
    results = []
    for number in range(1, options.runs + 1):
        report, wall_s = autotune(options, name, folder, number)
        results.append({"script": name, "run": number, **answer_of(report, wall_s)})
        print("%s, run %d: workers %d, prefetch %d, %s, %.2fx, %.0f s" % (
            name, number, results[-1]["recommended"]["workers"],
            results[-1]["recommended"]["prefetch"], results[-1]["status"],
            results[-1]["speedup"]["estimate"], wall_s), flush=True)
    return results


def judge(options, name, folder):
    report, wall_s = autotune(options, name, folder)
    print("%s: autotune took %.0f s" % (name, wall_s), flush=True)
    truth, finals, truth_s = truth_of(options, name, report, folder)
    believed = {key_of(config): believed_of(report, config) for config in configs_of(report)}
    known = [key for key in believed if believed[key]]
    apart = [(a, b) for a, b in truth.told_apart() if a in known and b in known]
    in_order = sum(believed[slower] < believed[faster] for slower, faster in apart)
    best = finals.best()
    regret, error = finals.regret(key_of(report["recommendation"]["config"]))
    return {
        "script": name,
        "launches_s": truth_s,
        "cost_ratio": truth_s / wall_s,
        "rank_correlation": rank_correlation([believed[key] for key in known],
                                             [truth.mean(key) for key in known]),
        "rank_correlation_of_launches": truth.agreement(),
        "pairs_told_apart": len(apart),
        "pairs_in_order": in_order,
        "rank_correlation_of_told_apart": gamma(in_order, len(apart)),
        "finals": finals.passes - truth.passes,
        "regret": regret,
        "regret_standard_error": error,
        "best": dict(zip(KEYS, best)),
        "configs": [{**dict(zip(KEYS, key)),
                     "samples_per_s": finals.rates.get(key, truth.rates[key]),
                     "autotune_samples_per_s": believed[key]} for key in believed],
        **answer_of(report, wall_s),
    }


def line_of(result):
    line = "%s: rank correlation %.2f, %d of %d pairs in order, %.0f s against %.0f s (%.1fx)" % (
        result["script"], result["rank_correlation"], result["pairs_in_order"],
        result["pairs_told_apart"], result["autotune_s"], result["launches_s"],
        result["cost_ratio"])
    if result["regret"] is None:
        return line
    return line + ", %.1f %% +-%.1f %% behind the best; launches among themselves %.2f" % (
        100 * result["regret"], 100 * result["regret_standard_error"],
        result["rank_correlation_of_launches"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--autotune", default=os.path.join(TOP, "build/tuner/autotune"))
    parser.add_argument("--python", default=sys.executable, help="with torch")
    parser.add_argument("--seconds", type=float, default=20, help="of each launch")
    parser.add_argument("--launches", type=int, default=3, help="of each config")
    parser.add_argument("--finals", type=int, default=0, help="more launches of what may be best")
    parser.add_argument("--runs", type=int, default=0, help="answers of autotune alone")
    parser.add_argument("--batches", action="store_true", help="the batch varies, too")
    parser.add_argument("--only", choices=SCRIPTS, nargs="*", help="these scripts")
    parser.add_argument("--reports", help="a folder in which autotune's own reports are kept")
    parser.add_argument("--output", help="where the JSON goes; the default is nowhere")
    options = parser.parse_args()
    options.autotune = os.path.abspath(options.autotune)
    options.only = options.only or list(BATCHES if options.batches else SCRIPTS)
    if options.batches and not set(options.only) <= set(BATCHES):
        parser.error("--batches goes with " + ", ".join(BATCHES))
    if "images" in options.only and not os.path.isdir(PICTURES):
        parser.error("there are no pictures in %s; `%s --workload images` makes them"
                     % (PICTURES, options.autotune))
    if options.reports:
        options.reports = os.path.abspath(options.reports)
        os.makedirs(options.reports, exist_ok=True)
    results = []
    for name in options.only:
        with tempfile.TemporaryDirectory() as folder:
            if options.runs:
                results += answers(options, name, folder)
            else:
                results.append(judge(options, name, folder))
                print(line_of(results[-1]), flush=True)
        if options.output:
            with open(options.output, "w") as file:
                json.dump(results, file, indent=1)
                file.write("\n")


if __name__ == "__main__":
    main()
