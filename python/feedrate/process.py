# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of processes: CPU time, time spent ready to run without a core, and memory."""

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
    """What of the stolen time fell on processes that used `cpu_s`: as much as of the used.

    `cpu_s` is below 0 where a process ended between its two readings. Then the answer is 0.
    """
    return max(0.0, stolen_s) * min(1.0, max(0.0, cpu_s) / used_s) if used_s > 0 else 0.0


class Memory:
    """Resident bytes of one or several processes.

    `proportional`: a page that several processes have counts by their shares; `private`: what no
    other process has; `shared`: of the proportional bytes, what is shared memory, as of tensors in
    a queue. `by_share` tells whether the kernel knows shares: else all pages of a process count.
    """

    def __init__(self, proportional=0, private=0, shared=0, by_share=True):
        self.proportional = proportional
        self.private = private
        self.shared = shared
        self.by_share = by_share

    def __add__(self, other):
        return Memory(self.proportional + other.proportional, self.private + other.private,
                      self.shared + other.shared, self.by_share and other.by_share)


def memory(pid, root="/proc"):
    """Of one process; nothing where it is gone. Source: proc(5)."""
    folder = "%s/%s/" % (root, pid)
    kib = _kib_by_name(folder + "smaps_rollup")
    if "Pss" in kib:
        private = kib.get("Private_Clean", 0) + kib.get("Private_Dirty", 0)
        return Memory(kib["Pss"] << 10, private << 10, kib.get("Pss_Shmem", 0) << 10)
    kib = _kib_by_name(folder + "status")
    resident, shared = kib.get("VmRSS", 0) << 10, kib.get("RssShmem", 0) << 10
    return Memory(resident, resident - shared, shared, False)


def memory_of(pids, root="/proc"):
    """The sum over processes."""
    return sum((memory(pid, root) for pid in pids), Memory())


def _kib_by_name(path):
    """The lines of a file in /proc that hold so many kB."""
    try:
        with open(path) as file:
            lines = [line.split() for line in file]
    except OSError:
        return {}
    return {words[0].rstrip(":"): int(words[1])
            for words in lines if len(words) == 3 and words[2] == "kB"}
