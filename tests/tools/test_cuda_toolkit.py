# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/lib/cuda.sh: where a CUDA toolkit is found, and what is got where there is none.

Toolkits, nvidia-smi and pip are scripts in a temporary folder; of this machine a few commands are seen.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = ["bash", "sh", "awk", "cat", "cksum", "cut", "dirname", "env", "grep", "head", "id", "mkdir", "mv", "printf",
            "readlink", "rm", "sed", "sort", "tail", "touch"]
# What the tools do, but for the system's own places, and a Meson that is new enough.
PRELUDE = """
set -euo pipefail
. "$1/tools/lib/build.sh"
deps=$2/deps build=$2/build nvidia_device=$2/dev/nvidia0
usual_toolkits=("$2/usual/cuda" "$2/usual/cuda-*" "$2/opt/cuda")
meson_is_here() { true; }
"""
LOOK = PRELUDE + 'look_for_cuda; command -v nvcc || true; echo "pending=$cuda_is_pending"; echo "libraries=${LIBRARY_PATH:-}"'

# pip that makes what the wheels hold in the folder behind --target, and notes its words.
PIP = """
echo "$*" >>"$LOG"
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/nvidia" && cp -r "$MADE" "$2/nvidia/cu13"
"""


def script(path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)


class Toolkit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a toolkit ")  # a blank, as folders have them
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.bin = self.home / "bin"
        self.bin.mkdir()
        for name in [*COMMANDS, "cp"]:
            (self.bin / name).symlink_to(shutil.which(name))
        # Without the packages of this machine's own Python.
        script(self.bin / "python3", f"exec '{sys.executable}' -S \"$@\"\n")
        self.site = self.home / "site"
        self.environment = {"PATH": str(self.bin), "HOME": str(self.home), "PYTHONPATH": str(self.site),
                            "LOG": str(self.home / "pip.log"), "MADE": str(self.home / "made")}

    def plant(self, place, release="13.0", libraries="lib64", without=()):
        """A toolkit that is whole but for `without`."""
        folder = self.home / place
        script(folder / "bin" / "nvcc", f'echo "Cuda compilation tools, release {release}, V{release}.88"\n')
        for name in ("include/cuda_runtime.h", "include/cublasLt.h", "include/nv/target",
                     f"{libraries}/libcudart.so.13", f"{libraries}/libcudart_static.a", f"{libraries}/libcublasLt.so.13"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        for name in without:
            (folder / name).unlink()
        return folder

    def plant_gpu(self, driver="580.95.05", capability="9.0"):
        script(self.bin / "nvidia-smi", f"""case "$*" in
-L) echo 'GPU 0: NVIDIA H100 (UUID: GPU-aa11)' ;;
*driver_version*) echo {driver} ;;
*compute_cap*) echo {capability} ;;
esac
""")

    def plant_pip(self, body=PIP):
        script(self.home / "deps/venv/bin/pip", body)

    def bash(self, text, **environment):
        done = subprocess.run(["bash", "-c", text, "bash", str(ROOT), str(self.home)], capture_output=True, text=True,
                              env={**self.environment, **environment}, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(), done.stderr

    def look(self, **environment):
        """(nvcc or "", whether the next run looks again, LIBRARY_PATH, what was said)"""
        lines, said = self.bash(LOOK, **environment)
        nvcc = lines[0] if lines[0].startswith("/") else ""
        return nvcc, lines[-2] == "pending=yes", lines[-1].removeprefix("libraries="), said

    def found(self, **environment):
        """The folder of the toolkit that is used, below the temporary one."""
        nvcc = self.look(**environment)[0]
        return os.path.relpath(nvcc, self.home).removesuffix("/bin/nvcc") if nvcc else ""

    def pip_words(self):
        log = self.home / "pip.log"
        return log.read_text() if log.exists() else ""

    def test_every_place_is_looked_at_and_the_one_that_the_user_names_comes_first(self):
        # Bug: the admin's old toolkit in place of the one that the user names; a place that is forgotten.
        places = ["deps/cuda/nvidia/cu13", "site/nvidia/cu13", "opt/cuda", "usual/cuda-12.9", "usual/cuda-13.1",
                  "usual/cuda", "mine", "named by path", "named"]
        for position, place in enumerate(places):
            self.plant(place)
            names = {}
            if position >= places.index("mine"):
                names["PATH"] = f"{self.bin}:{self.home}/mine/bin"
            if position >= places.index("named by path"):
                names["CUDA_PATH"] = f"{self.home}/named by path"
            if position >= places.index("named"):
                names["CUDA_HOME"] = f"{self.home}/named"
            self.assertEqual(self.found(**names), place)
        self.assertEqual(self.pip_words(), "")

    def test_a_toolkit_that_lacks_something_is_passed_over_and_named(self):
        # Bug: an nvcc without cuBLAS, or of CUDA 11, takes the build of the CPU into failure.
        whole = self.plant("usual/cuda")
        for lacks, how in (("an nvcc of CUDA 12 or newer", {"release": "11.8"}),
                           ("include/cublasLt.h", {"without": ["include/cublasLt.h"]}),
                           ("include/nv/target", {"without": ["include/nv/target"]}),
                           ("libcublasLt.so", {"without": ["lib64/libcublasLt.so.13"]}),
                           ("bin/nvcc", {"without": ["bin/nvcc"]})):
            named = self.plant("named", **how)
            nvcc, pending, _, said = self.look(CUDA_HOME=str(named))
            self.assertEqual((nvcc, pending), (f"{whole}/bin/nvcc", False), said)
            self.assertIn(f"{named} (see CUDA_HOME) lacks {lacks}; trying", said)
            shutil.rmtree(named)

    def test_wheels_of_pytorch_without_a_compiler_are_no_toolkit(self):
        # Bug: CUDA's libraries of PyTorch taken for a toolkit, and a sentence about them on every machine.
        self.plant("site/nvidia/cu13", libraries="lib", without=["bin/nvcc"])
        nvcc, pending, _, said = self.look()
        self.assertEqual((nvcc, pending), ("", False))
        self.assertNotIn("lacks", said)
        self.assertIn("No CUDA toolkit and no GPU found", said)

    def test_the_libraries_of_wheels_are_shown_to_nvcc_also_in_later_runs(self):
        # Bug: nvcc looks into lib64 alone and can't link: Meson takes that for no compiler.
        folder = self.plant("site/nvidia/cu13", libraries="lib")
        self.assertEqual(self.look()[2], f"{folder}/lib")
        self.assertEqual(self.look(LIBRARY_PATH="/before")[2], f"{folder}/lib:/before")
        later = 'mkdir -p "$build"; look_for_cuda; remember_environment'
        self.bash(PRELUDE + later)
        lines, _ = self.bash(PRELUDE + 'recall_environment; command -v nvcc; echo "$LIBRARY_PATH"')
        self.assertEqual(lines, [f"{folder}/bin/nvcc", f"{folder}/lib"])
        self.plant("usual/cuda")
        self.assertEqual(self.look()[2], "")

    def test_another_toolkit_makes_the_build_folder_anew(self):
        # Bug: a build for the CPU that stays one when a toolkit has come.
        shown = PRELUDE + 'meson() { echo 1.4; }; look_for_cuda; signature'
        script(self.home / "bin/nvidia-smi", "exit 9\n")
        without, _ = self.bash(shown)
        self.plant("opt/cuda")
        self.assertNotEqual(self.bash(shown)[0], without)
        stamp = PRELUDE + "stamp"
        before, _ = self.bash(stamp)
        self.plant("usual/cuda-13.0")
        self.assertNotEqual(self.bash(stamp)[0], before)
        self.assertNotEqual(self.bash(stamp)[0], self.bash(stamp, CUDA_HOME="/elsewhere")[0])

    def test_a_gpu_without_a_toolkit_gets_one_once(self):
        # Bug: half a gigabyte at every run; or a mix of versions, where pip resolves them.
        self.plant_gpu()
        made = self.plant("made", libraries="lib")
        self.plant_pip()
        folder = self.home / "deps/cuda/nvidia/cu13"
        nvcc, pending, libraries, said = self.look()
        self.assertEqual((nvcc, pending, libraries), (f"{folder}/bin/nvcc", False, f"{folder}/lib"), said)
        self.assertIn("FEEDRATE_CUDA=no", said)
        self.assertRegex(self.pip_words(), r" --no-deps .* --require-hashes -r \S*/tools/lib/cuda\.txt")
        wheels = (ROOT / "tools/lib/cuda.txt").read_text()
        for name in ("cuda-nvcc", "cuda-runtime", "cuda-crt", "cuda-cccl", "nvvm", "cublas"):
            self.assertRegex(wheels, rf"(?m)^nvidia-{name}==13\.0\.\S+( --hash=sha256:[0-9a-f]{{64}}){{2}}$")
        shutil.rmtree(made)
        self.assertEqual(self.look()[0], f"{folder}/bin/nvcc")
        self.assertEqual(self.pip_words().count("\n"), 1)
        self.assertFalse((self.home / "deps/cuda.part").exists())

    def test_without_network_one_sentence_says_what_mends_it_and_the_next_run_looks_again(self):
        # Bug: a run that ends where the CPU would do; or a build for the CPU for good.
        self.plant_gpu()
        self.plant_pip('mkdir -p "$LOG.part"; echo "no network" >&2; exit 1\n')
        nvcc, pending, _, said = self.look()
        self.assertEqual((nvcc, pending), ("", True))
        self.assertIn("building for the CPU alone", said)
        self.assertIn(f"python3 -m pip install --no-deps --target '{self.home}/deps/cuda' --require-hashes -r '{ROOT}/tools",
                      said)
        self.assertFalse((self.home / "deps/cuda").exists())
        self.plant("made", libraries="lib")
        self.plant_pip()
        self.assertTrue(self.look()[0])

    def test_packages_for_a_machine_without_network_leave_pip_alone(self):
        # Bug: pip tries for a minute to reach what can't be reached.
        self.plant_gpu()
        self.plant_pip()
        packages = self.home / "packages"
        packages.mkdir()
        nvcc, pending, _, said = self.look(FEEDRATE_DEPS=str(packages))
        self.assertEqual((nvcc, pending, self.pip_words()), ("", True, ""))
        self.assertIn("python3 -m pip install", said)

    def test_a_gpu_that_cuda_13_does_not_serve_gets_no_wheels(self):
        # Bug: half a gigabyte, and then a driver that is too old for it, or a V100.
        self.plant_pip()
        for facts, why in (({"driver": "550.54.15"}, "its driver, 550.54.15, is older than 580"),
                           ({"capability": "7.0"}, "its compute capability, 7.0, is below 7.5")):
            self.plant_gpu(**facts)
            nvcc, pending, _, said = self.look()
            self.assertEqual((nvcc, pending, self.pip_words()), ("", True, ""))
            self.assertIn(why, said)
            self.assertIn("CUDA_HOME=DIR", said)

    def test_nothing_is_fetched_without_a_gpu_or_where_the_user_says_so(self):
        # Bug: half a gigabyte on every laptop.
        self.plant_pip()
        nvcc, pending, _, said = self.look()
        self.assertEqual((nvcc, pending, self.pip_words()), ("", False, ""))
        self.assertIn("no GPU found", said)
        self.plant_gpu()
        self.assertEqual(self.look(FEEDRATE_CUDA="no")[:2], ("", False))
        self.assertEqual(self.pip_words(), "")


if __name__ == "__main__":
    unittest.main()
