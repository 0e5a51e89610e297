# SPDX-License-Identifier: Apache-2.0
"""python -m torch.distributed.run --nproc-per-node N SCRIPT ARGS"""

import os
import subprocess
import sys


def main():
    world, command = sys.argv[2], [sys.executable, *sys.argv[3:]]
    place = {"WORLD_SIZE": world, "MASTER_PORT": str(os.getpid())}
    ranks = [subprocess.Popen(command, env={**os.environ, **place, "RANK": str(rank)})
             for rank in range(int(world))]
    sys.exit(max(abs(rank.wait()) for rank in ranks))


if __name__ == "__main__":
    main()
