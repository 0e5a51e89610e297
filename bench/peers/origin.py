# SPDX-License-Identifier: Apache-2.0
"""Where the figures of a file come from: commit, day and machine. Standard library only."""
import datetime
import os
import pathlib
import platform
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if "model name" in line), "")
    return {"cpu": model, "cpus": len(os.sched_getaffinity(0)), "system": platform.platform()}


def commit():
    command = ["bash", str(HERE.parents[1] / "tools/lib/commit")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # no bash here
        return "unknown"
    return done.stdout.strip() or "unknown"


def origin():
    """The keys that bench/origin.hpp writes, too."""
    return {"commit": commit(), "date": datetime.date.today().isoformat(), "machine": machine()}
