# SPDX-License-Identifier: Apache-2.0
"""How workers start, and which other ways to start them a script can take."""

import ast
import multiprocessing
import sys
import tokenize

OWN = "own"  # as the script says, or Python by itself


def start_method_of(loader, config):
    """How a loader starts its workers with this config: fork, forkserver or spawn."""
    if config["start_method"] != OWN:
        return config["start_method"]
    context = getattr(loader, "multiprocessing_context", None) or multiprocessing
    return context.get_start_method()


def why_fixed(site):
    """Why no other way can be set where the loader is made; None where one can."""
    if site is not None and (site.arguments is not None or site.maker == "transformers"):
        return "TrainingArguments has no setting for it"
    return None


def why_not_importable(main=None):
    """Why workers can't import the script, as those do that are no copies of it; None where they
    can. `main` is its module."""
    file = getattr(main or sys.modules["__main__"], "__file__", None)
    try:
        with tokenize.open(file) as source:
            statements = ast.parse(source.read()).body
    except (OSError, SyntaxError, TypeError, ValueError):
        return "workers can't import the script: it is no file of Python's"
    if any(isinstance(one, ast.If) and _names_itself(one.test) for one in statements):
        return None
    return "workers would import the script, which runs all of it: it has no if __name__ == '__main__'"


def _names_itself(test):
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))
