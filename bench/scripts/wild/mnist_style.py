# SPDX-License-Identifier: Apache-2.0
"""The style of PyTorch's own examples: keyword arguments in a dict, train() and test() functions."""

import argparse

import torch
import torch.nn.functional as F
from clips import Clips, network
from torch.utils.data import DataLoader


def train(args, model, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print("Train Epoch: {} [{}/{}]".format(epoch, batch_idx * len(data),
                                                   len(train_loader.dataset)))


def test(model, test_loader):
    model.eval()
    with torch.no_grad():
        right = sum((model(data).argmax(1) == target).sum().item() for data, target in test_loader)
    print("Test: {}/{}".format(right, len(test_loader.dataset)))


def main():
    parser = argparse.ArgumentParser(description="Clips")
    parser.add_argument("--batch-size", type=int, default=64, metavar="N")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--log-interval", type=int, default=20)
    args = parser.parse_args()
    train_kwargs = {"batch_size": args.batch_size, "shuffle": True}
    test_kwargs = {"batch_size": 64}
    worker_kwargs = {"num_workers": 1}
    train_kwargs.update(worker_kwargs)
    train_loader = DataLoader(Clips(3200, wait_s=0.0005, compute_s=0.0002), **train_kwargs)
    test_loader = DataLoader(Clips(64), **test_kwargs)
    model = network()
    optimizer = torch.optim.Adadelta(model.parameters())
    for epoch in range(1, args.epochs + 1):
        train(args, model, train_loader, optimizer, epoch)
        test(model, test_loader)


if __name__ == "__main__":
    main()
