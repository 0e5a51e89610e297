# SPDX-License-Identifier: Apache-2.0
"""Windows of a text from an IterableDataset that splits itself among its workers."""

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

WINDOW = 256


class Windows(IterableDataset):
    def __init__(self, text):
        self.text = text

    def __iter__(self):
        worker = get_worker_info()
        step, first = (worker.num_workers, worker.id) if worker else (1, 0)
        for start in range(first * 16, len(self.text) - WINDOW - 1, 16 * step):
            piece = self.text[start:start + WINDOW + 1]
            letters = torch.tensor([ord(letter) for letter in piece])
            yield letters[:-1], letters[1:]


def main():
    text = " ".join("word%d" % (number * 7919 % 1000) for number in range(200_000))
    loader = DataLoader(Windows(text), batch_size=32)
    model = torch.nn.Sequential(torch.nn.Embedding(256, 32), torch.nn.Linear(32, 256))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(1000):
        for x, y in loader:
            optimizer.zero_grad()
            guess = model(x)
            torch.nn.functional.cross_entropy(guess.flatten(0, 1), y.flatten()).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
