# SPDX-License-Identifier: Apache-2.0
"""How Lightning wraps loaders: by an iterator over them all that is begun again for each epoch."""


class CombinedLoader:
    def __init__(self, iterables, mode):
        self._loader = iterables
        self._iterator = None

    def __iter__(self):
        self._iterator = iter(self._loader)
        self._index = -1
        return self

    def __next__(self):
        batch = next(self._iterator)
        self._index += 1
        return batch, self._index, 0

    def __len__(self):
        return len(self._loader)
