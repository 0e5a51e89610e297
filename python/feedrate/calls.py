# SPDX-License-Identifier: Apache-2.0
"""Calls of DataLoader in a source text: finding one, its arguments, and what it is assigned to."""

import ast
import bisect
import collections
import copy
import functools
import linecache
import re
import tokenize

PARAMETERS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers",
              "collate_fn", "pin_memory", "drop_last", "timeout", "worker_init_fn",
              "multiprocessing_context", "generator")
LOADER_CLASSES = ("DataLoader", "WebLoader")  # ends of names; webdataset's hands all on
INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")  # in the path of what is not the user's


# Of a function: names of those that may be given by place, and of all.
Parameters = collections.namedtuple("Parameters", "by_place names")


class Unclear(Exception):
    """The call can't be changed without a doubt."""


class Text:
    """A source text, with offsets for the lines and bytes that ast counts in."""

    def __init__(self, text):
        self.text = text
        self.lines = text.split("\n")
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line, column):
        before = self.lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)

    def line_of(self, offset):
        """The line that an offset is in."""
        return bisect.bisect_right(self._starts, offset)

    def start(self, node):
        return self.offset(node.lineno, node.col_offset)

    def end(self, node):
        return self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node):
        return self.text[self.start(node):self.end(node)]


class Call:
    """A call of DataLoader, or of what makes one, in a source text."""

    def __init__(self, source, node, parents, is_only=False, is_one_of_several=False):
        self.source = source
        self.node = node
        self.name = _name_of(source, node, parents)
        self.function = last_word(node.func)
        self.makes_loader = self.function.endswith(LOADER_CLASSES) or self.function == "__init__"
        has_keywords = any(keyword.arg in PARAMETERS for keyword in node.keywords)
        self.is_sure = (is_only or self.makes_loader or has_keywords) and not is_one_of_several
        self._parameters = None

    def of(self, parameters):
        """The same call of a function with these parameters."""
        same = copy.copy(self)
        same._parameters = parameters
        return same

    def takes(self, keyword):
        """Whether the function has such a parameter; None where that is not known."""
        if self.makes_loader:
            return True
        return keyword in self._parameters.names if self._parameters else None

    def argument(self, keyword):
        """What sets a parameter, by its name or by its place; None where nothing does."""
        for given in self.node.keywords:
            if given.arg == keyword:
                return given.value
        return self._positional(keyword)

    def _positional(self, keyword):
        names = PARAMETERS if self.makes_loader else ()
        if self._parameters:
            names = self._parameters.by_place
        if keyword not in names:
            return None
        at = names.index(keyword) + self._shift()
        before = self.node.args[:at + 1]
        if any(isinstance(given, ast.Starred) for given in before):
            raise Unclear("the contents of the starred argument are not known")
        return before[at] if at < len(before) else None

    def _shift(self):
        """`Base.__init__(self, ...)` has one argument more than `super().__init__(...)`."""
        if self.function != "__init__":
            return 0
        return 0 if isinstance(self.node.func.value, ast.Call) else 1

    def packed(self):
        """The expressions behind `**`."""
        return [given.value for given in self.node.keywords if given.arg is None]

    def last(self):
        """The last argument; None where there is none."""
        given = self.node.args + [keyword.value for keyword in self.node.keywords]
        return max(given, key=self.source.end) if given else None


def find_call(file, line, end=None, class_name="DataLoader"):
    """The call that covers a line of a file; None where the file can't be read or parsed.

    Of several, the one that ends at `end`, else the innermost whose function is named like the
    class, else the innermost.
    """
    return _find_call(file, line, end, class_name)


@functools.lru_cache(maxsize=64)
def _find_call(file, line, end, class_name):
    text = read(file)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    calls = [node for node in parents
             if isinstance(node, ast.Call) and node.lineno <= line <= node.end_lineno]
    if not calls:
        return None
    best = _best(calls, line, end, class_name)
    return Call(Text(text), best, parents, len(calls) == 1 or _end_of(best) == end,
                end is None and any(_is_beside(other, best) for other in calls))


def _is_beside(one, other):
    """Whether two calls have functions of the same name, and none is within the other."""
    def holds(outer, inner):
        return _start_of(outer) <= _start_of(inner) and _end_of(inner) <= _end_of(outer)

    return last_word(one.func) == last_word(other.func) and not holds(one, other) and not holds(other, one)


def _start_of(node):
    return node.lineno, node.col_offset


def _end_of(node):
    return node.end_lineno, node.end_col_offset


@functools.lru_cache(maxsize=64)
def read(file):
    """The text of a file as it was when it was read first: a patch of one that was changed since is
    refused by whoever applies it. Empty for what is no text."""
    try:
        with tokenize.open(file) as opened:
            return opened.read()
    except (OSError, SyntaxError, UnicodeDecodeError):
        # Notebooks keep the text of their cells here; for what was never a text it is empty.
        return "".join(linecache.getlines(file))


def _best(calls, line, end, class_name):
    def rank(node):
        word = last_word(node.func)
        return (_end_of(node) == end,
                word.endswith((class_name, "DataLoader")) or word == "__init__",
                any(keyword.arg in PARAMETERS for keyword in node.keywords),
                node.lineno == line,
                node.lineno, node.col_offset)

    return max(calls, key=rank)


def last_word(function):
    """`data.DataLoader` -> "DataLoader", as `DataLoader[Batch]`."""
    if isinstance(function, ast.Subscript):
        return last_word(function.value)
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _name_of(source, node, parents):
    """What a call is assigned to, or returned from; None where its value goes elsewhere."""
    suffix, path = "", []
    while node in parents:
        path.append(node)
        node = parents[node]
        if isinstance(node, ast.keyword):
            return node.arg
        if isinstance(node, ast.Dict):
            suffix = _key_of(source, node, path[-1]) + suffix
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            name = _target_of(source, node, path)
            return name + suffix if name else None
        elif isinstance(node, ast.Return):
            return _function_around(node, parents) + _place_in(path) + suffix
        elif isinstance(node, (ast.stmt, ast.Lambda)):
            return None
    return None


def _key_of(source, node, value):
    for key, held in zip(node.keys, node.values):
        if held is value and key is not None:
            return "[%s]" % source.of(key)
    return ""


def _target_of(source, node, path):
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if isinstance(target, (ast.Tuple, ast.List)):
        target = _matching(target.elts, path)
    return source.of(target) if target is not None else None


def _matching(targets, path):
    """The one of several targets that a call is for: `a, b = DataLoader(x), DataLoader(y)`, and
    `model, loader = prepare(model, DataLoader(x))`."""
    if len(path) < 2:
        return None
    values = getattr(path[-1], "elts", None) or getattr(path[-1], "args", [])
    if len(values) != len(targets) or path[-2] not in values:
        return None
    return targets[values.index(path[-2])]


def _place_in(path):
    """`return DataLoader(x), DataLoader(y)`: which of them."""
    if len(path) < 2 or not isinstance(path[-1], ast.Tuple):
        return ""
    return "[%d]" % path[-1].elts.index(path[-2])


def _function_around(node, parents):
    while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node = parents[node]
    return node.name + "()"
