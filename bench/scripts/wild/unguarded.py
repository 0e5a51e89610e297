# SPDX-License-Identifier: Apache-2.0
"""Workers by spawn without a main guard: Python can't start any, so 0 is all that runs."""

import multiprocessing

import torch
from clips import Clips, network
from torch.utils.data import DataLoader

multiprocessing.set_start_method("spawn", force=True)
loader = DataLoader(Clips(800, wait_s=0.001), batch_size=16, shuffle=True)
model = network()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(100):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    print("epoch", epoch)
