# SPDX-License-Identifier: Apache-2.0
"""Maps a file named as PyTorch's library, as a process that has imported PyTorch, and waits."""
import mmap
import pathlib
import time

library = pathlib.Path("libtorch.so")
library.write_bytes(bytes(mmap.PAGESIZE))
with open(library, "r+b") as file:
    kept = mmap.mmap(file.fileno(), 0)
time.sleep(120)
