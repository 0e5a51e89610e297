# SPDX-License-Identifier: Apache-2.0
"""Runs at the start of every Python program below autotune, and attaches to PyTorch once imported.

An existing sitecustomize still runs: this one is found first, and hands over to the next.
"""

import os
import sys


def _run_next():
    """Executes the sitecustomize that would have been found without this folder."""
    from importlib import util
    from importlib.machinery import PathFinder

    here = os.path.dirname(os.path.abspath(__file__))
    others = [path for path in sys.path if os.path.abspath(path or os.curdir) != here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _attach():
    if not os.environ.get("FEEDRATE_ATTACH"):
        return
    from feedrate import attach

    attach.install()


try:
    _attach()
finally:
    _run_next()
