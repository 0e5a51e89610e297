# SPDX-License-Identifier: Apache-2.0
"""A session: autotune asks, the script's own loop steps, and the answers are what was measured.

`_serve` is a coroutine: it yields batches to the script's loop, and goes on when the loop has done
its step and asks for the next one.
"""

import contextlib
import os
import sys
import threading
import time

from . import decoding, source
from .batches import SampleCount, batch_size_of, bytes_of, counter_for, length_of
from .epochs import Boundaries, Epochs
from .errors import DataErrors, sentence_of
from .evaluation import Evaluations
from .footprint import Footprint
from .greeting import Greeting, members_of, with_inner
from .lanes import Lanes, UsedUp, attributes_of, key_of
from .meter import Meter
from .other_loaders import OtherLoaders
from .patch import original_of
from .rounds import Rounds
from .stepping import settle, step_settings
from .training import Updates
from .window import Wanted

LEAST_UPDATES = 3  # a round that has the batches of so many must contain one
LOOKS_IN_STEP = 3  # first steps that are checked for changes to the dataset
EPOCH_ENDS = object()  # in the place of a batch
LONGEST_ELSEWHERE_S, MOST_ELSEWHERE = 15.0, 64  # seconds between two epochs, and updates on another loader's batches


class Session(Rounds, Greeting):
    """Serves one DataLoader of the script."""

    def __init__(self, channel, loader, batch, site, before=None, precision="fp32", given=2, overlaps=False):
        """`before`: filled_of() the dataset when the loader was made; None: as it is now.
        `precision`: in which number format the script steps, as it is seen in this launch.
        `given`: batches that the script has of its present epoch. `overlaps`: whether it begins passes
        over the loader while others go on."""
        self._channel = channel
        self._loader = loader
        self._site = site
        self._precision = precision
        self._overlaps = overlaps
        self._lane = None  # that loaded what the script steps on
        self._times = None  # of a GPU
        self._marks = []  # in this step: its begin, and where evaluations begin and end
        self._is_evaluating = False
        self._updates = Updates(self._see_update)
        self._torch = sys.modules["torch"]
        self.kept = None  # the iterator that the script had so far
        self._owed = None
        self._outside = False  # the script left its loop in its last step
        self._outside_s = 0.0  # of the last step, that it was not in its loop
        self._ahead_s = 0.0  # that it stepped on behind the end of its last epoch, not yet counted
        self._ahead_mark = None  # of a GPU, behind those steps
        self._left_s = 0.0  # when the script was given the end of its last epoch
        self._epochs = Epochs(0 if self._is_iterable() else length_of(loader) or 0, given)
        self._new_pass = False
        self.evaluations = Evaluations(self._now, self._see_evaluation, self._epochs.trains_elsewhere,
                                       lambda: settle(self._torch), self._torch.is_grad_enabled)
        self.others = OtherLoaders(self._now)
        self._boundaries = Boundaries(self._epochs, self._torch, self._now, self._beat)
        self._round = None  # what answers the open question, if the script ends now
        self._asked, self._before = None, 0  # the question of the last round, and the updates before it
        size = batch_size_of(loader, batch)
        self._batch = size or SampleCount()(batch) or 1
        self._count = counter_for(batch, size, length_of(loader.dataset))
        self._batch_bytes = bytes_of(batch)
        self._errors = DataErrors()
        self._sets = set()  # members of its dataset that the script changes between two epochs
        self._sets_in_step = set()
        self._looks = LOOKS_IN_STEP
        self._lanes = Lanes(loader, self._torch, self._batch, self._batch_bytes, before, self._errors,
                            key_of(self.config()))
        if not self._epochs.batches:
            self._epochs.know(self._lanes.batches_of_pass() or 0)
        self._footprint = Footprint(self._batch, self._batch_bytes)
        self._replays = {}
        self._levers = None
        self._other = None  # a lane of another loader
        self._warm = set()
        self._served = self._serve()
        self._one_asks = threading.RLock()  # not a thread of the last epoch beside one of this

    def keep(self, inner, owed=None):
        """The iterator that the script had so far: its workers are parked as those of a lane. A
        batch that was taken from it and is owed to the script is given first."""
        self.kept = inner
        self._owed = owed
        self._lanes.keep(inner)

    # What the script's loop sees.

    def __iter__(self):
        return self

    def __next__(self):
        with self._one_asks:
            given = EPOCH_ENDS if self._epochs.between else next(self._served)
            if given is EPOCH_ENDS:
                self._epochs.end()
                raise StopIteration
            return given

    def __len__(self):
        return len(self._loader)

    def __getattr__(self, name):
        """What PyTorch's own iterator has."""
        if name == "kept":  # while it is being copied
            raise AttributeError(name)
        return getattr(self.kept, name)

    def new_epoch(self, loader=None):
        """The script begins to iterate again: what it did since the last batch was no step alone.

        After each single batch, as in next(iter(loader)), that is how it steps. `loader`: that it
        iterates over, which may be a new one.
        """
        self._boundaries.is_made_anew = loader is not None and loader is not self._loader
        self._outside = self._epochs.begin() > 1
        return self

    def new_pass(self):
        """A class that is derived from DataLoader begins a pass. It may ask for a new iterator, or go
        on with the one that it has."""
        self._new_pass = self._outside = True

    # Questions and answers.

    def _serve(self):
        if self._owed is not None:
            owed, self._owed = self._owed, None
            self._epochs.give()
            yield owed
        while True:
            question = self._channel.receive()
            if question is None:
                self._end()
            try:
                answer = yield from self._answer(question)
            except UsedUp:
                self._end()
            except Exception as error:  # whatever a dataset or a worker throws costs its config
                answer = self._failure(question, error)
            try:
                self._channel.send(answer)
            except OSError:
                self._end()

    def _end(self):
        """autotune has what it wanted, or is gone, or the script has come to its end, and is
        launched again. The script's own end would write its results."""
        self._lanes.close()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def close(self):
        """Ends all workers, and what the step was changed to; updates of the weights are not seen any more."""
        self._served.close()
        self._lanes.close()
        if self._other is not None:
            self._other.close()
        self._updates.forget()

    def at_exit(self):
        """The script comes to its end in the midst of a round: what there is of it may be enough."""
        self.evaluations.close()
        told = self._round() if self._round is not None else None
        if told is not None:
            try:
                self._channel.send(self._told(told))
            except OSError:
                pass

    def _see_update(self):
        if self.evaluations.updated(self._epochs.between) and self._times is not None:
            self._ahead_mark = self._times.mark()
        has_left = self._epochs.between and self.evaluations.updates_elsewhere > MOST_ELSEWHERE
        if has_left and self._now() - self._left_s > LONGEST_ELSEWHERE_S:
            self.at_exit()
            self._end()  # as where the script ends: it trains on another loader from now on
        if self._epochs.updated():
            self._say({"refused": (
                "The script trains on after its first epoch without asking its DataLoader again: it "
                "keeps the batches, as itertools.cycle(loader) does, so that no loader can make it "
                "faster from then on. Iterate over the loader anew in each epoch.")})

    def _see_evaluation(self, seconds):
        """The script evaluates within its loop, for so long by now; None: no longer."""
        if seconds == 0 and self._lane is not None:
            self._lane.keep_level()
        if self._times is not None and (seconds is None) == self._is_evaluating:
            self._marks.append(self._times.mark())
        self._is_evaluating = seconds is not None
        self._say({"outside": self._is_evaluating})

    def _say(self, message):
        """To be called from the script's own code: where nobody listens, it ends."""
        try:
            self._channel.send(message)
        except OSError:
            self._end()

    def _failure(self, question, error):
        if "config" in question:
            self._lanes.drop(question["config"])
        return {"failed": {"fault": "trials", "sentence": sentence_of(error), "stderr_tail": ""}}

    def _answer(self, question):
        ask = question["ask"]
        if ask == "run":
            return self._told((yield from self._run(question)))
        if ask == "memory_bytes":
            return {"bytes": self._footprint.of(question["config"])}
        if ask == "epoch_boundary_s":
            return self._epoch_boundary(question["config"])
        if ask == "lever":
            return (yield from self._lever(question))
        if ask == "cpp_loader":
            return (yield from self._cpp_loader(question))
        if ask == "decoding":
            return {"decoding": decoding.cost_of(self._loader.dataset, self._torch)}
        if ask == "change":
            # The batch of a shard or a sampler may be another than what the source says.
            now = {name: getattr(self._loader, name) for name in ("num_workers", "pin_memory")
                   if hasattr(self._loader, name)}
            now["step_threads"] = self._torch.get_num_threads()
            return dict(source.change(self._site, question["changes"], now=now,
                                      step_threads=question.get("step_threads")),
                        argv=words_of_script())
        raise ValueError("unknown question '%s'" % ask)

    def _told(self, told):
        updates = self._updates
        if self._passes_over(told["batches"]):
            return {"failed": {"fault": "trials", "stderr_tail": "", "sentence": (
                "The script took %d batches and updated no weights." % told["batches"])}}
        return {"round": told, "batches_per_update": updates.batches_each(), "at_once": updates.at_once(),
                "made_anew": self._boundaries.is_made_anew, "data_errors": self._errors.told(),
                "waits_for": self.others.told(), "sets": ", ".join(sorted(self._sets)),
                "sets_in_step": ", ".join(sorted(self._sets_in_step))}

    def _run(self, question):
        parts = {"coupled": self._coupled, "loader": self._drained, "device": self._replayed}
        if question["part"] not in parts or question["variant"] != "as_is":
            raise ValueError("this can't be measured in a script")
        config = question["config"]
        self._round = None
        with self._stepping_as(config, question):
            self._asked, self._before = question, self._updates.batches
            meter = Meter(self._torch, self._now)
            return (yield from parts[question["part"]](config, Wanted(question), meter))

    @contextlib.contextmanager
    def _stepping_as(self, config, question):
        """Rounds of a config: with its threads and number format, and with updates of its batch."""
        self._updates.begin(config["batch"] == self._batch)
        with step_settings(self._torch, config, question["own_precision"]):
            yield

    def _passes_over(self, batches):
        """Whether the script trained before, and not in a round of so many batches: it may pass over those that
        do not fit into memory, and no rate is as good as that."""
        is_other = self._asked["config"]["batch"] != self._batch and self._asked["part"] == "coupled"
        least = LEAST_UPDATES * self._updates.longest()
        return is_other and self._before == self._updates.batches and 0 < least <= batches

    def _step(self, batch, times=None, lane=None):
        """Gives a batch that was loaded to the script's loop; seconds until it asks for the next
        one, less what it evaluated meanwhile, and those of steps that it still took behind the end of
        an epoch. `_outside` then tells whether it left its loop between; if not, `times` has the step.
        Where an epoch of the script is over, it is given the end of it first: the lane's batches
        wait."""
        self._outside_s = 0.0
        if self._epochs.is_over():
            asked_s = self._now()
            if self._lanes.have_no_end():
                self._epochs.have_no_end()
            self._outside_s += self._now() - asked_s
        if self._epochs.is_over():
            yield from self._between_epochs(lane)
        self._new_pass = self._outside = False
        self._epochs.give()
        self._lane = lane
        self.evaluations.begin_step()
        self.others.begin_step()
        held = self._members_to_look_at()
        gave_s = self._now()
        self._times, self._marks = times, [times.mark()] if times is not None else []
        yield batch
        evaluated_s = self.evaluations.end_step()
        step_s = self._now() - gave_s
        if times is not None and not self._outside:
            self._add_marks(times, evaluated_s > 0)
        if not self._outside:
            self._sets_in_step |= self._changed_since(held)
        step_s -= evaluated_s
        self.others.end_step(step_s, not self._outside and evaluated_s == 0)
        self._outside_s += evaluated_s + (step_s if self._outside else 0.0)
        step_s += self._ahead_s
        self._ahead_s = 0.0
        if evaluated_s > 0 and lane is not None:
            lane.resume(self._beat)
        self._updates.add_batch(None if self._outside else step_s)
        self._beat()
        return step_s

    def _add_marks(self, times, has_evaluated):
        """The step of a GPU, which now ends; where it has evaluated, what lies around that."""
        marks = [*self._marks, times.mark()] if has_evaluated else [self._marks[0], times.mark()]
        for start, end in zip(marks[::2], marks[1::2]):
            times.add(start, end)

    def _between_epochs(self, lane):
        if self._new_pass:
            self._epochs.go_on()
        else:
            yield from self._end_epoch(lane)

    def _end_epoch(self, lane):
        """The script validates, saves, and whatever else it does between two epochs."""
        if lane is not None:
            lane.keep_level()
        left_s = self._left_s = self._now()
        self._ahead_mark = None
        mark = self._times.mark() if self._times is not None else None
        held = self._members_that_stay()
        self._channel.send({"outside": True})
        yield EPOCH_ENDS
        self._sets |= self._changed_since(held)
        self._channel.send({"outside": False})
        self._ahead_s = self.evaluations.trained_ahead_s(left_s)
        self._outside_s += self._now() - left_s - self._ahead_s
        if self._ahead_mark is not None:
            self._times.add(mark, self._ahead_mark)
        if lane is not None:
            lane.resume(self._beat)

    def _members_to_look_at(self):
        """Those that a step must not change, in the first steps: what it does once, it does again and again."""
        if self._looks == 0:
            return {}
        self._looks -= 1
        return members_of(self._loader.dataset)

    def _changed_since(self, held):
        """The names of those members of its dataset, of `held`, that the script has changed."""
        if not held:
            return set()
        now = {(index, name): value for index, one in enumerate(with_inner(self._loader.dataset))
               for name, value in attributes_of(one).items()}
        return {place[1] for place, member in held.items()
                if place in now and not member.is_now(now[place])}

    def _samples(self, batch, config):
        samples = self._count(batch) if self._count is not None else None
        return config["batch"] if samples is None else samples

    def _epoch_boundary(self, config):
        """Seconds from the last batch of an epoch to the first of the next."""
        lane = self._lanes.use(config, self._beat)
        return {"seconds": self._boundaries.cross(lane)}

    def _beat(self):
        self._channel.beat()

    @staticmethod
    def _now():
        return time.perf_counter()


def words_of_script():
    """The script as its launch names it, a file or -m and a module, and its arguments."""
    words = list(sys.argv)
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    # Of a script below python -m cProfile, and of a folder or an archive, the module is none that was named.
    if words and spec is not None and spec.origin and os.path.realpath(spec.origin) == os.path.realpath(words[0]):
        words[:1] = ["-m", spec.name.rpartition(".__main__")[0] or spec.name]
    return [os.fsencode(original_of(word)).decode("utf-8", "replace") for word in words]
