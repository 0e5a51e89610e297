# SPDX-License-Identifier: Apache-2.0
"""Lightning with a LightningDataModule and a validation loop (and its sanity check before)."""

import lightning
import torch
from clips import Clips, network
from torch.utils.data import DataLoader


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = network()

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.layers(x), y)

    def validation_step(self, batch, _):
        x, y = batch
        self.log("loss", torch.nn.functional.cross_entropy(self.layers(x), y))

    def on_train_epoch_end(self):
        print("epoch", self.current_epoch)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


class Data(lightning.LightningDataModule):
    def __init__(self, num_workers=0):
        super().__init__()
        self.num_workers = num_workers

    def train_dataloader(self):
        return DataLoader(Clips(1600, wait_s=0.001), batch_size=32, shuffle=True,
                          num_workers=self.num_workers)

    def val_dataloader(self):
        return DataLoader(Clips(64), batch_size=32)


if __name__ == "__main__":
    trainer = lightning.Trainer(max_epochs=100, accelerator="cpu", enable_progress_bar=False,
                                logger=False, enable_checkpointing=False)
    trainer.fit(Model(), Data())
