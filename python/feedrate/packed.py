# SPDX-License-Identifier: Apache-2.0
"""What a call is given by `**`: a dict that is written down there, or that a name is set to once."""

import ast

from .options import Unknown
from .origin import FUNCTIONS, source_of


class Packed:
    """The dict behind the `**` of a call. `values` holds an expression by key, or None where other code
    may set the key. `texts` holds by key how the call can read the value. `is_own` tells whether only
    the call reads the dict."""

    def __init__(self, file, call):
        self.values, self.texts, self.is_own, self._is_known = {}, {}, True, True
        self._source = source_of(file)
        try:
            for node in call.packed():
                self._add(self._source.same(node))
        except (Unknown, RecursionError):
            self.values, self.texts, self._is_known = {}, {}, False

    def may_hold(self, key):
        """Whether the dict may have a value for the key that is not known."""
        return not self._is_known or self.values.get(key, key) is None

    def _add(self, node, name=None):
        changed = []
        if isinstance(node, ast.Name):
            name = name or node.id
            node, changed = self._set_once(node)
        for key, value in _entries(node):
            if key is None:
                self._add(value, name)
            else:
                self.values[key] = value
                self.texts[key] = '%s["%s"]' % (name, key) if name else self._source.text.of(value)
        self.values.update(dict.fromkeys(changed))

    def _set_once(self, name):
        """What a name is set to, and the keys that other code may set. Raises Unknown."""
        named = [one for one in self._source.nodes(ast.Name) if one.id == name.id]
        scope = self._scope(name)
        named = [one for one in named if self._scope(one) is scope]
        reads = [one for one in named if not isinstance(one.ctx, ast.Store)]
        setting = [self._source.parents[one] for one in named if one not in reads]
        is_once = len(setting) == 1 and isinstance(setting[0], (ast.Assign, ast.AnnAssign))
        is_parameter = scope is not None and name.id in self._arguments(scope)
        if not is_once or is_parameter or len(getattr(setting[0], "targets", setting)) > 1:
            raise Unknown
        self.is_own = self.is_own and len(reads) == 1
        return setting[0].value, [key for one in reads for key in self._set_by(one)]

    def _scope(self, name):
        """The innermost function around a name that gives it a value; None where the file does."""
        function = self._source.around(name, FUNCTIONS)
        while function is not None and name.id not in self._arguments(function) + [
                one.id for one in self._source.nodes(ast.Name, function) if isinstance(one.ctx, ast.Store)]:
            function = self._source.around(self._source.parents.get(function), FUNCTIONS)
        return function

    def _arguments(self, function):
        return [one.arg for one in self._source.nodes(ast.arg, function)]

    def _set_by(self, name):
        """The keys of a dict that a use of its name may set or delete. Raises Unknown."""
        use = self._source.parents[name]
        call = self._source.parents.get(use)
        if isinstance(use, ast.keyword) and use.arg is None:
            return []
        if isinstance(use, ast.Dict) and (None, name) in _entries(use):
            return []
        if isinstance(use, ast.Subscript) and isinstance(use.slice, ast.Constant):
            return [] if isinstance(use.ctx, ast.Load) else [use.slice.value]
        method = getattr(use, "attr", None) if getattr(call, "func", None) is use else None
        if method == "update" and not call.args and all(one.arg for one in call.keywords):
            return [one.arg for one in call.keywords]
        if method == "pop" and call.args and isinstance(call.args[0], ast.Constant):
            return [call.args[0].value]
        raise Unknown


def _entries(node):
    """Pairs (key, expression) of a dict in the source. `**more` has the key None."""
    if isinstance(node, ast.Dict) and all(key is None or isinstance(key, ast.Constant) for key in node.keys):
        return [(getattr(key, "value", None), value) for key, value in zip(node.keys, node.values)]
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "dict" and not node.args:
        return [(one.arg, one.value) for one in node.keywords]
    raise Unknown
