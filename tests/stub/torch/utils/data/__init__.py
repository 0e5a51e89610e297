# SPDX-License-Identifier: Apache-2.0
"""Datasets, samplers and the DataLoader."""

from .sampler import (BatchSampler, Dataset, IterableDataset, RandomSampler,  # noqa: F401
                      Sampler, SequentialSampler)
from .worker import get_worker_info  # noqa: F401
from .dataloader import DataLoader, default_collate  # noqa: F401
