# SPDX-License-Identifier: Apache-2.0
"""torchdata's StatefulDataLoader, whose state goes into each checkpoint."""

import torch
from clips import Clips, network
from torchdata.stateful_dataloader import StatefulDataLoader


def main():
    loader = StatefulDataLoader(Clips(1600, wait_s=0.001), batch_size=16, shuffle=True, num_workers=2)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(100):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        torch.save({"model": model.state_dict(), "data": loader.state_dict()}, "state.pt")
        print("epoch", epoch)


if __name__ == "__main__":
    main()
