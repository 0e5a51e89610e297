# SPDX-License-Identifier: Apache-2.0
"""Real files with a planted fault, tuned by the command as it is: a store that keeps them waiting, and none.
Prints TAP.

usage: planted.py AUTOTUNE SLOW_STORE FIXTURES SCHEMA
"""

import json
import os
import pathlib
import shutil
import sys

from tap import main, run, test, validate

SLOW_STORE = os.path.abspath(sys.argv[2])
PICTURES = sorted((pathlib.Path(sys.argv[3]).resolve() / "images").glob("*.jpg"))


def pictures_in(folder, count=64):
    """A folder of one class of JPEG files."""
    (folder / "class").mkdir(parents=True)
    for i in range(count):
        shutil.copy(PICTURES[i % len(PICTURES)], folder / "class" / f"{i}.jpg")
    return folder


def says(report):
    """What a recommendation rests on, in short."""
    chosen = report["recommendation"]
    rounds = {(trial["config"]["workers"], trial["config"]["prefetch"]):
              [round(one["samples"] / one["duration_s"]) for one in trial["rounds"]] or trial["status"]
              for trial in report["trials"]}
    return {"workers": chosen["config"]["workers"], "proof": chosen["tiers"]["safe"]["speedup"],
            "promise": chosen["tiers"]["safe"]["promise"], "rounds": rounds}


def tune(tmp, *arguments, **options):
    """What a run names as causes, the biggest first, and its report."""
    code, out, err = run("--no-card", "--json", *arguments, cwd=tmp, **options)
    assert code == 0, f"exit {code}: {err}"
    report = json.loads(out)
    validate(report)
    return report["diagnoses"], report


def slow_store(tmp, milliseconds):
    """A folder of pictures, and the environment in which each of its files waits before it opens."""
    folder = pictures_in(tmp / "pictures")
    return folder, {"LD_PRELOAD": SLOW_STORE, "FEEDRATE_SLOW_STORE": str(folder),
                    "FEEDRATE_SLOW_STORE_MS": str(milliseconds)}


def waits_are_found(milliseconds, tmp):
    """Asserts that a store of this latency is told from slow decoding, and remedied by files in flight."""
    folder, environment = slow_store(tmp, milliseconds)
    diagnoses, report = tune(tmp, "--data", str(folder), "--device", "emulated:1ms@2", "--workers",
                             "2,8,16", "--prefetch", "16", "--budget", "15s", env=environment)
    assert diagnoses and diagnoses[0]["cause"] == "no_overlap", diagnoses
    numbers = diagnoses[0]["numbers"]
    # It is the rate of a short round with two workers: what one had loaded before makes it a little too high.
    assert 0.9 * milliseconds <= 1e3 * numbers["load_s"], diagnoses
    assert numbers["load_cpu_s"] < numbers["load_s"] / 2, diagnoses
    assert report["recommendation"]["config"]["workers"] >= 8, says(report)
    speedup = report["recommendation"]["tiers"]["safe"]["speedup"]
    assert speedup["estimate"] > 4 and speedup["low"] > 1, says(report)


@test
def files_that_wait_for_50_ms_take_more_workers_than_cores(tmp):
    # Bug: cores asked for where only more files in flight help.
    waits_are_found(50, tmp)


@test
def files_that_wait_for_5_ms_do_so_too(tmp):
    # Bug: a wait that is lost beside the decoding.
    waits_are_found(5, tmp)


@test
def a_device_that_is_well_fed_gets_no_cause(tmp):
    # Bug: a remedy for what is not ill.
    folder = pictures_in(tmp / "pictures")
    diagnoses, report = tune(tmp, "--data", str(folder), "--device", "emulated:400ms@8", "--workers",
                          "1,2", "--prefetch", "4", "--budget", "12s")
    assert diagnoses == [], diagnoses
    assert report["recommendation"]["tiers"]["safe"]["speedup"]["estimate"] < 1.05, report


main()
