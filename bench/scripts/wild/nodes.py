# SPDX-License-Identifier: Apache-2.0
"""A pipeline of torchdata.nodes: no DataLoader at all."""

import torch
from clips import Clips, network
from torch.utils.data import RandomSampler
from torchdata.nodes import Batcher, Loader, ParallelMapper, SamplerWrapper


def main():
    clips = Clips(1600, wait_s=0.001)
    node = ParallelMapper(SamplerWrapper(RandomSampler(clips)), clips.__getitem__, num_workers=2,
                          method="thread")
    loader = Loader(Batcher(node, 16))
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(100):
        for batch in loader:
            x, y = torch.stack([x for x, _ in batch]), torch.tensor([y for _, y in batch])
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
