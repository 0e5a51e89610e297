# SPDX-License-Identifier: Apache-2.0
"""autotune on unedited scripts against the truth: each number of workers, launched alone.

    python3 bench/script_truth.py --autotune build/tuner/autotune --python venv/bin/python

Needs a Python with torch, torchvision and accelerate. The pictures are those of autotune's own
workload `images`, which makes them where it runs first. Launched is, several times and in turn,
each number of workers that autotune measured or predicted, with prefetch 2 (PyTorch's own), and its
answer. Per script: the rank correlation (Spearman) between the rates that autotune measured or
predicted within one launch and the truth, how far its recommendation lies behind the best, and the
wall time of both.
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


def command_of(options, name):
    script, *words = SCRIPTS[name]
    return [options.python, os.path.join(HERE, "scripts", script), *words]


def autotune(options, name, folder):
    """One run of autotune: its report, and its wall time."""
    report = os.path.join(folder, "report.json")
    for path in (report, report + "l"):
        if os.path.exists(path):
            os.remove(path)
    began_s = time.monotonic()
    subprocess.run([options.autotune, "--quiet", "--json", "--output", report, "--",
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
            sys.exit("The script ended, or fell silent, before its rate was known: " + self._last_line())
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


def launched_rate(options, name, config, index, folder):
    launch = Launch(options, name, config, index, folder)
    try:
        return launch.rate(options.seconds)
    finally:
        launch.end()


def key_of(config):
    return (config["workers"], config["prefetch"])


def configs_of(report):
    """One config for each number of workers that was measured or predicted, and the answer."""
    wanted = {}
    answer = report["recommendation"]["config"]
    for trial in report["trials"]:
        config = trial["config"]
        if trial["status"] in ("measured", "predicted") and config["prefetch"] in (0, 2):
            wanted[key_of(config)] = config
    wanted[key_of(answer)] = answer
    return list(wanted.values())


def believed(report, config):
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
    a, b = ranks(a), ranks(b)
    mean_a, mean_b = statistics.mean(a), statistics.mean(b)
    covariance = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    spread = math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))
    return covariance / spread if spread > 0 else 1.0


def truth_of(options, name, report, folder):
    """config key -> its rates, launched in turn, each pass in another order."""
    configs = configs_of(report)
    index = report["workload"]["script"]["loader"]["index"]
    rates = {key_of(config): [] for config in configs}
    for number in range(options.launches):
        random.Random(number).shuffle(configs)
        for config in configs:
            settings = dict(config, persistent=True)
            rates[key_of(config)].append(launched_rate(options, name, settings, index, folder))
            print("  launch %d of %s: %.0f samples/s" % (number + 1, key_of(config),
                                                        rates[key_of(config)][-1]), flush=True)
    return configs, rates


def geometric(values):
    return math.exp(statistics.mean(math.log(value) for value in values))


def judge(options, name, folder):
    report, wall_s = autotune(options, name, folder)
    print("%s: autotune took %.0f s" % (name, wall_s), flush=True)
    began_s = time.monotonic()
    configs, rates = truth_of(options, name, report, folder)
    truth_s = time.monotonic() - began_s
    means = {key: geometric(values) for key, values in rates.items()}
    best = max(means, key=means.get)
    answer = key_of(report["recommendation"]["config"])
    behind = [math.log(a / b) for a, b in zip(rates[best], rates[answer])]
    spread = statistics.stdev(behind) / math.sqrt(len(behind)) if len(behind) > 1 else None
    pairs = [(believed(report, config), means[key_of(config)]) for config in configs]
    pairs = [pair for pair in pairs if pair[0]]
    return {
        "script": name,
        "autotune_s": wall_s,
        "launches_s": truth_s,
        "cost_ratio": truth_s / wall_s,
        "recommended": report["recommendation"]["config"],
        "status": report["recommendation"]["status"],
        "speedup": report["recommendation"]["tiers"]["safe"]["speedup"],
        "confirmation": report["confirmation"],
        "rank_correlation": rank_correlation(*zip(*pairs)),
        "regret": math.expm1(statistics.mean(behind)),
        "regret_standard_error": spread,
        "best": {"workers": best[0], "prefetch": best[1]},
        "configs": [{"workers": key[0], "prefetch": key[1], "samples_per_s": values,
                     "autotune_samples_per_s": believed(report, config)}
                    for config in configs for key, values in [(key_of(config),
                                                               rates[key_of(config)])]],
        "tool": report["tool"],
        "machine": dict(report["machine"]["cpus"], cpu=report["machine"]["cpu_model"]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--autotune", default=os.path.join(TOP, "build/tuner/autotune"))
    parser.add_argument("--python", default=sys.executable, help="with torch")
    parser.add_argument("--seconds", type=float, default=20, help="of each launch")
    parser.add_argument("--launches", type=int, default=3, help="of each config")
    parser.add_argument("--only", choices=SCRIPTS, nargs="*", default=list(SCRIPTS))
    parser.add_argument("--output", help="where the JSON goes; the default is nowhere")
    options = parser.parse_args()
    options.autotune = os.path.abspath(options.autotune)
    results = []
    for name in options.only:
        with tempfile.TemporaryDirectory() as folder:
            results.append(judge(options, name, folder))
        last = results[-1]
        print("%s: rank correlation %.2f, %.1f %% behind the best, %.0f s against %.0f s (%.1fx)"
              % (name, last["rank_correlation"], 100 * last["regret"], last["autotune_s"],
                 last["launches_s"], last["cost_ratio"]), flush=True)
        if options.output:
            with open(options.output, "w") as file:
                json.dump(results, file, indent=1)
                file.write("\n")


if __name__ == "__main__":
    main()
