# SPDX-License-Identifier: Apache-2.0
"""transformers' Trainer, four batches per update."""

from hf_trainer import Model, Named, Print
from transformers import Trainer, TrainingArguments


def main():
    args = TrainingArguments(output_dir="out", per_device_train_batch_size=16, num_train_epochs=100,
                             gradient_accumulation_steps=4, report_to=[], save_strategy="no",
                             logging_steps=1000, use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=Model(), args=args, train_dataset=Named(1600, wait_s=0.001),
                      callbacks=[Print()])
    trainer.train()


if __name__ == "__main__":
    main()
