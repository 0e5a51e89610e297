# SPDX-License-Identifier: Apache-2.0
"""The script's random numbers: it shall not notice that others were drawn meanwhile."""

import contextlib
import random
import sys


@contextlib.contextmanager
def kept_random_numbers(torch):
    """Those of Python, NumPy and PyTorch on the CPU go on at the end where they were at the beginning."""
    numpy_random = getattr(sys.modules.get("numpy"), "random", None)
    state, torch_state = random.getstate(), torch.get_rng_state()
    numpy_state = numpy_random.get_state() if numpy_random else None
    try:
        yield
    finally:
        random.setstate(state)
        torch.set_rng_state(torch_state)
        if numpy_random:
            numpy_random.set_state(numpy_state)
