# SPDX-License-Identifier: Apache-2.0
"""What trainers do with the iterators that they are given."""


def ahead(batches):
    """Takes each batch before it gives the one before, as accelerate does."""
    batch = next(batches)
    for following in batches:
        yield batch
        batch = following
    yield batch
