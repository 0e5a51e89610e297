# SPDX-License-Identifier: Apache-2.0
"""The command autotune that is part of the package."""

import glob
import importlib.util
import os
import sys

LIBRARIES = "FEEDRATE_CUDA_LIBRARIES"  # folders in which the command looks for cuBLAS


def path():
    """Its file, or None where the package was installed without it."""
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "autotune")
    return file if os.path.exists(file) else None


def libraries_of_pytorch():
    """The folders in which wheels of PyTorch have cuBLAS."""
    found = importlib.util.find_spec("nvidia")
    places = found.submodule_search_locations or [] if found else []
    return [folder for place in map(glob.escape, places) for pattern in ("cu[0-9]*/lib", "cublas/lib")
            for folder in sorted(glob.glob(os.path.join(place, pattern)))]


def main():
    """Becomes the command."""
    command = path()
    if command is None:
        sys.exit("autotune is not part of this installation of feedrate; install its wheel again.")
    folders = [*filter(None, [os.environ.get(LIBRARIES)]), *libraries_of_pytorch()]
    if folders:
        os.environ[LIBRARIES] = ":".join(folders)
    os.execv(command, ["autotune"] + sys.argv[1:])
