# SPDX-License-Identifier: Apache-2.0
"""How the script's loop takes its steps: with how many threads, and in which number format."""

import contextlib

from .device import device_of, gpu_of

FORMATS = {"bf16": "bfloat16", "fp16": "float16"}


def name_of_format(dtype):
    """bf16 or fp16 of a dtype of PyTorch's; None of any other."""
    long_name = str(dtype).rpartition(".")[2]
    return next((name for name, dtype_name in FORMATS.items() if dtype_name == long_name), None)


def settle(torch):
    """Waits until a GPU, which works behind the script, has done what was launched."""
    gpu = gpu_of(torch)
    if gpu is not None:
        torch.cuda.synchronize(gpu)


@contextlib.contextmanager
def step_settings(torch, config, own):
    """Threads and number format of the steps within; those of before behind it. The script itself
    steps in the format `own`."""
    threads = torch.get_num_threads()
    use_threads(torch, config["step_threads"])
    try:
        with number_format(torch, device_of(torch), config["precision"], own):
            yield
    finally:
        use_threads(torch, threads)


def use_threads(torch, threads):
    """From now on."""
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


def number_format(torch, device, precision, own):
    """A context for steps: autocast, or nothing for the script's own format. Raises ValueError
    where a script can't be given that precision from outside.

    Written into a script, autocast is left before each update of the weights. Around whole steps it
    must not keep the weights that it converted: it would go on with those of the first step, and
    save the time to convert them. A weight that a step uses several times is converted as often.
    """
    if precision == own:
        return contextlib.nullcontext()
    if precision not in FORMATS:
        raise ValueError("precision %s can't be tried in a script" % precision)
    return torch.autocast(device, dtype=getattr(torch, FORMATS[precision]), cache_enabled=False)
