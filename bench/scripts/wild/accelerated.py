# SPDX-License-Identifier: Apache-2.0
"""accelerate: prepare(), accumulate(), backward()."""

import torch
from accelerate import Accelerator
from clips import Clips, network
from torch.utils.data import DataLoader


def main():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(Clips(3200, wait_s=0.0007), batch_size=32, shuffle=True, num_workers=1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(100):
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
        accelerator.print("epoch", epoch)


if __name__ == "__main__":
    main()
