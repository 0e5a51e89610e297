# SPDX-License-Identifier: Apache-2.0
"""What went wrong in a loader, in a sentence."""

import os
import re

from .lanes import SHARED_MEMORY

LONGEST = 300
IN_WORKER = "in DataLoader worker process"  # PyTorch's words


def sentence_of(error):
    """One line: what was thrown, and what to do where that is known."""
    text = " ".join(str(error).split()) or type(error).__name__
    if "bus error" in text.lower() or "shared memory" in text.lower():
        return ("A worker ran out of shared memory: %s has %s in all; make it larger (docker run "
                "--shm-size=8g), or use fewer workers, less prefetch or a smaller batch."
                % (SHARED_MEMORY, _shared_memory_text()))
    if "exited unexpectedly" in text or "is killed by signal" in text:
        return "A worker of the DataLoader died: " + _short(text) + "."
    if re.search("pickle|can't get local object", text.lower()) and IN_WORKER not in text:
        return ("Workers can't be started, since the dataset can't be pickled: " + _short(text)
                + ".")
    return "The script's loader failed: %s: %s." % (type(error).__name__, _short(_last_line(error)))


def _last_line(error):
    """A worker's exception brings the traceback of the worker: its last line says what it was."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else "without a message"


def _short(text):
    text = text.rstrip(".")
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def _shared_memory_text():
    try:
        status = os.statvfs(SHARED_MEMORY)
    except OSError:
        return "no room"
    return "%.0f MiB" % (status.f_blocks * status.f_frsize / 2**20)
