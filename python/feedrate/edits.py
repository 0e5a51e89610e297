# SPDX-License-Identifier: Apache-2.0
"""Changing the keyword arguments of a call in its text, in the style in which it is laid out."""

import ast
import re

from .calls import Unclear


# What DataLoader refuses where nobody loads for it, and what it takes instead.
WITHOUT_WORKERS = {"persistent_workers": False, "prefetch_factor": None, "timeout": 0,
                   "multiprocessing_context": None}


class Code:
    """An expression, as it is to stand in a source text."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def changed(call, changes, maker=None):
    """The whole text with the call changed; raises Unclear where that is no Python."""
    return edited(call.source.text, edits_of(call, with_all(call, changes), maker))


def edited(text, edits, is_python=True):
    """The text with (start, end, replacement) edits done; raises Unclear where that is no Python."""
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    try:
        if is_python:
            ast.parse(text)
    except SyntaxError:
        raise Unclear("the result is not valid Python")
    return text


def with_all(call, changes):
    """The changes, and where nobody is to load any more, what the call may have that needs workers."""
    if changes.get("num_workers") != 0:
        return changes
    may_be_packed = len(call.packed()) == 1 and call.function in ("DataLoader", "WebLoader", "__init__")
    return {**changes, **{keyword: value for keyword, value in WITHOUT_WORKERS.items()
                          if may_be_packed or _is_given(call, keyword)}}


def _is_given(call, keyword):
    try:
        return call.argument(keyword) is not None
    except Unclear:
        return False


def edits_of(call, changes, maker=None):
    """The edits that change the call; raises Unclear."""
    source, edits, new = call.source, [], {}
    for keyword, value in changes.items():
        node = call.argument(keyword)
        if node is None:
            new[keyword] = value
        else:
            edits.append((source.start(node), source.end(node), repr(value)))
    if maker is not None and not all(map(call.takes, new)):
        raise Unclear("a library's function may not accept the keyword")
    if new:
        edits += _packed(call, new) if call.packed() else _appended(call, new)
    return edits


def _packed(call, new):
    """`**kw` may hold the keyword, and giving it twice is an error: `**{**kw, "name": value}`."""
    if len(call.packed()) > 1:
        raise Unclear("it is not known which of several `**` arguments has it")
    source, node = call.source, call.packed()[0]
    pairs = "".join(', "%s": %r' % pair for pair in new.items())
    return [(source.start(node), source.end(node), "{**%s%s}" % (source.of(node), pairs))]


def _appended(call, new):
    """Edits that append keywords as the call is laid out: on its line, or on lines of their own."""
    source, last = call.source, call.last()
    words = ["%s=%r" % pair for pair in new.items()]
    close = source.end(call.node) - 1
    if last is None:
        return [(close, close, ", ".join(words))]
    end, comma = _tail(source.text, source.end(last), close)
    indentation = _indentation(source, last)
    if indentation is not None:
        return _appended_lines(source.text, words, indentation, end, comma, close)
    if comma is None:
        return [(end, end, "".join(", " + word for word in words))]
    return [(comma + 1, comma + 1, "".join(" %s," % word for word in words))]


def _appended_lines(text, words, indentation, end, comma, close):
    lines = [indentation + word for word in words]
    behind = (end if comma is None else comma + 1)
    newline = text.find("\n", behind)
    # A comment behind the last argument stays there; a bracket goes behind the new lines.
    at = newline if 0 <= newline < close else behind
    if comma is not None:
        return [(at, at, "".join("\n%s," % line for line in lines))]
    added = "\n" + ",\n".join(lines)
    return [(end, end, "," + added)] if at == end else [(end, end, ","), (at, at, added)]


def _tail(text, at, close):
    """What stands between the last argument and the closing bracket: (end of the argument with the
    brackets around it, place of a trailing comma or None)."""
    end, comma = at, None
    while at < close:
        if text[at] == "#":
            at = text.index("\n", at)
        elif text[at] == ")":
            end = at + 1
        elif text[at] == ",":
            comma = at
        at += 1
    return end, comma


def _indentation(source, node):
    """Of the line, if this argument is the first on it; else None."""
    start = source.start(node)
    before = source.text[source.text.rfind("\n", 0, start) + 1:start]
    match = re.fullmatch(r"([ \t]*)(\*|\w+[ \t]*=[ \t]*)?[( \t]*", before)
    return match.group(1) if match else None
