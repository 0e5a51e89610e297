# SPDX-License-Identifier: Apache-2.0
"""A command line by click."""

import click
import torch
from clips import Clips, network
from torch.utils.data import DataLoader


@click.command()
@click.option("--workers", default=1, help="Worker processes.")
@click.option("--batch", default=64)
@click.option("--epochs", default=100)
def main(workers, batch, epochs):
    loader = DataLoader(Clips(3200, compute_s=0.0004), batch_size=batch, shuffle=True,
                        num_workers=workers)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        click.echo("epoch %d" % epoch)


if __name__ == "__main__":
    main()
