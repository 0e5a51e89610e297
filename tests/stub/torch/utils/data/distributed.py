# SPDX-License-Identifier: Apache-2.0
"""The order of samples where several processes train together."""

from torch import distributed

from .sampler import Sampler


class DistributedSampler(Sampler):
    """Each rank draws its part."""

    def __iter__(self):
        world = distributed.get_world_size()
        return iter(range(distributed.get_rank(), len(self) * world, world))

    def __len__(self):
        return len(self.data_source) // distributed.get_world_size()
