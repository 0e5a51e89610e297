# SPDX-License-Identifier: Apache-2.0
"""Where a DataLoader is made in the user's source, and the change to make there.

Edits are made in the text of the call alone, so that the rest of it stays as its author laid it
out. Where the text can't be read or understood, a sentence says what to set instead.
"""

import ast
import difflib
import inspect
import os
import sys

from . import trainer_arguments
from .calls import INSTALLED, PARAMETERS, Parameters, Text, Unclear, find_call, last_word
from .config_files import ending_of
from .edits import WITHOUT_WORKERS, Code, edited, edits_of, with_all
from .hydra_keys import keys_of
from .options import Literal, Option, Unknown, Variable
from .origin import origin_of
from .packed import Packed
from .parsed import source_of
from .patch import original_of, patch_of, text_of
from .step_threads import edit_of_threads

LIBRARIES = frozenset(["torch", "torchvision", "torchdata", "lightning", "lightning_fabric",
                       "pytorch_lightning", "accelerate", "transformers", "feedrate"])
OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
LIBRARY_FOLDER = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


# Which line of the script it was.

class Site:
    """A place in the user's source where a DataLoader was made.

    `maker` is the library that made it for the user, as transformers does; None where the user did.
    `called` is the function of it that the line calls: its name and its Parameters; None where
    these are not known. `arguments` are those from which transformers' Trainer makes the loader; None
    without a Trainer.
    `end` is (line, column) of the end of the call, where Python tells: since 3.11.
    `way` holds (file, line) of each call in the user's code that led there, the innermost first: it
    tells the callers of a function apart that makes loaders for several of them. `configs` holds for
    each the keys of OmegaConf's configs among its variables.
    """

    def __init__(self, file, line, end=None, maker=None, way=(), configs=(), called=None, arguments=None):
        self.file = file
        self.line = line
        self.end = end
        self.maker = maker
        self.called = called
        self.arguments = arguments
        self.way = way
        self.configs = configs

    @property
    def call(self):
        """The call in the source; None where it can't be read, or is not what makes the loader."""
        found = find_call(self.file, self.line, self.end)
        if found is None or not found.is_sure:
            return None
        if self.maker is None:
            return found
        if self.called is not None and self.called[0] == found.function:
            found = found.of(self.called[1])
        takes_workers = found.takes("num_workers") or found.takes("dataloader_num_workers")
        return found if takes_workers or "loader" in found.function.lower() else None

    @property
    def is_loader_call(self):
        """Whether the user's own line makes the loader, and no library on its behalf."""
        return self.maker is None or self.call is not None

    @property
    def name(self):
        """What the loader is assigned to, as `self.train_dl`; None where to nothing."""
        call = self.call
        return call.name if call else None

    def __str__(self):
        return "%s:%d" % (shown(self.file), self.line)


def call_site(skip_modules=LIBRARIES):
    """The user's own line that is being executed, seen from within a patched DataLoader.__init__;
    None where there is none."""
    frames = list(_frames(sys._getframe(1)))
    kinds = [_kind(frame, skip_modules) for frame in frames]
    for wanted in ("user", "installed"):
        if wanted in kinds:
            at = kinds.index(wanted)
            users = [frame for frame, kind in zip(frames, kinds) if kind == "user"]
            way = tuple(_place(frame) for frame in users)
            site = _site(frames[at], _maker(frames[:at], kinds), way, tuple(map(_configs, users)))
            site.called = _called(frames[at - 1]) if at > 0 else None
            site.arguments = trainer_arguments.arguments_of(frames[:at])
            return site
    return None


def _frames(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def _kind(frame, skip_modules):
    """Whose code a frame runs: ours, a library's, what else is installed, or the user's."""
    file = frame.f_code.co_filename
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    if file.startswith(OWN_FOLDER):
        return "ours"
    if package in skip_modules or file.startswith("<frozen"):
        return "library"
    if INSTALLED.search(file):
        return "installed"
    return "library" if file.startswith(LIBRARY_FOLDER) else "user"


def _maker(frames, kinds):
    """The package between the user's line and the loader; None where only constructors are."""
    made = None
    for frame, kind in zip(frames, kinds):
        if kind == "ours":
            made = _first_argument(frame)
        elif frame.f_globals.get("__name__") == "typing":
            continue  # it calls the class of DataLoader[Batch]
        elif made is None or _first_argument(frame) is not made:
            return str(frame.f_globals.get("__name__")).partition(".")[0]
    return None


def _first_argument(frame):
    """Of the function that a frame runs; in a constructor that is the object itself."""
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount > 0 else None


def _called(frame):
    """The name and the Parameters of the function that a frame runs; None where it takes any."""
    code = frame.f_code
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    own = int(names[:1] in (("self",), ("cls",)))
    return code.co_name, Parameters(names[own:code.co_argcount], names[own:])


def _place(frame):
    return frame.f_code.co_filename, frame.f_lineno


def _configs(frame):
    """Of a function's variables; of a whole file nobody needs to know. They are asked for only where there are
    configs: until Python 3.12 a frame keeps its f_locals, and what the function deletes would stay in memory."""
    if "omegaconf" not in sys.modules or frame.f_code.co_name == "<module>":
        return {}
    return keys_of(frame.f_locals)


def _site(frame, maker, way, configs):
    file = frame.f_code.co_filename
    if not file.startswith("<"):
        file = os.path.abspath(file)
    return Site(file, frame.f_lineno, _end_of_call(frame), maker, way, configs)


def _end_of_call(frame):
    """(line, column in bytes) where the call ends that a frame is in; None before Python 3.11."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    for at, (_, line, _, column) in enumerate(positions()):
        if at == frame.f_lasti // 2:
            return (line, column) if line is not None and column is not None else None
    return None


# The change.

def change(site, changes, argv=None, now=None, step_threads=None):
    """What to change for keyword arguments to have other values, as plain data. `changes` holds
    Python values by keyword, and `now` those that the loader has: what was traced is believed only
    if it has the same. `step_threads` is the number of PyTorch's threads to set; None: as it is. `now`
    holds theirs of today by the same name. The result has

    - file, line, name: of the call, and what the loader is assigned to;
    - diff: the changed lines, for people; a sentence where they are unclear; empty where all is set
      by the launch;
    - patch: the same as `git apply` takes it; None where there is none;
    - options: of the command line, each with the words that give it today and those that are to;
    - environment: values of variables, by name;
    - sets_threads: whether the diff sets PyTorch's threads;
    - old: the source text that decides a keyword today, None where none does.
    """
    told = {"file": None, "line": 0, "name": None, "patch": None, "options": [], "environment": {},
            "sets_threads": False, "old": {keyword: None for keyword in changes}}
    call = site.call if site is not None else None
    if not changes and call is None:
        return dict(told, diff="")
    if site is None:
        return dict(told, diff="Where the DataLoader is made, set %s." % _settings(changes))
    told.update(file=original_of(site.file), line=site.line, name=call.name if call else None)
    if site.arguments is not None:
        of_arguments = _change_of_arguments(site, changes, argv, now or {}, step_threads)
        if of_arguments is not None:
            return dict(told, **of_arguments)
    if call is None:
        return dict(told, diff=_sentence(site, changes))
    try:
        told["old"] = {keyword: _old(call, keyword) for keyword in changes}
        wanted = _Wanted(site, call, changes, argv, now or {})
        edits = wanted.edits()
    except Unclear:
        return dict(told, diff=_sentence(site, changes) if changes else "")
    if step_threads is not None:
        told["sets_threads"] = _set_threads(edits, site, call, step_threads, (now or {}).get("step_threads"))
    told.update(options=wanted.options, environment=wanted.environment)
    shown_edits = "\n".join(filter(None, [_shown_edits(call, edits, site), wanted.unfollowed()]))
    return dict(told, diff=shown_edits, patch=patch_of(edits))


def _set_threads(edits, site, call, step_threads, now):
    """Adds the edit of PyTorch's threads to those of the loader; whether there is one."""
    files = list(dict.fromkeys([site.file] + [file for file, _ in site.way]))
    try:
        file, edit = edit_of_threads(step_threads, now, call, site.file, files)
        edited(text_of(file), edits.get(file, []) + [edit])
    except Unclear:
        return False
    edits.setdefault(file, []).append(edit)
    return True


def _change_of_arguments(site, changes, argv, now, step_threads):
    """What `change` tells of a loader that a Trainer makes from its arguments; None where the user's
    files do not create these in exactly one place, or where this version has not all of them."""
    arguments, files = site.arguments, list(dict.fromkeys([file for file, _ in site.way] or [site.file]))
    renamed = trainer_arguments.named(changes)
    if not arguments.names.issuperset(renamed):
        return None
    options = trainer_arguments.options_of(renamed, arguments, files,
                                           sys.argv[1:] if argv is None else argv)
    if options is not None:
        return {"diff": "", "options": options}
    found = trainer_arguments.call_of(arguments, files)
    if found is None:
        return None
    file, node = found
    place = Site(file, node.lineno, (node.end_lineno, node.end_col_offset), "transformers", site.way,
                 site.configs, trainer_arguments.called(arguments))
    call = place.call
    if changes.get("num_workers") == 0 and call is not None:
        renamed.update((name, value) for name, value in trainer_arguments.named(WITHOUT_WORKERS).items()
                       if call.argument(name) is not None)
    told = change(place, renamed, argv, trainer_arguments.named(now), step_threads)
    if told["patch"] is None and not told["options"] and not told["environment"]:
        return None
    names = trainer_arguments.named(dict.fromkeys(changes))
    old = {keyword: told["old"][name] for keyword, name in zip(changes, names)}
    return dict(told, name=None, old=old)


def diff(file, line, changes):
    """The call that covers a line, before and after; a sentence where that is unclear."""
    return change(Site(file, line), changes)["diff"]


class _Wanted:
    """Changes, sorted by where each value is set."""

    def __init__(self, site, call, changes, argv, now):
        self._site, self._call, self._packed = site, call, Packed(source_of(site.file), call.packed())
        self._now, self._argv = now, argv
        self._in_call, self._elsewhere, self._unfollowed = {}, [], []
        self.options, self.environment = [], {}
        changes = {keyword: value for keyword, value in with_all(call, changes).items()
                   if keyword in changes or self._node(keyword) is not None or self._packed.may_hold(keyword)}
        taken = {keyword: value for keyword, value in changes.items()
                 if site.maker is None or call.takes(keyword) is not False}
        self._refused = [keyword for keyword in changes if keyword not in taken]
        if changes and not taken:
            raise Unclear("the library's function takes none of them")
        for keyword, value in taken.items():
            self._sort_in(keyword, value, taken)
        self._guard(taken)

    def _node(self, keyword):
        """What sets a parameter: its argument, or its value in the dict behind `**`."""
        node = self._call.argument(keyword)
        return self._packed.values.get(keyword) if node is None else node

    def _origin(self, keyword):
        """Of an argument; None where it is not known, or has not the value that the loader has."""
        node = self._node(keyword)
        if node is None:
            return None
        way = self._site.way or ((self._site.file, self._site.line),)
        try:
            origin = origin_of(self._site.file, node, way, self._site.configs, self._argv)
        except (Unknown, AttributeError):
            return None
        held = origin.value
        return origin if held is None or str(self._now.get(keyword, held)) == held else None

    def _is_shared(self, origin, keyword, changes):
        """Whether another argument of the call has its value from there, and is to have another."""
        return any(changes.get(other, self) != changes[keyword]
                   and origin.is_same(self._origin(other))
                   for other in (*PARAMETERS, *WITHOUT_WORKERS) if other != keyword)

    def _is_used_elsewhere(self, node):
        """Whether an argument is a constant of the file that other code reads, too."""
        source = source_of(self._site.file)
        if not isinstance(node, ast.Name) or source is None:
            return False
        is_constant = any(isinstance(target, ast.Name) and target.id == node.id
                          for one in source.tree.body if isinstance(one, (ast.Assign, ast.AnnAssign))
                          for target in getattr(one, "targets", None) or [one.target])
        reads = [last_word(getattr(source.around(one, ast.Call), "func", None)) for one in source.nodes(ast.Name)
                 if one.id == node.id and isinstance(one.ctx, ast.Load)]
        return is_constant and not all(
            function.endswith(("Loader", self._call.function)) for function in reads)

    def _follows_workers(self, node, value, changes):
        """Whether an argument is `workers > 0`, and gets the wanted value from what sets the workers. These
        are sorted in before it."""
        workers = self._node("num_workers")
        if workers is None or "num_workers" not in changes or "num_workers" in self._in_call:
            return False
        text = self._call.source.of(workers)
        guards = [ast.parse("(%s) > 0" % one, mode="eval").body
                  for one in (text, self._packed.texts.get("num_workers", text))]
        return value == (changes["num_workers"] > 0) and ast.dump(node) in map(ast.dump, guards)

    def _sort_in(self, keyword, value, changes):
        origin = self._origin(keyword)
        node = self._node(keyword)
        if isinstance(node, ast.Compare) and self._follows_workers(node, value, changes):
            return
        if origin is None and isinstance(node, ast.Constant) and self._site.maker is not None:
            raise Unclear("the library may have made another value of it")
        if origin is None and node is not None and not isinstance(node, ast.Constant):
            self._unfollowed.append(" ".join(self._call.source.of(node).split()))
        if node is None and self._packed.may_hold(keyword):
            packed = " ".join(self._call.source.of(self._call.packed()[0]).split())
            self._unfollowed.append(self._packed.texts.get(keyword, packed))
        if origin is not None and self._is_shared(origin, keyword, changes):
            origin = None
        # Another call may read the same dict.
        if isinstance(node, ast.Constant) and self._call.argument(keyword) is None and keyword in self._packed.shared:
            origin = None
        # What else depends on the batch is to follow it.
        if keyword != "batch_size" and isinstance(origin, Literal) and self._is_used_elsewhere(node):
            origin = None
        is_number = isinstance(value, int) and not isinstance(value, bool)
        option = origin.change_to(keyword, value) if isinstance(origin, Option) else None
        if option is not None:
            self.options.append(option)
        elif isinstance(origin, Variable) and is_number:
            self.environment[origin.name] = str(value)
        elif value is True and keyword == "persistent_workers" and node is self._call.argument(keyword):
            self._in_call[keyword] = value  # which may depend on the workers
        elif isinstance(origin, Literal) and (is_number or ending_of(origin.file) is None):
            self._elsewhere.append((origin, repr(value)))
        else:
            self._in_call[keyword] = value

    def _guard(self, changes):
        """What DataLoader refuses without workers depends on them, where the launch sets them."""
        if changes.get("num_workers", 1) == 0 or "num_workers" in self._in_call:
            return
        node = self._call.argument("num_workers")
        if isinstance(self._node("num_workers"), ast.Constant):
            return
        workers = self._packed.texts.get("num_workers") if node is None else self._call.source.of(node)
        if workers is None:
            return
        whole = ast.parse("(%s)" % workers, mode="eval").body
        if not isinstance(whole, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            workers = "(%s)" % workers
        if self._in_call.get("persistent_workers") is True:
            self._in_call["persistent_workers"] = Code("%s > 0" % workers)
        for keyword in ("prefetch_factor", "multiprocessing_context"):
            if keyword in self._in_call:
                value = self._in_call[keyword]
                self._in_call[keyword] = Code("%r if %s > 0 else None" % (value, workers))

    def unfollowed(self):
        """A sentence where a value is written into the call, since what sets it is not known, and
        where a library's function has no parameter for a change."""
        told = []
        if self._unfollowed:
            told.append("Where the value of %s comes from was not found, so the call is changed." % (
                " and ".join(dict.fromkeys(self._unfollowed))))
        if self._refused:
            told.append("%s of %s takes no %s, so it stays as it is." % (
                self._call.function, self._site.maker, " and no ".join(self._refused)))
        return "(%s)" % " ".join(told) if told else ""

    def edits(self):
        """By file, the edits of its text. Raises Unclear."""
        edits = {}
        if self._in_call:
            edits[self._site.file] = edits_of(self._call, self._in_call, self._site.maker)
        for literal, text in self._elsewhere:
            edit = (literal.start, literal.end, text)
            if edit not in edits.setdefault(literal.file, []):
                edits[literal.file].append(edit)
        for file, some in edits.items():
            edited(text_of(file), some, ending_of(file) is None)
        return edits


def _old(call, keyword):
    node = call.argument(keyword)
    return None if node is None else " ".join(call.source.of(node).split())


def _settings(changes):
    return ", ".join("%s=%r" % change for change in changes.items())


def _sentence(site, changes):
    if site.maker == "transformers":
        return "%s: transformers makes this DataLoader: set TrainingArguments(%s)." % (
            site, _settings(trainer_arguments.named(changes)))
    if site.maker is not None:
        return "%s: %s makes this DataLoader: set %s where it takes its settings from." % (
            site, site.maker, _settings(changes))
    return "%s: in the DataLoader that is made here, set %s." % (site, _settings(changes))


def shown(file):
    """A file as one would name it from here."""
    relative = os.path.relpath(file) if os.path.isabs(file) else file
    return original_of(file) if relative.startswith(os.pardir) else relative


def _shown_edits(call, edits, site):
    """The changed lines, the whole call among them."""
    parts = []
    for file, some in edits.items():
        text = Text(text_of(file))
        regions = sorted({_region(text, start, end, call if file == site.file else None)
                          for start, end, _ in some})
        for first, last in regions:
            here = [one for one in some if _region(
                text, one[0], one[1], call if file == site.file else None) == (first, last)]
            after = edited(text.text, here, ending_of(file) is None).split("\n")
            parts.append(_lines(file, text.lines, after, first, last))
    if not edits and call is not None:
        return ""
    return "\n".join(parts)


def _region(text, start, end, call):
    """The lines that are shown of an edit: those of the call, or its own."""
    first, last = text.line_of(start), text.line_of(end)
    if call is not None and call.node.lineno <= first and last <= call.node.end_lineno:
        return call.node.lineno, call.node.end_lineno
    return first, last


def _lines(file, before, after, first, last):
    """Some lines as a diff with all of its context."""
    marked = difflib.unified_diff(before[first - 1:last],
                                  after[first - 1:last + len(after) - len(before)],
                                  n=last - first + 1, lineterm="")
    body = list(marked)[3:]  # without the two names and the numbers of the lines
    body = body or [" " + line for line in before[first - 1:last]]
    return "\n".join(["--- %s:%d" % (shown(file), first)] + body)
