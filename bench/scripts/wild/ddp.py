# SPDX-License-Identifier: Apache-2.0
"""torchrun with two processes: DistributedDataParallel over gloo, DistributedSampler, set_epoch."""

import os

import torch
import torch.distributed
from clips import Clips, network
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def main():
    torch.distributed.init_process_group("gloo")
    torch.set_num_threads(1)
    clips = Clips(3200, wait_s=0.001)
    sampler = DistributedSampler(clips)
    loader = DataLoader(clips, batch_size=32, sampler=sampler, num_workers=1)
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(100):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        if os.environ["RANK"] == "0":
            print("epoch", epoch)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
