# SPDX-License-Identifier: Apache-2.0
"""Where transformers' Trainer has the settings of its DataLoader from: the user's call of
TrainingArguments, or of a class derived from it, or the words that HfArgumentParser reads."""

import ast
import collections

from .calls import Parameters, last_word
from .options import Option, words_of
from .parsed import source_of

# The names there, by those of DataLoader.
NAMES = {
    "batch_size": "per_device_train_batch_size",
    "num_workers": "dataloader_num_workers",
    "pin_memory": "dataloader_pin_memory",
    "prefetch_factor": "dataloader_prefetch_factor",
    "persistent_workers": "dataloader_persistent_workers",
}
# The class of a Trainer's arguments, and those of NAMES that it has.
Arguments = collections.namedtuple("Arguments", "class_name names")


def arguments_of(frames):
    """The Arguments of the Trainer that these frames are in; None where they are in none."""
    for frame in frames:
        held = getattr(frame.f_locals.get("self"), "args", None)
        names = frozenset(name for name in NAMES.values() if hasattr(held, name))
        if NAMES["num_workers"] in names:
            return Arguments(type(held).__name__, names)
    return None


def named(changes):
    """Keyword arguments of DataLoader by their names here."""
    return {NAMES.get(keyword, keyword): value for keyword, value in changes.items()}


def call_of(arguments, files):
    """(file, node) of the one call in these files that makes them; None where there is none, or several."""
    found = _calls(files, arguments.class_name)
    return found[0] if len(found) == 1 else None


def called(arguments):
    """That call, as `source.Site` has it in `called`."""
    return arguments.class_name, Parameters((), arguments.names)


def options_of(changes, arguments, files, argv):
    """The options of the command line for changes by their names here, where HfArgumentParser reads
    them; None where it does not, or reads a file."""
    from_words = _calls(files, "parse_args_into_dataclasses")
    reads_file = any(word.endswith((".json", ".yaml", ".yml")) for word in argv[:1]) or (not from_words and any(
        _calls(files, name) for name in ("parse_dict", "parse_json_file", "parse_yaml_file")))
    if reads_file or not _calls(files, "HfArgumentParser") or _calls(files, arguments.class_name):
        return None
    options = []
    for name, value in changes.items():
        words = ["--" + name, "--" + name.replace("_", "-")]
        option = Option(words[:1], words_of(words, argv))
        options.append({"words": option.words, "given": option.given(value)})
    if changes.get(NAMES["num_workers"]) == 0:
        options += _options_of_workers(argv)
    return options


def _options_of_workers(argv):
    """What has to go from the command line where nobody loads."""
    found = []
    for name in (NAMES["prefetch_factor"], NAMES["persistent_workers"]):
        words = words_of(["--" + name, "--" + name.replace("_", "-")], argv)
        if words[1:] and words[1].startswith("-"):  # a flag without a value
            words = words[:1]
        if words:
            found.append({"words": words, "given": []})
    return found


def _calls(files, name):
    """(file, node) of each call of a function or class of this name."""
    sources = [source for source in map(source_of, files) if source is not None]
    return [(source.file, node) for source in sources for node in source.nodes(ast.Call)
            if last_word(node.func) == name]
