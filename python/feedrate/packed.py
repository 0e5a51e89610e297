# SPDX-License-Identifier: Apache-2.0
"""What a call is given by `**`: a dict that is written down there, or that a name is set to once."""

import ast

from .options import Unknown
from .parsed import FUNCTIONS

READS = ("get", "items", "keys", "values", "copy")  # methods of a dict that change nothing


class Packed:
    """The dict behind the `**` of a call. `values` holds an expression by key, or None where other code
    may set the key. `texts` holds by key how the call can read the value. `shared` has the keys of dicts
    that other code reads, too."""

    def __init__(self, source, nodes):
        """`nodes` are the expressions behind the `**`, equal by place to those of the source."""
        self.values, self.texts, self.shared, self._is_known = {}, {}, set(), True
        self._source = source
        try:
            for node in nodes:
                self._add(source.same(node))
        except (Unknown, RecursionError):
            self.values, self.texts, self._is_known = {}, {}, False

    def may_hold(self, key):
        """Whether the dict may have a value for the key that is not known."""
        return not self._is_known or self.values.get(key, key) is None

    def _add(self, node, name=None, is_shared=False):
        changed = []
        if isinstance(node, ast.Name):
            name = name or node.id
            node, reads = set_once(self._source, node)
            changed = [key for one in reads for key in set_by(self._source, one)]
            is_shared = is_shared or len(reads) > 1
        for key, value in _entries(node):
            if key is None:
                self._add(value, name, is_shared)
            else:
                self.values[key] = value
                (self.shared.add if is_shared else self.shared.discard)(key)
                self.texts[key] = '%s["%s"]' % (name, key) if name else self._source.text.of(value)
        self.values.update(dict.fromkeys(changed))


def set_once(source, name):
    """What a name is set to, and where it is read. Raises Unknown."""
    named = [one for one in source.nodes(ast.Name) if one.id == name.id]
    scope = _scope(source, name)
    named = [one for one in named if _scope(source, one) is scope]
    reads = [one for one in named if not isinstance(one.ctx, ast.Store)]
    setting = [source.parents[one] for one in named if one not in reads]
    is_once = len(setting) == 1 and isinstance(setting[0], (ast.Assign, ast.AnnAssign))
    is_parameter = scope is not None and name.id in _arguments(source, scope)
    if not is_once or is_parameter or len(getattr(setting[0], "targets", setting)) > 1:
        raise Unknown
    return setting[0].value, reads


def _scope(source, name):
    """The innermost function around a name that gives it a value; None where the file does."""
    function = source.around(name, FUNCTIONS)
    while function is not None and (source.is_global(function, name.id) or (
            name.id not in _arguments(source, function) + [
                one.id for one in source.nodes(ast.Name, function) if isinstance(one.ctx, ast.Store)])):
        function = source.around(source.parents.get(function), FUNCTIONS)
    return function


def _arguments(source, function):
    return [one.arg for one in source.nodes(ast.arg, function)]


def set_by(source, name):
    """The keys of a dict that a use of its name may set or delete. Raises Unknown."""
    use = source.parents[name]
    call = source.parents.get(use)
    if isinstance(use, ast.keyword) and use.arg is None:
        return []
    if isinstance(use, ast.Dict) and (None, name) in _entries(use):
        return []
    if isinstance(use, ast.Subscript) and isinstance(use.slice, ast.Constant):
        return [] if isinstance(use.ctx, ast.Load) else [use.slice.value]
    method = getattr(use, "attr", None) if getattr(call, "func", None) is use else None
    if method in READS:
        return []
    if method == "update" and not call.args and all(one.arg for one in call.keywords):
        return [one.arg for one in call.keywords]
    if method == "pop" and call.args and isinstance(call.args[0], ast.Constant):
        return [call.args[0].value]
    if getattr(getattr(use, "func", None), "id", None) in ("print", "len", "str", "repr"):
        return []
    raise Unknown


def _entries(node):
    """Pairs (key, expression) of a dict in the source. `**more` has the key None."""
    if isinstance(node, ast.Dict) and all(key is None or isinstance(key, ast.Constant) for key in node.keys):
        return [(getattr(key, "value", None), value) for key, value in zip(node.keys, node.values)]
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "dict" and not node.args:
        return [(one.arg, one.value) for one in node.keywords]
    raise Unknown
