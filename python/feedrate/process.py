# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of processes: CPU time, and time spent ready to run without a core."""

import os


def _schedstat(path):
    """(seconds on a core, seconds waiting for one) of a task; zeros where it is gone."""
    try:
        with open(path, "rb") as file:
            on_core, waiting = file.read().split()[:2]
    except (OSError, ValueError):
        return 0.0, 0.0
    return int(on_core) * 1e-9, int(waiting) * 1e-9


def usage(pid):
    """The sum over the threads of a process: (CPU seconds, seconds in the run queue)."""
    folder = "/proc/%s/task" % pid
    try:
        tasks = os.listdir(folder)
    except OSError:
        return 0.0, 0.0
    parts = [_schedstat("%s/%s/schedstat" % (folder, task)) for task in tasks]
    return sum(part[0] for part in parts), sum(part[1] for part in parts)


def usage_of(pids):
    """The sum over processes."""
    parts = [usage(pid) for pid in pids]
    return sum(part[0] for part in parts), sum(part[1] for part in parts)
