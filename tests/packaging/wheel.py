# SPDX-License-Identifier: Apache-2.0
"""The wheel as a user gets it: in a new environment, without network, compiler or -dev packages.
Prints TAP.

usage: wheel.py WHEEL
"""

import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
import tap  # noqa: E402
from tap import Skip, test  # noqa: E402

WHEEL = pathlib.Path(sys.argv[1]).resolve()
MOST_BYTES = 15e6
# A loop with the stub of PyTorch, which also uses the loader: under autotune, whose hook brings a
# package of the same name.
SCRIPT = """import sys, time
sys.path.append(STUB)
from torch.utils.data import DataLoader, Dataset
import feedrate

assert feedrate.Loader.__module__ == "feedrate._core"

class Slow(Dataset):
    def __len__(self):
        return 2000
    def __getitem__(self, i):
        time.sleep(0.001)
        return float(i), i

if __name__ == "__main__":
    for epoch in range(1000):
        for batch in DataLoader(Slow(), batch_size=16):
            pass
"""


def run(*words, cwd=None, timeout=180, **environment):
    """(exit code, output) with a PATH that has no compiler, and nothing of this project's."""
    plain = {"PATH": "/nowhere", "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}
    done = subprocess.run(list(map(str, words)), cwd=cwd, capture_output=True, text=True, check=False,
                          env={**plain, **environment}, timeout=timeout)
    return done.returncode, done.stdout + done.stderr


class Environment:
    """A virtual environment with the wheel, made without network."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.bin = pathlib.Path(self.folder.name, "bin")
        subprocess.run([sys.executable, "-m", "venv", *options, self.folder.name], check=True)
        code, said = self.python("-m", "pip", "install", "--no-index", WHEEL)
        assert code == 0, said

    def python(self, *words, **more):
        return run(self.bin / "python", *words, **more)


@functools.cache
def bare():
    return Environment()


@functools.cache
def with_packages_of_the_system():
    return Environment("--system-site-packages")


def says(done, begin, code=0):
    assert done[0] == code, f"exit {done[0]}: {done[1]}"
    assert done[1].startswith(begin), f"{done[1]!r} does not begin with {begin!r}"


@test
def it_is_small_and_names_the_oldest_system(_):
    assert WHEEL.stat().st_size <= MOST_BYTES
    assert "-manylinux_2_" in WHEEL.name


@test
def it_has_the_licences_of_what_it_contains(_):
    # Bug: OpenBLAS, libjpeg-turbo and others in a wheel without their notices.
    with zipfile.ZipFile(WHEEL) as files:
        texts = [files.read(name).decode() for name in files.namelist() if "dist-info/licenses/" in name]
    assert any("Independent JPEG Group" in text and "OpenBLAS Project" in text for text in texts), len(texts)


@test
def autotune_is_a_command(_):
    # Bug: a program that needs a library of the machine that built it, or lost its execute bit.
    says(run(bare().bin / "autotune", "--version"), "autotune 0.")
    says(run(bare().bin / "autotune", "--wrong"), "autotune: ", code=2)
    # Bug: OpenBLAS starts a thread for each core, and hangs at the end where there is no room for it. Where the
    # wheel was built without gfortran, it is a shared library, which does so.
    if not list(pathlib.Path(bare().folder.name).rglob("libopenblas*")):
        says(run("/bin/sh", "-c", 'ulimit -v 60000 && exec "$0" --version', bare().bin / "autotune"), "autotune 0.")


@test
def products_use_all_that_openblas_has(tmp):
    # Bug: linked in, OpenBLAS could not be told its number of threads, nor the kernels of a new CPU:
    # on 16 cores of an H100's machine products had a seventh of the rate.
    code, said = run(bare().bin / "autotune", "doctor", XDG_CACHE_HOME=tmp)
    assert code in (0, 1) and " OpenBLAS 0." in said and " kernels" in said, said


@test
def the_package_loads_no_extension_before_it_is_asked_for(_):
    says(bare().python("-c", "import sys, feedrate; print('feedrate._core' in sys.modules, "
                             "feedrate.Loader.__name__)"), "False Loader")


@test
def a_script_is_tuned_that_uses_the_loader_too(tmp):
    # Bug: the package of autotune's hook hides that of the environment.
    (tmp / "train.py").write_text(SCRIPT.replace("STUB", repr(str(ROOT / "tests/stub"))))
    code, said = run(bare().bin / "autotune", "--budget", "5", "--no-confirm", "--output", "report.json",
                     "--", bare().bin / "python", "train.py", cwd=tmp)
    assert code == 0, said
    # Which config is the best can stay open where other programs take the machine.
    trials = json.loads((tmp / "report.json").read_text())["trials"]
    assert any(trial["config"]["workers"] > 0 and trial["status"] == "measured" for trial in trials), said


@test
def the_loader_passes_its_tests(_):
    if with_packages_of_the_system().python("-c", "import numpy")[0] != 0:
        raise Skip("there is no NumPy")
    code, said = with_packages_of_the_system().python(
        "-m", "unittest", "test_core", cwd=ROOT / "python/tests", PYTHONDONTWRITEBYTECODE="1")
    assert code == 0, said[-3000:]


@test
def the_type_stub_says_what_the_extension_has(tmp):
    # Bug: an option that editors don't know. nanobind is that of the environment that built the wheel.
    builder = ROOT / (".deps/wheel-%d.%d/bin/python3" % sys.version_info[:2])
    if not builder.exists():
        raise Skip("the wheel was not built by tools/wheel")
    nanobind = subprocess.run([builder, "-c", "import nanobind; print(*nanobind.__path__)"],
                              capture_output=True, text=True, check=True).stdout.strip()
    made = with_packages_of_the_system().python(
        "-m", "nanobind.stubgen", "-q", "-P", "-m", "feedrate._core", "-o", tmp / "core.pyi",
        PYTHONPATH=os.path.dirname(nanobind))
    assert made[0] == 0, made[1]
    committed = (ROOT / "python/feedrate/_core.pyi").read_text()
    assert committed == (tmp / "core.pyi").read_text(), \
        "make it anew: python3 -m nanobind.stubgen -P -m feedrate._core -o python/feedrate/_core.pyi"


if __name__ == "__main__":
    tap.main()
