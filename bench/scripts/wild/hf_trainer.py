# SPDX-License-Identifier: Apache-2.0
"""transformers' Trainer."""

import torch
from clips import Clips, network
from transformers import Trainer, TrainerCallback, TrainingArguments


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = network()

    def forward(self, x=None, labels=None):
        logits = self.layers(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Named(Clips):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return {"x": x, "labels": torch.tensor(y)}


class Print(TrainerCallback):
    def on_epoch_end(self, args, state, control, **kwargs):
        print("epoch", round(state.epoch))


def main():
    args = TrainingArguments(output_dir="out", per_device_train_batch_size=32, num_train_epochs=100,
                             report_to=[], save_strategy="no", logging_steps=1000, use_cpu=True,
                             disable_tqdm=True)
    Trainer(model=Model(), args=args, train_dataset=Named(1600, wait_s=0.001),
            callbacks=[Print()]).train()


if __name__ == "__main__":
    main()
