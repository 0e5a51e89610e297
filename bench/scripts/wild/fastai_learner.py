# SPDX-License-Identifier: Apache-2.0
"""fastai, whose DataLoader is none of PyTorch's."""

from clips import Clips, network
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from fastai.losses import CrossEntropyLossFlat


def main():
    loaders = DataLoaders.from_dsets(Clips(1600, wait_s=0.001), Clips(64), bs=32, num_workers=0)
    Learner(loaders, network(), loss_func=CrossEntropyLossFlat()).fit(100, 0.01)


if __name__ == "__main__":
    main()
