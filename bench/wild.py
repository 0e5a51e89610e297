#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`autotune -- python SCRIPT` on scripts in the styles people write, against plain launches.

    python3 bench/wild.py --python VENV/bin/python --output FILE [SCRIPT ...]
    python3 bench/wild.py --table FILE          # what is in it, as Markdown

Needs a Python with torch, torchvision, lightning, transformers, accelerate, datasets, hydra-core,
click, webdataset, torchdata and timm. The scripts are those of bench/scripts/wild that WILD names;
tools/real-loaders runs others. Each is copied to an empty folder and tuned there by the default
command. Then it is launched alone, without any part of this project, with each number of workers
written into its source: 0, 1, 2, 4, 8, 16, and twice the best of these. The answer is launched as it
was printed: the patch is applied by git, and the command line is the printed one. The rate of a
launch is that of the script's own output: samples between its lines ("epoch 3", "step 40"), over the
time between these, so with validation, checkpoints, and the start and end of workers. The script as
it is, the answer, and all that are within a tenth of the best are launched --finals times more, in
turn.

An output that is there already is continued.
"""

import argparse
import collections
import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench/peers"))
import origin  # noqa: E402

SCRIPTS = ROOT / "bench/scripts/wild"
PICTURES = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"),
                        "feedrate/images")
SHUFFLED = "shuffle=True"  # what a script has that does not name num_workers


@dataclasses.dataclass
class Script:
    """samples: between two marks whose numbers differ by 1. own: the text that sets its workers."""
    samples: int
    own: str
    words: tuple = ()
    mark: str = "epoch"
    file: str = ""  # in which own stands; the script itself
    launcher: tuple = ()
    refused: bool = False


WILD = {
    "notebook": Script(2000, SHUFFLED),
    "onecycle": Script(1600, "num_workers=args.workers"),
    "mnist_style": Script(3200, '"num_workers": 1', mark="Test"),
    "stateful": Script(1600, "num_workers=2"),
    "nodes": Script(1600, "", refused=True),
    "corrupt": Script(32, SHUFFLED, mark="step"),
    "spawned": Script(4000, "num_workers=1,\n                        persistent_workers=True"),
    "unguarded": Script(800, SHUFFLED),
    "hydra_app": Script(3200, "num_workers=cfg.data.num_workers"),
    "dataclassed": Script(3200, "num_workers=config.num_workers"),
    "clicked": Script(3200, "num_workers=workers"),
    "environment": Script(1600, "num_workers=NUM_WORKERS"),
    "hf_trainer": Script(1600, "disable_tqdm=True"),
    "lightning_fit": Script(1600, "num_workers=self.num_workers"),
    "accelerated": Script(3200, "num_workers=1"),
    "ddp": Script(3200, "num_workers=1",
                  launcher=("-m", "torch.distributed.run", "--nproc-per-node", "2")),
    "shards": Script(3200, "num_workers=1"),
    "stream": Script(3200, "num_workers=1"),
    "hf_stream": Script(3200, "num_workers=1"),
    "timm_loader": Script(1280, "num_workers=1"),
    "folder": Script(16, SHUFFLED, words=(str(PICTURES),), mark="step"),
    "collated": Script(3200, "num_workers=0"),
    "memmap": Script(64_000, "num_workers=4"),
    "heavy_step": Script(640, SHUFFLED),
    "zipped": Script(800, "Clips(800, wait_s=0.0005), batch_size=16, shuffle=True"),
    "remade": Script(3200, "num_workers=0"),
    "evaluated_first": Script(3200, SHUFFLED),
    "accumulated": Script(3210, "num_workers=2"),
    "steps": Script(32, "num_workers=1", mark="step"),
    "endless": Script(32, "sampler=Endless(len(clips))", mark="step"),
    "cycled": Script(32, SHUFFLED, mark="step", refused=True),
    "in_memory": Script(12_800, SHUFFLED),
    "prefetcher": Script(3200, SHUFFLED),
}


def written(name, text, workers):
    """The source with this number of workers, which stay from epoch to epoch where they can."""
    own = WILD[name].own
    stay = ", persistent_workers=True" if workers else ""
    if name == "hf_trainer":
        stay = stay.replace("persistent", "dataloader_persistent")
        new = f"{own}, dataloader_num_workers={workers}{stay}"
    elif name == "mnist_style":
        new = f'"num_workers": {workers}' + (', "persistent_workers": True' if workers else "")
    elif "num_workers=" in own:
        new = f"num_workers={workers}{stay}"
    else:
        new = f"{own}, num_workers={workers}{stay}"
    if text.count(own) < 1:
        raise SystemExit(f"{name}.py does not have: {own}")
    return text.replace(own, new, 1)


class Launch:
    """One launch of a script, whose lines are timed as they arrive."""

    def __init__(self, command, folder, environment=()):
        self._process = subprocess.Popen(
            command, cwd=folder, env=dict(os.environ, PYTHONUNBUFFERED="1", **dict(environment)),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True)
        self._last = collections.deque(maxlen=3)

    def rate(self, script, seconds, patience_s=60):
        """Samples/s from the first mark until `seconds` later; None where it ended before."""
        mark = re.compile(r"\b%s:?\D*(\d+)" % script.mark)
        watchdog = threading.Timer(patience_s, self.end)
        watchdog.start()
        first = last = None
        count = 0
        try:
            for line in self._process.stdout:
                self._last.append(line.strip())
                found = mark.search(line)
                if not found:
                    continue
                number = count if script.mark == "Test" else int(found.group(1))
                count += 1
                last = (time.monotonic(), number)
                first = first or last
                if last[0] - first[0] >= seconds:
                    break
        finally:
            watchdog.cancel()
            self.end()
        if first is None or last[1] == first[1]:
            return None
        return (last[1] - first[1]) * script.samples / (last[0] - first[0])

    @property
    def words(self):
        return " | ".join(self._last)

    def end(self):
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended
        self._process.wait()


def command_of(options, name):
    script = WILD[name]
    return [options.python, *script.launcher, name + ".py", *script.words]


def folder_of(options, name, where):
    """A copy of all scripts, as a user's folder: nothing of this project is in it."""
    folder = pathlib.Path(where, name)
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def autotune(options, name, folder):
    """The report, or the message of a refusal; and the wall time."""
    report = (options.reports or folder) / (name + ".json")
    begin_s = time.monotonic()
    done = subprocess.run([options.autotune, "--quiet", "--output", str(report), "--",
                           *command_of(options, name)], cwd=folder, capture_output=True, text=True,
                          check=False)
    wall_s = time.monotonic() - begin_s
    if not report.exists():
        return {"message": done.stderr.strip().splitlines()[-1:], "code": done.returncode}, wall_s
    return dict(json.loads(report.read_text()), code=done.returncode), wall_s


def printed_launch(options, name, report, folder):
    """How the answer is launched as printed: applies the patch; returns command and environment."""
    command, environment = command_of(options, name), {}
    for setting in report["settings"]:
        if setting.get("patch"):
            subprocess.run(["git", "apply"], input=setting["patch"], text=True, cwd=folder, check=True)
        if setting["framework"] == "command line":
            words = setting["text"].split()
            while "=" in words[0]:
                key, _, value = words.pop(0).partition("=")
                environment[key] = value
            command = words
    return command, environment


def is_kept(report):
    return report["recommendation"]["config"] == report["workload"]["script"]["config"]


def launched(options, name, key, report):
    """The rate of one launch: of "as it is", "answer", or a number of workers."""
    with tempfile.TemporaryDirectory() as where:
        folder = folder_of(options, name, where)
        command, environment = command_of(options, name), {}
        if key == "answer" and not is_kept(report):
            command, environment = printed_launch(options, name, report, folder)
        elif isinstance(key, int):
            path = folder / (name + ".py")
            path.write_text(written(name, path.read_text(), key))
        launch = Launch(command, folder, environment.items())
        rate = launch.rate(WILD[name], options.seconds)
        print("  %s: %s" % (key, "%.0f samples/s" % rate if rate else "no rate: " + launch.words),
              flush=True)
        return rate


def truth_of(options, name, report):
    """Rates by what was launched; a list for each."""
    rates = {}
    numbers = [0, 1, 2, 4, 8, 16]
    for key in ["as is", "answer", *numbers]:
        rates[key] = [launched(options, name, key, report)]
    best = max(numbers, key=lambda number: rates[number][0] or 0)
    if best and best * 2 not in rates:
        rates[best * 2] = [launched(options, name, best * 2, report)]
    highest = max(rate[0] for rate in rates.values() if rate[0])
    finals = [key for key, rate in rates.items()
              if rate[0] and (key in ("as is", "answer", best // 2, best, best * 2)
                              or rate[0] >= 0.9 * highest)]
    for again in range(options.finals):
        for key in finals if again % 2 else reversed(finals):
            rates[key].append(launched(options, name, key, report))
    return rates


def judged(name, report, rates):
    """The answer against the best launch and against the script as it is.

    In each pass the best is chosen by the others, so that none is best by luck. The median of the
    passes counts: one launch that stalls decides nothing.
    """
    passes = len(rates["answer"])
    finals = [key for key in rates
              if isinstance(key, int) and len(rates[key]) == passes and all(rates[key])]

    def best_without(left_out):
        return max(finals, key=lambda key: max(rate for at, rate in enumerate(rates[key])
                                               if at != left_out or passes == 1))

    best = best_without(None)
    behind = [math.log(rates[best_without(at)][at] / rates["answer"][at]) for at in range(passes)]
    gain = statistics.median(rates["answer"]) / statistics.median(rates["as is"])
    confirmation = report["confirmation"] or {}
    said = (confirmation.get("speedup") or {}).get("estimate") if not is_kept(report) else 1.0
    return {
        "best": best,
        "regret": math.expm1(statistics.median(behind)),
        "error": (statistics.stdev(behind) / math.sqrt(passes)) if passes > 1 else None,
        "gain": gain,
        "said": said,
        "verdict": confirmation.get("verdict"),
    }


def one(options, name):
    with tempfile.TemporaryDirectory() as where:
        report, wall_s = autotune(options, name, folder_of(options, name, where))
    if "message" in report:
        print(f"{name}: exit code {report['code']}: {report['message']} ({wall_s:.0f} s)", flush=True)
        return {"script": name, **origin.origin(), "code": report["code"],
                "refused": report["message"], "wall_s": wall_s}
    script = report["workload"]["script"]
    config = report["recommendation"]["config"]
    print(f"{name}: {script['config']['workers']} -> {config['workers']} workers, prefetch "
          f"{config['prefetch']}, {report['recommendation']['status']} ({wall_s:.0f} s)", flush=True)
    result = {
        "script": name, **origin.origin(), "code": report["code"], "wall_s": wall_s, "start_s": script["start_s"],
        "as_is": script["config"], "recommended": config, "status": report["recommendation"]["status"],
        "confirmation": report["confirmation"], "settings": report["settings"],
        "notes": report["notes"], "warnings": report["warnings"], "tool": report["tool"],
    }
    if options.finals >= 0:
        rates = truth_of(options, name, report)
        result["launches"] = {str(key): rate for key, rate in rates.items()}
        result.update(judged(name, report, rates))
        print("  best %s, answer %s behind, gain %.2fx, said %s" % (
            result["best"], "%.1f %%" % (100 * result["regret"]),
            result["gain"], result["said"] and "%.2fx" % result["said"]), flush=True)
    return result


def settings_text(config, as_is):
    """Workers x prefetch, and the threads of the step where they are others than the script's."""
    workers, threads = config["workers"], config["step_threads"]
    text = f"{workers} x {config['prefetch']}" if workers else "0"
    return text if threads == as_is["step_threads"] else f"{text}, threads {threads}"


def table(document):
    """A line for each script, and what holds for all."""
    lines = ["| script | as it is | answer | best launch | answer behind it | gain of the launches | said | time |",
             "|---|---|---|---|---|---|---|---|"]
    asked = [one for one in document["scripts"] if "launches" in one]
    for one in document["scripts"]:
        if "launches" not in one:
            lines.append(f"| {one['script']} | | refused | | | | | {one['wall_s']:.0f} s |")
            continue
        said = f"{one['said']:.2f}x" if one["said"] else "-"
        as_is = one["as_is"]
        lines.append(f"| {one['script']} | {settings_text(as_is, as_is)} | "
                     f"{settings_text(one['recommended'], as_is)} | {one['best']} | "
                     f"{100 * one['regret']:.1f} % | {one['gain']:.2f}x | {said} | {one['wall_s']:.0f} s |")
    near = sum(one["regret"] <= 0.05 for one in asked)
    true = sum(bool(one["said"]) and abs(one["said"] / one["gain"] - 1) <= 0.1 for one in asked)
    slower = sum(one["gain"] < 0.95 for one in asked)
    times = [one["wall_s"] for one in asked]
    beyond = [one["wall_s"] - one["start_s"] for one in asked]
    lines += ["", f"{len(document['scripts'])} scripts, {len(asked)} answered: within 5 % of the best launch {near}, "
              f"gain within 10 % of the launches' {true}, slower than the script by more than 5 % {slower}; "
              f"{statistics.median(times):.0f} s in the median, {statistics.median(beyond):.0f} s beyond the "
              "script's own start."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("only", nargs="*", metavar="SCRIPT", help=", ".join(WILD))
    parser.add_argument("--autotune", default=str(ROOT / "build/tuner/autotune"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=3, help="measured of each launch")
    parser.add_argument("--finals", type=int, default=2, help="further launches; -1: no launch at all")
    parser.add_argument("--reports", type=pathlib.Path, help="a folder that keeps autotune's reports")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help="print what an output holds, and measure nothing")
    options = parser.parse_args()
    if options.table:
        print(table(json.loads(options.table.read_text())))
        return
    options.autotune = os.path.abspath(options.autotune)
    options.python = os.path.abspath(options.python)
    if options.reports:
        options.reports = options.reports.resolve()
        options.reports.mkdir(parents=True, exist_ok=True)
    if not PICTURES.is_dir():
        parser.error(f"no pictures in {PICTURES}; `{options.autotune} --workload images` makes them")
    document = {"seconds": options.seconds, "finals": options.finals, "scripts": []}
    if options.output and options.output.exists():
        document = json.loads(options.output.read_text())
    done = {result["script"] for result in document["scripts"]}
    for name in options.only or WILD:
        if name in done:
            continue
        document["scripts"].append(one(options, name))
        if options.output:
            options.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
