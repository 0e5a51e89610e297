# SPDX-License-Identifier: Apache-2.0
"""Where a script sets the threads of its steps, and the edit that sets another number."""

import ast

from .calls import INSTALLED, Text, Unclear, last_word, read

SETTER = "set_num_threads"


def edit_of_threads(threads, now, call, file, files):
    """(file, edit) after which PyTorch takes so many threads for a step, in place of `now`: of the one
    place in `files` that sets them, else a new line before the statement of `call`, which stands in
    `file`. Raises Unclear."""
    setters = [(other, node) for other in files for node in _nodes_of(other)
               if isinstance(node, ast.Call) and last_word(node.func) == SETTER]
    if len(setters) > 1:
        raise Unclear("the threads are set in several places")
    if setters:
        return _edit_of_setter(*setters[0], threads, now)
    if INSTALLED.search(file):
        raise Unclear("a file that is installed is not the user's")
    return file, _new_line(call, _nodes_of(file), threads)


def _nodes_of(file):
    try:
        return list(ast.walk(ast.parse(read(file))))
    except (SyntaxError, ValueError, RecursionError):
        return []


def _edit_of_setter(file, node, threads, now):
    """Workers may have a call of their own, with another number."""
    if len(node.args) != 1 or not isinstance(node.args[0], ast.Constant) or node.args[0].value != now:
        raise Unclear("the number of threads is set elsewhere")
    text = Text(read(file))
    return file, (text.start(node.args[0]), text.end(node.args[0]), repr(threads))


def _new_line(call, nodes, threads):
    source = call.source
    statement = _statement_of(call, nodes)
    start = source.offset(statement.lineno, 0)
    indentation = source.text[start:source.start(statement)]
    return start, start, "%s%s.%s(%d)\n" % (indentation, _name_of_torch(statement, nodes), SETTER, threads)


def _statement_of(call, nodes):
    """The innermost around a call that begins its line."""
    source = call.source

    def begins_line(node):
        return not source.text[source.offset(node.lineno, 0):source.start(node)].strip()

    around = [node for node in nodes if isinstance(node, ast.stmt) and begins_line(node)
              and source.start(node) <= source.start(call.node) and source.end(call.node) <= source.end(node)]
    if not around:
        raise Unclear("no statement begins a line")
    return max(around, key=source.start)


def _name_of_torch(statement, nodes):
    """By which a file knows PyTorch above a statement."""
    imports = [node for node in nodes if isinstance(node, ast.Import)
               and node.col_offset == 0 and node.lineno < statement.lineno]
    for name in (name for node in imports for name in node.names):
        if name.name == "torch" or (name.name.startswith("torch.") and name.asname is None):
            return name.asname or "torch"
    raise Unclear("the file does not import torch")
