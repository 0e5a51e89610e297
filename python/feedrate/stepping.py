# SPDX-License-Identifier: Apache-2.0
"""How the script's loop takes its steps: with how many threads, and in which number format."""

import contextlib

FORMATS = {"bf16": "bfloat16", "fp16": "float16"}


def device_of(torch):
    """What the script trains on: a GPU that is there need not be used."""
    return "cuda" if torch.cuda.is_available() and torch.cuda.is_initialized() else "cpu"


@contextlib.contextmanager
def step_threads(torch, threads):
    """So many threads for the steps of a round; as many as before behind it."""
    before = torch.get_num_threads()
    use_threads(torch, threads)
    try:
        yield
    finally:
        use_threads(torch, before)


def use_threads(torch, threads):
    """From now on."""
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


def number_format(torch, device, precision):
    """What a single step is taken in: autocast, as one would write it, or nothing where that is
    fp32. Not for several steps at once: autocast keeps the weights that it converted until it is
    left, so that all but the first would step with weights of old, and for less.

    Raises ValueError where a script can't be given that precision from outside.
    """
    if precision == "fp32":
        return contextlib.nullcontext()
    if precision not in FORMATS:
        raise ValueError("precision %s can't be tried in a script" % precision)
    return torch.autocast(device, dtype=getattr(torch, FORMATS[precision]))
