# SPDX-License-Identifier: Apache-2.0
# An exported notebook: cells, globals, no main guard; short epochs of samples that wait.
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


# In[2]:
class Clips(Dataset):
    def __init__(self, n, wait_s=0.002):
        self.n, self.wait_s = n, wait_s

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        time.sleep(self.wait_s)
        return torch.full((128,), float(i % 7)), i % 10


# In[3]:
train_dl = DataLoader(Clips(2000), batch_size=32, shuffle=True)
valid_dl = DataLoader(Clips(64, 0), batch_size=64)
model = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(model.parameters(), 1e-3)

# In[4]:
for epoch in range(100):
    for xb, yb in train_dl:
        loss = nn.functional.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        good = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in valid_dl)
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {good / 64:.2f}")
