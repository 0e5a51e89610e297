# SPDX-License-Identifier: Apache-2.0
"""What went wrong in a loader, in a sentence; and whose fault it is, the script's or the config's."""

import collections
import errno
import os
import pickle
import re
import sys
import traceback

from .lanes import SHARED_MEMORY
from .patch import original_of

LONGEST = 300
IN_WORKER = "in DataLoader worker process"  # PyTorch's words
IN_A_ROW = 3  # batches that fail, until a config is given up
LIBRARY_FOLDER = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
# What a config brings about: it asks for more than there is.
LACKING = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC}
LACKING_WORDS = re.compile(
    "out of memory|can't allocate|cannot allocate|can't start new thread|too many open files|"
    "received 0 items of ancdata|resource temporarily unavailable|dataloader timed out|"
    # Of samples that lie on a GPU: no worker can make them, and none can be pinned.
    "re-initialize cuda|cuda error|cannot pin|in pin memory thread", re.IGNORECASE)
# Of Python, h5py and Cython, for what can't go to a worker. A file that can't be read has other words.
NOT_PICKLED = re.compile("(cannot|can't) (be )?pickle|can't get local object|for pickling", re.IGNORECASE)


def sentence_of(error):
    """One line: what was thrown, and what to do where that is known."""
    text = " ".join(_text_of(error).split()) or type(error).__name__
    if _is_of_shared_memory(text):
        return ("A worker ran out of shared memory: %s has %s in all; make it larger (docker run "
                "--shm-size=8g), or use fewer workers, less prefetch or a smaller batch."
                % (SHARED_MEMORY, _shared_memory_text()))
    if _is_of_worker(text):
        return "A worker of the DataLoader died: " + _short(text) + "."
    if _is_of_pickling(error, text):
        return ("Workers can't be started, since the dataset can't be pickled: " + _short(text)
                + ".")
    return "The script's loader failed: %s." % description_of(error)


def is_of_config(error):
    """Whether a config may bring it about, as by many workers; else it is in the script's data."""
    text = " ".join(_text_of(error).split())
    if _is_of_shared_memory(text) or _is_of_worker(text) or _is_of_pickling(error, text):
        return True
    if isinstance(error, MemoryError) or getattr(error, "errno", None) in LACKING:
        return True
    return LACKING_WORDS.search(text) is not None


def description_of(error):
    """`KeyError: 'no row 7' (data.py:33, sample 7)`: what was thrown, where in the user's source, and
    of which sample, as far as that is known."""
    text = "%s: %s" % (type(error).__name__, _short(_last_line(error)))
    where = [place for place in (_place_of(error), _sample_of(error)) if place]
    return "%s (%s)" % (text, ", ".join(where)) if where else text


class DataErrors:
    """Errors of the script's own data. They are the same with every config, so none is blamed: they
    are told once, and the next batch is taken."""

    def __init__(self):
        self._counts = collections.Counter()  # by config and description
        self._row = []  # of those since a batch went well

    def may_go_on(self, error, config=None):
        """Notes an error, met with a config; whether the next batch may be taken."""
        if is_of_config(error):
            return False
        self._row.append((config, description_of(error)))
        if len(self._row) < IN_A_ROW:
            return True
        self._row.clear()  # nothing goes well with this config: it may be to blame
        return False

    def went_well(self):
        if self._row:
            self._counts.update(self._row)
            self._row.clear()

    def forget(self, config):
        """Those met with a config are of the config."""
        self._row.clear()
        for key in [key for key in self._counts if key[0] == config]:
            del self._counts[key]

    def told(self):
        """The most frequent one, and how many there were; None without any."""
        counts = collections.Counter()
        for (_, description), count in (self._counts + collections.Counter(self._row)).items():
            counts[description] += count
        if not counts:
            return None
        return {"error": counts.most_common(1)[0][0], "count": sum(counts.values())}


def _text_of(error):
    """As it was given: str() of a KeyError quotes it, and so makes one line of several."""
    whole = error.args[0] if isinstance(error, KeyError) and error.args else error
    return original_of(str(whole))


def _is_of_shared_memory(text):
    return "bus error" in text.lower() or "shared memory" in text.lower()


def _is_of_worker(text):
    return "exited unexpectedly" in text or "is killed by signal" in text


def _is_of_pickling(error, text):
    """Of the dataset, where workers start; not of what the dataset itself reads."""
    pickling = isinstance(error, pickle.PicklingError) or NOT_PICKLED.search(text) is not None
    return pickling and IN_WORKER not in text


def _place_of(error):
    """The innermost line of the user's that it came through: of this process, or, by the text that a
    worker sends, of the worker."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    text = _text_of(error)
    if IN_WORKER in text:
        places = [(file, int(line)) for file, line in
                  re.findall(r'^\s*File "(.+?)", line (\d+)', text, re.MULTILINE)]
    users = [place for place in places if _is_users(place[0])]
    return "%s:%d" % (os.path.basename(users[-1][0]), users[-1][1]) if users else None


def _is_users(file):
    own = os.path.dirname(os.path.abspath(__file__)) + os.sep
    return not (file.startswith((own, LIBRARY_FOLDER, "<frozen")) or os.sep + "torch" + os.sep in file
                or re.search(r"[\\/](site|dist)-packages[\\/]", file))


def _sample_of(error):
    """The index that the dataset was asked for, where it was asked in this process."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name == "__getitem__" and code.co_argcount > 1 and _is_users(code.co_filename):
            index = trace.tb_frame.f_locals.get(code.co_varnames[1])
            return "sample %d" % index if isinstance(index, int) else None
        trace = trace.tb_next
    return None


def _last_line(error):
    """A worker's exception brings the traceback of the worker: its last line says what it was."""
    lines = [line.strip() for line in _text_of(error).splitlines() if line.strip()]
    if not lines:
        return "without a message"
    before, name, after = lines[-1].partition(type(error).__name__ + ": ")
    return after if name and " " not in before else lines[-1]


def _short(text):
    text = text.rstrip(".")
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def _shared_memory_text():
    try:
        status = os.statvfs(SHARED_MEMORY)
    except OSError:
        return "no room"
    return "%.0f MiB" % (status.f_blocks * status.f_frsize / 2**20)


def without_bad(batches, errors):
    """The batches but those that fail by the script's own data, as while tuning: a launch that draws
    the one corrupt record says nothing of its settings."""
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except Exception as error:
            if not errors.may_go_on(error):
                raise
            print("feedrate: left out a batch: " + description_of(error), file=sys.stderr, flush=True)
            continue
        errors.went_well()
        yield batch
