# SPDX-License-Identifier: Apache-2.0
"""The whole of `--device cuda` on the stand-in for the CUDA runtime, where no GPU is. Prints TAP.

usage: standin.py AUTOTUNE_BUILT_AGAINST_THE_STAND_IN SCHEMA
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess

from tap import AUTOTUNE, main, refused, run, test, validate

# cudaError_t
OUT_OF_MEMORY, ILLEGAL_ADDRESS, LAUNCH_FAILURE = 2, 700, 719
FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
TABULAR = ["--workload", "tabular", "--sample-cost", "20us", "--no-card", "--workers", "0,1",
           "--prefetch", "2"]


def tune(tmp, *arguments, batch="16,32", **environment):
    """Tunes on the stand-in; the report."""
    code, _, err = run(*TABULAR, "--batch", batch, *arguments, cwd=tmp, env=environment)
    assert code == 0, f"exit {code}: {err}"
    report = json.loads((tmp / "feedrate-tabular.json").read_text())
    validate(report)
    return report


def measured(report):
    return [trial for trial in report["trials"] if trial["status"] == "measured"]


@test
def the_gpu_is_chosen_by_itself_and_swept_over_its_own_axes(tmp):
    # Bug: a GPU that is there and not used, axes that are planned and never tried, or a copy that
    # is not measured.
    report = tune(tmp, "--budget", "6s")
    assert report["device"] == "cuda:0", report["device"]
    space = report["space"]["axes"] if "axes" in report["space"] else report["space"]
    assert space["pinned"] == [False, True] and space["graph"] == [False, True], space
    assert set(space["precision"]) == {"fp32", "tf32", "fp16", "bf16"}, space
    trials = measured(report)
    assert trials and all(one["copy_s"] > 0 for trial in trials for one in trial["rounds"])
    reference = report["trials"][report["reference"]["trial"]]
    assert reference["config"]["workers"] == 0 and not reference["config"]["pinned"]
    assert reference["ceilings"]["copy_samples_per_s"] > 0, reference["ceilings"]
    steps = report["demands"]["steps"]
    assert steps and all(step["launch_s"] > 0 for step in steps), steps
    ceilings = report["workload"]["gpu_ceilings"]
    assert set(ceilings["product_flops_per_s"]) == {"fp32", "tf32", "fp16", "bf16"}, ceilings


@test
def the_parent_asks_what_is_there_and_its_children_alone_use_the_gpu(tmp):
    # Bug: a context in the parent, which a lost device takes with it, and memory that it keeps from its children.
    log = tmp / "calls"
    process = subprocess.Popen([AUTOTUNE, *TABULAR, "--batch", "16", "--budget", "2s", "--precision", "fp32"],
                               cwd=tmp, env={**os.environ, "FEEDRATE_STANDIN_LOG": str(log)}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    calls = collections.defaultdict(set)
    for line in log.read_text().splitlines():
        pid, name = line.split()
        calls[int(pid)].add(name)
    without_context = {"cudaGetDeviceCount", "cudaGetDeviceProperties", "cudaDeviceGetPCIBusId",
                       "cudaDriverGetVersion", "cudaRuntimeGetVersion"}
    assert calls.pop(process.pid, set()) <= without_context, calls
    assert any("cudaMemcpyAsync" in names for names in calls.values()), calls


@test
def each_schedule_of_the_device_gives_a_whole_run(tmp):
    # Bug: a wait that is missing, and is made up for by a device that works at once.
    for schedule in ("lazy", "eager", "7"):
        report = tune(tmp, "--budget", "4s", "--precision", "fp32", "--graph", "on", "--search",
                      "grid", FEEDRATE_STANDIN_SCHEDULE=schedule)
        assert measured(report) and all(trial["status"] in ("measured", "predicted") for trial in report["trials"]), [
            trial["reason"] for trial in report["trials"]]


@test
def the_copy_is_a_cost_that_a_what_if_takes_away(tmp):
    # Bug: a what-if that the device's parent does not know of, or that is left out where batches are copied.
    report = tune(tmp, "--budget", "2s", "--precision", "fp32", "--graph", "off", "--what-if")
    gains = {row["name"]: row["speedup"]["estimate"] for row in report["what_if"]}
    assert "no_copy" in gains, gains
    left_out = [value for value in report["space"]["not_applicable"] if value["axis"] == "what_if"]
    assert not any(value["value"] == "no_copy" for value in left_out), left_out


@test
def batches_that_do_not_fit_are_left_out_and_the_others_run(tmp):
    # Bug: memory that runs out ending the run, or a batch that is recommended although it does not
    # fit.
    report = tune(tmp, "--budget", "3s", "--precision", "fp32", "--graph", "off", batch="16,4096",
                  FEEDRATE_STANDIN_MEMORY=str(40 << 20))
    large = [trial for trial in report["trials"] if trial["config"]["batch"] == 4096]
    small = [trial for trial in report["trials"] if trial["config"]["batch"] == 16]
    assert all(trial["status"] == "infeasible" for trial in large), large
    assert any(trial["status"] == "measured" for trial in small), small


@test
def a_card_with_much_memory_is_tuned_and_a_batch_beyond_its_step_refused(tmp):
    # Bug: a plan for 65,536 pictures, of which a step takes 42,799, ended the run on each card with
    # more than 57 GB, and no flag helped.
    pictures = sorted(FIXTURES.glob("images/baseline_4*.jpg"))[:2]
    for number, picture in enumerate(pictures):  # a file has 65,000 names at most
        folder = tmp / "pictures" / str(number)
        folder.mkdir(parents=True)
        shutil.copy(picture, folder / "0.jpg")
        for name in range(1, 33_000):
            os.link(folder / "0.jpg", folder / f"{name}.jpg")
    card = {"FEEDRATE_STANDIN_MEMORY": "141000000000"}
    arguments = ["--data", "pictures", "--cache", "cold", "--no-card", "--workers", "1", "--prefetch", "2",
                 "--precision", "bf16", "--graph", "off", "--pinned", "off", "--preprocess", "device",
                 "--budget", "2s", "--output", "report.json"]
    code, _, err = run(*arguments, "--batch", "16,65536", cwd=tmp, env=card)
    assert code == 0, f"exit {code}: {err}"
    report = json.loads((tmp / "report.json").read_text())
    left_out = [one for one in report["space"]["not_applicable"] if one["axis"] == "batch"]
    assert [one["value"] for one in left_out] == ["65536"], left_out
    assert "batches of up to 42799 samples" in left_out[0]["why"], left_out
    refused(2, "No value of --batch can be used: .* up to 42799 samples", *arguments, "--batch", "65536",
            cwd=tmp, env=card)


@test
def an_allocation_that_fails_costs_its_config_alone(tmp):
    # Bug: memory that another process took meanwhile ending the run.
    report = tune(tmp, "--budget", "3s", "--search", "grid", "--precision", "fp32", "--graph", "off",
                  FEEDRATE_STANDIN_FAIL=f"cudaMalloc@12={OUT_OF_MEMORY}")
    assert measured(report), [trial["reason"] for trial in report["trials"]]


@test
def ceilings_that_need_more_memory_than_there_is_are_left_out(tmp):
    # Bug: a GPU that others have nearly filled, and a run that ends before its first trial.
    report = tune(tmp, "--budget", "2s", "--precision", "fp32", "--graph", "off",
                  FEEDRATE_STANDIN_MEMORY=str(24 << 20))
    assert measured(report) and report["workload"]["gpu_ceilings"]["pinned_bytes_per_s"] == 0


@test
def a_device_that_is_lost_costs_its_config_and_the_next_child_goes_on(tmp):
    # Bug: a broken context in which every further trial fails, or a run that hangs.
    report = tune(tmp, "--budget", "4s", "--search", "grid", "--precision", "fp32", "--graph", "off",
                  "--pinned", "on", FEEDRATE_STANDIN_FAIL=f"cudaMemcpyAsync@600={ILLEGAL_ADDRESS}",
                  FEEDRATE_STANDIN_FAIL_ONCE=str(tmp / "lost"))
    assert (tmp / "lost").exists(), "no process came to its 600th copy"
    said = [trial["reason"] for trial in report["trials"] if trial["reason"]]
    assert len(said) <= 1 and all("was lost" in reason for reason in said), said
    assert len(measured(report)) >= len(report["trials"]) - 1, report["trials"]


@test
def a_device_that_is_lost_again_and_again_ends_in_a_report(tmp):
    # Bug: a race in which all fail, whose report its own schema refuses.
    report = tune(tmp, "--budget", "4s", "--search", "grid", "--precision", "fp32", "--graph", "off",
                  "--pinned", "on", FEEDRATE_STANDIN_FAIL=f"cudaMemcpyAsync@600={ILLEGAL_ADDRESS}")
    said = " ".join(trial["reason"] or "" for trial in report["trials"])
    assert "was lost" in said, said


@test
def memory_that_cannot_be_pinned_is_said_and_plain_memory_goes_on(tmp):
    # Bug: a config that is called pinned and is not.
    report = tune(tmp, "--budget", "3s", "--search", "grid", "--precision", "fp32", "--graph", "off",
                  FEEDRATE_STANDIN_FAIL=f"cudaHostRegister@2={OUT_OF_MEMORY}")
    pinned = [trial for trial in report["trials"] if trial["config"]["pinned"]]
    assert any("age-locked" in (trial["reason"] or "") for trial in pinned), pinned
    assert all(trial["status"] == "measured" for trial in report["trials"]
               if not trial["config"]["pinned"]), report["trials"]


@test
def small_images_are_converted_on_either_side(tmp):
    # Bug: preprocess host that sends bytes, or a device that is given floats and expects bytes.
    code, _, err = run("--workload", "small-images", "--no-card", "--budget", "8s", "--workers", "1",
                       "--prefetch", "2", "--batch", "32", "--precision", "bf16", "--graph", "off",
                       "--pinned", "on", "--search", "grid", cwd=tmp)
    assert code == 0, err
    report = json.loads((tmp / "feedrate-small-images.json").read_text())
    validate(report)
    places = {trial["config"]["preprocess"] for trial in measured(report)}
    assert places == {"device", "host"}, [trial["reason"] for trial in report["trials"]]


@test
def a_run_that_goes_on_keeps_to_its_gpu_and_measures_it_no_second_time(tmp):
    # Bug: seconds of measuring that nobody reads in each new process of a run, or rates of two
    # cards in one race.
    arguments = [*TABULAR, "--batch", "16,32", "--budget", "2s", "--precision", "fp32", "--graph",
                 "off", "--search", "grid", "--in-process"]
    code, _, err = run(*arguments, cwd=tmp)
    assert code == 0 and "Measuring what the GPU can do" in err, err
    journal = tmp / "feedrate-tabular.jsonl"
    header, *records = journal.read_text().splitlines(keepends=True)
    journal.write_text(header + "".join(records[:-5]))
    code, _, err = run("--resume", "feedrate-tabular.json", cwd=tmp)
    assert code == 0 and "Measuring what the GPU can do" not in err, err
    journal.write_text(json.dumps({**json.loads(header), "device": "GPU-other"}) + "\n")
    code, _, err = run("--resume", "feedrate-tabular.json", cwd=tmp)
    assert code == 2 and "trained on GPU-other and would now train on GPU-" in err, err


main()
