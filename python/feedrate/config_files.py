# SPDX-License-Identifier: Apache-2.0
"""Numbers in configuration files: YAML, JSON and TOML, as `yaml.safe_load`, `json.load`, `tomllib.load`
and `OmegaConf.load` read them."""

import json
import re
import sys

from .calls import read
from .options import Literal, Unknown

LOADERS = ("yaml.safe_load", "yaml.full_load", "yaml.load", "json.load", "json.loads", "toml.load",
           "tomllib.load", "tomli.load", "OmegaConf.load")
# What stands before a key, and between it and its value.
FORMS = {".yaml": (r"(?m)^[ \t-]*[\"']?", r"[\"']?[ \t]*:[ \t]+"),
         ".yml": (r"(?m)^[ \t-]*[\"']?", r"[\"']?[ \t]*:[ \t]+"),
         ".json": (r"\"", r"\"\s*:\s*"),
         ".toml": (r"(?m)^[ \t]*\"?", r"\"?[ \t]*=[ \t]*")}


def ending_of(file):
    return next((ending for ending in FORMS if file.endswith(ending)), None)


def number_in(file, keys):
    """The number of a key in a file, as a Literal. It is the one value of the last of `keys` there:
    two keys of that name could be of any section. The whole path of `keys` has to lead to it. Raises
    Unknown."""
    ending = ending_of(file)
    if ending is None:
        raise Unknown
    before, between = FORMS[ending]
    text = read(file)
    found = re.findall(before + re.escape(keys[-1]) + between, text)
    number = re.search(before + re.escape(keys[-1]) + between + r"(\d+)[ \t]*(?=[,}\]#\r\n]|$)", text)
    if len(found) != 1 or number is None:
        raise Unknown
    other = int(number.group(1)) + 1  # the path of keys is to lead there
    held = _parsed(ending, "%s%d%s" % (text[:number.start(1)], other, text[number.end(1):]))
    if held is not None and _at(held, keys) != other:
        raise Unknown
    return Literal(file, number.start(1), number.end(1), number.group(1))


def _parsed(ending, text):
    """What a file holds; None where nothing here reads it."""
    reader = {".json": json.loads}.get(ending)
    modules = ("tomllib", "tomli", "toml") if ending == ".toml" else ("yaml",)
    for module in map(sys.modules.get, modules if reader is None else ()):
        reader = reader or getattr(module, "safe_load" if ending in (".yaml", ".yml") else "loads", None)
    try:
        return reader(text) if reader is not None else None
    except Exception:  # of whatever kind the reader raises
        raise Unknown from None


def _at(held, keys):
    """What a path of keys leads to."""
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held
