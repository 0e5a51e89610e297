# SPDX-License-Identifier: Apache-2.0
"""The command autotune as users meet it: real processes, real files. Prints TAP.

usage: command.py AUTOTUNE FIXTURES SCHEMA
"""

import json
import os
import pathlib
import pty
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time

from tap import AUTOTUNE, SCHEMA, Skip, main, refused, run, test, validate

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
QUICK = ["--budget", "2s", "--no-card", "--workers", "0,1", "--prefetch", "1", "--step-threads", "1",
         "--precision", "fp32"]
TABULAR = ["--workload", "tabular", "--batch", "32"]

def images(folder, classes=2, each=6):
    """A folder of class folders of JPEG files."""
    pictures = sorted((FIXTURES / "images").glob("*.jpg"))
    assert pictures, "there are no pictures among the fixtures"
    for c in range(classes):
        (folder / f"class_{c}").mkdir(parents=True)
        for i in range(each):
            shutil.copy(pictures[i % len(pictures)], folder / f"class_{c}" / f"{i}.jpg")
    return folder


def address_space(mebibytes):
    """Sets the limit of the process that is to be started."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))


@test
def starting_the_command_loads_no_cublas_and_no_blas(tmp):
    # Bug: 640 MB of address space for each start, and a command that does not start where cuBLAS is missing.
    # OpenBLAS starts a thread for each core, which hangs at the end where there is no room for it.
    _, loaded, _ = run(cwd=tmp, env={"LD_TRACE_LOADED_OBJECTS": "1"})
    assert "libc.so" in loaded, loaded
    if "OPENS_BLAS" not in os.environ:  # as where the build could not find the library's file
        return
    assert "blas" not in loaded, loaded
    code, out, _ = run("--version", cwd=tmp, preexec_fn=address_space(60), timeout=20)
    assert code == 0 and out.startswith("autotune "), out


@test
def a_built_in_workload_ends_in_a_screen_and_a_valid_report(tmp):
    # Bug: a report that its own schema refuses, or chatter on stdout.
    code, out, err = run(*QUICK, *TABULAR, cwd=tmp)
    assert code == 0, err
    assert out.startswith("autotune · tabular · cpu"), out
    for word in ("WHY", "SET", "NEXT", "report: feedrate-tabular.json", "not your data"):
        assert word in out, f"{word} is missing in {out}"
    assert "\x1b" not in out + err, "escape sequences off a terminal"
    assert len(out.splitlines()) <= 24 and out.index("SET") < out.index("WHY"), out
    report = json.loads((tmp / "feedrate-tabular.json").read_text())
    validate(report)
    reference = report["trials"][report["reference"]["trial"]]
    keeps = report["recommendation"]["config"] == reference["config"]
    assert ("PASTE" in out) != keeps, out
    assert reference["rounds"], "the reference has no rounds"
    assert report["tool"]["command_line"].endswith("--batch 32")
    page = (SCHEMA.parents[1] / "docs/report.md").read_text()
    unknown = [key for key in report if f"`{key}`" not in page]
    assert not unknown, f"docs/report.md does not name {unknown}"


@test
def commands_to_run_next_can_be_pasted(tmp):
    # Bug: a path that falls apart at its space, or the same again on another device.
    (tmp / "a b").mkdir()
    code, out, err = run(*QUICK, *TABULAR, "--device", "emulated:1ms@32", "--output", "a b/r.json", cwd=tmp)
    assert code == 0, err
    report = json.loads((tmp / "a b" / "r.json").read_text())
    words = shlex.split(report["tool"]["command_line"])
    assert words[0] == "autotune" and words[-2:] == ["--output", "a b/r.json"], words
    assert "autotune --data DIR --device emulated:1ms@32" in [step["command"] for step in report["next"]]


@test
def a_budget_for_one_config_is_unresolved_and_names_a_longer_one(tmp):
    # Bug: a choice out of nothing, or a next command that is refused.
    output = "a --budget 9s b.json"
    code, out, err = run(*TABULAR, "--output", output, "--budget=60ms", "--no-card", "--workers", "0,1,2",
                         "--verbose", cwd=tmp)
    assert code == 0, err
    report = json.loads((tmp / output).read_text())
    validate(report)
    assert report["recommendation"]["status"] == "unresolved", report["recommendation"]
    assert "raise --budget" in " ".join(out.split()) and "not measured: the budget ended" in " ".join(out.split()), out
    longer = ["autotune", *TABULAR, "--output", output, "--no-card", "--workers", "0,1,2", "--verbose", "--budget", "60s"]
    assert longer in [shlex.split(step["command"]) for step in report["next"]], report["next"]


@test
def a_folder_of_jpeg_files_is_tuned_with_its_own_classes(tmp):
    # Bug: a model that has another number of classes than the data.
    images(tmp / "photos", classes=3)
    code, out, err = run(*QUICK, "--batch", "4", "--data", "photos", "--json", cwd=tmp)
    assert code == 0, err
    report = json.loads(out)
    validate(report)
    assert report["workload"]["kind"] == "data"
    assert "3 classes" in report["workload"]["dataset"], report["workload"]
    assert {part["name"] for part in report["workload"]["load_parts"]} == {"read", "decode", "augment"}
    assert (tmp / "feedrate-data.json").exists()


@test
def the_committed_reports_are_what_is_written_today(tmp):
    # Bug: reports of an older schema beside the schema that is shipped, or of another commit than the
    # page beside them says.
    documents = {path: json.loads(path.read_text()) for path in sorted(SCHEMA.parent.glob("*.json"))}
    reports = {path: one for path, one in documents.items() if "schema_version" in one}
    assert reports, f"there are none beside {SCHEMA}"
    page = (SCHEMA.parent / "README.md").read_text()
    for path, report in reports.items():
        validate(report)
        rows = [line for line in page.splitlines() if line.startswith("|") and f"]({path.name})" in line]
        assert rows and rows[0].rstrip(" |").endswith(report["tool"]["commit"]), (path.name, rows)


@test
def a_npy_file_is_tuned_with_and_without_labels(tmp):
    # Bug: labels that are read for nothing, or a cold cache that fails on a mapping.
    code, out, err = run(*QUICK, "--batch", "2", "--data", str(FIXTURES / "npy/f32.npy"), "--labels",
                         str(FIXTURES / "npy/labels_i64.npy"), "--output", "-", "--cache", "cold", cwd=tmp)
    assert code == 0, err
    report = json.loads(out)
    validate(report)
    assert report["workload"]["cache"] == "cold"
    assert list(tmp.iterdir()) == [], "--output - left a file behind"


@test
def the_card_names_the_machine_before_anything_is_tuned(tmp):
    # Bug: a card on stdout, or after the sweep.
    code, out, err = run("--budget", "1s", *TABULAR, "--workers", "0", "--json", cwd=tmp)
    assert code == 0, err
    assert re.search(r"machine .*CPU.*storage .*decode .*memory .*products .*gpu ", err, re.S), err
    assert err.index("machine") < err.index("Tuning"), err
    report = json.loads(out)
    validate(report)
    assert report["card"]["decode"]["images_per_s"]["one_core"] > 0


@test
def values_that_mean_nothing_here_are_reported_not_dropped(tmp):
    # Bug: pinned memory on the cpu, or a batch beyond the dataset, silently left out.
    code, out, err = run(*QUICK[:-2], "--batch", "2,4,64", "--pinned", "on,off", "--precision",
                         "fp32,fp16", "--graph", "on,off", "--preprocess", "host,device", "--device",
                         "cpu", "--data", str(FIXTURES / "npy/f32.npy"), "--verbose", cwd=tmp)
    assert code == 0, err
    for text in ("pinned on: not applicable", "precision fp16: not applicable", "batch 64: not applicable",
                 "graph on: not applicable (the cpu device launches nothing",
                 "preprocess host: not applicable (the cpu device reads pixels where they lie)"):
        assert text in re.sub(r"\s+", " ", out), f"{text} is missing in {out}"


@test
def nonsense_on_the_command_line_is_exit_2_with_one_sentence(tmp):
    # Bug: a wrong flag that is ignored, or exit 1 that CI takes for a slowdown.
    usage = [
        (r"--workers 'two' makes no sense", ["--workers", "two"]),
        (r"--workers '-1' makes no sense", ["--workers=-1"]),
        (r"--batch '0' makes no sense", ["--batch", "0"]),
        (r"--batch '8:4:x2' makes no sense", ["--batch", "8:4:x2"]),
        (r"--budget must be more than 0", ["--budget", "0"]),
        (r"--budget 'soon' makes no sense", ["--budget", "soon"]),
        (r"--precision 'fp8' makes no sense", ["--precision", "fp8"]),
        (r"--allow 'all' makes no sense", ["--allow", "all"]),
        (r"--objective 'speed' makes no sense", ["--objective", "speed"]),
        (r"no device 'tpu'", ["--device", "tpu"]),
        (r"no emulated accelerator 'v9/resnet50'; there are a100/unet3d, .*SECONDS@BATCH",
         ["--device", "emulated:v9/resnet50"]),
        (r"an emulated step takes from 10us to 1h", ["--device", "emulated:0@4"]),
        (r"write a time such as", ["--device", "emulated:soon@4"]),
        (r"The batch of --device emulated '0' makes no sense", ["--device", "emulated:1ms@0"]),
        (r"emulated '4,8' makes no sense: write a whole number from 1", ["--device", "emulated:1ms@4,8"]),
        (r"'emulated:2s@4' takes 2.00 s, and --trial-timeout ends .* 1.50 s",
         ["--device", "emulated:2s@4", "--trial-timeout", "1.5s"]),
        (r"No value of --step-threads", ["--device", "emulated:1ms@32", "--step-threads", "2"]),
        (r"known for batches of 32 alone", ["--device", "emulated:1ms@32", "--batch", "64"]),
        (r"An emulated device computes nothing",
         ["--device", "emulated:1ms@32", "--objective", "mfu"]),
        (r"no workload 'text'", ["--workload", "text", "--no-card"]),
        (r"No value of --pinned", ["--device", "cpu", "--pinned", "on"]),
        (r"No value of --graph can be used: the cpu device", ["--device", "cpu", "--graph", "on"]),
        (r"No value of --preprocess can be used: the cpu", ["--device", "cpu", "--preprocess", "host"]),
        (r"No value of --graph can be used: an emulated device launches nothing",
         ["--device", "emulated:1ms@32", "--graph", "on"]),
        (r"--graph 'maybe' makes no sense", ["--graph", "maybe"]),
        (r"--preprocess 'disk' makes no sense", ["--preprocess", "disk"]),
        (r"--device 'cuda:one' makes no sense", ["--device", "cuda:one"]),
        (r"--max-device-memory is about a GPU's memory", ["--device", "cpu", "--max-device-memory", "1GiB"]),
        (r"--graph goes with the built-in workloads", ["--graph", "on", "--", "true"]),
        (r"the axes are workers", ["--set", "graph=--graph {}", "--", "true"]),
        (r"no command behind --", ["--"]),
        (r"--set goes with a command of yours", ["--set", "batch=--bs {}"]),
        (r"--what-if with a precision goes with a command", ["--what-if", "bf16"]),
        (r"exclude each other", ["--workload", "tabular", "--data", "."]),
        (r"can't be written to '/proc/x.json'", ["--output", "/proc/x.json"]),
        (r"can't be written to 'missing/x.json'", ["--output", "missing/x.json"]),
        (r"is a folder or a device", ["--output", "."]),
        (r"is a folder or a device", ["--output", "/dev/null"]),
        (r"go with --workload tabular", ["--sample-cost", "1ms"]),
        (r"--dct-scaling goes with", ["--dct-scaling", "--workload", "tabular"]),
        (r"lie in memory", ["--cache", "cold", *TABULAR, "--no-card", "--quiet"]),
        (r"--labels goes with --data", ["--labels", "x.npy"]),
        (r"--budget of 10.0 ms is shorter than one trial", ["--budget", "10ms"]),
        (r"--budget must be more than 0 and at most a week", ["--budget", "1e30"]),
        (r"--trial-timeout must be 200ms or more and at most a week", ["--trial-timeout", "1e30"]),
        (r"--search 'best' makes no sense", ["--search", "best"]),
        (r"--search 'grid,random' makes no sense: it takes one of model", ["--search", "grid,random"]),
        (r"--color 'foo' makes no sense: it takes one of auto, always, never\.", ["--color", "foo"]),
        (r"--cost 'much' makes no sense: it takes one of cpu, latency\.", ["--cost", "much"]),
        (r"--seed 'abc' makes no sense: write a whole number", ["--seed", "abc"]),
        (r"--seed '-1' makes no sense: write a whole number", ["--seed", "-1"]),
        (r"--max-skips '-1' makes no sense: write a whole number", ["--max-skips", "-1"]),
        (r"--workers is empty: give it a value", ["--workers", ""]),
        (r"--path is empty: give it a value", ["doctor", "--path", ""]),
        (r"not expected: .*--wrokers", ["--wrokers", "2"]),
        (r"--budget: 1 required TIME missing", ["--budget"]),
        (r"--objective mfu compares with the machine card", ["--objective", "mfu", "--no-card"]),
        (r"--max-memory 'much' makes no sense", ["--max-memory", "much"]),
        (r"--max-memory '0' makes no sense", ["--max-memory", "0"]),
        (r"--max-memory '1e30GB' makes no sense", ["--max-memory", "1e30GB"]),
        (r"--max-workers '0' makes no sense", ["--max-workers", "0"]),
        (r"--max-batch '8,16' makes no sense: write a whole number from 1", ["--max-batch", "8,16"]),
        (r"No value of --workers can be used: --max-workers is 2", ["--max-workers", "2", "--workers", "4,8"]),
        (r"--max-batch 4 is below every batch to try, of which 8", ["--max-batch", "4", "--batch", "8,16"]),
        (r"--effective-batch 32 is below every batch", ["--effective-batch", "32", "--batch", "64,128"]),
        (r"--effective-batch 30 is no multiple of it", ["--effective-batch", "30", "--batch", "16"]),
        (r"--against is empty", ["--against", ""]),
        (r"--against names 'threads', which is no axis: the axes are", ["--against", "threads=2"]),
        (r"--against 'workers' has no '='", ["--against", "workers"]),
        (r"--against workers 'two' makes no sense: write a whole", ["--against", "workers=two"]),
        (r"--against names batch twice", ["--against", "batch=8,batch=16"]),
        (r"--against pinned=on can't be run: the cpu",
         ["--device", "cpu", "--against", "pinned=on"]),
        (r"--against graph=on can't be run: the cpu", ["--device", "cpu", "--against", "graph=on"]),
        (r"--against precision=tf32 can't be run",
         ["--device", "cpu", "--against", "precision=tf32"]),
        (r"--against precision=fp16 can't be run",
         ["--device", "cpu", "--against", "precision=fp16"]),
        (r"--against batch=64 can't be run: the emulated step",
         ["--device", "emulated:1ms@32", "--against", "batch=64"]),
        (r"--against batch=50001 can't be run: the dataset has 50000 samples",
         ["--workload", "tabular", "--no-card", "--against", "batch=50001"]),
        (r"--against batch=48 does not divide --effective-batch 64",
         ["--effective-batch", "64", "--against", "batch=48"]),
        (r"--against goes with the built-in workloads.*the script as it is, and .* the first value",
         ["--against", "workers=2", "--", "true"]),
    ]
    for sentence, arguments in usage:
        refused(2, sentence, *arguments, cwd=tmp)


@test
def what_is_wrong_is_said_before_the_machine_is_measured(tmp):
    # Bug: seconds of measuring before a name that nobody knows is refused.
    (tmp / "empty").mkdir()
    for code, words in ((2, ["--workload", "foo"]), (4, ["--data", "empty"])):
        _, _, err = run(*words, cwd=tmp)
        assert len(err.splitlines()) == 1, err
        refused(code, "foo|empty", *words, cwd=tmp)


@test
def constraints_leave_out_what_they_forbid_and_say_so(tmp):
    # Bug: a constraint that is read and then forgotten, or a batch that changes the training.
    code, out, err = run("--budget", "3s", "--no-card", "--workload", "tabular", "--max-workers", "1",
                         "--max-batch", "64", "--effective-batch", "64", "--batch", "16,24,64,128",
                         "--step-threads", "1", "--precision", "fp32", "--json", cwd=tmp)
    assert code == 0, err
    report = json.loads(out)
    validate(report)
    assert report["space"]["constraints"] == {"max_memory_bytes": None, "max_device_memory_bytes": None,
                                              "max_workers": 1, "max_batch": 64, "effective_batch": 64}
    configs = [trial["config"] for trial in report["trials"]]
    assert {config["batch"] for config in configs} == {16, 32, 64}, configs
    assert all(config["batch"] * config["accumulate"] == 64 for config in configs), configs
    assert max(config["workers"] for config in configs) == 1, configs
    left_out = {(value["axis"], value["value"]): value["why"] for value in report["space"]["not_applicable"]}
    assert left_out[("batch", "128")] == "--max-batch is 64", left_out
    assert left_out[("batch", "24")] == "--effective-batch 64 is no multiple of it", left_out
    caveats = " ".join(report["recommendation"]["tiers"]["training"]["caveats"])
    assert "learning rate" not in caveats, caveats


@test
def gains_are_over_the_config_that_the_user_has(tmp):
    # Bug: a gain over no workers and batch 32 for somebody who has neither, a config outside of the
    # space that is never measured, or options that a resumed run has lost.
    code, out, err = run(*QUICK, *TABULAR, "--max-batch", "32", "--against", "workers=2,batch=64",
                         "--price", "3 EUR/h", cwd=tmp)
    assert code == 0, err
    report = json.loads((tmp / "feedrate-tabular.json").read_text())
    validate(report)
    reference = report["trials"][report["reference"]["trial"]]
    assert report["reference"]["source"] == "given" and reference["rounds"], reference["status"]
    config = reference["config"]
    assert (config["workers"], config["prefetch"], config["batch"]) == (2, 2, 64), config
    assert report["space"]["axes"]["batch"] == [32], report["space"]
    rates = f"{reference['samples_per_s']['estimate']:,.0f}"
    assert re.search(rf"now +{rates} ", out), out
    code, out, err = run("--resume", "feedrate-tabular.json", "--json", cwd=tmp)
    assert code == 0 and json.loads(out)["reference"] == report["reference"], err
    assert report["price"] and json.loads(out)["price"] == report["price"], json.loads(out)["price"]
    # Bug: details that a finished run has, and that nobody can see without measuring again.
    code, out, err = run("--resume", "feedrate-tabular.json", "--verbose", cwd=tmp)
    assert code == 0 and "Each part alone (now): loader" in " ".join(out.split()), out


@test
def a_safe_sweep_keeps_the_batch_and_the_precision_of_the_user(tmp):
    # Bug: safe changes that change the batch to another one than the user's.
    code, out, err = run("--budget", "2s", "--no-card", "--workload", "tabular", "--workers", "0,1",
                         "--prefetch", "1", "--allow", "safe", "--json", "--against",
                         "workers=0,batch=128,precision=bf16", cwd=tmp)
    assert code == 0, err
    report = json.loads(out)
    validate(report)
    configs = [trial["config"] for trial in report["trials"]]
    kept = {(config["batch"], config["precision"]) for config in configs}
    assert kept == {(128, "bf16")}, configs
    assert list(report["recommendation"]["tiers"]) == ["safe"], report["recommendation"]


@test
def a_reference_with_a_larger_batch_than_the_space_is_run(tmp):
    # Bug: a step that is made for the largest batch of the space, and then gets the reference's.
    code, out, err = run(*QUICK, "--workload", "tabular", "--batch", "8,16", "--json", cwd=tmp)
    assert code == 0, err
    trials = json.loads(out)["trials"]
    assert trials[0]["config"]["batch"] == 32 and trials[0]["status"] == "measured", trials[0]
    assert all(trial["status"] != "failed" for trial in trials), trials


@test
def a_space_of_which_nothing_fits_is_one_sentence_with_what_it_needs(tmp):
    # Bug: a run of a minute that ends without an answer.
    refused(2, r"No config fits into the memory allowed.* needs .* MiB, more than the 1\.00 KiB",
            "--workload", "tabular", "--max-memory", "1KiB", "--budget", "2s", "--no-card", cwd=tmp)


@test
def a_space_with_one_config_is_measured_and_kept(tmp):
    # Bug: one that is raced against itself, or a speed-up over nothing.
    code, out, err = run("--workload", "tabular", "--workers", "0", "--prefetch", "1", "--batch", "32",
                         "--precision", "fp32", "--step-threads", "1", "--budget", "2s", "--no-card",
                         cwd=tmp)
    assert code == 0, err
    assert "only one config was tried" in out, out
    report = json.loads((tmp / "feedrate-tabular.json").read_text())
    validate(report)
    assert [trial["status"] for trial in report["trials"]] == ["measured"], report["trials"]
    assert report["recommendation"]["status"] == "keep_current", report["recommendation"]


@test
def each_search_and_objective_gives_a_valid_report(tmp):
    # Bug: a search or an objective that only its flag knows.
    for arguments in (["--search", "grid"], ["--search", "random"], ["--search", "halving"],
                      ["--objective", "busy"]):
        code, out, err = run(*QUICK, *TABULAR, *arguments, "--json", cwd=tmp)
        assert code == 0, f"{arguments}: {err}"
        report = json.loads(out)
        validate(report)
        if arguments[0] == "--search":
            assert report["search"]["name"] == arguments[1], report["search"]


@test
def mfu_is_measured_against_the_card(tmp):
    # Bug: rates of two precisions compared as if both had the same peak.
    code, out, err = run("--budget", "2s", *TABULAR, "--workers", "0,1", "--prefetch", "1", "--step-threads", "1",
                         "--objective", "mfu", "--json", cwd=tmp)
    assert code == 0, err
    report = json.loads(out)
    validate(report)
    measured = [trial for trial in report["trials"] if trial["rounds"]]
    assert all(trial["mfu"] > 0 for trial in measured), measured


@test
def joules_are_metered_or_the_objective_is_refused(tmp):
    # Bug: samples per joule made of zeros, where the machine has no meter.
    code, out, err = run(*QUICK, *TABULAR, "--objective", "samples_per_joule", "--json", cwd=tmp)
    if code == 2:
        assert "can't be measured here" in err, err
        return
    assert code == 0, err
    report = json.loads(out)
    validate(report)
    assert all(trial["samples_per_joule"] > 0 for trial in report["trials"] if trial["rounds"])


@test
def bad_data_is_exit_4_with_one_sentence(tmp):
    # Bug: a stack trace, or a sweep over nothing.
    (tmp / "empty").mkdir()
    (tmp / "fake" / "a").mkdir(parents=True)
    (tmp / "fake" / "a" / "1.jpg").write_text("no picture")
    (tmp / "table.csv").write_text("1,2\n")
    data = [
        (r"no folder or file 'missing'", ["--data", "missing"]),
        (r"'?empty'?", ["--data", "empty"]),
        (r"can be read", ["--data", "fake"]),
        (r"neither a folder nor a .npy", ["--data", "table.csv"]),
        (r"objects", ["--data", str(FIXTURES / "npy/objects.npy")]),
        (r"save it as float32 or uint8", ["--data", str(FIXTURES / "npy/i64.npy")]),
        (r"must be as many", ["--data", str(FIXTURES / "npy/f32.npy"), "--labels",
                              str(FIXTURES / "npy/labels_short.npy")]),
        # Bug: a number of classes that overflows, or a last layer of a terabyte.
        (r"has the label 2147483647", ["--data", str(FIXTURES / "npy/f32.npy"), "--labels", "largest.npy"]),
    ]
    largest = bytearray((FIXTURES / "npy/labels_i64.npy").read_bytes())
    largest[-8:] = struct.pack("<q", 2**31 - 1)
    (tmp / "largest.npy").write_bytes(largest)
    for sentence, arguments in data:
        refused(4, sentence, *arguments, "--no-card", cwd=tmp)


@test
def an_emulated_accelerator_is_labelled_as_one_and_says_how_many_could_be_fed(tmp):
    # Bug: a step that takes another time, figures that pass for those of a real card, or axes that
    # mean nothing there and are tried all the same. A step of 32 samples takes 40 ms, and samples
    # cost 20 us: any loader feeds it many times over.
    code, out, err = run("--device", "emulated:40ms@32", "--workload", "tabular", "--sample-cost",
                         "20us", "--budget", "3s", "--no-card", "--workers", "0,1", "--batch",
                         "32,64", "--precision", "fp32,bf16", "--what-if", cwd=tmp)
    assert code == 0, err
    said = [float(seconds) for seconds in re.findall(r"^\[([0-9.]+) s\]", err, re.M)]
    assert "] what if" in err and said == sorted(said), err
    report = json.loads((tmp / "feedrate-tabular.json").read_text())
    validate(report)
    emulation = report["emulation"]
    assert emulation["emulated"] is True and report["device"] == "emulated:40ms@32"
    assert emulation["accelerator"]["demand_samples_per_s"] == 800
    assert 0.5 < emulation["recommended"]["utilization"]["estimate"] <= 1.02, emulation
    assert emulation["accelerators_fed"] > 2, emulation
    assert {trial["config"]["batch"] for trial in report["trials"]} == {32}
    left_out = {(value["axis"], value["value"]) for value in report["space"]["not_applicable"]}
    assert {("batch", "64"), ("precision", "bf16"), ("what_if", "unaugmented")} <= left_out
    gains = {row["name"] for row in report["what_if"]}
    assert gains == {"decoded", "device_infinite", "loader_infinite"}, gains
    text = " ".join(out.split())
    for words in ("EMUL emulated 40ms@32", "computes nothing", "accelerators at 90 % utilization",
                  "IF only one cost were removed"):
        assert words in text, out


@test
def what_ifs_of_pictures_take_decoding_and_augmentation_away(tmp):
    # Bug: a variant of the user's own pictures that can't be made, or that is cut to nothing.
    images(tmp / "pictures")
    code, _, err = run(*QUICK, "--batch", "8", "--data", "pictures", "--what-if", cwd=tmp)
    assert code == 0, err
    report = json.loads((tmp / "feedrate-data.json").read_text())
    validate(report)
    gains = {row["name"]: row["speedup"]["estimate"] for row in report["what_if"]}
    assert set(gains) == {"decoded", "unaugmented", "device_infinite", "loader_infinite"}, gains


@test
def what_ifs_reach_the_diagnosis(tmp):
    # Bug: what was measured without a cost is shown beside a diagnosis that was made before it. A
    # sample costs 1 ms and a step some us, in the caller: free samples are many times as fast.
    code, _, err = run("--workload", "tabular", "--sample-cost", "1ms", "--workers", "0", "--batch",
                       "32", "--budget", "3s", "--no-card", "--what-if", cwd=tmp)
    assert code == 0, err
    report = json.loads((tmp / "feedrate-tabular.json").read_text())
    validate(report)
    causes = {cause["cause"]: cause for cause in report["diagnoses"]}
    assert causes["preprocess_offline"]["how"] == "measured", report["diagnoses"]
    assert causes["preprocess_offline"]["gain"] > 2, report["diagnoses"]


@test
def a_gpu_that_is_not_to_be_had_is_exit_5(tmp):
    # Bug: falling back to the cpu in silence.
    for device in ("cuda", "cuda:0", "cuda:GPU-0"):
        refused(5, rf"'{device}' is not available: (this build has no CUDA: |.*driver|CUDA_VISIBLE_DEVICES)",
                "--device", device, cwd=tmp)


@test
def without_a_gpu_the_cpu_trains_and_says_so(tmp):
    # Bug: an error where there is no GPU, or a report that does not tell what trained.
    code, out, err = run(*QUICK, *TABULAR, cwd=tmp)
    assert code == 0, err
    report = json.loads((tmp / "feedrate-tabular.json").read_text())
    validate(report)
    assert report["device"] == "cpu" and out.startswith("autotune · tabular · cpu"), out
    assert report["space"]["axes"]["graph"] == [False] and "graph" not in out, out
    assert report["space"]["axes"]["preprocess"] == ["device"] and "preprocess" not in out, out
    assert all(trial["config"]["preprocess"] == "device" for trial in report["trials"])


@test
def one_broken_file_among_many_fails_or_is_skipped_as_asked(tmp):
    # Bug: a truncated file that is trained on, or that ends a run that was told to skip it.
    folder = images(tmp / "photos")
    broken = folder / "class_0" / "broken.jpg"
    broken.write_bytes((folder / "class_0" / "0.jpg").read_bytes()[:900])
    refused(6, r"Every trial failed.*broken\.jpg", *QUICK, "--batch", "13", "--data", "photos", cwd=tmp)
    code, out, err = run(*QUICK, "--batch", "13", "--data", "photos", "--max-skips", "1", "--json", cwd=tmp)
    assert code == 0, err
    report = json.loads(out)
    validate(report)
    assert len(report["skipped"]) == 1 and report["skipped"][0]["name"].endswith("broken.jpg")


@test
def ctrl_c_writes_a_partial_report_and_exits_with_130(tmp):
    # Bug: minutes of measuring lost by one key.
    process = subprocess.Popen([AUTOTUNE, *TABULAR, "--budget", "60s", "--no-card"], cwd=tmp,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "trial 1" in line:
            break
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, process.returncode
    assert "interrupted" in out, out
    report = json.loads((tmp / "feedrate-tabular.json").read_text())
    validate(report)
    assert report["interrupted"] is True and report["recommendation"]["status"] == "unresolved"
    assert "well fed" not in out, out
    # Bug: advice to begin again, where the run can go on.
    commands = [step["command"] for step in report["next"]]
    assert commands[0] == "autotune --resume feedrate-tabular.json", commands
    assert not any("--budget" in command for command in commands), commands


@test
def help_fits_its_terminal_and_the_pages_name_every_option(tmp):
    # Bug: an option that nobody documents, or help in lines of 300 columns.
    code, out, err = run("--help", cwd=tmp)
    assert code == 0 and err == "", err
    assert max(map(len, out.splitlines())) <= 80, max(out.splitlines(), key=len)
    options = re.findall(r"^ +(?:-\w,)?(--[\w-]+)", out, re.M)
    assert len(options) > 40 and "--workers" in options and "--help" in options, options
    assert "--trial-child" not in out, "an option of the program's own"
    assert re.search(r"^ +doctor +Check", out, re.M) and re.search(r"^ +workloads +List", out, re.M), out
    root = SCHEMA.parents[1]
    pages = " ".join(page.read_text() for page in (root / "README.md", *(root / "docs").glob("*.md")))
    unknown = [option for option in options if not re.search(rf"{option}(?![\w-])", pages)]
    assert not unknown, f"neither README.md nor docs/ names {unknown}"
    code, out, _ = run("--version", cwd=tmp)
    assert code == 0 and re.match(r"autotune \d+\.\d+\.\d+ ", out), out


@test
def the_workloads_are_listed(tmp):
    # Bug: a built-in workload that can be run but not found.
    code, out, _ = run("workloads", cwd=tmp)
    assert code == 0
    for name in ("images", "tabular", "wide-linear", "small-images", "in-memory"):
        assert re.search(rf"^{name} ", out, re.M), name


@test
def every_built_in_workload_in_memory_runs(tmp):
    # Bug: a field or a model that does not fit its data.
    for name in ("wide-linear", "small-images", "in-memory"):
        code, out, err = run(*QUICK, "--workload", name, "--batch", "16", "--output", "-", cwd=tmp)
        assert code == 0, f"{name}: {err}"
        validate(json.loads(out))


@test
def quiet_says_nothing_but_the_result(tmp):
    # Bug: a progress line in a log that was meant to stay empty.
    code, out, err = run(*QUICK, *TABULAR, "--quiet", cwd=tmp)
    assert code == 0 and err == "" and out.startswith("autotune"), err
    code, _, err = run(*QUICK, *TABULAR, "--no-progress", cwd=tmp)
    assert code == 0 and "trial" not in err and "Tuning" in err, err


@test
def a_rate_expression_that_backtracks_ends(tmp):
    # Bug: two to the power of forty ways to match one line of the command.
    line = "a" * 40 + "b"
    refused(2, "printed nothing that matches", "--budget", "5s", "--trial-timeout", "2s", "--set", "workers={}", "--workers",
            "1,2", "--quiet", "--rate", "regex:((?:a+)+)$", "--", "sh", "-c", f"echo {line}; sleep 9", "x", cwd=tmp,
            timeout=60)


def on_terminal(arguments, cwd, columns=80, env=None, typed=b""):
    """Runs autotune on a pseudo-terminal, where somebody has typed; returns (exit code, everything shown)."""
    import fcntl
    import termios
    try:
        pid, terminal = pty.fork()
    except OSError as error:
        raise Skip(f"no pseudo-terminal is available: {error}") from error
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.chdir(cwd)
        os.environ.update({"TERM": "xterm", **(env or {})})
        os.execv(AUTOTUNE, [AUTOTUNE, *arguments])
    os.write(terminal, typed)
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


@test
def a_terminal_gets_one_live_line_and_no_color_is_kept(tmp):
    # Bug: a scrolling log on a terminal, or bold text against NO_COLOR.
    code, shown = on_terminal([*QUICK, *TABULAR], tmp)
    assert code == 0 and "\r\x1b[K" in shown and "s left" in shown, shown
    assert "\x1b[1m" in shown, "no bold on a terminal"
    code, shown = on_terminal([*QUICK, *TABULAR], tmp, env={"NO_COLOR": "1"})
    assert code == 0 and "\x1b[1m" not in shown, shown
    code, out, _ = run(*QUICK, *TABULAR, "--color", "always", cwd=tmp)
    assert code == 0 and "\x1b[1m" in out, out


@test
def a_name_can_not_write_to_the_terminal(tmp):
    # Bug: a file of a foreign archive whose name sets the title of the window, or hides a line.
    evil = "\x1b]0;evil\x07\x1b[2K.jpg"
    images(tmp / "pictures")
    (tmp / "pictures" / "class_0" / evil).write_bytes(b"no picture")
    code, shown = on_terminal([*QUICK, "--batch", "4", "--data", "pictures"], tmp)
    assert code == 6 and "evil" in shown, (code, shown)
    assert "\x1b]" not in shown and "\x07" not in shown and "\x1b[2K" not in shown, repr(shown)


@test
def a_command_of_a_journal_is_launched_where_somebody_agreed(tmp):
    # Bug: a journal of somebody else's that runs what it holds, or shows something else than what it runs.
    words = ["sh", "-c", "X_KEY=1; test ! -e now || echo >ran; echo 'rate: 5'; sleep 0.2; echo 'rate: 5'; sleep 9", "x"]

    def said_until(text, *arguments):
        """What is said up to a line with this text; then the run is killed."""
        process = subprocess.Popen([AUTOTUNE, *arguments], cwd=tmp, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        said = []
        for line in process.stderr:
            said.append(line)
            if text in line:
                break
        process.kill()
        process.communicate()
        return "".join(said)

    said_until("trial", "--budget", "20s", "--set", "workers={}", "--workers", "1,2", "--rate", "regex:rate: ([0-9]+)",
               "--output", "r.json", "--", *words)
    time.sleep(2)  # until what was launched has ended, too
    (tmp / "now").touch()
    code, shown = on_terminal(["--resume", "r.json"], tmp, columns=400, typed=b"n\n")
    assert code == 0 and "Continue it?" in shown, (code, shown)
    assert "--set 'workers={}'" in shown, f"words that a template adds are not shown: {shown}"
    assert "X_KEY=1; test ! -e now" in shown and f"in {tmp}" in shown, shown
    assert not (tmp / "ran").exists(), "it was launched all the same"
    assert "X_KEY=***; test ! -e now" in said_until("run to continue", "--resume", "r.json")


@test
def a_narrow_terminal_is_kept_to(tmp):
    # Bug: lines of 80 columns and more on a terminal of 40, by the doctor or before the tuning begins.
    for words in (QUICK + TABULAR, ["doctor", "--path", "."], ["--help"]):
        code, shown = on_terminal(words, tmp, columns=40, env={"NO_COLOR": "1"})
        assert code in (0, 1), shown
        lines = [line.split("\x1b[K")[-1] for line in shown.replace("\r\n", "\n").split("\n")]
        # What can't be broken: a long word, and a command that is to be pasted.
        long = [line for line in lines if len(line) > (50 if words == ["--help"] else 40)
                and " " in line.strip().removeprefix("-> ") and "autotune --" not in line]
        assert len(lines) > 5 and not long, long


@test
def two_first_starts_share_one_cache(tmp):
    # Bug: one of them removes, or takes for its own, what the other is just writing.
    words = [AUTOTUNE, "--budget", "2s", "--no-card", "--workers", "0", "--batch", "16", "--output", "-", "--quiet"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp)}
    started = [subprocess.Popen(words, cwd=tmp, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True) for _ in range(2)]
    for process in started:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        validate(json.loads(out))
    left = [path.name for path in tmp.rglob("*.part*")]
    assert len(list(tmp.rglob("*.jpg"))) == 2000 and not left, left


@test
def a_read_only_cache_folder_is_one_sentence(tmp):
    # Bug: a default run that dies on a read-only home.
    (tmp / "file").write_text("")
    refused(2, r"set XDG_CACHE_HOME", "--no-card", cwd=tmp, env={"XDG_CACHE_HOME": str(tmp / "file")})


@test
def a_full_disk_is_one_sentence(tmp):
    # Bug: a report that is cut off, and exit 0.
    with open("/dev/full", "w") as full:
        done = subprocess.run([AUTOTUNE, *QUICK, *TABULAR, "--output", "-", "--quiet"], cwd=tmp, stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 70 and "standard output" in done.stderr, (done.returncode, done.stderr)


@test
def a_full_disk_behind_the_screen_costs_no_file(tmp):
    # Bug: a report of an interrupted run, and no gate, because the screen could not be printed.
    with open("/dev/full", "w") as full:
        done = subprocess.run([AUTOTUNE, *QUICK, *TABULAR, "--output", "r.json", "--write", "junit=gate.xml"], cwd=tmp,
                              stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 70 and "standard output" in done.stderr, (done.returncode, done.stderr)
        assert json.loads((tmp / "r.json").read_text())["interrupted"] is False
        assert "<testsuite" in (tmp / "gate.xml").read_text()
        done = subprocess.run([AUTOTUNE, "doctor", "--path", "."], cwd=tmp, stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False)
    assert done.returncode == 70, (done.returncode, done.stderr)


@test
def a_closed_descriptor_is_no_file_of_ours(tmp):
    # Bug: standard output that is closed becomes the journal, and the screen is written into it.
    code, _, err = run(*QUICK, *TABULAR, "--quiet", cwd=tmp)
    assert code == 0, err
    journal = (tmp / "feedrate-tabular.jsonl").read_bytes()
    code, _, err = run("--resume", "feedrate-tabular.json", cwd=tmp, preexec_fn=lambda: os.close(1))
    assert code == 70 and "standard output" in err, (code, err)
    assert (tmp / "feedrate-tabular.jsonl").read_bytes() == journal
    code, out, _ = run(*QUICK, *TABULAR, cwd=tmp, preexec_fn=lambda: os.close(2))
    assert code == 0 and out.startswith("autotune"), (code, out)


@test
def a_report_that_does_not_fit_the_disk_is_one_sentence_and_the_result_is_shown(tmp):
    # Bug: a sweep whose answer is lost because its file could not be written.
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    code, out, err = run(*QUICK, *TABULAR, "--quiet", cwd=tmp, preexec_fn=small_files)
    assert code == 70 and "The report was not written" in err, (code, err)
    assert out.startswith("autotune"), out
    assert list(tmp.iterdir()) == [], "half a report was left behind"


@test
def a_limit_on_open_files_is_one_sentence(tmp):
    # Bug: "fcntl: Invalid argument".
    def limited():
        resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
    refused(70, r"more files would be open.*\(ulimit -n 64\)", *QUICK, *TABULAR, "--quiet", cwd=tmp, preexec_fn=limited)


@test
def a_limit_on_address_space_hangs_no_run(tmp):
    # Bug: OpenBLAS that asks again and again for 128 MiB that it can't have, until somebody kills the run.
    for mebibytes in (60, 150, 300, 400, 520, 640, 655, 670, 720, 900):
        code, _, err = run(*QUICK, *TABULAR, "--trial-timeout", "20s", cwd=tmp, timeout=60,
                           preexec_fn=address_space(mebibytes))
        assert "was killed" not in err, (mebibytes, err)
        assert code == 0 or err.strip(), (mebibytes, code, err)


@test
def a_report_an_input_or_a_file_of_the_users_is_never_replaced_by_another(tmp):
    # Bug: --output train.json empties train.jsonl, and --data d.npy --output d.npy the data.
    (tmp / "train.jsonl").write_text("a line of a dataset\n")
    refused(2, "train.jsonl', which is there and is no journal", *QUICK, *TABULAR, "--output", "train.json", cwd=tmp)
    assert (tmp / "train.jsonl").read_text() == "a line of a dataset\n"
    (tmp / "package.json").write_text("{}")
    refused(2, "package.json' is there and is no report", *QUICK, *TABULAR, "--output", "package.json", cwd=tmp)
    shutil.copy(FIXTURES / "npy/f32.npy", tmp / "d.npy")
    for options in (["--output", "d.npy"], ["--write", "json=d.npy"]):
        refused(2, "d.npy' is", *QUICK, "--data", "d.npy", *options, cwd=tmp)
    assert (tmp / "d.npy").read_bytes() == (FIXTURES / "npy/f32.npy").read_bytes()
    # Bug: `--output r.json --write json=r.json` left the gate alone, and the screen called it the report.
    for options in (["--write", "json=r.json"], ["--write", "csv=./r.jsonl"],
                    ["--write", "csv=a.csv", "--write", "markdown=a.csv"]):
        refused(2, "is also the file of|is also the file of --write", *QUICK, *TABULAR, "--output", "r.json", *options,
                cwd=tmp)
    # Bug: a report replaced by a gate, or a gate by a report, since both are JSON with a version.
    (tmp / "gate.json").write_text('{\n "schema_version": 1,\n "tool": {}}')
    (tmp / "report.json").write_text('{\n "schema_version": 2,\n "tool": {}}')
    refused(2, "gate.json' is there and is no report", *QUICK, *TABULAR, "--output", "gate.json", cwd=tmp)
    refused(2, "report.json' is there and is no document", *QUICK, *TABULAR, "--write", "json=report.json", cwd=tmp)


@test
def the_doctor_answers_in_text_and_json(tmp):
    # Bug: a doctor that fails on a path that is fine, or says nothing of one that is missing.
    code, out, _ = run("doctor", "--path", str(tmp), cwd=tmp)
    assert code in (0, 1) and "cpus" in out and "\x1b" not in out, out
    code, out, _ = run("doctor", "--json", cwd=tmp)
    assert code in (0, 1)
    names = [finding["name"] for finding in json.loads(out)["findings"]]
    for name in ("cpus", "memory", "gpu"):
        assert name in names, names
    refused(4, "missing", "doctor", "--path", "missing", cwd=tmp)


main()
