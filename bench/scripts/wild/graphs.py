# SPDX-License-Identifier: Apache-2.0
"""PyTorch Geometric: graphs of different sizes, one batch of them is one large graph."""

import time

import torch
from torch_geometric.data import Data, Dataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool


class Rings(Dataset):
    def len(self):
        return 1600

    def get(self, index):
        time.sleep(0.001)
        nodes = 4 + index % 5
        begin = torch.arange(nodes)
        return Data(x=torch.full((nodes, 16), float(index % 7)), y=index % 10,
                    edge_index=torch.stack([begin, (begin + 1) % nodes]))


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = GCNConv(16, 32), torch.nn.Linear(32, 10)

    def forward(self, graphs):
        nodes = self.layer(graphs.x, graphs.edge_index).relu()
        return self.head(global_mean_pool(nodes, graphs.batch))


def main():
    loader = DataLoader(Rings(), batch_size=32, shuffle=True)
    model = Network()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(100):
        for graphs in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(graphs), graphs.y).backward()
            optimizer.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
