# SPDX-License-Identifier: Apache-2.0
"""Where a script sets the threads of its steps, and the edit that sets another number."""

import ast

from .calls import INSTALLED, Text, Unclear, read

SETTER = "set_num_threads"


def edit_of_threads(threads, call, file, files):
    """(file, edit) after which PyTorch takes so many threads for a step: of the one place in `files`
    that sets them, else a new line before the statement of `call`, which stands in `file`. Raises
    Unclear."""
    setters = [(other, node) for other in files for node in _nodes_of(other) if _sets_threads(node)]
    if len(setters) > 1:
        raise Unclear("the threads are set in several places")
    if setters:
        return _edit_of_setter(*setters[0], threads)
    if INSTALLED.search(file):
        raise Unclear("a file that is installed is not the user's")
    return file, _new_line(call.source, file, call.node, threads)


def _nodes_of(file):
    try:
        return list(ast.walk(ast.parse(read(file))))
    except (SyntaxError, ValueError, RecursionError):
        return []


def _sets_threads(node):
    return isinstance(node, ast.Call) and getattr(node.func, "attr", None) == SETTER


def _edit_of_setter(file, node, threads):
    if len(node.args) != 1 or not isinstance(node.args[0], ast.Constant):
        raise Unclear("the number of threads is set elsewhere")
    text = Text(read(file))
    return file, (text.start(node.args[0]), text.end(node.args[0]), repr(threads))


def _new_line(source, file, call, threads):
    statement = _statement_of(source, file, call)
    start = source.offset(statement.lineno, 0)
    indentation = source.text[start:source.start(statement)]
    line = "%s%s.%s(%d)\n" % (indentation, _name_of_torch(file, statement), SETTER, threads)
    return start, start, line


def _statement_of(source, file, call):
    """The innermost around a call that begins its line."""
    around = [node for node in _nodes_of(file)
              if isinstance(node, ast.stmt) and source.start(node) <= source.start(call)
              and source.end(call) <= source.end(node)
              and not source.text[source.offset(node.lineno, 0):source.start(node)].strip()]
    if not around:
        raise Unclear("no statement begins a line")
    return max(around, key=source.start)


def _name_of_torch(file, statement):
    """By which a file knows PyTorch above a statement."""
    for node in _nodes_of(file):
        names = node.names if isinstance(node, ast.Import) and node.col_offset == 0 else []
        for name in names if names and node.lineno < statement.lineno else []:
            if name.name == "torch" or (name.name.startswith("torch.") and name.asname is None):
                return name.asname or "torch"
    raise Unclear("the file does not import torch")
