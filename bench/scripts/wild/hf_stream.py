# SPDX-License-Identifier: Apache-2.0
"""A streamed dataset of Hugging Face's datasets, mapped on the fly; set_epoch() at each epoch."""

import time

import torch
from clips import network
from datasets import Dataset
from torch.utils.data import DataLoader


def tokenised(row):
    time.sleep(0.001)
    return {"x": [float(row["number"] % 7)] * 128, "y": row["number"] % 10}


def main():
    rows = Dataset.from_dict({"number": list(range(3200))}).to_iterable_dataset(num_shards=16)
    rows = rows.shuffle(seed=1, buffer_size=64).map(tokenised, remove_columns=["number"])
    loader = DataLoader(rows.with_format("torch"), batch_size=20, num_workers=1)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(100):
        rows.set_epoch(epoch)
        for batch in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(batch["x"].float()), batch["y"]).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
