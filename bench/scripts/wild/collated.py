# SPDX-License-Identifier: Apache-2.0
"""Text: a collate function that pads, batches of similar length by a batch sampler of its own."""

import random

import torch
from clips import busy
from torch.utils.data import DataLoader, Dataset, Sampler


class Sentences(Dataset):
    def __init__(self, count):
        self.lengths = [random.Random(index).randrange(8, 64) for index in range(count)]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        busy(10e-6 * self.lengths[index])  # a tokeniser
        return {"ids": torch.arange(self.lengths[index]) % 100, "label": index % 2}


class Buckets(Sampler):
    def __init__(self, lengths, batch_size):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[at:at + batch_size] for at in range(0, len(order), batch_size)]

    def __iter__(self):
        random.shuffle(self.batches)
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)


def collate(rows):
    ids = torch.nn.utils.rnn.pad_sequence([row["ids"] for row in rows], batch_first=True)
    return {"ids": ids, "labels": torch.tensor([row["label"] for row in rows])}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = torch.nn.Embedding(100, 32), torch.nn.Linear(32, 2)

    def forward(self, ids):
        return self.head(self.embedding(ids).mean(1))


def main():
    sentences = Sentences(3200)
    loader = DataLoader(sentences, batch_sampler=Buckets(sentences.lengths, 32), collate_fn=collate,
                        num_workers=0)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(100):
        for batch in loader:
            loss = torch.nn.functional.cross_entropy(model(batch["ids"]), batch["labels"])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        print("epoch", epoch)


if __name__ == "__main__":
    main()
