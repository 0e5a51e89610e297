# SPDX-License-Identifier: Apache-2.0
"""timm's create_loader over its own kind of dataset."""

import time

import timm.data
import torch
from PIL import Image
from torch.utils.data import Dataset


class Pictures(Dataset):
    transform = None

    def __len__(self):
        return 1280

    def __getitem__(self, index):
        time.sleep(0.002)
        picture = Image.new("RGB", (40, 40), (index % 256, 0, 0))
        return self.transform(picture) if self.transform else picture, index % 10


def main():
    loader = timm.data.create_loader(Pictures(), input_size=(3, 32, 32), batch_size=32, is_training=True,
                                     num_workers=1, use_prefetcher=False)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(100):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
