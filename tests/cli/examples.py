# SPDX-License-Identifier: Apache-2.0
"""The examples as a reader runs them. Prints TAP.

usage: examples.py FOLDER_OF_EXECUTABLES FIXTURES
"""

import pathlib
import subprocess
import sys

from tap import Skip, main, test

FOLDER, FIXTURES = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def example(name, *arguments, cwd):
    """Runs one; what it printed."""
    done = subprocess.run([FOLDER / f"example_{name}", *arguments], cwd=cwd, capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    return done.stdout


@test
def a_program_that_tunes_its_own_step_remembers_the_answer(tmp):
    # Bug: the example that the documentation names measures at every start, or never gets to train.
    # An answer that a busy machine leaves open is not kept: then it is asked for again.
    for _ in range(3):
        first = example("tune_own", "choice", cwd=tmp)
        if (tmp / "choice").is_file():
            break
    assert "workers," in first and "remembered" not in first, first
    second = example("tune_own", "choice", cwd=tmp)
    assert second.split(" times")[0] == first.split(" times")[0] and "(remembered)" in second, second
    assert (tmp / "choice").is_file()


@test
def a_dataset_of_ones_own_is_loaded_and_a_step_of_ones_own_is_tuned(tmp):
    # Bug: an example that compiles, and ends in an exception.
    assert example("own_dataset", cwd=tmp)
    assert example("own_step", cwd=tmp)


@test
def lines_of_files_are_a_stream(tmp):
    # Bug: a line that is lost between files or batches, or counted twice.
    (tmp / "a").write_text("".join("x" * (i % 90) + "\n" for i in range(3000)))
    (tmp / "b").write_text("short\n" * 10)
    bytes_in = sum(i % 90 for i in range(3000)) + 50
    out = example("stream_lines", "a", "b", cwd=tmp)
    assert out.startswith("3010 lines, %d bytes, " % bytes_in), out
    done = subprocess.run([FOLDER / "example_stream_lines", "a", "absent"], cwd=tmp, timeout=60,
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "Could not open absent.\n"), done


@test
def another_library_trains_on_batches_without_a_copy(tmp):
    # Bug: a batch that ends while Eigen reads it, or has another shape there.
    if not (FOLDER / "example_eigen").exists():
        raise Skip("Eigen is not installed")
    weights = example("eigen", cwd=tmp).split("weights ")[1].split()
    assert [round(float(weight)) for weight in weights] == list(range(1, 9)), weights


@test
def pictures_of_a_folder_are_counted(tmp):
    # Bug: an example that finds nothing in a folder of pictures.
    (tmp / "pictures/class").mkdir(parents=True)
    for picture in (FIXTURES / "images").glob("*.jpg"):
        (tmp / "pictures/class" / picture.name).write_bytes(picture.read_bytes())
    assert example("iterate", "pictures", cwd=tmp)


@test
def a_test_and_a_benchmark_of_ones_own_compare_new_code_with_old_code(tmp):
    # Bug: a matcher that never fails. Twice the work is slower on any machine; of equal work, only
    # that a verdict is printed.
    program = FOLDER / "example_regression_test"
    if not program.exists() or not (FOLDER / "example_benchmark_gate").exists():
        raise Skip("Catch2 or Google Benchmark is not installed")
    done = subprocess.run([program, "A sum that is made twice is slower"], cwd=tmp, timeout=120,
                          capture_output=True, text=True, check=False)
    assert "slower: 0." in done.stdout and done.returncode == 0, done.stdout
    out = example("benchmark_gate", cwd=tmp)
    assert "prefetch_of_4" in out and "times as fast as base" in out, out


main()
