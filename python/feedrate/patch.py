# SPDX-License-Identifier: Apache-2.0
"""Changes of files as a patch that `git apply` and `patch -p1` take."""

import difflib
import os
import re
import tokenize

from .calls import read
from .config_files import ending_of
from .edits import edited


def text_of(file):
    """As the edits count in it: with \\n at the ends of lines."""
    return read(file)


def original_of(path):
    """Where a file lies for the user: a launch may run in a copy of its folder."""
    copy = os.environ.get("FEEDRATE_COPY")
    return path.replace(copy, os.environ["FEEDRATE_FOLDER"]) if copy else path


def patch_of(edits):
    """`edits` holds for each file the (start, end, replacement) edits of its text. None where a file
    is none that a patch can be made of: a cell of a notebook, in another encoding than UTF-8 or with
    a mark of it, or with several kinds of line ends."""
    lines = []
    for file, some in sorted(edits.items()):
        newline = _newline_of(file)
        if newline is None:
            return None
        before, after = ([line.replace("\n", newline) for line in _lines_of(text)]
                         for text in (text_of(file), edited(text_of(file), some, ending_of(file) is None)))
        place = original_of(os.path.abspath(file))
        name = os.path.relpath(place, _root_of(place)).replace(os.sep, "/")
        for line in difflib.unified_diff(before, after, _quoted("a/" + name), _quoted("b/" + name)):
            lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines) if lines else None


def _lines_of(text):
    """With their ends; the last one may have none."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _quoted(name):
    """A tab behind a name ends it, where there is a space in it."""
    return name + "\t" if " " in name else name


def _newline_of(file):
    """Of all lines of a file in UTF-8; None where it is another file, or has several kinds."""
    try:
        with open(file, "rb") as opened:
            encoding, _ = tokenize.detect_encoding(opened.readline)
            opened.seek(0)
            held = opened.read()
    except (OSError, SyntaxError):
        return None
    for newline in ("\n", "\r\n"):
        if encoding == "utf-8" and held == text_of(file).replace("\n", newline).encode():
            return newline
    return None


def _root_of(file):
    """The folder that names are told from: that of the repository, else the present one, else that of
    the file."""
    folder = os.path.dirname(os.path.abspath(file))
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            here = original_of(os.getcwd()) + os.sep
            return here if os.path.abspath(file).startswith(here) else os.path.dirname(file)
        folder = above
    return folder
