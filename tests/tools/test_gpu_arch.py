# SPDX-License-Identifier: Apache-2.0
"""Tests of cuda/gpu_arch.py: the GPUs that device code is built for."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "cuda"))
import gpu_arch  # noqa: E402

OF_CUDA_12_4 = [50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90]
OF_CUDA_13_0 = [75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121]


class Choice(unittest.TestCase):
    def choose(self, cards, known, flags, left_out=()):
        self.assertEqual(gpu_arch.choose(cards, known), (flags, list(left_out)))

    def test_a_gpu_that_nvcc_knows_gets_code_of_its_own(self):
        # Bug: code for another GPU, or the same flag twice of two alike.
        self.choose([90], OF_CUDA_13_0, "90")
        self.choose([80, 121], OF_CUDA_13_0, "80,121")

    def test_a_gpu_newer_than_nvcc_gets_ptx_of_the_newest_that_nvcc_knows(self):
        # Bug: nvcc stops at sm_121, and the build of the CPU with it.
        self.choose([121], OF_CUDA_12_4, "ptx90")
        self.choose([120, 121], OF_CUDA_12_4, "ptx90")
        self.choose([130], OF_CUDA_13_0, "ptx121")

    def test_a_gpu_between_those_that_nvcc_knows_gets_ptx_of_an_older_one(self):
        # Bug: PTX of the newest, which an older GPU does not run.
        self.choose([103], [90, 100, 120], "ptx100")

    def test_a_gpu_older_than_nvcc_is_left_out_and_the_others_are_built_for(self):
        # Bug: a V100 beside an H100 ends the build for both.
        self.choose([70], OF_CUDA_13_0, "", [70])
        self.choose([70, 90], OF_CUDA_13_0, "90", [70])
        self.choose([61, 70, 130], OF_CUDA_13_0, "ptx121", [61, 70])
        self.choose([70], OF_CUDA_12_4, "70")

    def test_without_a_gpu_the_usual_ones_are_built_for_as_far_as_nvcc_knows_them(self):
        # Bug: nothing, or what a later nvcc has dropped.
        self.choose([], OF_CUDA_13_0, "80,90,ptx90")
        self.choose([], [90, 100, 120], "90,ptx90")
        self.choose([], [100, 120, 130], "130,ptx130")

    def test_each_refusal_names_the_toolkit_that_serves(self):
        # Bug: "unsupported architecture", and nobody knows what to install.
        self.assertRegex(gpu_arch.refusal([61, 70], OF_CUDA_13_0),
                         r"capability 6\.1 and 7\.0: it knows 7\.5 and newer\. Install the CUDA toolkit 12\.9, .*CUDA_HOME")
        self.assertIn("Install the CUDA toolkit 13,", gpu_arch.refusal([75], [80, 90]))
        self.assertIn("no CUDA toolkit that compiles C++20", gpu_arch.refusal([37], OF_CUDA_12_4))


class Script(unittest.TestCase):
    """As Meson runs it, with an nvcc and an nvidia-smi of our own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, name, body):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)
        return str(path)

    def nvcc(self, *known):
        lines = "\\n".join(f"compute_{arch}" for arch in known)
        return self.command("nvcc", f'[ "$1" = --list-gpu-arch ] && printf "{lines}\\n"')

    def smi(self, answer, code=0):
        return self.command("nvidia-smi", f'printf "{answer}"; exit {code}')

    def run_script(self, *arguments):
        done = subprocess.run([sys.executable, ROOT / "cuda" / "gpu_arch.py", *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    def test_it_builds_for_the_gpus_that_nvidia_smi_shows(self):
        # Bug: the dot, the blanks or the order of the driver's answer reach nvcc.
        code, flags, error = self.run_script(self.nvcc(75, 80, 90, 120), self.smi("9.0\\n8.0\\n9.0\\n"))
        self.assertEqual((code, flags, error), (0, "80,90", ""))

    def test_a_driver_without_an_answer_is_no_gpu(self):
        # Bug: "[N/A]", or the complaint of an old driver, taken for a GPU.
        for answer, status in (("[N/A]\\n", 0), ("Field \\\"compute_cap\\\" is not a valid field.\\n", 2), ("9.0\\n", 9)):
            result = self.run_script(self.nvcc(80, 90), self.smi(answer, status))
            self.assertEqual(result, (0, "80,90,ptx90", ""), answer)
        self.assertEqual(self.run_script(self.nvcc(80, 90)), (0, "80,90,ptx90", ""))

    def test_a_gpu_that_nvcc_has_dropped_is_named(self):
        # Bug: a V100 whose owner gets a build for the CPU, and no reason.
        code, flags, error = self.run_script(self.nvcc(75, 90), self.smi("7.0\\n"))
        self.assertEqual((code, flags), (1, ""))
        self.assertRegex(error, r"^nvcc can't build .* 7\.0: .*12\.9.* Building for the CPU alone\.$")
        code, flags, error = self.run_script(self.nvcc(75, 90), self.smi("7.0\\n9.0\\n"))
        self.assertEqual((code, flags), (0, "90"))
        self.assertRegex(error, r" 7\.0: .* Building for the others\.$")

    def test_an_nvcc_that_knows_no_gpu_is_named(self):
        # Bug: a traceback in the middle of Meson's output.
        for nvcc in (self.command("nvcc", "exit 1"), str(self.folder / "none")):
            code, flags, error = self.run_script(nvcc)
            self.assertEqual((code, flags), (1, ""))
            self.assertRegex(error, r"names no GPU: .* Building for the CPU alone\.$")


if __name__ == "__main__":
    unittest.main()
