# SPDX-License-Identifier: Apache-2.0
"""The user's files, parsed."""

import ast
import functools

from .calls import Text, read

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Unknown(Exception):
    """It can't be followed, or there are several possibilities."""


class Source:
    """A parsed file of the user's."""

    def __init__(self, file, text):
        self.file = file
        self.text = Text(text)
        self.tree = ast.parse(text)
        self.parents = {child: node for node in ast.walk(self.tree)
                        for child in ast.iter_child_nodes(node)}

    def nodes(self, kind, below=None):
        return [node for node in ast.walk(below or self.tree) if isinstance(node, kind)]

    def same(self, node):
        """The node of this tree at the place of a node of another tree. Raises Unknown."""
        same = [one for one in self.nodes(type(node)) if place_of(one) == place_of(node)]
        if not same:
            raise Unknown
        return same[0]

    def is_global(self, function, name):
        """Whether a function says that a name in it is the file's."""
        return any(name in one.names for one in self.nodes(ast.Global, function))

    def around(self, node, kinds):
        """The innermost node of these kinds that a node is in; None at the top."""
        while node is not None and not isinstance(node, kinds):
            node = self.parents.get(node)
        return node


@functools.lru_cache(maxsize=64)
def source_of(file):
    """None where it can't be read or parsed."""
    try:
        return Source(file, read(file))
    except (SyntaxError, ValueError, RecursionError):
        return None


def place_of(node):
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
