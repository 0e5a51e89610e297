# SPDX-License-Identifier: Apache-2.0
"""webdataset: tar files, decoded and batched in the workers, read by WebLoader."""

import os
import time

import torch
import webdataset
from clips import network

SHARDS, SAMPLES = 16, 200


def write():
    for shard in range(SHARDS):
        if not os.path.exists("shard-%02d.tar" % shard):
            with webdataset.TarWriter("shard-%02d.tar" % shard) as tar:
                for index in range(SAMPLES):
                    tar.write({"__key__": "%02d%04d" % (shard, index), "x.pyd": [float(index % 7)] * 128,
                               "y.cls": index % 10})


def decoded(sample):
    time.sleep(0.001)
    return torch.tensor(sample["x.pyd"]), sample["y.cls"]


def main():
    write()
    urls = ["shard-%02d.tar" % shard for shard in range(SHARDS)]
    data = webdataset.WebDataset(urls, shardshuffle=SHARDS).decode().map(decoded).batched(20)
    loader = webdataset.WebLoader(data, batch_size=None, num_workers=1)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(100):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), torch.as_tensor(y)).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
