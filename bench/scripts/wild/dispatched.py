# SPDX-License-Identifier: Apache-2.0
"""accelerate with dispatch_batches: the main process loads the batches of all processes."""

import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from clips import Clips, network
from torch.utils.data import DataLoader


def main():
    accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(dispatch_batches=True))
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(Clips(3200, wait_s=0.0007), batch_size=32, shuffle=True, num_workers=1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(100):
        for x, y in loader:
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
            optimizer.step()
        accelerator.print("epoch", epoch)


if __name__ == "__main__":
    main()
