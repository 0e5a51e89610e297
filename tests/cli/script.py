# SPDX-License-Identifier: Apache-2.0
"""Tuning a script and other commands as users meet it: real processes, real files. Prints TAP.

usage: script.py AUTOTUNE SCHEMA
The scripts run on the PyTorch of the interpreter in FEEDRATE_TORCH_PYTHON, or of this one; where it
has none, on a stub of it.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import uuid

from tap import AUTOTUNE, Skip, main, refused, run, test, validate

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"
HOOK = HERE.parents[1] / "python"
PYTHON = os.environ.get("FEEDRATE_TORCH_PYTHON") or sys.executable
HAS_TORCH = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode == 0
STUB = [] if HAS_TORCH else [str(HERE.parent / "stub")]
MARK = "FEEDRATE_TEST_MARK"  # a variable by which the processes of one run are found
NO_ENVIRONMENT = ("PYTHONPATH", "WANDB_MODE", "PYTHONSTARTUP")
QUIET = ["--no-card", "--output", "r.json"]

for name in NO_ENVIRONMENT:
    os.environ.pop(name, None)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def environment(*folders, **more):
    """What scripts need to find PyTorch, and folders of a test. PyTorch has two threads, as the stub has."""
    path = ":".join([*map(str, folders), *STUB])
    return {**({"PYTHONPATH": path} if path else {}), "OMP_NUM_THREADS": "2", **more}


def command(script, *words):
    return [PYTHON, str(SCRIPTS / script), *words]


def report_of(tmp):
    report = json.loads((tmp / "r.json").read_text())
    validate(report)
    return report


def tuned(tmp, *words, options=(), budget="2s", code=0, env=None):
    """Tunes a script; returns (its report, stdout, stderr)."""
    found, out, err = run(*QUIET, "--no-confirm", "--budget", budget, *options, "--", *command(*words),
                          cwd=tmp, env=env or environment())
    assert found == code, f"exit {found}: {err}"
    return report_of(tmp), out, err


def resolved(tmp, tune):
    """The report of `tune`, which is called again where the machine was too busy to tell configs apart: that is an
    answer, too, and no test's subject."""
    for _ in range(3):
        tune()
        report = report_of(tmp)
        if report["recommendation"]["status"] != "unresolved":
            break
        (tmp / "r.jsonl").unlink(missing_ok=True)
    return report


# For tests whose answer is clear: an idle machine needs a small part of this budget, a busy one more.
AMPLE = "20s"

# Workers that load beside the step win by far: samples take 1 ms, a step of 16 of them 2 ms.
# The grid, because it measures both, whatever a loaded machine makes of their prediction. The threads of the step
# stay: these scripts are as fast with any number, and noise would choose one.
TWO = ["--workers", "0,2", "--prefetch", "2", "--step-threads", "2", "--search", "grid"]


def trial_of(report, workers):
    """The trial with so many workers."""
    found = [trial for trial in report["trials"] if trial["config"]["workers"] == workers]
    assert found, f"nothing with {workers} workers: {[trial['config'] for trial in report['trials']]}"
    return found[0]


def gains_by_workers(report):
    """Asserts what holds of every script that waits for its samples: workers make it faster."""
    alone, beside = trial_of(report, 0), trial_of(report, 2)
    assert alone["status"] == beside["status"] == "measured", (alone["reason"], beside["reason"])
    assert rate_of(beside) > 1.3 * rate_of(alone), (rate_of(beside), rate_of(alone))


def nothing_fails(report):
    """Asserts that no config fails, and that loading in the script itself was measured."""
    said = [(trial["config"]["workers"], trial["status"], trial["reason"]) for trial in report["trials"]]
    assert all(trial["status"] != "failed" for trial in report["trials"]), said
    assert trial_of(report, 0)["rounds"], said


def rate_of(trial):
    return trial["samples_per_s"]["estimate"]


def only(values):
    """The one value that all have."""
    assert len(set(values)) == 1, values
    return values[0]


def processes_with(mark):
    """The processes of one run that are alive, by their environment."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state not in "ZX" and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except (OSError, IndexError):
            continue
    return found


def wait_until_gone(mark, seconds):
    end = time.monotonic() + seconds
    while left := processes_with(mark):
        assert time.monotonic() < end, f"after {seconds} s there are still the processes {left}"
        time.sleep(0.05)


def started(tmp, *words, options=(), confirms=False):
    """Autotune on a script, when its first trial has begun, or its confirmation; and the mark of its
    processes."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [AUTOTUNE, *QUIET, *([] if confirms else ["--no-confirm"]), "--budget", AMPLE if confirms else "60s",
         *options, "--", *command(*words)], cwd=tmp, env={**os.environ, **environment(), MARK: mark},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if ("Confirming" if confirms else "trial") in line:
            break
    assert confirms or len(processes_with(mark)) > 1, "the script does not run"
    return process, mark


# What is found in a script.

@test
def a_script_is_tuned_and_the_change_is_shown_at_its_own_line(tmp):
    # Bug: a diff that names another line, or that is no valid Python once it is applied.
    shutil.copy(SCRIPTS / "train.py", tmp)
    _, _, err = ran = run(*QUIET, "--no-confirm", "--budget", AMPLE, *TWO, "--", PYTHON, "train.py", cwd=tmp,
                          env=environment(SCRIPTS))
    assert ran[0] == 0, err
    report = report_of(tmp)
    assert (tmp / "r.json").stat().st_mode & 0o777 == 0o600, "others may read the command line"
    gains_by_workers(report)
    script = report["workload"]["script"]
    assert (script["loader"]["name"], script["loader"]["why"]) == ("train_loader", "its loop trains"), script
    source = (tmp / "train.py").read_text().splitlines()
    assert "DataLoader(Rows" in source[script["loader"]["line"] - 1], script["loader"]
    assert os.path.samefile(script["loader"]["file"], tmp / "train.py"), script["loader"]
    assert script["config"]["batch"] == 16 and script["batches"] == 256, script
    apply_diff(tmp, report["settings"][0]["text"])
    assert report["recommendation"]["config"]["workers"] == 2, report["recommendation"]
    assert "num_workers=2" in (tmp / "train.py").read_text(), (tmp / "train.py").read_text()
    subprocess.run([PYTHON, "-m", "py_compile", "train.py"], cwd=tmp, check=True, capture_output=True)


@test
def the_change_of_a_report_is_applied_after_asking(tmp):
    # Bug: a script that is changed though it is no longer what was tuned, or though nobody agreed.
    shutil.copy(SCRIPTS / "train.py", tmp)
    words = [*TWO, "--", PYTHON, "train.py"]
    refused(2, "Nobody can be asked here", *QUIET, "--apply", *words, cwd=tmp, env=environment(SCRIPTS))
    before = (tmp / "train.py").read_text()
    code, _, err = run(*QUIET, "--no-confirm", "--budget", AMPLE, *words, cwd=tmp, env=environment(SCRIPTS))
    assert code == 0, err
    patch = report_of(tmp)["settings"][0]["patch"]
    refused(2, "Nobody can be asked here", "apply", "r.json", cwd=tmp)
    assert (tmp / "train.py").read_text() == before
    code, out, err = run("apply", "r.json", "--yes", cwd=tmp)
    assert code == 0 and patch in out and "train.py.orig is what it was" in out, (out, err)
    assert "num_workers=2" in (tmp / "train.py").read_text()
    assert (tmp / "train.py.orig").read_text() == before
    refused(4, "no longer what was tuned", "apply", "r.json", "--yes", cwd=tmp)


@test
def the_script_is_trained_with_the_answer_where_that_is_asked_for(tmp):
    # Bug: a training that begins with the weights or random numbers of the tuning, or without the answer.
    found, out, err = run(*QUIET, "--no-confirm", "--budget", AMPLE, *TWO, "--train", "--",
                          *command("finishes.py", tmp / "tuned"), cwd=tmp, env=environment())
    assert found == 3 and out.endswith("trained\n"), (found, out, err)
    workers, order = (tmp / "tuned").read_text().splitlines()
    assert int(workers) == report_of(tmp)["recommendation"]["config"]["workers"], workers
    subprocess.run(command("finishes.py", tmp / "plain", workers), cwd=tmp, env={**os.environ, **environment()},
                   capture_output=True, check=False)
    assert order == (tmp / "plain").read_text().splitlines()[1], "the samples come in another order"
    refused(2, "--train gives standard output to the script", "--train", "--json", "--", *command("train.py"), cwd=tmp)


ENDLESS = """import sys
sys.path.insert(0, %r)
import torch
from rows import Model, Rows
from torch.utils.data import DataLoader
import signal
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(5))
model = Model()
loader = DataLoader(Rows(320), batch_size=16)
while True:
    for x, _ in loader:
        model.train(x)
    print("an epoch", flush=True)
"""


@test
def a_signal_to_autotune_is_one_to_the_training(tmp):
    # Bug: SIGUSR1 of a scheduler, which asks for a checkpoint, killed the training; SIGINT of a service was lost.
    (tmp / "endless.py").write_text(ENDLESS % str(SCRIPTS))
    for number, code in ((signal.SIGUSR1, 5), (signal.SIGINT, 130)):
        with subprocess.Popen([AUTOTUNE, *QUIET, "--no-confirm", "--budget", "2s", *TWO, "--train", "--", PYTHON,
                               "endless.py"], cwd=tmp, env={**os.environ, **environment()}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert any(line == "an epoch\n" for line in process.stdout), "nothing was trained"
            process.send_signal(number)
            assert process.wait(timeout=60) == code, process.returncode


@test
def what_cannot_be_changed_stops_no_training(tmp):
    # Bug: a FILE.orig of the run before was found at the end, and the training of the night never began.
    text = (SCRIPTS / "finishes.py").read_text().replace("import sys", "import sys\nsys.path.insert(0, %r)"
                                                         % str(SCRIPTS), 1)
    (tmp / "finishes.py").write_text(text)
    tune = [*QUIET, "--no-confirm", "--budget", "2s", *TWO, "--patch", "patches/p", "--train"]
    train = ["--", PYTHON, "finishes.py", "left"]
    (tmp / "patches").mkdir()
    (tmp / "finishes.py.orig").write_text("of before")
    begin = time.monotonic()
    refused(2, "finishes.py.orig' is there already", *tune, "--apply", "--yes", *train, cwd=tmp, env=environment())
    assert time.monotonic() - begin < 30 and not (tmp / "left").exists()
    (tmp / "finishes.py.orig").unlink()
    (tmp / "finishes.py").write_text("import shutil\nshutil.rmtree('patches', True)\n" + text)
    code, out, err = run(*tune, *train, cwd=tmp, env=environment())
    assert out.endswith("trained\n") and (tmp / "left").exists(), (code, out, err)
    assert code in (4, 70) and "patches/p" in err, (code, out, err)


def trained_network(tmp, *words, **more):
    """The two words that a network's training, or its tuning, leaves."""
    if not HAS_TORCH:
        raise Skip("a network is trained, and there is no PyTorch here")
    (tmp / "left").unlink(missing_ok=True)
    done = subprocess.run(command("networks.py", *words), cwd=tmp, env={**os.environ, **environment(**more)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (tmp / "left").read_text().split()


@test
def networks_trained_with_the_answer_are_those_of_a_plain_training_to_the_last_bit(tmp):
    # Bug: weights, statistics or random numbers that the tuning has touched. (PyTorch itself draws other random
    # numbers with workers that stay: the plain training has as many.)
    for network in ("cnn", "transformer"):
        _, plain = trained_network(tmp, network, "left", "2")
        code, _, err = run(*QUIET, "--no-confirm", "--budget", AMPLE, *TWO, "--train", "--",
                           *command("networks.py", network, "left"), cwd=tmp, env=environment())
        assert code == 0, err
        workers, tuned = (tmp / "left").read_text().split()
        assert int(workers) == report_of(tmp)["recommendation"]["config"]["workers"] == 2, (workers, err)
        assert tuned == plain, network
        (tmp / "r.jsonl").unlink(missing_ok=True)


@test
def networks_go_on_from_the_checkpoint_that_tuning_has_not_touched(tmp):
    # Bug: a checkpoint that the launches overwrite, from which the training then begins. (The script names it
    # by its whole path.)
    for network in ("cnn", "transformer"):
        folder = tmp / network
        folder.mkdir()
        words = [network, folder / "left", "2", folder / "last.pt"]
        trained_network(folder, *words)
        begun = (folder / "last.pt").read_bytes()
        _, plain = trained_network(folder, *words)
        (folder / "last.pt").write_bytes(begun)
        time.sleep(0.1)  # the clock of files is coarse: else it would be of the run
        code, _, err = run(*QUIET, "--no-confirm", "--budget", AMPLE, *TWO, "--keep-state", "--train", "--",
                           *command("networks.py", network, folder / "left", "0", folder / "last.pt"),
                           cwd=folder, env=environment())
        assert code == 0, err
        workers, tuned = (folder / "left").read_text().split()
        assert int(workers) == 2 and tuned == plain, (network, workers, err)
        report = report_of(folder)
        assert report["touched_files"] == [], report["touched_files"]
        assert any("copies of the folder" in note for note in report["notes"]), report["notes"]
        assert [path.name for path in tmp.iterdir() if "autotune" in path.name] == [], list(tmp.iterdir())


@test
def a_command_in_a_copy_of_its_folder_is_told_of_in_the_folder_itself(tmp):
    # Bug: a patch, or a line to launch, that names the copy; or a patch that is not told from the repository.
    project = tmp / "repository/project"
    project.mkdir(parents=True)
    (tmp / "repository/.git").mkdir()
    shutil.copy(SCRIPTS / "train.py", project)
    code, out, err = run(*QUIET, "--no-confirm", "--budget", AMPLE, *TWO, "--keep-state", "--", PYTHON,
                         project / "train.py", cwd=project, env=environment(SCRIPTS))
    assert code == 0, err
    report = (project / "r.json").read_text()
    assert "--- a/project/train.py" in json.loads(report)["settings"][0]["patch"], report
    assert ".autotune-" not in report and ".autotune-" not in out + err, (out, err)
    code, out, err = run("apply", "r.json", "--yes", cwd=project)
    assert code == 0 and "num_workers=2" in (project / "train.py").read_text(), err


@test
def a_folder_that_grows_too_large_to_be_copied_costs_the_confirmation_alone(tmp):
    # Bug: a run that ends without its report, because no fresh process can be launched at its end.
    grown = 'import os\nwith open(os.environ["FEEDRATE_FOLDER"] + "/big", "wb") as big:\n    big.truncate(5 << 30)\n'
    (tmp / "train.py").write_text(grown + (SCRIPTS / "train.py").read_text())
    code, _, err = run(*QUIET, "--budget", AMPLE, *TWO, "--keep-state", "--", PYTHON, "train.py", cwd=tmp,
                       env=environment(SCRIPTS))
    assert code == 0, err
    report = report_of(tmp)
    assert report["recommendation"]["config"]["workers"] == 2 and report["confirmation"] is None, report["confirmation"]
    assert any("is not confirmed: --keep-state copies" in note for note in report["notes"]), report["notes"]
    assert "big" in report["touched_files"], report["touched_files"]


@test
def networks_are_what_they_were_after_tuning_in_their_own_process(tmp):
    # Bug: running means of a batch normalisation, moments of Adam or random numbers that are not restored.
    for network in ("cnn", "transformer"):
        before, after = trained_network(tmp, network, "left", AUTOTUNE, PYTHONPATH=str(HOOK))
        assert before == after, network


@test
def a_loader_is_tuned_in_the_process_of_a_notebook(tmp):
    # Bug: a loop that is never seen, or a loader that is another one afterwards.
    (tmp / "cells.py").write_text("""
import json
import sys

import feedrate
from rows import Rows
from torch.utils.data import DataLoader

loader = DataLoader(Rows(256), batch_size=16)
result = feedrate.autotune(loader, lambda batch: None, *sys.argv[2:], command=sys.argv[1])
json.dump(result.report, open("r.json", "w"))
print(result.arguments, len(list(loader)))
print(result)
""")
    done = subprocess.run([PYTHON, "cells.py", AUTOTUNE, "--budget", AMPLE, *TWO], cwd=tmp, capture_output=True,
                          text=True, check=False, env=dict(os.environ, **environment(SCRIPTS, HOOK)))
    assert done.returncode == 0, done.stderr
    gains_by_workers(report_of(tmp))
    assert re.match(r"\{'num_workers': .*\} 16\n", done.stdout) and "SET" in done.stdout, done.stdout


def apply_diff(tmp, text):
    """Does by hand what the diff says."""
    first, *lines = text.splitlines()
    file, line = re.fullmatch(r"--- (.*):(\d+)", first).groups()
    source = (tmp / file).read_text().split("\n")
    before = [one[1:] for one in lines if one[0] in " -"]
    after = [one[1:] for one in lines if one[0] in " +"]
    at = int(line) - 1
    assert source[at:at + len(before)] == before, (source[at:at + len(before)], before)
    source[at:at + len(before)] = after
    (tmp / file).write_text("\n".join(source))


@test
def a_command_that_loses_the_hook_is_refused_within_seconds(tmp):
    # Bug: `PYTHONPATH=src python train.py` in a shell script, five minutes of waiting, and a sentence about DataLoaders.
    waits = str(SCRIPTS / "mapped_torch.py")
    for words, sentence in ((["env", "PYTHONPATH=src", PYTHON, waits], "with a PYTHONPATH of its own"),
                            (["env", "-i", PYTHON, waits], "without the environment that it was given"),
                            (["sh", "-c", f"'{PYTHON}' -uI '{waits}'; true"], "runs python -I, which ignores")):
        started_s = time.monotonic()
        refused(2, sentence, *QUIET, "--trial-timeout", "8", "--", *words, cwd=tmp, env=environment())
        assert time.monotonic() - started_s < 35, "it was waited for"
    # Another process of the command may run PyTorch as it likes, and one may write over its environment.
    renamed = ("import ctypes, os, sys; c = ctypes.CDLL(None); c.getenv.restype = ctypes.c_void_p; "
               "ctypes.memset(c.getenv(b'FEEDRATE_ATTACH') - 16, 0, 16 + len(os.environ['FEEDRATE_ATTACH'])); "
               "exec(open(sys.argv[1]).read())")
    for words in (["sh", "-c", f"env -i '{PYTHON}' '{waits}' & '{PYTHON}' '{waits}'"],
                  [PYTHON, "-c", renamed, waits]):
        refused(2, "had no training loop", *QUIET, "--trial-timeout", "2", "--", *words, cwd=tmp, env=environment())


@test
def a_value_that_an_option_gives_is_changed_on_the_command_line(tmp):
    # Bug: with `-j 0` the patch wrote a literal in the place of args.workers, and the option had no effect any more.
    shutil.copy(SCRIPTS / "options.py", tmp)
    code, out, err = run(*QUIET, "--no-confirm", "--budget", AMPLE, "--patch", "p.diff", *TWO, "--", PYTHON,
                         "options.py", "-j", "0", cwd=tmp, env=environment(SCRIPTS))
    assert code == 0, err
    source, launch = report_of(tmp)["settings"]
    assert launch["text"].endswith("options.py -j 2") and launch["patch"] is None, launch
    assert launch["text"] in out, out
    assert "num_workers=workers, persistent_workers=workers > 0)" in source["text"], source
    assert (tmp / "p.diff").read_text() == source["patch"], source
    shown = run("show", "r.json", "--patch", cwd=tmp)
    assert shown[:2] == (0, source["patch"]), shown
    subprocess.run(["git", "apply", "--check", "p.diff"], cwd=tmp, check=True)
    subprocess.run(["git", "apply", "p.diff"], cwd=tmp, check=True)
    assert "persistent_workers=workers > 0" in (tmp / "options.py").read_text()
    # What is no patch is not overwritten.
    refused(2, r"--patch '.*options\.py' is there and is no patch", *QUIET, "--patch", "options.py", "--", PYTHON,
            "options.py", cwd=tmp, env=environment(SCRIPTS))
    (tmp / "config.yaml").write_text("---\nlr: 0.1\n")
    refused(2, r"--patch '.*config\.yaml' is there and is no patch", *QUIET, "--patch", "config.yaml", "--", PYTHON,
            "options.py", cwd=tmp, env=environment(SCRIPTS))
    refused(2, r"--patch goes with a command of yours", "--patch", "x.diff", cwd=tmp)


@test
def the_recommendation_is_confirmed_in_fresh_processes(tmp):
    # Bug: a speedup that only exists within the launch that was tuned in, or one without an interval.
    code, out, err = run(*QUIET, "--budget", AMPLE, *TWO, "--", *command("train.py"), cwd=tmp,
                         env=environment())
    assert code == 0, err
    report = report_of(tmp)
    confirmation = report["confirmation"]
    assert confirmation and confirmation["failure"] is None, confirmation
    assert confirmation["speedup"]["estimate"] > 1.3 and confirmation["pairs"] in (3, 4, 6), confirmation
    assert confirmation["verdict"] == "confirmed" and confirmation["speedup"]["low"] > 1, confirmation
    assert re.search(r"Confirming: [34] pairs of fresh processes", err), err
    assert f"Confirmed in fresh processes ({confirmation['pairs']} pairs of launches" in " ".join(out.split()), out


@test
def a_script_that_is_to_stay_as_it_is_is_launched_so_once(tmp):
    # Bug: what it spends outside of its loop, and how it uses its GPU, was told of scripts alone that are to change.
    code, out, err = run(*QUIET, "--budget", "1s", "--workers", "0", "--", *command("train.py", "64"), cwd=tmp,
                         env=environment())
    assert code == 0, err
    report = report_of(tmp)
    confirmation = report["confirmation"]
    assert (confirmation["failure"], confirmation["pairs"], confirmation["speedup"]) == (None, 0, None), confirmation
    assert confirmation["verdict"] is None, confirmation
    assert confirmation["as_is_samples_per_s"] > 100 and confirmation["outside_share"] is not None, confirmation
    assert confirmation["config"] == report["recommendation"]["config"], confirmation
    assert "In a fresh process, unchanged:" in " ".join(out.split()), out
    assert "Confirming: the unchanged script, in a fresh process." in err, err


@test
def a_fresh_process_may_take_as_long_to_start_as_the_tuned_one(tmp):
    # Bug: a script that imports and compiles for a minute is tuned, and then has "told nothing within 60 s".
    code, out, err = run(*QUIET, "--budget", "2s", "--trial-timeout", "3s", "--workers", "0", "--",
                         *command("loops.py", "starts_slowly"), cwd=tmp, env=environment())
    assert code == 0, err
    confirmation = report_of(tmp)["confirmation"]
    assert confirmation["as_is_samples_per_s"] > 0, confirmation
    assert "In a fresh process, unchanged:" in " ".join(out.split()), out


@test
def a_recommendation_that_fresh_processes_do_not_confirm_is_withdrawn(tmp):
    # Bug: "confirmed: 0.3x", fewer launches after a bad pair, or a report that still recommends the change.
    code, out, err = run(*QUIET, "--budget", AMPLE, *TWO, "--", *command("loops.py", "is_slow_in_fresh_processes"),
                         cwd=tmp, env=environment())
    assert code == 0, err
    report = report_of(tmp)
    confirmation = report["confirmation"]
    assert confirmation["config"]["workers"] == 2, confirmation
    assert confirmation["speedup"]["estimate"] < 1 and confirmation["pairs"] in (3, 4, 6), confirmation
    assert confirmation["verdict"] == "slower" and confirmation["speedup"]["high"] < 1, confirmation
    recommendation = report["recommendation"]
    assert recommendation["config"]["workers"] == 0, recommendation
    assert recommendation["status"] == "not_confirmed" and recommendation["verified"] is None, recommendation
    assert report["settings"] == [] and report["next"] == [], (report["settings"], report["next"])
    assert all(cause["gain"] is None or not cause["measured"] for cause in report["diagnoses"]), report["diagnoses"]
    text = " ".join(out.split())
    assert "NOT confirmed" in text and "Slower: do not change the script." in text, out
    assert "Fresh processes did not confirm a gain." in text, out


@test
def a_change_that_fails_in_fresh_processes_is_withdrawn(tmp):
    # Bug: a crash that counts as no objection.
    code, out, err = run(*QUIET, "--budget", AMPLE, *TWO, "--",
                         *command("loops.py", "fails_with_workers_in_fresh_processes"), cwd=tmp, env=environment())
    assert code == 0, err
    report = report_of(tmp)
    assert "no workers today" in report["confirmation"]["failure"], report["confirmation"]
    recommendation = report["recommendation"]
    assert (recommendation["config"]["workers"], recommendation["status"]) == (0, "not_confirmed"), recommendation
    assert report["settings"] == [], report["settings"]
    assert "NOT confirmed in fresh processes with workers 2" in " ".join(out.split()), out


@test
def where_the_widest_change_is_not_confirmed_the_narrower_one_is_tried_and_recommended(tmp):
    # Bug: the script as it is, though only the larger batch is slow in fresh processes, and the workers are not.
    code, _, err = run(*QUIET, "--budget", AMPLE, *TWO, "--batch", "16,64", "--allow", "safe,training", "--",
                       *command("loops.py", "is_slow_with_large_batches_in_fresh_processes"), cwd=tmp,
                       env=environment())
    assert code == 0, err
    report = report_of(tmp)
    recommendation = report["recommendation"]
    assert recommendation["tiers"]["training"]["standing"] == "not_confirmed", recommendation
    config = recommendation["config"]
    assert (config["workers"], config["batch"]) == (2, 16), recommendation
    assert report["confirmation"]["config"] == config, report["confirmation"]
    assert report["confirmation"]["speedup"]["estimate"] > 1.2, report["confirmation"]
    assert report["confirmation"]["verdict"] == "confirmed", report["confirmation"]
    assert "num_workers=2" in report["settings"][0]["text"], report["settings"]
    assert any("NOT confirmed" in note and "batch 64" in note for note in report["notes"]), report["notes"]


@test
def threads_of_the_step_are_recommended_shown_and_confirmed(tmp):
    # Bug: a confirmation that leaves them as they are, or a recommendation that says nowhere how to set them.
    code, _, err = run(*QUIET, "--budget", AMPLE, "--workers", "0", "--step-threads", "1,2", "--",
                       *command("loops.py", "steps_slowly_with_threads"), cwd=tmp,
                       env=environment(OMP_NUM_THREADS="2"))
    assert code == 0, err
    report = report_of(tmp)
    assert report["recommendation"]["config"]["step_threads"] == 1, report["recommendation"]
    assert "torch.set_num_threads(1)" in report["settings"][0]["text"], report["settings"]
    confirmation = report["confirmation"]
    assert confirmation["failure"] is None and confirmation["speedup"]["estimate"] > 1.3, confirmation


@test
def how_workers_start_is_tried_where_that_is_allowed_and_confirmed(tmp):
    # Bug: lanes, or launches that confirm, whose workers start as always; or a change that nobody allowed.
    words = ["--workers", "1", "--prefetch", "2", "--step-threads", "2", "--search", "grid"]
    script = command("loops.py", "loads_slowly_in_forked_workers")
    code, _, err = run(*QUIET, "--budget", AMPLE, *words, "--allow", "processes", "--start-method", "spawn", "--",
                       *script, cwd=tmp, env=environment())
    assert code == 0, err
    report = report_of(tmp)
    recommendation = report["recommendation"]
    assert (recommendation["config"]["start_method"], recommendation["tier"]) == ("spawn", "processes"), recommendation
    assert recommendation["tiers"]["processes"]["speedup"]["estimate"] > 1.5, recommendation
    assert "multiprocessing_context='spawn'" in report["settings"][0]["patch"], report["settings"]
    confirmation = report["confirmation"]
    assert confirmation["failure"] is None and confirmation["speedup"]["estimate"] > 1.5, confirmation
    (tmp / "r.json").unlink()
    report, _, _ = tuned(tmp, "loops.py", "loads_slowly_in_forked_workers", options=words)
    assert {trial["config"]["start_method"] for trial in report["trials"]} == {"own"}, report["trials"]
    refused(2, "--allow processes", *QUIET, "--allow", "processes", cwd=tmp)


@test
def epochs_shorter_than_a_window_are_gone_through_one_after_the_other(tmp):
    # Bug: a round that ends with the epoch, or that counts the start of an epoch as a step. An epoch has 2
    # batches.
    report, _, _ = tuned(tmp, "train.py", "32", options=TWO)
    nothing_fails(report)
    assert trial_of(report, 2)["status"] == "measured", trial_of(report, 2)
    batches = [one["batches"] for trial in report["trials"] for one in trial["rounds"]]
    assert max(batches) > 2, batches


@test
def a_script_that_comes_to_its_end_is_launched_again(tmp):
    # Bug: max_steps that ends the tuning, or that fails a config.
    nothing_fails(tuned(tmp, "loops.py", "ends_early", options=TWO, budget="3s")[0])


@test
def a_loop_that_is_left_by_its_script_goes_on(tmp):
    # Bug: a session that is bound to one iterator, and hangs when the script makes the next.
    report, _, _ = tuned(tmp, "loops.py", "breaks_out", options=["--workers", "0,2", "--prefetch", "2"])
    assert report["workload"]["script"]["config"]["workers"] == 1
    rounds = [one for trial in report["trials"] for one in trial["rounds"]]
    assert rounds and max(one["batches"] for one in rounds) > 2, rounds


@test
def a_loop_that_makes_an_iterator_for_each_batch_is_tuned(tmp):
    # Bug: a round without an end, as each step is taken for the end of an epoch; or workers that are recommended
    # although each iterator waits for its own first batch, so that nothing is ever loaded ahead.
    report, _, _ = tuned(tmp, "loops.py", "draws_from_new_iterators", options=TWO)
    alone, beside = trial_of(report, 0), trial_of(report, 2)
    assert alone["status"] == beside["status"] == "measured", (alone["reason"], beside["reason"])
    assert rate_of(beside) < rate_of(alone), (rate_of(beside), rate_of(alone))


@test
def a_loader_that_is_built_late_is_found(tmp):
    # Bug: the loader that evaluates taken for the training loader, as the first that was there.
    report, _, _ = tuned(tmp, "loops.py", "built_late", options=TWO)
    loader = report["workload"]["script"]["loader"]
    assert (loader["name"], loader["index"]) == ("late_loader", 2), loader
    assert report["workload"]["script"]["others"], report["workload"]["script"]


@test
def the_loader_whose_loop_trains_is_chosen_and_said(tmp):
    # Bug: the first or the busiest loader chosen, although its batches are only evaluated.
    report, out, err = tuned(tmp, "loops.py", "validates_first", options=TWO)
    script = report["workload"]["script"]
    assert (script["loader"]["name"], script["loader"]["why"]) == ("train_loader", "its loop trains"), script
    assert [other["name"] for other in script["others"]] == ["val_loader"], script
    assert "train_loader" in err, err


@test
def one_of_two_training_loaders_is_chosen_by_number_or_name(tmp):
    # Bug: --loader that is read and forgotten, or an unknown one that falls back to another.
    for wanted in ("2", "unlabelled"):
        report, _, _ = tuned(tmp, "loops.py", "two_loaders", options=["--loader", wanted, *TWO])
        loader = report["workload"]["script"]["loader"]
        assert (loader["index"], loader["name"], loader["why"]) == (2, "unlabelled", "asked for"), loader
        assert report["workload"]["script"]["config"]["batch"] == 8
        (tmp / "r.jsonl").unlink(missing_ok=True)


@test
def an_unknown_loader_is_exit_2_and_those_there_are_are_named(tmp):
    # Bug: minutes of waiting for a loader that was misspelt.
    refused(2, r"no DataLoader 'train'.*it has: 1", *QUIET, "--loader", "train", "--",
            *command("loops.py", "predicts"), cwd=tmp, env=environment())


@test
def a_script_that_only_predicts_is_tuned_as_well(tmp):
    # Bug: no training, nothing said.
    report, _, err = tuned(tmp, "loops.py", "predicts", options=TWO)
    assert "No loop of the script trains" in err, err
    assert report["workload"]["script"]["loader"]["why"], report["workload"]["script"]
    assert trial_of(report, 0)["rounds"]


# Loaders of all kinds.

@test
def a_sampler_of_the_users_own_has_one_reader(tmp):
    # Bug: each config reads a sampler of its own: one that keeps a state tells the same sample twice.
    gains_by_workers(tuned(tmp, "loaders.py", "sampler", options=TWO)[0])


@test
def a_batch_sampler_of_the_users_own_is_kept(tmp):
    # Bug: another batch size tried in place of the script's own batches.
    report, _, _ = tuned(tmp, "loaders.py", "batch_sampler", options=[*TWO, "--allow", "safe,training"])
    gains_by_workers(report)
    assert report["workload"]["script"]["batch_fixed"] == "the script has its own batch sampler"
    assert only([trial["config"]["batch"] for trial in report["trials"]]) == 16


@test
def a_collate_function_of_the_users_own_is_kept(tmp):
    # Bug: batches of another type than the loop expects.
    gains_by_workers(tuned(tmp, "loaders.py", "collate", options=TWO)[0])


@test
def worker_init_fn_persistent_workers_and_timeout_are_kept_where_there_are_workers(tmp):
    # Bug: "persistent_workers option needs num_workers > 0", or workers that were not initialized.
    report, _, _ = tuned(tmp, "loaders.py", "workers", options=TWO)
    assert report["workload"]["script"]["persistent"] is True
    nothing_fails(report)
    assert trial_of(report, 2)["status"] == "measured", trial_of(report, 2)


@test
def an_iterable_dataset_is_tuned(tmp):
    # Bug: indices drawn for a dataset that takes none.
    report, _, _ = tuned(tmp, "loaders.py", "iterable", options=TWO)
    gains_by_workers(report)
    assert report["workload"]["samples"] == 0, "its length is not known"
    assert report["workload"]["script"]["iterable"]
    assert any("get_worker_info" in note for note in report["notes"]), report["notes"]


@test
def workers_that_each_read_a_whole_stream_are_no_gain(tmp):
    # Bug: "SET workers 4, 4.07x as fast", with every sample four times.
    report, out, _ = tuned(tmp, "loaders.py", "whole", options=TWO)
    assert trial_of(report, 2)["status"] == "failed", trial_of(report, 2)
    assert report["recommendation"]["config"]["workers"] == 0, report["recommendation"]
    assert "each worker reads the whole stream" in " ".join(out.split()), out


@test
def a_generator_is_kept(tmp):
    # Bug: a shuffle that draws from another generator than the script's own.
    gains_by_workers(tuned(tmp, "loaders.py", "generator", options=TWO)[0])


@test
def nested_batches_are_counted_by_their_samples(tmp):
    # Bug: a dict of three entries counted as three samples.
    report, _, _ = tuned(tmp, "loaders.py", "nested", options=TWO)
    gains_by_workers(report)
    for trial in report["trials"]:
        for one in trial["rounds"]:
            assert one["samples"] == 16 * one["batches"], one


@test
def a_dataset_that_cannot_be_pickled_costs_the_configs_with_workers(tmp):
    # Bug: a traceback in the place of a reason, or a run that ends with it.
    report, _, _ = tuned(tmp, "loaders.py", "unpicklable", options=TWO)
    beside = trial_of(report, 2)
    assert beside["status"] == "failed", beside
    assert beside["reason"].startswith("Workers can't be started, since the dataset can't be pickled"), beside
    assert report["recommendation"]["config"]["workers"] == 0, report["recommendation"]
    assert trial_of(report, 0)["rounds"]


@test
def a_file_that_a_dataset_has_opened_is_not_shared_between_processes(tmp):
    # Bug: one that was opened in the script at its first sample, and is read by forked workers.
    gains_by_workers(tuned(tmp, "loaders.py", "state", options=TWO)[0])


@test
def workers_that_die_cost_their_configs_alone(tmp):
    # Bug: one killed worker that hangs or ends the run.
    report, _, _ = tuned(tmp, "loaders.py", "mortal", options=TWO, budget="5s")
    beside = trial_of(report, 2)
    assert beside["status"] == "failed", beside
    assert re.search("worker.* died", beside["reason"]), beside["reason"]
    assert trial_of(report, 0)["status"] == "measured" and trial_of(report, 0)["rounds"]
    assert report["recommendation"]["config"]["workers"] == 0


@test
def shared_memory_that_is_too_small_is_the_reason_that_is_told(tmp):
    # Bug: "killed by signal: Bus error", which tells nobody what to do.
    small = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             'mount -t tmpfs -o size=4m tmpfs /dev/shm && exec "$@"', "sh"]
    if not HAS_TORCH:
        raise Skip("batches of the stub take no shared memory")
    if subprocess.run([*small, "true"], capture_output=True, check=False).returncode != 0:
        raise Skip("no user may mount a file system of his own here")
    code, _, err = run(*QUIET, "--no-confirm", "--budget", "3s", *TWO, "--", *small,
                       *command("loaders.py", "large"), cwd=tmp, env=environment())
    assert code == 0, err
    beside = trial_of(report_of(tmp), 2)
    assert beside["status"] == "failed", beside
    assert beside["reason"].startswith("A worker ran out of shared memory: /dev/shm has 4 MiB"), beside


@test
def spawned_workers_are_no_scripts_of_their_own(tmp):
    # Bug: a hook that attaches in each worker that Python starts again.
    nothing_fails(tuned(tmp, "loaders.py", "spawn", options=TWO, budget="3s")[0])


def tuned_below(tmp, kind, module):
    """Tunes a script whose loader is wrapped by a library, if that is here."""
    if not has_module(module):
        raise Skip(f"{module} is not here")
    report, _, _ = tuned(tmp, "loaders.py", kind, options=TWO)
    gains_by_workers(report)
    script = report["workload"]["script"]
    assert os.path.samefile(script["loader"]["file"], SCRIPTS / "loaders.py"), script["loader"]
    assert not script["others"], script["others"]


@test
def a_loader_is_tuned_below_accelerate(tmp):
    # Bug: the loader that a library makes of the script's own taken for another one, with a line in that
    # library.
    tuned_below(tmp, "accelerated", "accelerate")


@test
def a_loader_is_tuned_below_lightning(tmp):
    # Bug: a loader that a library combines with others taken for one of the library's.
    tuned_below(tmp, "combined", "lightning")


@test
def a_loader_is_tuned_below_a_prefetcher(tmp):
    # Bug: a session that the batch that was taken ahead confuses.
    tuned_below(tmp, "prefetched", "torch")


def has_module(name):
    env = {**os.environ, **environment()}
    return subprocess.run([PYTHON, "-c", f"import {name}"], env=env, capture_output=True,
                          check=False).returncode == 0


# Processes that train together.

def ranks(*words):
    return [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", "2", *command("ranks.py", *words)[1:]]


def tuned_together(tmp, *words, options=("--no-confirm",)):
    code, _, err = run(*QUIET, *options, "--budget", AMPLE, "--trial-timeout", "10s", *TWO, "--",
                       *ranks(*words), cwd=tmp, env=environment())
    assert code == 0, err
    return report_of(tmp)


@test
def ranks_take_the_same_number_of_batches_in_each_round(tmp):
    # Bug: ranks that switch by the clock: one takes a step more, and waits in its collective for ever.
    report = resolved(tmp, lambda: tuned_together(tmp, "Rows"))
    gains_by_workers(report)
    assert report["workload"]["script"]["world"] == 2, report["workload"]["script"]
    for trial in report["trials"]:
        for one in trial["rounds"]:
            assert one["samples"] == 2 * 16 * one["batches"], one
    # The recommendation is per rank, and says which of them is the slowest.
    assert report["recommendation"]["config"]["workers"] == 2, report["recommendation"]
    assert "num_workers=2" in report["settings"][0]["text"], report["settings"]
    assert "Of 2 ranks, rank 1 waits longest for data" in report["notes"][0], report["notes"]


@test
def ranks_are_confirmed_together_in_fresh_processes(tmp):
    # Bug: settings that reach rank 0 alone, which then waits for the others; or the rate of one rank.
    report = tuned_together(tmp, "Rows", options=())
    confirmation = report["confirmation"]
    assert confirmation and confirmation["failure"] is None, confirmation
    assert confirmation["speedup"]["estimate"] > 1.3, confirmation
    recommended = report["recommendation"]["tiers"]["safe"]["trial"]
    told = report["trials"][recommended]["samples_per_s"]["estimate"]
    assert 0.6 < confirmation["recommended_samples_per_s"] / told < 1.6, (confirmation, told)


@test
def what_fails_in_one_rank_is_the_reason_and_costs_its_config_alone(tmp):
    # Bug: the other rank waits in its step for one that has given up, until both are taken for hung.
    report = tuned_together(tmp, "Mortal")
    beside = trial_of(report, 2)
    assert beside["status"] == "failed" and re.search("worker.* died", beside["reason"]), beside
    assert trial_of(report, 0)["status"] == "measured", trial_of(report, 0)


@test
def a_step_that_writes_into_its_batch_sees_each_batch_as_it_was(tmp):
    # Bug: replayed batches that still hold what the step of the last time wrote.
    report, _, _ = tuned(tmp, "loops.py", "writes_into_its_batches", options=TWO)
    gains_by_workers(report)


# Epochs, and errors that are the script's own.

@test
def a_script_sees_the_epochs_that_it_expects(tmp):
    # Bug: an epoch without end: a schedule of an exact number of steps fails, and a config is blamed for it.
    report, _, _ = tuned(tmp, "kinds.py", "has_an_exact_number_of_steps", options=TWO, budget="3s")
    gains_by_workers(report)
    nothing_fails(report)
    # What the start of an epoch costs is a part of each round with workers.
    shares = [one["boundary_s"] for one in trial_of(report, 2)["rounds"]]
    assert shares and all(0 < share for share in shares), shares
    assert trial_of(report, 2)["config"]["persistent"], trial_of(report, 2)


@test
def a_script_of_few_and_fast_steps_is_tuned_over_several_launches(tmp):
    # Bug: "the script came to its end before this trial was done", of each trial.
    report, _, _ = tuned(tmp, "kinds.py", "has_few_steps", options=TWO, budget="3s")
    gains_by_workers(report)


@test
def a_corrupt_record_costs_no_config_and_is_said_once(tmp):
    # Bug: "SET workers 0", since the config with workers drew the corrupt record.
    report, out, _ = tuned(tmp, "kinds.py", "has_a_corrupt_record", options=TWO, budget="3s")
    nothing_fails(report)
    said = [warning for warning in report["warnings"] if "record 200 is corrupt" in warning]
    assert len(said) == 1 and "ValueError: record 200 is corrupt (kinds.py:" in said[0], report["warnings"]
    assert "own data failed in" in out, out


@test
def a_loader_that_is_made_in_each_epoch_is_told_of(tmp):
    # Bug: persistent_workers=True promised to a loader that lives for one epoch.
    report, _, _ = tuned(tmp, "kinds.py", "makes_its_loader_anew", options=TWO, budget="3s")
    assert any("Make it once, before the loop over epochs" in text for text in report["warnings"]), report["warnings"]


@test
def a_script_that_changes_its_dataset_between_epochs_gets_workers_that_start_in_each(tmp):
    # Bug: workers that stay, recommended to a script whose dataset they do not see change.
    report, _, err = tuned(tmp, "kinds.py", "sets_a_value_of_its_dataset", options=TWO, budget="3s")
    nothing_fails(report)
    gains_by_workers(report)
    assert "changes its dataset between epochs (size)" in err and "The search begins again" in err, err
    assert not any(trial["config"]["persistent"] for trial in report["trials"]), report["trials"]
    assert report["workload"]["script"]["start_fixed"].endswith("between epochs: size"), report["workload"]
    assert "persistent_workers" not in report["settings"][0]["text"], report["settings"]
    assert any(note.startswith("persistent_workers stays off: ") for note in report["notes"]), report["notes"]
    # Who chose workers that stay is told what that means.
    options = [*TWO, "--persistent", "on"]
    report, _, err = tuned(tmp, "kinds.py", "sets_a_value_of_its_dataset", options=options, budget="3s")
    assert "The search begins again" not in err, err
    assert any("its dataset between epochs: size." in text for text in report["warnings"]), report["warnings"]


@test
def a_search_that_began_again_is_resumed_as_it_was(tmp):
    # Bug: a journal that holds the rounds of the plan before.
    report, _, _ = tuned(tmp, "kinds.py", "sets_a_value_of_its_dataset", options=TWO, budget="2s")
    code, _, err = run("--resume", "r.json", cwd=tmp, env=environment())
    assert code == 0 and "The search begins again" not in err, (code, err)
    assert report_of(tmp)["trials"] == report["trials"], "the rounds are others"


@test
def batches_that_cannot_be_had_otherwise_are_told_of_at_once(tmp):
    # Bug: two minutes of silence, then nothing.
    begin = time.monotonic()
    _, _, err = run(*QUIET, "--", *command("kinds.py", "trains_without_a_loader"), cwd=tmp, env=environment())
    assert "launched; waiting for a training loop (1 s)" in err, err
    refused(2, r"trains on the batches of Loader, which has an __iter__ of its own.*feedrate\.watch", *QUIET, "--",
            *command("kinds.py", "has_its_own_loop_over_batches"), cwd=tmp, env=environment())
    assert re.search(r"trains without a DataLoader of PyTorch.*feedrate\.watch", err), err
    # Bug: the loader that validates was tuned, since "its loop trains".
    refused(2, r"trains while it takes no batches from a DataLoader of PyTorch.*feedrate\.watch", *QUIET, "--",
            *command("kinds.py", "trains_by_hand_and_validates"), cwd=tmp, env=environment())
    refused(2, r"in processes that torch\.multiprocessing\.spawn\(\) starts.*launch it with torchrun", *QUIET, "--",
            *command("kinds.py", "trains_in_spawned_processes"), cwd=tmp, env=environment())
    assert time.monotonic() - begin < 90, "it was not said at once"


@test
def a_script_that_keeps_its_batches_is_told_that_no_loader_helps(tmp):
    # Bug: minutes without a word, then "no batch within 60 s".
    refused(2, r"keeps the batches, as itertools\.cycle\(loader\) does", *QUIET, "--",
            *command("kinds.py", "keeps_its_batches"), cwd=tmp, env=environment())


@test
def a_class_that_keeps_one_iterator_for_all_epochs_is_tuned(tmp):
    # Bug: "generator raised StopIteration", from an end of an epoch that its class does not expect.
    report, _, _ = tuned(tmp, "kinds.py", "keeps_one_iterator", options=TWO, budget="3s")
    gains_by_workers(report)


# Scripts that fail.

@test
def a_script_that_crashes_before_it_trains_is_exit_6_with_its_last_line(tmp):
    # Bug: "nothing to tune", while the reason stands in the output of the script.
    refused(6, r"no such data set: /data/x", *QUIET, "--", *command("loops.py", "crashes"), cwd=tmp,
            env=environment())


@test
def a_script_without_a_loader_is_exit_2_and_three_ways_are_named(tmp):
    # Bug: no word of what else there is.
    refused(2, r"without a training loop.*three ways.*feedrate\.watch.*--rate", *QUIET, "--",
            *command("loops.py", "says_nothing"), cwd=tmp, env=environment())


@test
def a_script_that_asks_for_input_is_told_of(tmp):
    # Bug: a run that waits for an answer that nobody can give.
    refused(6, r"asks for input", *QUIET, "--", *command("loops.py", "asks"), cwd=tmp, env=environment())
    # Bug: the same said of a file that ends too early.
    refused(6, r"Ran out of input", *QUIET, "--", *command("loops.py", "unpickles"), cwd=tmp, env=environment())


@test
def a_script_that_evaluates_within_its_loop_is_tuned_all_the_same(tmp):
    # Bug: a validation of a minute after every so many steps, taken for a step that hangs.
    report, _, err = tuned(tmp, "loops.py", "evaluates_within_its_loop", options=[*TWO, "--trial-timeout", "4s"])
    nothing_fails(report)
    gains_by_workers(report)
    steps_s = [round["step_s"] / round["batches"] for trial in report["trials"] for round in trial["rounds"]]
    assert max(steps_s) < 0.1, steps_s


@test
def a_script_that_hangs_in_a_step_is_ended_even_against_sigterm(tmp):
    # Bug: a run that hangs with the script.
    mark, begin = uuid.uuid4().hex, time.monotonic()
    code, out, err = run(*QUIET, "--no-confirm", "--budget", "2s", "--trial-timeout", "2s", "--",
                         *command("loops.py", "hangs"), cwd=tmp, env=environment(**{MARK: mark}))
    assert "no batch within 2.00 s" in out + err, (code, out, err)
    assert code == 6, (code, err)
    wait_until_gone(mark, 5)
    assert time.monotonic() - begin < 60, "the hang was waited for"


@test
def a_script_that_hangs_once_costs_no_config(tmp):
    # Bug: a hang at the defaults that takes the whole budget, and a failed config for what the storage did.
    report, _, err = tuned(tmp, "loops.py", "hangs_once", options=[*TWO, "--trial-timeout", "3s"])
    assert "no batch within 3.00 s" in err and "It is run once more." in err, err
    nothing_fails(report)
    gains_by_workers(report)


@test
def a_script_that_ignores_sigterm_is_ended_all_the_same(tmp):
    # Bug: a script that goes on training beside the next run.
    mark = uuid.uuid4().hex
    tuned(tmp, "loops.py", "ignores_sigterm", options=TWO, env=environment(**{MARK: mark}))
    wait_until_gone(mark, 5)


@test
def a_script_that_crashes_while_it_trains_says_why(tmp):
    # Bug: a launch without end of a script that always fails.
    code, out, err = run(*QUIET, "--no-confirm", "--budget", "2s", "--",
                         *command("loops.py", "crashes_while_it_trains"), cwd=tmp, env=environment())
    assert code == 6 and "loss is nan" in err, (code, out, err)


@test
def a_script_that_crashes_once_is_launched_again_and_the_report_says_so(tmp):
    # Bug: a failure of the user's own step that nobody is told of, since the second launch went well.
    report, _, _ = tuned(tmp, "loops.py", "crashes_once", options=TWO)
    nothing_fails(report)
    assert "It was launched again with the same settings and went on." in report["warnings"][0], report["warnings"]
    assert "ValueError: sample 17 is broken" in report["warnings"][0], report["warnings"]


# The command line.

@test
def commands_that_cannot_be_run_are_exit_2_with_one_sentence(tmp):
    # Bug: exit 127 of a shell, or a stack trace.
    (tmp / "train.py").write_text("print()\n")
    script = ["--", *command("train.py")]
    usage = [
        (r"no command behind --", ["--"]),
        (r"'no-such-command' is not in the PATH", ["--", "no-such-command"]),
        (r"'\./missing' is not there", ["--", "./missing"]),
        (r"'\./train\.py' is not executable: write python \./train\.py", ["--", "./train.py"]),
        (r"'train\.py' is no command in the PATH, but a file: write python train\.py", ["--", "train.py"]),
        (r"'missing', in which the command is to run, can't be opened", ["--workdir", "missing", *script]),
        (r"'train\.py', in which the command is to run, is no folder", ["--workdir", "train.py", *script]),
        (r"can't be written to 'missing/x\.json'", ["--output", "missing/x.json", *script]),
        (r"--data goes with the built-in workloads", ["--data", ".", *script]),
        (r"--workload goes with the built-in workloads", ["--workload", "tabular", *script]),
        (r"--device goes with the built-in workloads", ["--device", "emulated:1ms@4", *script]),
        (r"--in-process goes with", ["--in-process", *script]),
        (r"--what-if of a script takes bf16 or fp16", ["--what-if", "fp8", *script]),
        (r"--search model needs the parts", ["--search", "model", "--batch", "4", "--set", "batch='--b {}'", *script]),
        (r"--loader goes with a script", ["--loader", "1", "--set", "batch='--b {}'", *script]),
        (r"--what-if goes with a script", ["--what-if", "bf16", "--rate", "regex:([0-9]+)", *script]),
        (r"--objective utilization or throughput", ["--objective", "mfu", *script]),
        (r"--budget of 500 ms is too short", ["--budget", "500ms", *script]),
        (r"--budget of 2.00 s is too short", ["--budget", "2s", "--batch", "4", "--set", "batch='--b {}'", *script]),
        (r"--set batch says how", ["--set", "batch='--b {}'", *script]),
        (r"--max-memory goes with", ["--max-memory", "1GB", "--rate", "regex:([0-9]+)", *script]),
        (r"--trial-timeout must be 200ms or more", ["--trial-timeout", "0", *script]),
        (r"--trial-timeout must be 200ms or more", ["--trial-timeout", "199ms", *script]),
        (r"--set goes with a command of yours", ["--set", "batch='--b {}'"]),
        (r"--loader goes with a command of yours", ["--loader", "1"]),
    ]
    for sentence, arguments in usage:
        refused(2, sentence, "--no-card", *arguments, cwd=tmp, env=environment())
    assert sorted(path.name for path in tmp.iterdir()) == ["train.py"], list(tmp.iterdir())


@test
def a_script_runs_in_the_folder_that_is_asked_for(tmp):
    # Bug: a script that does not find its data, or a report that lands beside them.
    (tmp / "project").mkdir()
    code, _, err = run(*QUIET, "--no-confirm", "--budget", "1s", "--workdir", "project", "--workers", "0",
                       "--", *command("loops.py", "leaves_files"), cwd=tmp, env=environment())
    assert code == 0, err
    assert (tmp / "project/checkpoints/last.txt").exists() and (tmp / "r.json").exists(), list(tmp.iterdir())
    assert not (tmp / "checkpoints").exists()
    touched = report_of(tmp)["touched_files"]
    assert touched == ["weights.pt", "checkpoints/last.txt", "found.txt"], touched


@test
def a_script_finds_the_environment_of_its_user_and_what_it_wrote_is_listed(tmp):
    # Bug: a tracker that records trials, a sitecustomize or a PYTHONPATH that is lost.
    (tmp / "mine").mkdir()
    (tmp / "mine/sitecustomize.py").write_text("import os\nos.environ['SITE_RAN'] = 'yes'\n")
    found = {}
    for word in ((), ("--keep-trackers",)):
        report, out, _ = tuned(tmp, "loops.py", "leaves_files", options=["--workers", "0", *word],
                               env=environment(tmp / "mine"))
        found[word] = dict(line.split(" ", 1) for line in (tmp / "found.txt").read_text().splitlines())
        assert {"checkpoints/last.txt", "found.txt"} <= set(report["touched_files"]), report["touched_files"]
        assert "last.txt" in out, out
        (tmp / "r.jsonl").unlink(missing_ok=True)
    usual, kept = found.values()
    assert usual["WANDB_MODE"] == "disabled" and kept["WANDB_MODE"] == "None", found
    assert usual["SITE_RAN"] == "yes" and usual["sitecustomize"] == str(tmp / "mine/sitecustomize.py"), usual
    assert str(tmp / "mine") in usual["PYTHONPATH"].split(":")[1:], usual


@test
def scripts_that_misbehave_are_tuned_and_leave_no_process(tmp):
    # Bug: a child or a server of the script's that outlives the run, a pipe that is full, or a path that holds only
    # where the script began.
    for kind in ("forks", "daemonises", "prints_megabytes", "goes_elsewhere"):
        mark = uuid.uuid4().hex
        nothing_fails(tuned(tmp, "loops.py", kind, options=TWO, env=environment(**{MARK: mark}))[0])
        wait_until_gone(mark, 5)


@test
def of_loops_over_several_loaders_the_one_that_trains_is_tuned(tmp):
    # Bug: the loader of an evaluation before the training, or of two in one step none.
    for kind, name in (("zips_two_loaders", "labelled"), ("evaluates_first", "loader")):
        report, _, _ = tuned(tmp, "loops.py", kind, options=TWO)
        nothing_fails(report)
        assert report["workload"]["script"]["loader"]["name"] in (name, "un" + name), report["workload"]["script"]


@test
def a_second_loader_that_each_step_waits_for_is_named(tmp):
    # Bug: "the device is well fed" of a loop that waits for its unlabelled samples, whose loader is not the tuned one.
    report, out, _ = tuned(tmp, "loops.py", "two_loaders", options=TWO)
    script = report["workload"]["script"]
    other = {"labelled": "unlabelled", "unlabelled": "labelled"}[script["loader"]["name"]]
    assert script["other_loader"] == other and 0.1 < script["other_share"] < 1, script
    assert f"--loader {other} tunes that one" in " ".join(out.split()) and "well fed" not in out, out


# Ends of a run.

@test
def ctrl_c_writes_a_partial_report_and_leaves_no_process(tmp):
    # Bug: a script that trains on after autotune was interrupted.
    process, mark = started(tmp, "train.py", options=TWO)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, process.returncode
    assert "interrupted" in out, out
    wait_until_gone(mark, 5)
    assert report_of(tmp)["interrupted"] is True


@test
def ctrl_c_before_the_loop_begins_ends_at_once_and_leaves_no_process(tmp):
    # Bug: a script that imports for minutes, and autotune that waits for its loop.
    mark = uuid.uuid4().hex
    process = subprocess.Popen([AUTOTUNE, *QUIET, "--", *command("loops.py", "starts_slowly")], cwd=tmp,
                               env={**os.environ, **environment(), MARK: mark}, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "waiting for a training loop" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (process.returncode, err)
    assert "interrupted" in (out + err).lower(), (out, err)
    wait_until_gone(mark, 5)
    assert not (tmp / "r.json").exists(), "a report of nothing"


@test
def a_run_that_is_killed_leaves_no_copy_of_its_folder(tmp):
    # Bug: copies of a project that pile up beside it.
    folder = tmp / "project"
    folder.mkdir()
    process, mark = started(folder, "train.py", options=["--keep-state"])
    assert any(".project.autotune-" in path.name for path in tmp.iterdir()), list(tmp.iterdir())
    process.kill()
    process.communicate(timeout=60)
    wait_until_gone(mark, 10)
    end = time.monotonic() + 10
    while left := [path.name for path in tmp.iterdir() if path != folder]:
        assert time.monotonic() < end, f"after 10 s there is still {left}"
        time.sleep(0.05)


@test
def ctrl_c_while_it_confirms_is_an_interrupted_run_too(tmp):
    # Bug: exit 0, as if the recommendation had been confirmed.
    process, mark = started(tmp, "train.py", options=TWO, confirms=True)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, process.returncode
    assert "interrupted" in out and "--resume" in out, out
    wait_until_gone(mark, 5)
    report = report_of(tmp)
    assert report["interrupted"] is True and report["confirmation"] is None, report["confirmation"]


@test
def ctrl_c_while_changes_of_the_step_are_tried_is_an_interrupted_run_too(tmp):
    # Bug: exit 0 without a word of what was not tried, or a script that trains on.
    process, mark = started(tmp, "train.py", options=[*TWO, "--what-if", "--budget", "2s"])
    for line in process.stderr:
        if "Trying changes of the step" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (process.returncode, err)
    assert "stopping after this trial" in err and "interrupted" in out and "--resume" in out, (out, err)
    wait_until_gone(mark, 5)
    assert report_of(tmp)["interrupted"] is True
    code, _, err = run("--resume", "r.json", cwd=tmp, env=environment())
    report = report_of(tmp)
    assert code == 0 and report["interrupted"] is False and report["what_if"], (code, err)


def interrupted_at_question(tmp, *words):
    """Ctrl-C at the question of a command, on a terminal: its exit code, and the last line that it says."""
    ours, its = pty.openpty()
    with subprocess.Popen([AUTOTUNE, *words], cwd=tmp, env={**os.environ, **environment(SCRIPTS)}, stdin=its, stdout=its,
                          stderr=subprocess.PIPE, text=True) as process:
        os.close(its)
        asked = b""
        try:
            while b"[y/N]" not in asked:
                asked += os.read(ours, 4096)
        except OSError:  # it has ended without a question
            pass
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    os.close(ours)
    return process.returncode, err.splitlines()[-1]


@test
def a_script_that_asks_at_its_terminal_finds_none(tmp):
    # Bug: a question for a password stopped the script, and autotune waited for it during five minutes.
    script = tmp / "train.py"
    script.write_text("try:\n    open('/dev/tty').readline()\nexcept OSError as error:\n    print('asked:', error)\n"
                      + (SCRIPTS / "train.py").read_text())
    ours, its = pty.openpty()
    tune = [*QUIET, "--no-confirm", "--budget", "2s", "--", PYTHON, "train.py"]
    try:
        done = subprocess.run([AUTOTUNE, *tune], cwd=tmp, env={**os.environ, **environment(SCRIPTS)}, stdin=its,
                              capture_output=True, text=True, timeout=120, check=False, start_new_session=True,
                              preexec_fn=lambda: fcntl.ioctl(its, termios.TIOCSCTTY, 0))
    finally:
        os.close(ours), os.close(its)
    assert done.returncode == 0, done.stderr
    report_of(tmp)


@test
def ctrl_c_at_the_question_changes_nothing(tmp):
    # Bug: no word, and another exit code than that of all interrupted runs.
    shutil.copy(SCRIPTS / "train.py", tmp)
    before, said = (tmp / "train.py").read_text(), []
    tune = [*QUIET, "--no-confirm", "--budget", AMPLE, *TWO, "--apply", "--", PYTHON, "train.py"]
    resolved(tmp, lambda: said.append(interrupted_at_question(tmp, *tune)))
    said.append(interrupted_at_question(tmp, "apply", "r.json"))
    assert report_of(tmp)["settings"], "the report is not whole"
    assert said[-2:] == [(130, "autotune: interrupted; nothing was changed")] * 2, said
    assert sorted(path.name for path in tmp.iterdir()) == ["r.json", "r.jsonl", "train.py"], list(tmp.iterdir())
    assert (tmp / "train.py").read_text() == before


@test
def a_killed_run_leaves_no_process_and_is_finished_later(tmp):
    # Bug: orphans that keep the CPUs busy, and a journal that nobody can read.
    process, mark = started(tmp, "train.py", options=[*TWO, "--budget", AMPLE])
    time.sleep(0.5)
    process.kill()
    process.communicate(timeout=60)
    wait_until_gone(mark, 10)
    code, _, err = run("--resume", "r.json", cwd=tmp, env=environment())
    assert code == 0, err
    report = report_of(tmp)
    assert report["interrupted"] is False
    gains_by_workers(report)


# What is allowed, and what is asked.

@test
def the_batch_is_tuned_where_the_training_may_change(tmp):
    # Bug: a batch that is tried unasked, or a learning rate that nobody speaks of.
    wanted = [*TWO, "--batch", "16,64"]
    report, _, _ = tuned(tmp, "train.py", "4096", "0.00001", options=[*wanted, "--allow", "training"],
                         budget=AMPLE)
    assert {trial["config"]["batch"] for trial in report["trials"]} == {16, 64}, report["space"]
    training = report["recommendation"]["tiers"]["training"]
    assert training["config"]["batch"] == 64, training
    assert "learning rate" in " ".join(training["caveats"]), training
    assert report["recommendation"]["tiers"]["safe"]["config"]["batch"] == 16
    (tmp / "r.jsonl").unlink(missing_ok=True)
    report, _, _ = tuned(tmp, "train.py", options=wanted, budget="1s")
    assert only([trial["config"]["batch"] for trial in report["trials"]]) == 16
    left_out = report["space"]["not_applicable"]
    assert any("--allow training is not given" in value["why"] for value in left_out), left_out


@test
def what_changes_of_the_step_bring_is_measured_where_it_is_asked_for(tmp):
    # Bug: a lever that stays on, or one that the script can't have, and that fails the run.
    report, out, _ = tuned(tmp, "train.py", options=[*TWO, "--no-confirm", "--what-if"], budget="3s")
    nothing_fails(report)
    tried = {row["name"]: row["speedup"] for row in report["what_if"]}
    left_out = {one["value"] for one in report["space"]["not_applicable"] if one["axis"] == "what_if"}
    assert tried and tried.keys() | left_out == {"tf32", "bf16", "fp16", "channels_last", "fused",
                                                 "foreach", "non_blocking", "cudnn_benchmark", "compile"}, (tried, left_out)
    assert {"tf32", "fp16", "non_blocking", "cudnn_benchmark"} <= left_out, left_out
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in tried.values()), tried
    assert "only the step were changed" in out and "check that it converges" in out, out
    assert "bf16" not in report["recommendation"]["config"].values(), report["recommendation"]


@test
def what_if_another_precision_leaves_the_recommendation_safe(tmp):
    # Bug: a recommendation in bf16 that was only asked about.
    report, _, _ = tuned(tmp, "train.py", options=[*TWO, "--what-if", "bf16"], budget="3s")
    assert report["recommendation"]["config"]["precision"] == "fp32", report["recommendation"]
    assert "bf16" in {trial["config"]["precision"] for trial in report["trials"]}, report["space"]
    assert list(report["recommendation"]["tiers"])[0] == "safe", report["recommendation"]


@test
def a_script_in_autocast_is_known_as_one(tmp):
    # Bug: it was taken for fp32, and --what-if bf16 compared bf16 with bf16.
    report, out, _ = tuned(tmp, "loops.py", "steps_in_bf16", options=[*TWO, "--allow", "numerics"], budget="2s")
    nothing_fails(report)
    assert only([trial["config"]["precision"] for trial in report["trials"]]) == "bf16", report["trials"]
    assert only([probe["config"]["precision"] for probe in report["probes"]]) == "bf16", report["probes"]
    assert report["workload"]["script"]["config"]["precision"] == "bf16"
    (tmp / "r.jsonl").unlink(missing_ok=True)
    _, _, err = tuned(tmp, "loops.py", "steps_in_bf16", options=[*TWO, "--what-if", "bf16"], code=2)
    assert "--what-if bf16 has nothing to show: the script steps in bf16 already" in err, err


@test
def a_script_that_accumulates_is_told_how_to_keep_its_updates(tmp):
    # Bug: of another batch only the learning rate was spoken of, though the loop adds up the gradients of four.
    report, _, _ = tuned(tmp, "loops.py", "updates_after_four_batches",
                         options=[*TWO, "--batch", "16,64", "--allow", "training"], budget=AMPLE)
    assert report["workload"]["script"]["batches_per_update"] == 4, report["workload"]["script"]
    training = report["recommendation"]["tiers"]["training"]
    assert training["config"]["batch"] == 64, training
    caveats = " ".join(training["caveats"])
    assert "learning rate" in caveats and "update the weights after each batch (today after 4)" in caveats, training


@test
def workers_that_wait_their_turn_sleep(tmp):
    # Bug: parked workers that load on, and slow what is measured beside them.
    report, _, _ = tuned(tmp, "train.py", options=["--workers", "0,1,2", "--prefetch", "2"], budget="3s")
    rounds = [one for trial in report["trials"] for one in trial["rounds"]]
    parked_s, wall_s = (sum(one[key] for one in rounds) for key in ("parked_cpu_s", "duration_s"))
    assert parked_s < 0.1 * wall_s, (parked_s, wall_s)


# The same batches as without the hook.

class Listener:
    """Stands in for autotune: takes in what comes and answers nothing."""

    def __init__(self, folder):
        self.path = str(folder / "socket")
        self.said = b""
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(self.path)
        self._server.listen()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            caller, _ = self._server.accept()
            with caller:
                while block := caller.recv(1 << 16):
                    self.said += block


def said_below(listener, folders, **more):
    """What the script prints in passing: its batches and its random state."""
    env = {**os.environ, **environment(*folders), "FEEDRATE_ATTACH": listener.path, **more}
    done = subprocess.run(command("loops.py", "says_what_it_got"), env=env, capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@test
def a_script_that_is_only_watched_gets_the_very_same_batches(tmp):
    # Bug: a hook that draws from the random numbers of the script.
    listener = Listener(tmp)
    bare = said_below(listener, [])
    assert len(bare) == 12 and len(set(bare)) == 12, bare
    # It waits for a loader that never comes, so that nothing is switched.
    assert said_below(listener, [HOOK], FEEDRATE_LOADER="7") == bare
    plain = {"FEEDRATE_PLAIN": "1", "FEEDRATE_LOADER": "1"}
    assert said_below(listener, [HOOK], **plain) == bare
    assert b'"hello": "none"' in listener.said and b'"batches": 12' in listener.said, listener.said


@test
def a_launch_with_other_settings_gets_the_same_batches_as_one_that_was_written_so(tmp):
    # Bug: settings of a confirmation that reshuffle the data.
    listener = Listener(tmp)
    bare = said_below(listener, [])
    config = {"workers": 2, "prefetch": 1, "pinned": False, "batch": 16, "persistent": False, "start_method": "own",
              "step_threads": 1, "precision": "fp32", "own_precision": "fp32", "device": "cpu"}
    plain = {"FEEDRATE_PLAIN": "1", "FEEDRATE_LOADER": "1", "FEEDRATE_CONFIG": json.dumps(config)}
    assert said_below(listener, [HOOK], **plain) == bare


# Commands of other kinds.

@test
def a_command_that_prints_its_rate_is_tuned_by_a_variable(tmp):
    # Bug: a variable that is not set, or a rate that is read from the launch before.
    (tmp / "program.sh").write_text(
        "i=0\nwhile [ $i -lt 200 ]; do\n  echo \"$((NUM_WORKERS * 100)).5 img/s\"\n  sleep 0.05\n"
        "  i=$((i + 1))\ndone\n")

    def tune():
        code, _, err = run(*QUIET, "--budget", "10s", "--workers", "1,2", "--set", "workers=env:NUM_WORKERS",
                           "--rate", "regex:([0-9.]+) img/s", "--", "sh", "program.sh", cwd=tmp)
        assert code == 0, err

    report = resolved(tmp, tune)
    rates = {trial["config"]["workers"]: rate_of(trial) for trial in report["trials"]}
    assert abs(rates[1] - 100.5) < 1 and abs(rates[2] - 200.5) < 1, rates
    assert report["recommendation"]["config"]["workers"] == 2, report["recommendation"]


@test
def a_command_that_hangs_once_costs_no_config(tmp):
    # Bug: a config that fails because its storage hung once, and nobody is told.
    (tmp / "program.sh").write_text(
        "n=$(cat starts 2>/dev/null || echo 0)\necho $((n + 1)) >starts\n[ $n = 2 ] && sleep 1000\n"
        "while :; do\n  echo \"$((NUM_WORKERS * 100)).5 img/s\"\n  sleep 0.05\ndone\n")
    code, _, err = run(*QUIET, "--budget", "6s", "--trial-timeout", "4s", "--workers", "1,2", "--set",
                       "workers=env:NUM_WORKERS", "--rate", "regex:([0-9.]+) img/s", "--", "sh", "program.sh", cwd=tmp)
    assert code == 0, err
    assert err.count("It is run once more.") == 1, err
    assert "within 4.00 s" in err, err
    said = [(trial["status"], trial["reason"]) for trial in report_of(tmp)["trials"]]
    assert len(said) == 2 and all(status != "failed" for status, _ in said), said


@test
def a_command_that_watches_its_loop_is_tuned_by_its_arguments(tmp):
    # Bug: a helper that is not found below autotune, or an argument that is put in twice.
    code, _, err = run(*QUIET, "--budget", "6s", "--workers", "1,8", "--set", "workers=--threads {}", "--",
                       sys.executable, str(SCRIPTS / "watched.py"), cwd=tmp)
    assert code == 0, err
    report = report_of(tmp)
    rates = {trial["config"]["workers"]: rate_of(trial) for trial in report["trials"]}
    assert rates[8] > 3 * rates[1], rates


@test
def of_hook_helper_and_expression_the_first_is_the_source_whoever_speaks_first(tmp):
    # Bug: whoever was the first to tell a rate: what is printed before the loop, or the helper, where the hook has to
    # see the loop train before it speaks.
    options = ["--budget", "10s", "--workers", "1,2", "--set", "workers=env:NUM_WORKERS", "--rate",
               "regex:([0-9.]+) img/s"]
    for kind, source in (("reports_in_each_way", "hook"), ("reports_without_training", "helper")):
        code, _, err = run(*QUIET, *options, "--", *command("loops.py", kind), cwd=tmp, env=environment())
        assert code == 0, err
        report = report_of(tmp)
        assert report["workload"]["rate_source"] == source, (kind, report["workload"]["rate_source"])
        assert all(50 < rate_of(trial) < 3000 for trial in report["trials"]), report["trials"]


print("# the scripts run on " + ("PyTorch" if HAS_TORCH else "a stub of PyTorch"))
main()
