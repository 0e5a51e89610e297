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


def machine_cpu(path="/proc/stat"):
    """CPU seconds of all CPUs: (used by programs, wanted by them while the host of this virtual
    machine let others run); zeros where the kernel doesn't tell. Source: proc(5)."""
    try:
        with open(path) as file:
            ticks = file.readline().split()[1:9]
        user, nice, system, _, _, irq, softirq, steal = map(int, ticks)
    except (OSError, ValueError):
        return 0.0, 0.0
    per_s = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / per_s, steal / per_s


def stolen_from(cpu_s, used_s, stolen_s):
    """What of the stolen time fell on processes that used `cpu_s`: as much as of the used."""
    return max(0.0, stolen_s) * min(1.0, cpu_s / used_s) if used_s > 0 else 0.0
