# SPDX-License-Identifier: Apache-2.0
"""What can set a value of a script: a literal, an option of its command line, an override of Hydra, or
a variable of the environment; and how the usual libraries declare options."""

import ast
import os

from .calls import last_word
from .parsed import FUNCTIONS, Unknown

# Of argparse, for options that take no value.
ACTIONS = ("store_true", "store_false", "BooleanOptionalAction")

# Of a dataclass whose fields a library makes options of the command line.
FIELD_PARSERS = ("HfArgumentParser", "tyro.cli", "simple_parsing.parse", "simple_parsing.ArgumentParser")


class Literal:
    """A literal in a file: it can be replaced there."""

    def __init__(self, file, start, end, text):
        self.file, self.start, self.end, self.text = file, start, end, text

    @property
    def value(self):
        """That it has now, as text; None where that is not known, as for all origins."""
        return str(ast.literal_eval(self.text))

    def is_same(self, other):
        return (isinstance(other, Literal)
                and (self.file, self.start) == (other.file, other.start))


class Option:
    """An option of the command line, by all its names. `words` are those that give it today; empty
    where its default holds. `choices`: the values that it may have, as an expression; None: any.
    `comes_first`: before the subcommand of the script."""

    def __init__(self, names, words, default=None, choices=None, comes_first=False):
        self.names, self.words, self.default = names, words, default
        self.choices, self.comes_first = choices, comes_first

    @property
    def value(self):
        if len(self.words) > 1:
            return self.words[1]
        if not self.words:
            return _number_or_text(self.default)
        word = self.words[0]
        return word.partition("=")[2] if word.startswith("--") else word[2:].lstrip("=")

    def is_same(self, other):
        return isinstance(other, Option) and self.names == other.names

    def can_give(self, _, value):
        """Whether it takes a value for a parameter, as far as the source tells."""
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        try:
            return self.choices is None or value in ast.literal_eval(self.choices)
        except (ValueError, TypeError):
            return False

    def change_to(self, keyword, value):
        """What to write on the command line, as autotune takes it; None where it does not take the value."""
        if not self.can_give(keyword, value):
            return None
        change = {"words": self.words, "given": self.given(value)}
        return dict(change, first=True) if self.comes_first else change

    def given(self, value):
        """The words that give it another value, in the way in which it is given today."""
        if len(self.words) == 1 and self.words[0].startswith("--"):
            return ["%s=%s" % (self.words[0].partition("=")[0], value)]
        if len(self.words) == 1:
            return ["%s%s" % (self.words[0][:2], value)]
        return [self.words[0] if self.words else max(self.names, key=len), str(value)]


class Switch(Option):
    """An option that takes no value, such as `--pin-memory`. `gives` has the value that each of its
    names gives, and `default` the one that holds without it."""

    def __init__(self, gives, words, default):
        super().__init__(list(gives), words)
        self._gives, self._default = gives, default

    @property
    def value(self):
        held = self._gives[self.words[0]] if self.words else self._default
        return None if held is None else str(held)

    def can_give(self, keyword, value):
        """Only where it is named for the parameter. `--cuda` decides more than pin_memory=args.cuda."""
        subject = keyword.partition("_")[0]
        words = [word for name in self.names for word in name.replace("_", "-").split("-")]
        return (isinstance(value, bool) and any(word.startswith(subject) for word in words)
                and (value in self._gives.values() or bool(self.words) and value is self._default))

    def given(self, value):
        """The words that give a value; none where the value holds without the option."""
        return [name for name, gives in self._gives.items() if gives is value][-1:]


def _number_or_text(default):
    """What a default is that is written down as a whole number or a string; else None."""
    try:
        value = ast.literal_eval(default or "")
    except (ValueError, SyntaxError):
        return None
    return str(value) if type(value) in (int, str) else None


class Override(Option):
    """`data.num_workers=4`, as Hydra takes it. `held`: what the config has today."""

    def __init__(self, path, words, held):
        super().__init__([path], words)
        self._held = held

    @property
    def value(self):
        if self.words:
            return self.words[0].partition("=")[2]
        return None if self._held is None else str(self._held)

    def given(self, value):
        """With the `+` of today: Hydra refuses one that is missing, or too much."""
        return ["%s=%s" % (self.words[0].partition("=")[0] if self.words else self.names[0], value)]


class Variable:
    """A variable of the environment."""

    def __init__(self, name):
        self.name = name

    @property
    def value(self):
        return os.environ.get(self.name)

    def is_same(self, other):
        return isinstance(other, Variable) and self.name == other.name


def option_of(call, name, source, argv):
    """The option that a call of add_argument, or of click.option, makes of this name; else None."""
    if not isinstance(call, ast.Call) or last_word(call.func) not in ("add_argument", "option"):
        return None
    names = [one.value for one in call.args
             if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    keywords = {one.arg: one.value for one in call.keywords}
    options = [one for one in names if one.startswith("-")]
    bare = [one for one in names if not one.startswith("-")]
    longest = max(options, key=lambda one: one.startswith("--"), default="")
    dest = keywords.get("dest")
    own = dest.value if isinstance(dest, ast.Constant) else (bare or [longest])[0]
    if not options or own.lstrip("-").replace("-", "_") != name or any("/" in one for one in options):
        return None  # click's `--pin/--no-pin` is two options
    default = keywords.get("default")
    action = _action_of(keywords, default)
    if action in ACTIONS:
        switch = switch_of(options, action, default, argv)
        if switch is not None:
            switch.comes_first = _comes_first(call, source)
        return switch
    if action is None:
        return None
    text = source.text.of(default) if default is not None else None
    kind = keywords.get("type")  # click.IntRange(0, 4) and the like allow some values
    choices = keywords.get("choices", kind if isinstance(kind, ast.Call) else None)
    return Option(options, words_of(options, argv), text, choices, _comes_first(call, source))


def _comes_first(call, source):
    """Whether an option of argparse stands before the name of a subcommand: it is of the parser that has
    subcommands. Where that is not seen, it stands at the end."""
    def owner(one):
        name = getattr(one.func, "value", None)
        return getattr(name, "id", None), source.around(source.parents.get(one), FUNCTIONS)

    parents = [owner(one) for one in source.nodes(ast.Call) if last_word(one.func) == "add_subparsers"]
    return owner(call)[0] is not None and owner(call) in parents


def _action_of(keywords, default):
    """argparse's action; for a flag of click that is off by default, the same: `store_true`. None for what is neither
    a switch nor an option with one value."""
    if "is_flag" in keywords or "count" in keywords or "flag_value" in keywords:
        is_off = "flag_value" not in keywords and (default is None or getattr(default, "value", True) is False)
        return "store_true" if is_off and getattr(keywords.get("is_flag"), "value", False) is True else None
    action = keywords.get("action")
    if isinstance(action, ast.Constant):
        return action.value if action.value in ("store",) + ACTIONS else None
    return last_word(action)


def switch_of(names, action, default, argv):
    """None where the command line gives it twice."""
    gives = dict.fromkeys(names, action != "store_false")
    held = {"store_true": False, "store_false": True}.get(action)
    if default is not None:
        held = default.value if isinstance(getattr(default, "value", None), bool) else None
    if action == "BooleanOptionalAction":
        gives.update(("--no-" + name[2:], False) for name in names if name.startswith("--"))
    words = [word for word in argv if word in gives]
    return Switch(gives, words, held) if len(words) < 2 else None


def words_of(options, argv):
    """The words that give an option: `-j 4`, `-j4`, `--workers 4`, `--workers=4`."""
    for at, word in enumerate(argv):
        if word in options:
            return argv[at:at + 2]
        for option in options:
            is_long = option.startswith("--")
            if word.startswith(option + "=") or (
                    not is_long and len(option) == 2 and word.startswith(option)):
                return [word]
    return []


def variable_of(node):
    """The name in `os.environ["NAME"]`, `os.environ.get("NAME", 4)`, `os.getenv("NAME")`."""
    if isinstance(node, ast.Subscript):
        owner, given = node.value, node.slice
    else:
        owner, given = node.func, node.args[0] if node.args else None
        if isinstance(owner, ast.Attribute) and owner.attr == "get":
            owner = owner.value
        elif last_word(owner) != "getenv":
            return None
    is_environment = last_word(owner) in ("environ", "getenv")
    return given.value if is_environment and isinstance(given, ast.Constant) else None


def flag_of(call, name, source, argv):
    """The option that absl's `flags.DEFINE_integer(name, default, help)` makes of this name."""
    if not isinstance(call, ast.Call) or not last_word(call.func).startswith("DEFINE_"):
        return None
    given = {one.arg: one.value for one in call.keywords}
    named, default = (call.args + [None, None])[:2]
    named, default = given.get("name", named), given.get("default", default)
    if not isinstance(named, ast.Constant) or name not in (named.value, None):
        return None
    options = ["--" + named.value, "-" + named.value]
    return Option(options[:1], words_of(options, argv),
                  source.text.of(default) if default is not None else None)


def parameter_option_of(function, name, source, argv):
    """The option that fire or typer make of a parameter: `fire.Fire(main)`, `typer.run(main)`, or
    `@app.command()`."""
    def is_given(call):
        return any(getattr(one, "id", None) == getattr(function, "name", "") for one in call.args)

    calls = [dotted(call.func) for call in source.nodes(ast.Call) if is_given(call)]
    is_typer = "typer.run" in calls or any(
        last_word(getattr(one, "func", one)) == "command" and "typer" in source.text.text
        for one in getattr(function, "decorator_list", []))
    if not is_typer and "fire.Fire" not in calls and "Fire" not in calls:
        return None
    default = default_of(function, name)
    names = ["--" + (name.replace("_", "-") if is_typer else name)]
    if is_typer and isinstance(default, ast.Call):
        own = [one.value for one in default.args
               if isinstance(one, ast.Constant) and str(one.value).startswith("-")]
        names, default = own or names, default.args[0] if default.args else None
    return Option(names, words_of(names + ([] if is_typer else ["--" + name.replace("_", "-")]), argv),
                  source.text.of(default) if default is not None else None)


def field_option_of(name, default, sources, argv):
    """The option that one of FIELD_PARSERS makes of a dataclass's field."""
    used = any(dotted(call.func).endswith(FIELD_PARSERS) for source in sources
               for call in source.nodes(ast.Call))
    if not used:
        return None
    names = ["--" + name, "--" + name.replace("_", "-")]
    return Option(names[:1], words_of(names, argv), default)


def dotted(function):
    """`yaml.safe_load` of a call's function; the last word alone where it is no chain of names."""
    words = [last_word(function)]
    while isinstance(function, ast.Attribute):
        function = function.value
        words.insert(0, last_word(function))
    return ".".join(filter(None, words))


def default_of(function, name):
    """The expression of a parameter's default; None where it has none."""
    arguments = function.args
    placed = [one.arg for one in arguments.posonlyargs + arguments.args]
    with_default = dict(zip(reversed(placed), reversed(arguments.defaults)))
    with_default.update(zip([one.arg for one in arguments.kwonlyargs], arguments.kw_defaults))
    return with_default.get(name)
