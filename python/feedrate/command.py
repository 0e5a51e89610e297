# SPDX-License-Identifier: Apache-2.0
"""The command autotune that is part of the package."""

import os
import sys


def path():
    """Its file, or None where the package was installed without it."""
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "autotune")
    return file if os.path.exists(file) else None


def main():
    """Becomes the command."""
    command = path()
    if command is None:
        sys.exit("autotune is not part of this installation of feedrate; install its wheel again.")
    os.execv(command, ["autotune"] + sys.argv[1:])
