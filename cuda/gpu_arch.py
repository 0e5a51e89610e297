# SPDX-License-Identifier: Apache-2.0
"""gpu_arch.py NVCC [NVIDIA-SMI]: the GPUs to build for, such as "90" or "75,ptx121", on stdout.

These are the GPUs that are present, as far as this nvcc can build for them, else those that most
people have. What it can't build for is named on stderr. Exit code 1: it can build for none of them.
"""

import re
import subprocess
import sys

# Where no GPU is present: A100, H100, and what is newer by PTX.
USUAL = [80, 90]
# CUDA 12 is the oldest toolkit that compiles C++20, and CUDA 13 dropped what is older than 7.5.
OLDEST_OF_CUDA_12 = 50
OLDEST_OF_CUDA_13 = 75


def capability(arch):
    """121 is 12.1."""
    return f"{arch // 10}.{arch % 10}"


def architectures(text):
    """What `nvcc --list-gpu-arch` knows."""
    return sorted({int(number) for number in re.findall(r"^compute_(\d+)$", text, re.M)})


def present(text):
    """The GPUs of `nvidia-smi --query-gpu=compute_cap`: an old driver's answer holds no numbers."""
    found = re.findall(r"^\s*(\d+)\.(\d)\s*$", text, re.M)
    return sorted({int(major) * 10 + int(minor) for major, minor in found})


def flag_for(card, known):
    """What runs on that card: code of its own, else PTX, which its driver compiles; None: nothing."""
    if card in known:
        return str(card)
    older = [arch for arch in known if arch < card]
    return f"ptx{older[-1]}" if older else None


def choose(cards, known):
    """The value of gpu_arch, and the cards for which nothing can be built."""
    if not cards:
        usual = [arch for arch in USUAL if arch in known] or known[-1:]
        return ",".join([*map(str, usual), f"ptx{usual[-1]}"]), []
    flags = {card: flag_for(card, known) for card in cards}
    left_out = [card for card in cards if flags[card] is None]
    return ",".join(dict.fromkeys(flag for flag in flags.values() if flag)), left_out


def refusal(left_out, known):
    """One sentence on cards that are too old for this nvcc, and what to do."""
    cards = " and ".join(map(capability, left_out))
    begin = f"nvcc can't build for the GPU here of compute capability {cards}: it knows {capability(known[0])} and newer"
    if left_out[0] < OLDEST_OF_CUDA_12:
        return f"{begin}, and no CUDA toolkit that compiles C++20 (12 or newer) knows that one."
    newest = "12.9" if left_out[0] < OLDEST_OF_CUDA_13 else "13"
    return f"{begin}. Install the CUDA toolkit {newest}, and set CUDA_HOME to its folder."


def output_of(*command):
    """What a command prints; nothing where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def main(nvcc, smi=""):
    known = architectures(output_of(nvcc, "--list-gpu-arch"))
    if not known:
        sys.exit(f"'{nvcc} --list-gpu-arch' names no GPU: mend that toolkit, or install CUDA 12 or newer. "
                 "Building for the CPU alone.")
    cards = present(output_of(smi, "--query-gpu=compute_cap", "--format=csv,noheader")) if smi else []
    flags, left_out = choose(cards, known)
    if left_out:
        instead = "Building for the others." if flags else "Building for the CPU alone."
        print(refusal(left_out, known), instead, file=sys.stderr)
    print(flags)
    sys.exit(0 if flags else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
