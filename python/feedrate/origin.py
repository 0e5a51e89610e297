# SPDX-License-Identifier: Apache-2.0
"""Where a value in the user's source comes from: a literal, an option of the command line, an
override of Hydra, or a variable of the environment. What can't be followed is said to be so.

An argument is followed through names, parameters, attributes and constants in the files that led to
the call. What was found is believed only if it is the one possibility.
"""

import ast
import os
import sys

from . import config_files
from .calls import INSTALLED, last_word
from .hydra_keys import override_of
from .options import (Literal, Unknown, Variable, default_of, dotted, field_option_of, flag_of, option_of,
                      parameter_option_of, variable_of)
from .packed import Packed, set_by, set_once
from .parsed import FUNCTIONS, source_of

DEEPEST = 12  # steps from a name to where it is set


def origin_of(file, node, way, configs=(), argv=None):
    """Where the value of an expression comes from. `node` is one of this file, equal by its place.
    `way` holds (file, line) of the calls that led there, the innermost first, and `configs` for each
    the keys of OmegaConf's configs among its variables. Raises Unknown."""
    return _Trace(way, configs, sys.argv[1:] if argv is None else argv).of(file, node)


class _Trace:
    def __init__(self, way, configs, argv):
        self._way, self._configs, self._argv = list(way), list(configs), list(argv)
        self._steps = 0

    def of(self, file, node, level=0):
        source = source_of(file)
        if source is None:
            raise Unknown
        return self._follow(source, source.same(node), level)

    def _follow(self, source, node, level):
        self._steps += 1
        if self._steps > DEEPEST:
            raise Unknown
        if isinstance(node, ast.Constant):
            return Literal(source.file, source.text.start(node), source.text.end(node),
                           source.text.of(node))
        if isinstance(node, ast.Name):
            return self._name(source, node, level)
        if isinstance(node, ast.Attribute):
            return self._attribute(source, node, level)
        if isinstance(node, ast.Subscript):
            return self._subscript(source, node, level)
        if isinstance(node, ast.Call):
            return self._call(source, node, level)
        raise Unknown

    # Names.

    def _name(self, source, node, level):
        function = source.around(source.parents.get(node), FUNCTIONS)
        while function is not None:
            values = _assigned(source, function, node.id)
            if len(values) == 1 and (node.id not in _parameters(function) or _is_default(source, values[0], node.id)):
                return self._follow(source, values[0], level)
            if values:
                raise Unknown
            if node.id in _parameters(function):
                return self._parameter(source, function, node.id, level)
            function = source.around(source.parents.get(function), FUNCTIONS)
        values = _assigned(source, source.tree, node.id)
        if len(values) == 1:
            return self._follow(source, values[0], level)
        if not values:
            return self._imported(source, node.id, level)
        raise Unknown

    def _imported(self, source, name, level):
        """A constant of another module of the user's."""
        for node in source.nodes(ast.ImportFrom):
            for alias in node.names:
                module = sys.modules.get(node.module or "")
                file = getattr(module, "__file__", None)
                if (alias.asname or alias.name) == name and file and not INSTALLED.search(file):
                    other = source_of(file)
                    values = _assigned(other, other.tree, alias.name) if other else []
                    if len(values) == 1:
                        return self._follow(other, values[0], level)
        raise Unknown

    def _parameter(self, source, function, name, level):
        """Of a function: what its caller gave, or its default; or an option of click."""
        for decorator in getattr(function, "decorator_list", []):
            option = option_of(decorator, name, source, self._argv)
            if option is not None:
                return option
        option = parameter_option_of(function, name, source, self._argv)
        if option is not None:
            return option
        if level + 1 < len(self._way):
            given = self._given_by_caller(function, name, level + 1)
            if given is not None:
                return self._follow(*given, level + 1)
        default = default_of(function, name)
        if default is None:
            raise Unknown
        return self._follow(source, default, level)

    def _given_by_caller(self, function, name, level):
        file, line = self._way[level]
        source = source_of(file)
        if source is None:
            raise Unknown
        calls = [call for call in source.nodes(ast.Call)
                 if call.lineno <= line <= call.end_lineno and _calls(call, function)]
        if len(calls) != 1:
            raise Unknown
        return _argument(source, calls[0], function, name)

    # Attributes.

    def _attribute(self, source, node, level):
        path = _path_of(node)
        if path is None:
            raise Unknown
        option = (override_of(self._configs_at(source, node, level), path, self._argv)
                  or self._option(source, path) or self._of_config_file(source, node, level))
        if option is not None:
            return option
        if path[0] == "self" and len(path) == 2:
            return self._member(source, node, path[1], level)
        return self._field(source, path)

    def _configs_at(self, source, node, level):
        """The configs among the variables of the function that a node is in."""
        function = source.around(node, FUNCTIONS)
        for (file, line), configs in list(zip(self._way, self._configs))[level:]:
            if (function is not None and os.path.abspath(file) == os.path.abspath(source.file)
                    and function.lineno <= line <= function.end_lineno):
                return configs
        return {}

    def _option(self, source, path):
        """Of argparse, by `add_argument` in any of the files that led here; or of absl, where the flag
        may be a variable: `WORKERS.value`."""
        found, name = [], path[-1]
        if name == "value":
            flags = [flag_of(value, None, source, self._argv)
                     for value in _assigned(source, source.tree, path[0])]
            found += [flag for flag in flags if flag is not None]
        for other in self._sources(source):
            for call in other.nodes(ast.Call):
                declares = isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
                option = option_of(call, name, other, self._argv) if declares else flag_of(
                    call, name, other, self._argv)
                found += [option] if option is not None else []
        if len(found) > 1 or (found and self._parses_other_words(source)):
            raise Unknown
        return found[0] if found else None

    def _parses_other_words(self, source):
        """Whether parsers get only words of their own, as `parse_args([])` in a notebook, never those of the launch."""
        calls = [call for other in self._sources(source) for call in other.nodes(ast.Call)
                 if last_word(call.func) in ("parse_args", "parse_known_args")]
        return bool(calls) and all(map(_has_own_words, calls))

    def _member(self, source, node, name, level):
        """`self.name`, which the class sets in one place."""
        owner = source.around(node, ast.ClassDef)
        if owner is None:
            raise Unknown
        values = [one.value for one in source.nodes((ast.Assign, ast.AnnAssign), owner)
                  if any(_path_of(target) == ["self", name] for target in _target_nodes(one))]
        if len(values) != _times_set(source, owner, name) or self._is_set_from_outside(source, name):
            raise Unknown
        values += [one.value for one in owner.body
                   if isinstance(one, (ast.Assign, ast.AnnAssign)) and one.value is not None
                   and name in _targets(one)]
        if len(values) != 1:
            raise Unknown
        value = values[0]
        # A dataclass takes its fields as arguments.
        makes_itself = any(getattr(one, "name", None) == "__init__" for one in owner.body)
        field = source.parents.get(value)
        is_field = isinstance(field, ast.AnnAssign) and source.parents.get(field) is owner
        if is_field and not makes_itself and self._is_given_elsewhere(source, value, name):
            raise Unknown
        function = source.around(source.parents.get(value), FUNCTIONS)
        if isinstance(value, ast.Name) and function is not None and value.id in _parameters(function):
            return self._constructed(source, owner, function, value.id, level)
        return self._follow(source, value, level)

    def _constructed(self, source, owner, function, name, level):
        """What the one call that makes an object of the class gave for a parameter."""
        calls = [(other, call) for other in self._sources(source) for call in other.nodes(ast.Call)
                 if last_word(call.func) == owner.name]
        if len(calls) != 1:
            raise Unknown
        given = _argument(*calls[0], function, name)
        if given is not None:
            return self._follow(*given, level)
        default = default_of(function, name)
        if default is None:
            raise Unknown
        return self._follow(source, default, level)

    def _sources(self, source):
        files = dict.fromkeys([source.file] + [file for file, _ in self._way])
        return [other for other in map(source_of, files) if other is not None]

    def _field(self, source, path):
        """A field with a default, of the one class that has such a field: a dataclass, or a class
        of constants."""
        found = [(other, one.value) for other in self._sources(source)
                 for owner in other.nodes(ast.ClassDef) for one in owner.body
                 if isinstance(one, (ast.Assign, ast.AnnAssign)) and path[-1] in _targets(one)
                 and isinstance(one.value, ast.Constant)]
        if len(found) != 1:
            raise Unknown
        owner, default = found[0]
        option = field_option_of(path[-1], owner.text.of(default), self._sources(source), self._argv)
        if option is None and self._is_given_elsewhere(owner, default, path[-1]):
            raise Unknown
        return option or self._follow(owner, default, 0)

    def _is_given_elsewhere(self, source, default, name):
        """Whether objects of the class of a field may have another value than its default."""
        owner = source.around(source.parents.get(default), ast.ClassDef)
        classes = [owner.name, "cls"] + [
            one.name for other in self._sources(source) for one in other.nodes(ast.ClassDef)
            if any(last_word(base) == owner.name for base in one.bases)]
        made = [call for other in self._sources(source) for call in other.nodes(ast.Call)
                if last_word(call.func) in classes + ["replace"]]
        given = any(keyword.arg in (None, name) for call in made for keyword in call.keywords)
        placed = any(call.args for call in made if last_word(call.func) in classes)
        return (given or placed or _times_set(source, owner, name) > 0
                or self._is_set_from_outside(source, name))

    def _is_set_from_outside(self, source, name):
        """Whether code sets an attribute of that name in another way than by `self.name =`."""
        for other in self._sources(source):
            for one in other.nodes(ast.Attribute):
                if one.attr == name and not isinstance(one.ctx, ast.Load) and _path_of(one) != ["self", name]:
                    return True
            for call in other.nodes(ast.Call):
                of = call.args[1] if len(call.args) > 1 and last_word(call.func) == "setattr" else None
                if of is not None and getattr(of, "value", name) == name:
                    return True
        return False

    # Files of settings.

    def _of_config_file(self, source, node, level):
        """The number that `config["data"]["workers"]` or `config.data.workers` is in a file; None where
        what it is a part of was not read from one."""
        keys = []
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Attribute):
                key, node = node.attr, node.value
            elif isinstance(node, ast.Subscript):
                key, node = getattr(node.slice, "value", None), node.value
            elif isinstance(node, ast.Call) and last_word(node.func) == "get" and node.args:
                key, node = getattr(node.args[0], "value", None), node.func.value
            else:
                return None
            keys.insert(0, key)
        file = self._file_of(source, node, level)
        if file is None or not isinstance(keys[-1], str):
            return None
        return config_files.number_in(file, keys)

    def _file_of(self, source, name, level):
        """Which file a variable holds, in whole."""
        function = source.around(source.parents.get(name), FUNCTIONS)
        values = (_assigned(source, function, name.id) if function else []) or _assigned(
            source, source.tree, name.id)
        if not values and function is not None and name.id in _parameters(function):
            try:
                given = self._given_by_caller(function, name.id, level + 1) if level + 1 < len(self._way) else None
            except Unknown:  # it may be a member or a field all the same
                return None
            if given is None or not isinstance(given[1], ast.Name):
                return None
            return self._file_of(given[0], given[1], level + 1)
        if len(values) != 1 or not isinstance(values[0], ast.Call) or not values[0].args:
            return None
        if not dotted(values[0].func).endswith(config_files.LOADERS):
            return None
        return self._opened(source, values[0].args[0], level)

    def _opened(self, source, node, level):
        """The path of `open(PATH)`, `Path(PATH).read_text()`, or of what a with statement opened."""
        if isinstance(node, ast.Name):
            items = [item.context_expr for one in source.nodes(ast.With) for item in one.items
                     if getattr(item.optional_vars, "id", None) == node.id]
            if len(items) == 1:
                return self._opened(source, items[0], level)
        if isinstance(node, ast.Call):
            is_path = bool(node.args) and last_word(node.func) in ("open", "Path")
            inner = node.args[0] if is_path else getattr(node.func, "value", None)
            return self._opened(source, inner, level) if inner is not None else None
        path = self._follow(source, node, level).value
        return os.path.abspath(path) if path else None

    # Dicts and calls.

    def _subscript(self, source, node, level):
        name = variable_of(node)
        if name is not None:
            return Variable(name)
        number = self._of_config_file(source, node, level)
        if number is not None:
            return number
        if not isinstance(node.value, ast.Name) or not isinstance(node.slice, ast.Constant):
            raise Unknown
        entries, reads = set_once(source, node.value)
        changed = [key for one in reads for key in set_by(source, one)]
        if not isinstance(entries, ast.Dict) or node.slice.value in changed:
            raise Unknown
        for key, value in zip(entries.keys, entries.values):
            if isinstance(key, ast.Constant) and key.value == node.slice.value:
                return self._follow(source, value, level)
        raise Unknown

    def _call(self, source, node, level):
        name = variable_of(node)
        if name is not None:
            return Variable(name)
        if last_word(node.func) == "get":
            number = self._of_config_file(source, node, level)
            if number is not None:
                return number
        if isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1:
            origin = self._follow(source, node.args[0], level)
            if not isinstance(origin, Literal) or config_files.ending_of(origin.file):
                return origin
        raise Unknown


def _path_of(node):
    """`self.hparams.workers` as its words; None where it is no such chain."""
    words = []
    while isinstance(node, ast.Attribute):
        words.insert(0, node.attr)
        node = node.value
    return [node.id] + words if isinstance(node, ast.Name) else None


def _times_set(source, owner, name):
    """How often a class sets `self.name`."""
    return sum(1 for one in source.nodes(ast.Attribute, owner)
               if not isinstance(one.ctx, ast.Load) and _path_of(one) == ["self", name])


def _target_nodes(assignment):
    return getattr(assignment, "targets", None) or [assignment.target]


def _targets(assignment):
    return [target.id for target in _target_nodes(assignment) if isinstance(target, ast.Name)]


def _assigned(source, scope, name):
    """What a name is given in a function or a file, but not in functions within it: expressions; the
    statement itself where the name gets a part of a value, as in a loop, or is changed in place."""
    values = []
    for node in source.nodes((ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For)):
        around = source.around(source.parents.get(node), FUNCTIONS + (ast.ClassDef,))
        if isinstance(around, FUNCTIONS) and source.is_global(around, name):
            around = None
        names = [one.id for target in _target_nodes(node) for one in ast.walk(target)
                 if isinstance(one, ast.Name)]
        if (around or source.tree) is scope and name in names:
            is_whole = isinstance(node, (ast.Assign, ast.AnnAssign)) and name in _targets(node)
            values.append(node.value if is_whole else node)
    return values


def _has_own_words(call):
    """Whether a call of parse_args has its words in the source."""
    given = call.args[:1] + [one.value for one in call.keywords if one.arg == "args"]
    if given and isinstance(given[0], ast.Call) and last_word(given[0].func) == "split":
        given = [getattr(given[0].func, "value", None)]
    return bool(given) and (isinstance(given[0], (ast.List, ast.Tuple))
                            or isinstance(getattr(given[0], "value", None), str))


def _is_default(source, value, name):
    """Whether a parameter gets the value where it is None: `if workers is None: workers = 4`."""
    branch = source.parents.get(source.parents.get(value))
    test = branch.test if isinstance(branch, ast.If) else None
    return (isinstance(test, ast.Compare) and getattr(test.left, "id", None) == name
            and isinstance(test.ops[0], ast.Is) and getattr(test.comparators[0], "value", name) is None)


def _parameters(function):
    arguments = function.args
    return [one.arg for one in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]


def _calls(call, function):
    name = getattr(function, "name", None)
    return last_word(call.func) == name or name == "__init__"


def _argument(source, call, function, name):
    """(source, node) of what a call gives for a parameter; None where it gives nothing."""
    if any(isinstance(one, ast.Starred) for one in call.args):
        raise Unknown
    for keyword in call.keywords:
        if keyword.arg == name:
            return source, keyword.value
    placed = [one.arg for one in function.args.posonlyargs + function.args.args]
    if placed[:1] in (["self"], ["cls"]):
        placed = placed[1:]
    at = placed.index(name) if name in placed else len(call.args)
    if at < len(call.args):
        return source, call.args[at]
    packed = Packed(source, [one.value for one in call.keywords if one.arg is None])
    value = packed.values.get(name)
    # Another call may read the same dict.
    if packed.may_hold(name) or (isinstance(value, ast.Constant) and name in packed.shared):
        raise Unknown
    return None if value is None else (source, value)
