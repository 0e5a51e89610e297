# SPDX-License-Identifier: Apache-2.0
"""`python -m feedrate train.py`: runs a script as Python would, and says how well fed it was."""

import builtins
import importlib.machinery
import os
import runpy
import shlex
import sys
import types

from . import __version__, health

USAGE = """usage: python -m feedrate SCRIPT ARGS
       python -m feedrate -m MODULE ARGS

Runs a training script unchanged, and says at its end, on standard error, how well its loops over
PyTorch's DataLoaders were fed. To see what to change, run: autotune -- python SCRIPT ARGS
"""
OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def refuse(sentence):
    print("feedrate: " + sentence, file=sys.stderr)
    sys.exit(2)


def main(arguments):
    if not arguments:
        refuse("Name a script to run: python -m feedrate train.py.")
    if arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
    elif arguments[0] == "--version":
        print("feedrate " + __version__)
    elif arguments[0] == "-m":
        run_module(arguments[1:])
    elif arguments[0].startswith("-"):
        refuse("There is no option '%s'; see python -m feedrate --help." % arguments[0])
    else:
        run_script(arguments)


def command(*words):
    return "python " + " ".join(shlex.quote(word) for word in words)


def run_script(arguments):
    """arguments: the script and its own arguments."""
    script = arguments[0]
    if os.path.isdir(script) or script.endswith((".zip", ".pyz")):
        return run_archive(arguments)
    text = text_of(script)
    sys.argv = arguments
    if not without_own_folder():
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    with OwnFramesHidden():
        health.install(command(*arguments))
        file = absolute(script)
        execute(compile(text, file, "exec", dont_inherit=True), file, None)


def run_archive(arguments):
    """A folder or an archive with a __main__.py, and its arguments."""
    sys.argv = arguments
    sys.path[0:0 if without_own_folder() else 1] = [absolute(arguments[0])]
    with OwnFramesHidden():
        try:
            _, spec, code = runpy._get_main_module_details(NotFound)
        except NotFound:
            refuse("There is no __main__.py in '%s'; name a script." % arguments[0])
        health.install(command(*arguments))
        execute(code, spec.origin, spec)


def absolute(script):
    """As Python names it in __file__ and in tracebacks."""
    return os.path.join(os.getcwd(), script) if sys.version_info >= (3, 9) else script


def text_of(script):
    try:
        with open(script, "rb") as file:
            return file.read()
    except OSError as error:
        refuse("The script '%s' can't be read: %s." % (script, error.strerror))


def without_own_folder():
    """Whether Python was told not to look for modules beside the script or where it was started."""
    return getattr(sys.flags, "safe_path", False) or sys.flags.isolated


def run_module(arguments):
    """arguments: the module and its own arguments."""
    if not arguments:
        refuse("Name a module to run: python -m feedrate -m package.module.")
    sys.argv = ["-m"] + arguments[1:]
    with OwnFramesHidden():
        spec, code = found(arguments[0])
        health.install(command("-m", *arguments))
        sys.argv[0] = spec.origin
        execute(code, spec.origin, spec)


def found(name):
    """(spec, code) of the module to run."""
    try:
        return runpy._get_module_details(name, error=NotFound)[1:]
    except NotFound as error:
        refuse("The module '%s' can't be run: %s." % (name, error))


class NotFound(ImportError):
    """There is no such module."""


def execute(code, file, spec):
    """Executes code as the module __main__, in the place of this one."""
    module = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    module.__dict__.update(__builtins__=builtins, __file__=file, __spec__=spec,
                           __loader__=spec.loader if spec else loader,
                           __package__=spec.parent if spec else None,
                           __cached__=spec.cached if spec else None)
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


class OwnFramesHidden:
    """What the script throws is shown by Python, or by the script's own hook, as without us."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None or isinstance(error, SystemExit):
            return
        hook = sys.excepthook

        def show(kind, error, trace):
            clean(error)
            hook(kind, error, error.__traceback__)

        sys.excepthook = show


def clean(error):
    """Takes our frames from the tracebacks of an error and of those that led to it."""
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error.__traceback__ = users(error.__traceback__)
        error = error.__cause__ or error.__context__


def users(trace):
    """A traceback from the script's first frame on, without ours."""
    links = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(OWN_FOLDER) and (links or not is_runner(file)):
            links.append(trace)
        trace = trace.tb_next
    for link, following in zip(links, links[1:] + [None]):
        link.tb_next = following
    return links[0] if links else None


def is_runner(file):
    return file in (runpy.__file__, "<frozen runpy>")


if __name__ == "__main__":
    main(sys.argv[1:])
