# SPDX-License-Identifier: Apache-2.0
"""`feedrate.autotune(loader, step)`: tunes a DataLoader in the process that has it, as a notebook does.

The command `autotune` runs beside this process and asks; what it launches as its script only passes
on where it can be reached, and the loop is here.
"""

import contextlib
import copy
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

WAIT_S = 60.0  # for the command to start
NAP_S = 0.02
ADDRESS = "address"  # the file with the path of autotune's socket


class Over(BaseException):
    """autotune has its answer, or is gone."""


class Result:
    """What to set, and how much faster that is. `print(result)` has the whole screen."""

    def __init__(self, report, screen, has_batch_size=True):
        self.report = report  # as of the command's JSON
        self._has_batch_size = has_batch_size  # else the dataset or a sampler makes the batches
        # What to run next, and where the report is, are those of a command.
        self._screen = re.split(r"^(?:NEXT |report: )", screen, maxsplit=1, flags=re.MULTILINE)[0]

    @property
    def config(self):
        """The recommended settings by axis, such as `workers` and `prefetch`."""
        return self.report["recommendation"]["config"]

    @property
    def speedup(self):
        """(estimate, low, high) of the rate against the loader as it is; 95 % interval, by rounds in
        turn in this process. (1, 1, 1) where nothing was proven faster."""
        tiers = self.report["recommendation"]["tiers"]
        gain = tiers[self.report["recommendation"]["tier"]]["speedup"]
        return gain["estimate"], gain["low"], gain["high"]

    @property
    def arguments(self):
        """The same as keyword arguments of DataLoader."""
        config = self.config
        arguments = {"num_workers": config["workers"], "pin_memory": config["pinned"]}
        if self._has_batch_size:
            arguments["batch_size"] = config["batch"]
        if config["workers"] > 0:
            arguments.update(prefetch_factor=config["prefetch"],
                             persistent_workers=config["persistent"])
            if config["start_method"] != "own":
                arguments["multiprocessing_context"] = config["start_method"]
        return arguments

    def __repr__(self):
        return self._screen

    def _repr_html_(self):
        """A table of all measured configs, the recommended one in bold."""
        rows = [self._row(trial) for trial in self.report["trials"] if trial.get("samples_per_s")]
        words = ", ".join("%s=%r" % item for item in self.arguments.items())
        threads = self.config["step_threads"]
        if threads != self.report["workload"]["script"]["config"]["step_threads"]:
            words += ", after torch.set_num_threads(%d)" % threads
        return ("<p><b>%s</b>: %.2fx as fast as now (95 %% interval %.2f to %.2f)</p>"
                "<table><tr><th>workers</th><th>prefetch</th><th>batch</th><th>step threads</th>"
                "<th>samples/s</th></tr>%s"
                "</table>" % (html.escape(words), *(value or 0 for value in self.speedup),
                              "".join(rows)))

    def _row(self, trial):
        config = trial["config"]
        cells = [config["workers"], config["prefetch"], config["batch"], config["step_threads"],
                 "%.0f" % trial["samples_per_s"]["estimate"]]
        mark = "<b>%s</b>" if config == self.config else "%s"
        return "<tr>%s</tr>" % "".join("<td>" + mark % cell + "</td>" for cell in cells)


def autotune(loader, step, *options, keep=(), command="autotune"):
    """Finds the fastest settings of a `DataLoader` for `step(batch)`, in this process.

    `step` trains on one batch. It is called as often as `autotune` asks, on batches of `loader` with
    other settings, for about 30 s. So it trains the model: name what has `state_dict()` and
    `load_state_dict()` in `keep`, as `keep=[model, optimizer]`, and it is restored at the end, bit
    for bit, and so are the random numbers of Python, NumPy and PyTorch.

    `options` are those of the command line, such as `"--budget", "2min"`. Nothing is confirmed in
    fresh processes. `loader` stays as it is: `DataLoader(..., **result.arguments)` has the answer.
    `result.config["step_threads"]` is the number for `torch.set_num_threads`.

    Returns a `Result`. Raises FileNotFoundError where there is no `autotune`, RuntimeError where it
    ends without an answer, TypeError where a class derived from DataLoader has an `__iter__` that gives
    no iterator of PyTorch's, and what `step` raises.
    """
    program = program_of(command)
    if program is None:
        raise FileNotFoundError("There is no program '%s' in PATH: build it, or give command=PATH."
                                % command)
    with tempfile.TemporaryDirectory(prefix="feedrate-") as folder, kept(keep, generators_of(loader)):
        report = os.path.join(folder, "report.json")
        words = [program, "--quiet", "--no-confirm", "--output", report, *options, "--",
                 sys.executable, os.path.abspath(__file__), folder, str(os.getpid())]
        with open(os.path.join(folder, "errors"), "w+") as errors:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=errors, text=True, start_new_session=True,
                                     env=dict(os.environ, FEEDRATE_LOOP_IN_PARENT="1"))
            try:
                train(loader, step, address_of(child, folder))
                screen, _ = child.communicate()
            finally:
                if child.poll() is None:  # step failed, or the user interrupted
                    child.terminate()
                    child.wait()  # it ends all that it started first
                child.stdout.close()
            errors.seek(0)
            said = errors.read().strip()
        if child.returncode != 0 or not os.path.exists(report):
            raise RuntimeError("autotune ended without an answer: "
                               + (said.splitlines()[-1] if said else "it said nothing."))
        with open(report) as file:
            return Result(json.load(file), screen, loader.batch_size is not None)


def program_of(command):
    """The program in PATH, else the one that pip installed with this package."""
    found = shutil.which(command)
    if found is None and command == "autotune":
        from .command import path

        found = path()
    return found


def address_of(child, folder):
    """The path of autotune's socket, once its child has told it; None where autotune ended."""
    path = os.path.join(folder, ADDRESS)
    due_s = time.monotonic() + WAIT_S
    while child.poll() is None and time.monotonic() < due_s:
        if os.path.exists(path):
            with open(path) as file:
                return file.read()
        time.sleep(NAP_S)
    return None


def train(loader, step, address):
    """The loop: steps on what autotune asks for, until it has its answer."""
    if address is None:
        return
    from .channel import Channel
    from .device import device_of
    from .director import is_of_pytorch
    from .lanes import inner_of
    from .session import Session
    from .training import TrainingSigns
    from .worker_info import watch

    class Served(Session):
        def _end(self):
            raise Over

    torch = sys.modules["torch"]
    inner = iter(loader)
    is_derived = type(loader).__iter__ is not torch.utils.data.DataLoader.__iter__
    if is_derived and not any(map(is_of_pytorch, (inner_of(inner), getattr(loader, "iterator", None)))):
        raise TypeError("A %s has an __iter__ of its own, which autotune would leave out: give a plain DataLoader, and "
                        "do that work in step." % type(loader).__name__)
    signs = TrainingSigns()
    signs.watch()
    try:
        batch = next(inner)
        step(batch)
        served = Served(Channel(address), loader, batch, None, None,
                        signs.precision(torch, device_of(torch)))
    finally:
        signs.forget()
    served.keep(inner)
    served.greet({"loader": described(loader), "others": [], "copies": signs.copies()})
    end_watch = watch(sys.modules["torch.utils.data.dataloader"])
    try:
        while True:
            for batch in served:
                step(batch)
            served.new_epoch()
    except Over:
        pass
    finally:
        end_watch()
        served.close()
        if getattr(loader, "_iterator", None) is inner:  # its workers have ended
            object.__setattr__(loader, "_iterator", None)


def described(loader):
    return {"index": 1, "name": None, "class": type(loader).__name__, "file": None, "line": 0,
            "batches": 1, "trained": 1, "why": "asked for"}


def generators_of(loader):
    """PyTorch's generators that the loader draws its order and the seeds of its workers from."""
    owners = (loader, loader.sampler, getattr(loader.batch_sampler, "sampler", None))
    found = [getattr(owner, "generator", None) for owner in owners]
    kind = sys.modules["torch"].Generator
    return list({id(one): one for one in found if isinstance(one, kind)}.values())


def parameters_of(objects):
    """Of models and of optimizers."""
    for one in objects:
        if callable(getattr(one, "parameters", None)):
            yield from one.parameters()
        for group in getattr(one, "param_groups", ()):
            yield from group["params"]


@contextlib.contextmanager
def kept(objects, generators=()):
    """Restores the states of the objects, with their gradients, and of random numbers, at the end."""
    from .random_numbers import kept_random_numbers

    torch = sys.modules["torch"]
    states = [copy.deepcopy(one.state_dict()) for one in objects]
    gradients = [(parameter, parameter.grad if parameter.grad is None else parameter.grad.clone())
                 for parameter in parameters_of(objects)]
    generator_states = [generator.get_state() for generator in generators]
    cuda_states = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    try:
        with kept_random_numbers(torch):
            yield
    finally:
        for one, state in zip(objects, states):
            one.load_state_dict(state)
        for parameter, gradient in gradients:
            parameter.grad = gradient
        for generator, state in zip(generators, generator_states):
            generator.set_state(state)
        if cuda_states is not None:
            torch.cuda.set_rng_state_all(cuda_states)


def relay(folder, owner):
    """What autotune launches: says where it can be reached, and lives as long as the loop."""
    draft = os.path.join(folder, "draft")
    with open(draft, "w") as file:
        file.write(os.environ["FEEDRATE_ATTACH"])
    os.rename(draft, os.path.join(folder, ADDRESS))
    while True:
        time.sleep(0.2)
        os.kill(owner, 0)  # raises where it is gone


if __name__ == "__main__":
    relay(sys.argv[1], int(sys.argv[2]))
