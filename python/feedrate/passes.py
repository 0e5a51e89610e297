# SPDX-License-Identifier: Apache-2.0
"""Passes over the script's DataLoaders: what stands for their iterators, and until one is chosen tells the
director of their batches."""

STEPS_TO_CHOOSE = 3  # batches whose step trained, until a loader is taken for the training loader
CHECKED = 16  # every so many batches a loop is looked at that does not train


class StandIn:
    """Stands for an iterator, and has what that has, as its length."""

    def __init__(self, inner):
        self._inner = inner

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._inner)

    def __getattr__(self, name):
        if name == "_inner":  # while it is being copied
            raise AttributeError(name)
        return getattr(self._inner, name)


class Noted(StandIn):
    """An iterator of the script's, whose end the director is told."""

    _is_over = False

    def __init__(self, director, seen, inner):
        super().__init__(inner)
        self._director = director
        self._seen = seen

    def _take(self):
        try:
            return self._director.take(self._seen, self._inner)
        except StopIteration:
            self._is_over = True
            raise

    def __del__(self):
        """The pass ends here: whoever takes batches ahead still trains on the last one when none is left."""
        if self._is_over:
            self._director.ended(self._seen)


class Tracked(Noted):
    """An iterator of the script's, counted until its loader is chosen, and served from then on."""

    def __init__(self, director, seen, loader, inner):
        super().__init__(director, seen, inner)
        self._signs = director.signs
        self._loader = loader
        self._began = director.signs_so_far()
        self._number = seen.passes
        self._batch = None
        self._served = None

    def __next__(self):
        if self._served is not None:
            return next(self._served)
        seen = self._seen
        if (self._signs.fresh or seen.batches % CHECKED == 1
                or seen.trained >= STEPS_TO_CHOOSE):
            self._served = self._director.serve(seen, self._loader, self._inner, self._batch)
            if self._served is not None:
                self._batch = None
                return next(self._served)
        self._batch = None  # never two batches at once that would not be there without us
        self._batch = batch = self._take()
        self._director.gave(seen, self._began)
        seen.gave_in(self._number)
        if seen.batches == 0:
            self._director.began()
        seen.batches += 1
        seen.given += 1
        return batch


class Opaque(Noted):
    """An iterator of a derived class of the script's. Where its batches do not come from PyTorch's
    own iterator, none can be had with other settings: the director is told, so that it says so."""

    def __next__(self):
        batch = self._take()
        if not self._seen.is_reached:
            self._director.gave_by_itself(self._seen)
        return batch
