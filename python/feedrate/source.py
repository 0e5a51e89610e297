# SPDX-License-Identifier: Apache-2.0
"""Where a DataLoader is made in the user's source, and the change to make there.

Edits are made in the text of the call alone, so that the rest of it stays as its author laid it
out. Where the text can't be read or understood, a sentence says what to set instead.
"""

import difflib
import os
import re
import sys

from .calls import Unclear, find_call
from .edits import changed

LIBRARIES = frozenset(["torch", "torchvision", "torchdata", "lightning", "lightning_fabric",
                       "pytorch_lightning", "accelerate", "transformers", "feedrate"])
# transformers' Trainer makes its DataLoader itself, of these.
TRAINING_ARGUMENTS = {
    "batch_size": "per_device_train_batch_size",
    "num_workers": "dataloader_num_workers",
    "pin_memory": "dataloader_pin_memory",
    "prefetch_factor": "dataloader_prefetch_factor",
    "persistent_workers": "dataloader_persistent_workers",
}
OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
LIBRARY_FOLDER = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")


# Which line of the script it was.

class Site:
    """A place in the user's source where a DataLoader was made.

    `maker` is the library that made it for the user, as transformers does; None where the user did.
    `end` is (line, column) of the end of the call, where Python tells: since 3.11.
    `way` holds (file, line) of each call in the user's code that led there, the innermost first: it
    tells the callers of a function apart that makes loaders for several of them.
    """

    def __init__(self, file, line, end=None, maker=None, way=()):
        self.file = file
        self.line = line
        self.end = end
        self.maker = maker
        self.way = way

    @property
    def call(self):
        """The call in the source; None where it can't be read, or is not what makes the loader."""
        found = find_call(self.file, self.line, self.end)
        if found is None or not found.is_sure:
            return None
        if self.maker is not None and "loader" not in found.function.lower():
            return None
        return found

    @property
    def is_loader_call(self):
        """Whether the user's own line makes the loader, and no library on its behalf."""
        return self.maker is None or self.call is not None

    @property
    def name(self):
        """What the loader is assigned to, as `self.train_dl`; None where to nothing."""
        call = self.call
        return call.name if call else None

    def __str__(self):
        return "%s:%d" % (shown(self.file), self.line)


def call_site(skip_modules=LIBRARIES):
    """The user's own line that is being executed, seen from within a patched DataLoader.__init__;
    None where there is none."""
    frames = list(_frames(sys._getframe(1)))
    kinds = [_kind(frame, skip_modules) for frame in frames]
    for wanted in ("user", "installed"):
        if wanted in kinds:
            at = kinds.index(wanted)
            way = tuple(_place(frame) for frame, kind in zip(frames, kinds) if kind == "user")
            return _site(frames[at], _maker(frames[:at], kinds), way)
    return None


def _frames(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def _kind(frame, skip_modules):
    """Whose code a frame runs: ours, a library's, what else is installed, or the user's."""
    file = frame.f_code.co_filename
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    if file.startswith(OWN_FOLDER):
        return "ours"
    if package in skip_modules or file.startswith("<frozen"):
        return "library"
    if INSTALLED.search(file):
        return "installed"
    return "library" if file.startswith(LIBRARY_FOLDER) else "user"


def _maker(frames, kinds):
    """The package between the user's line and the loader; None where only constructors are."""
    made = None
    for frame, kind in zip(frames, kinds):
        if kind == "ours":
            made = _first_argument(frame)
        elif made is None or _first_argument(frame) is not made:
            return str(frame.f_globals.get("__name__")).partition(".")[0]
    return None


def _first_argument(frame):
    """Of the function that a frame runs; in a constructor that is the object itself."""
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount > 0 else None


def _place(frame):
    return frame.f_code.co_filename, frame.f_lineno


def _site(frame, maker, way):
    file = frame.f_code.co_filename
    if not file.startswith("<"):
        file = os.path.abspath(file)
    return Site(file, frame.f_lineno, _end_of_call(frame), maker, way)


def _end_of_call(frame):
    """(line, column in bytes) where the call ends that a frame is in; None before Python 3.11."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    for at, (_, line, _, column) in enumerate(positions()):
        if at == frame.f_lasti // 2:
            return (line, column) if line is not None and column is not None else None
    return None


# The change.

def change(site, changes):
    """What to edit for keyword arguments to have other values, as plain data: file, line, name
    (what the loader is assigned to), diff, and old. `changes` holds Python values by keyword; `old`
    holds the source text that decides a keyword today, None where none does."""
    if site is None:
        return {"file": None, "line": 0, "name": None, "old": {},
                "diff": "Where the DataLoader is made, set %s." % _settings(changes)}
    call = site.call
    text, old = _diff(call, site, changes)
    return {"file": site.file, "line": site.line, "name": call.name if call else None,
            "diff": text, "old": old}


def diff(file, line, changes):
    """The call that covers a line, before and after; a sentence where that is unclear."""
    return change(Site(file, line), changes)["diff"]


def _diff(call, site, changes):
    """(text, old expressions by keyword)"""
    nothing = {keyword: None for keyword in changes}
    if call is None:
        return _sentence(site, changes), nothing
    try:
        old = {keyword: _old(call, keyword) for keyword in changes}
        return _lines(call, changed(call, changes, site.maker), site), old
    except Unclear:
        return _sentence(site, changes), nothing


def _old(call, keyword):
    node = call.argument(keyword)
    return None if node is None else " ".join(call.source.of(node).split())


def _settings(changes):
    return ", ".join("%s=%r" % change for change in changes.items())


def _sentence(site, changes):
    if site.maker == "transformers":
        named = {TRAINING_ARGUMENTS.get(name, name): value for name, value in changes.items()}
        return "%s: transformers makes this DataLoader: set TrainingArguments(%s)." % (
            site, _settings(named))
    if site.maker is not None:
        return "%s: %s makes this DataLoader: set %s where it takes its settings from." % (
            site, site.maker, _settings(changes))
    return "%s: in the DataLoader that is made here, set %s." % (site, _settings(changes))


def shown(file):
    """A file as one would name it from here."""
    relative = os.path.relpath(file) if os.path.isabs(file) else file
    return file if relative.startswith(os.pardir) else relative


def _lines(call, text, site):
    """The call's lines as a diff with all of its context."""
    first, last = call.node.lineno, call.node.end_lineno
    before = call.source.lines
    after = text.split("\n")
    marked = difflib.unified_diff(before[first - 1:last],
                                  after[first - 1:last + len(after) - len(before)],
                                  n=last - first + 1, lineterm="")
    body = list(marked)[3:]  # without the two names and the numbers of the lines
    body = body or [" " + line for line in before[first - 1:last]]
    return "\n".join(["--- %s:%d" % (shown(site.file), first)] + body)
