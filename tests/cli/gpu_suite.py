# SPDX-License-Identifier: Apache-2.0
"""tools/gpu-suite and what it travels with, where no GPU is: autotune runs on the stand-in for the CUDA
runtime and on PyTorch's stub; driver, tests and benches are planted. Prints TAP.

usage: gpu_suite.py AUTOTUNE_BUILT_AGAINST_THE_STAND_IN SCHEMA
"""

import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

from tap import AUTOTUNE, main, test, validate

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMIT = "c0ffee1"
PARTS = "tests,bench,torch,autotune,sanitizer"
SMI = """#!/bin/sh
[ "$1" = -L ] && echo "GPU 0: NVIDIA H100 PCIe (UUID: GPU-1)" ||
  echo "NVIDIA H100 PCIe, 580.65, 1755 MHz, 350.00 W, 5, 16"
"""
# torch_step.py is answered for; scripts run on the stub of PyTorch.
TORCH_PYTHON = """#!/bin/sh
case $* in
  *torch_step.py*) echo '{torch}' ;;
  *"pip install"*|*gpu_batches.py*|*train_images.py*) echo "$@" ;;
  *gpu.py*) PYTHONPATH=$PYTHONPATH:{stub} exec {python} {script} ;;
  *) PYTHONPATH=$PYTHONPATH:{stub} exec {python} "$@" ;;
esac
"""
# Two seconds each, whatever the suite gives them. The CNN of images takes minutes on the stand-in, so
# that all workloads are a small one here.
SMALL_AUTOTUNE = """#!/bin/sh
for word; do
  shift
  [ "$last" = --budget ] && word=2s
  [ "$last" = --output ] && output=$word
  set -- "$@" "$word"
  last=$word
done
case $* in
  *--workload*) exec {autotune} --device cuda --workload tabular --sample-cost 20us --no-card --budget 2s --batch 16,32 \\
    --workers 0,1 --prefetch 2 --precision fp32 --graph off --no-progress --output "$output" ;;
  *) exec {autotune} --max-workers 2 "$@" ;;
esac
"""
FIGURE = {"unit": "x", "median": 0.9, "quartiles": [0.88, 0.91], "at_least": 0.85, "kept": True}
BENCHES = {"cuda_gemm": ["bf16: step / product"],
           "cuda_update": ["Adam / copy", "Adam, rounded copy kept / copy"]}


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def plant_build(build):
    program(build / "tuner/autotune", SMALL_AUTOTUNE.format(autotune=AUTOTUNE))
    program(build / "tests/gpu/test_gpu", "#!/bin/sh\necho All tests passed\n")
    program(build / "tests/gpu/test_cublas", """#!/bin/sh\n[ "$1" = --durations ] || exit 2\n""")
    for bench, names in BENCHES.items():
        document = json.dumps({"bench": bench, "figures": [{"name": name, **FIGURE} for name in names]})
        program(build / "bench" / f"bench_{bench}", f"#!/bin/sh\necho '{document}'\n")
    program(build / "bench/bench_cuda_step", """#!/bin/sh\necho '{"bench": "cuda_step", "figures": []}'\n""")


def plant_commands(folder):
    torch = {"model": "mlp", "torch": "2.11.0", "our_step_s": 1e-4, "variants": {
        "eager": {"torch_step_s": 1e-3, "ratio": {"median": 9.5, "quartiles": [9, 10]}},
        "compile": {"torch_step_s": 2e-4, "ratio": {"median": 2, "quartiles": [1.9, 2.1]}}}}
    program(folder / "nvidia-smi", SMI)
    program(folder / "compute-sanitizer", """#!/bin/sh\nshift 4\nexec "$@"\n""")
    program(folder / "torch-python", TORCH_PYTHON.format(
        torch=json.dumps(torch), stub=ROOT / "tests/stub", python=sys.executable,
        script=ROOT / "tests/cli/scripts/train.py"))


def plant(tmp):
    plant_build(tmp / "build")
    plant_commands(tmp / "bin")


def suite(tmp, *words, out="out", **environment):
    """Exit code, and what it says."""
    done = subprocess.run([ROOT / "tools/gpu-suite", *words, tmp / out], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": f"{tmp}/bin:{os.environ['PATH']}", "FEEDRATE_BUILD": str(tmp / "build"),
                               "FEEDRATE_TORCH_PYTHON": str(tmp / "bin/torch-python"), **environment})
    return done.returncode, done.stdout + done.stderr


def statuses(tmp, part):
    return {line.split("\t")[0]: line.split("\t")[1] for line in (tmp / "out/runs" / part).read_text().splitlines()}


@test
def one_call_brings_every_figure_home_in_one_archive(tmp):
    # Bug: a figure, a report or the commit that is lost on the way back, or results that can't be
    # committed as they are.
    plant(tmp)
    code, said = suite(tmp, "--parts", PARTS, "--commit", COMMIT)
    assert code == 0, said
    with tarfile.open(tmp / "out.tar.gz") as archive:
        archive.extractall(tmp / "home")
    home = tmp / "home/out"
    card = json.loads((home / "results/h100-pcie.json").read_text())
    assert card["commit"] == COMMIT and card["gpu"]["driver_version"] == "580.65", card
    assert {run["part"] for run in card["runs"]} == set(PARTS.split(",")), card["runs"]
    assert {figure["bench"] for figure in card["figures"]} >= {*BENCHES, "torch mlp-bf16"}, card["figures"]
    for name in ("images", "tabular"):
        report = json.loads((home / "results" / f"h100-pcie-{name}.json").read_text())
        validate(report)
        assert report["device"] == "cuda:0", report["device"]
        written = json.loads((home / "autotune" / f"{name}.json").read_text())
        assert report["trials"] == written["trials"] and report["space"] == written["space"], name
    for name in ("script", "script-mixed"):
        validate(json.loads((home / "results" / f"h100-pcie-{name}.json").read_text()))
        assert str(ROOT) not in (home / "results" / f"h100-pcie-{name}.json").read_text()
    summary = (home / "summary.md").read_text()
    for part in (COMMIT, "NVIDIA H100 PCIe", ">= 0.85: kept", ">= 10: **missed**", "| script | default |"):
        assert part in summary, f"{part!r} is not in {summary}"


@test
def the_wheel_is_tried_if_it_is_there(tmp):
    # Bug: what Python's users have is never run on a GPU.
    plant(tmp)
    (tmp / "deps").mkdir()
    words = "--parts", "wheel", "--commit", COMMIT
    code, said = suite(tmp, *words, FEEDRATE_DEPS=str(tmp / "deps"))
    assert code == 0 and statuses(tmp, "wheel") == {"feedrate.torch": "skipped"}, said
    (tmp / "deps/feedrate-0.1.0-cp312-abi3-any.whl").touch()
    code, said = suite(tmp, *words, FEEDRATE_DEPS=str(tmp / "deps"))
    runs = ["install", "batches", "training-torchvision", "training-feedrate"]
    assert code == 0 and statuses(tmp, "wheel") == dict.fromkeys(runs, "ok"), said
    assert "--loader feedrate" in (tmp / "out/logs/wheel-training-feedrate.log").read_text()


@test
def a_program_that_hangs_costs_neither_its_part_nor_the_others(tmp):
    # Bug: figures that are lost because one bench before them never ends.
    plant(tmp)
    program(tmp / "build/bench/bench_cuda_gemm", "#!/bin/sh\nexec sleep 1000\n")
    code, said = suite(tmp, "--parts", "bench,tests", "--limit", "20", "--commit", COMMIT)
    assert code == 1, said
    assert statuses(tmp, "bench") == {"cuda_gemm": "out of time", "cuda_step": "ok", "cuda_update": "ok"}, said
    assert statuses(tmp, "tests") == {"test_gpu": "ok", "test_cublas": "ok"}, said


@test
def a_program_that_fails_is_named_with_its_last_words(tmp):
    # Bug: a failure that only a log knows of, or one that passes for a success.
    plant(tmp)
    program(tmp / "build/tests/gpu/test_gpu", "#!/bin/sh\necho the loss is off\nexit 3\n")
    code, said = suite(tmp, "--parts", "tests,bench", "--commit", COMMIT)
    assert code == 1 and "exit code 3: the loss is off" in said, said
    assert "**failed**" in (tmp / "out/summary.md").read_text()


@test
def a_document_of_another_kind_costs_itself_alone(tmp):
    # Bug: a summary that ends in an exception, and with it the parts that follow and the archive.
    plant(tmp)
    program(tmp / "build/bench/bench_cuda_gemm", """#!/bin/sh\necho '{"figures": [{"name": "odd"}]}'\n""")
    code, said = suite(tmp, "--parts", "bench,tests", "--commit", COMMIT, HOME="/")
    assert code == 0 and "cuda_gemm.json is left out" in said, said
    card = (tmp / "out/results/h100-pcie.json").read_text()
    assert "cuda_update" in card and "test_gpu" in card and "~" not in card, card
    assert (tmp / "out.tar.gz").exists()


@test
def a_gpu_that_no_program_can_use_is_a_failure(tmp):
    # Bug: a driver too old for the toolkit, under which everything is skipped and the suite succeeds.
    plant(tmp)
    program(tmp / "build/tests/gpu/test_gpu", "#!/bin/sh\necho no GPU can be used here\nexit 77\n")
    code, said = suite(tmp, "--parts", "tests", "--commit", COMMIT)
    assert code == 1 and "failed: test_gpu (exit code 77: no GPU can be used here)" in said, said


@test
def a_second_call_adds_its_parts_to_those_of_the_first(tmp):
    # Bug: parts of an earlier call that are lost, or results of two commits in one table.
    plant(tmp)
    assert suite(tmp, "--parts", "tests", "--commit", COMMIT)[0] == 0
    code, said = suite(tmp, "--parts", "bench", "--commit", COMMIT)
    assert code == 0 and "| tests | test_gpu | ok |" in said and "cuda_gemm" in said, said
    code, said = suite(tmp, "--parts", "bench", "--commit", "another")
    assert code == 1 and f"has results of commit {COMMIT}" in said, said


@test
def a_tree_without_git_wants_to_know_its_commit(tmp):
    # Bug: figures of which nobody knows later what made them.
    plant(tmp)
    program(tmp / "bin/git", "#!/bin/sh\nexit 128\n")
    code, said = suite(tmp, "--parts", "tests")
    assert code == 2 and "give it with --commit" in said, said
    assert suite(tmp, "--parts", "tests", "--commit", COMMIT)[0] == 0


@test
def programs_built_beforehand_stand_in_where_nothing_can_be_built(tmp):
    # Bug: a machine on which building fails, and a carried folder that nobody looks into.
    plant(tmp)
    (tmp / "build").rename(tmp / "prebuilt")
    (tmp / "prebuilt/commit").write_text("0ldc0de\n")
    with tarfile.open(tmp / "prebuilt.tar.gz", "w:gz") as archive:
        archive.add(tmp / "prebuilt", "prebuilt")
    shutil.rmtree(tmp / "prebuilt")
    # What is built without nvcc is for the CPU alone.
    program(tmp / "build/tuner/autotune", "#!/bin/sh\necho this build has no CUDA\nexit 2\n")
    code, said = suite(tmp, "--parts", "tests,bench,autotune", "--commit", COMMIT, FEEDRATE_DEPS=str(tmp))
    assert code == 0 and "built beforehand, of commit 0ldc0de" in said, said
    code, said = suite(tmp, "--parts", "tests", "--commit", COMMIT, out="other")
    assert code == 1 and "nothing is built" in said, said


def package_of(content):
    """A Debian package with one file."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        entry = tarfile.TarInfo("./usr/include/one.hpp")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    members = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": data.getvalue()}
    return b"!<arch>\n" + b"".join(
        f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(body):<10}`\n".encode() + body + b"\n" * (len(body) % 2)
        for name, body in members.items())


@test
def a_package_is_unpacked_where_there_is_no_dpkg(tmp):
    # Bug: a carried folder that only Debian's own tools can open.
    (tmp / "one.deb").write_bytes(package_of(b"// one\n"))
    command = [sys.executable, ROOT / "tools/lib/deb_files.py", tmp / "one.deb"]
    files = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(files)) as archive:
        assert archive.extractfile("./usr/include/one.hpp").read() == b"// one\n"
    (tmp / "one.deb").write_bytes(b"nothing")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "is no package" in done.stderr, done.stderr


main()
