# SPDX-License-Identifier: Apache-2.0
"""Hydra: each value comes from conf/config.yaml."""

import hydra
import torch
from clips import Clips, network
from torch.utils.data import DataLoader


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    loader = DataLoader(Clips(cfg.data.samples, wait_s=0.0005), batch_size=cfg.data.batch_size,
                        num_workers=cfg.data.num_workers, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), cfg.optim.lr)
    for epoch in range(cfg.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
