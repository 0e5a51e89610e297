# SPDX-License-Identifier: Apache-2.0
"""Trials that die, runs that are killed, and what is left of both. Prints TAP.

usage: supervision.py AUTOTUNE_WITH_PLANTED_FAULTS SCHEMA
"""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time

from tap import AUTOTUNE, main, refused, run, test, validate

QUICK = ["--budget", "2s", "--no-card", "--workers", "0,1", "--prefetch", "1", "--step-threads", "1",
         "--precision", "fp32", "--search", "grid"]
# Sanitizers shall not take the signals that are planted.
for sanitizer in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
    os.environ[sanitizer] = os.environ.get(sanitizer, "") + ":handle_segv=0:handle_abort=0"


def start(*arguments, cwd):
    return subprocess.Popen([AUTOTUNE, *arguments], cwd=cwd, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def children_of(pid):
    """The processes whose parent is `pid`, by /proc; those that only wait to be reaped are left out."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
        except (OSError, ValueError, IndexError):
            continue
        if entry.name.isdigit() and int(parent) == pid and state not in "ZX":
            found.append(int(entry.name))
    return found


def wait_for(condition, what, seconds=30):
    """The first true value of `condition()`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def gone(pid):
    """Whether a process has ended; a zombie has, its reaper may be slow."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def journal_lines(path):
    """The whole lines of a journal."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def rounds_of(path, any_part=False):
    """The rounds that a journal holds: the coupled ones, or all."""
    asked = [(line["question"], line["answer"]) for line in journal_lines(path)[1:] if "question" in line]
    return [answer["round"] for question, answer in asked
            if "round" in answer and (any_part or question["part"] == "coupled")]


def faulty(tmp, workload, *more):
    """Tunes a workload with a fault; returns (report, trials of batch 16, trials of batch 32)."""
    code, _, err = run(*QUICK, "--batch", "16,32", "--workload", workload, *more, cwd=tmp)
    assert code == 0, f"exit {code}: {err}"
    report = json.loads((tmp / f"feedrate-{workload}.json").read_text())
    validate(report)
    by_batch = {16: [], 32: []}
    for trial in report["trials"]:
        by_batch[trial["config"]["batch"]].append(trial)
    return report, by_batch[16], by_batch[32]


def blocks_of(trials):
    return {one["block"] for trial in trials for one in trial["rounds"]}


@test
def a_trial_that_crashes_costs_its_config_alone_and_is_named(tmp):
    # Bug: a segmentation fault in a step that ends the run, or that is reported as something else.
    for workload, reason in (("segfault", "SIGSEGV"), ("abort", "SIGABRT"), ("exit", "exit code 3")):
        _, bad, good = faulty(tmp, workload)
        for trial in bad:
            assert trial["status"] == "failed" and reason in trial["reason"], trial
            assert "planted: a step that ends in " + workload in trial["reason"], trial
        for trial in good:
            assert trial["status"] == "measured" and trial["rounds"], trial
        assert len(blocks_of(good)) > 1 or 0 not in blocks_of(good), "no new child has a new block"


@test
def memory_that_runs_out_costs_its_config_and_not_even_the_child(tmp):
    # Bug: std::bad_alloc that ends the child, although nothing is damaged.
    _, bad, good = faulty(tmp, "bad_alloc")
    assert all("There is no memory left" in trial["reason"] for trial in bad), bad
    assert blocks_of(good) == {0}, blocks_of(good)


@test
def a_trial_that_hangs_is_killed_after_its_time(tmp):
    # Bug: one endless loop that hangs the whole run.
    begin = time.monotonic()
    _, bad, good = faulty(tmp, "loop", "--trial-timeout", "1s", "--budget", "8s")
    failed = [trial["reason"] for trial in bad if trial["status"] == "failed"]
    assert failed and all("no batch within 1.00 s" in reason for reason in failed), bad
    assert all(trial["rounds"] for trial in good), good
    assert time.monotonic() - begin < 60, "the hang was waited for"


@test
def a_trial_that_hangs_once_costs_neither_its_config_nor_the_budget(tmp):
    # Bug: a storage that stalls for a minute ends in "Every trial failed", since waiting for it has
    # used up the budget.
    code, _, err = run(*QUICK, "--workload", "hang_once", "--batch", "16", "--trial-timeout", "4s",
                       "--budget", "3s", cwd=tmp)
    assert code == 0, err
    assert "no batch within 4.00 s and was killed" in err and "It is run once more." in err, err
    report = json.loads((tmp / "feedrate-hang_once.json").read_text())
    validate(report)
    assert [trial["status"] for trial in report["trials"]] == ["measured"] * 2, report["trials"]


@test
def a_step_that_takes_long_is_no_hang(tmp):
    # Bug: a bound that fill, first step and second step must meet together. A step takes 1.5 s.
    _, bad, _ = faulty(tmp, "slow", "--trial-timeout", "2s", "--budget", "8s")
    assert not any(trial["status"] == "failed" for trial in bad), bad
    assert any(trial["rounds"] for trial in bad), bad


@test
def a_preparation_that_hangs_is_ended(tmp):
    # Bug: a heart that beats beside a thread which is stuck.
    begin = time.monotonic()
    refused(70, "two processes died while preparing.*no sign of life for 1.50 s while it prepared", *QUICK,
            "--workload", "stuck", "--trial-timeout", "300ms", cwd=tmp)
    assert time.monotonic() - begin < 30, "the hang was waited for"


@test
def a_preparation_that_is_slow_but_alive_is_waited_for(tmp):
    # Bug: a bound on the whole preparation, where one on its silence is meant.
    code, _, err = run(*QUICK, "--workload", "slow_start", "--trial-timeout", "600ms", cwd=tmp)
    assert code == 0, err


@test
def a_child_that_is_killed_from_outside_is_replaced(tmp):
    # Bug: the kernel's choice of a victim ends the run, or rounds of two processes become a pair.
    process = start(*QUICK, "--budget", "6s", "--workload", "sound", cwd=tmp)
    journal = tmp / "feedrate-sound.jsonl"
    wait_for(lambda: len(rounds_of(journal)) >= 2, "a round")
    child = children_of(process.pid)[0]
    assert pathlib.Path(f"/proc/{child}/oom_score_adj").read_text().strip() == "1000"
    os.kill(child, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    report = json.loads((tmp / "feedrate-sound.json").read_text())
    validate(report)
    assert blocks_of(report["trials"]) == {0, 1}, blocks_of(report["trials"])
    failures = [line["answer"]["failed"] for line in journal_lines(journal)[1:]
                if "failed" in line.get("answer", {})]
    assert len(failures) <= 1 and all("SIGKILL" in one["sentence"] for one in failures), failures


def is_idle(pid):
    """Whether a process uses no CPU time for a second."""
    def ticks():
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    before = ticks()
    time.sleep(1)
    return ticks() == before


@test
def a_child_that_is_killed_between_two_rounds_costs_no_config(tmp):
    # Bug: the config whose round would have been next failed in its place.
    process = start(*QUICK, "--budget", "12s", "--workload", "sound", cwd=tmp)
    journal = tmp / "feedrate-sound.jsonl"
    wait_for(lambda: len(rounds_of(journal)) >= 2, "a round")
    os.kill(process.pid, signal.SIGSTOP)
    child = children_of(process.pid)[0]
    time.sleep(1)
    wait_for(lambda: is_idle(child), "the end of the round that runs")
    os.kill(child, signal.SIGKILL)
    wait_for(lambda: gone(child), "the end of the child")  # else it is asked while it dies
    os.kill(process.pid, signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert blocks_of(json.loads((tmp / "feedrate-sound.json").read_text())["trials"]) == {0, 1}
    failures = [line["answer"]["failed"] for line in journal_lines(journal)[1:]
                if "failed" in line.get("answer", {})]
    assert not failures, failures


@test
def a_child_that_cannot_start_ends_the_run_with_one_sentence(tmp):
    # Bug: a run that starts children for ever, or an exit code that means something else.
    refused(70, "two processes died while preparing.*SIGSEGV", *QUICK, "--workload", "unpreparable", cwd=tmp)
    refused(4, "no planted data", *QUICK, "--workload", "no_data", cwd=tmp)
    code, _, err = run(*QUICK, "--workload", "second_chance", cwd=tmp)
    assert code == 0 and (tmp / "prepared_once").exists(), err


def is_finished(journal):
    """Whether the last line of a journal says that nothing is missing."""
    lines = journal_lines(journal)
    return bool(lines) and "finished" in lines[-1]


def kill_at(dice, arguments, journal, cwd):
    """Kills a run about where it has written some more lines; false where it ended before that."""
    process = start(*arguments, cwd=cwd)
    wanted = len(journal_lines(journal)) + dice.choice([0, 1, 1, 2])
    wait_for(lambda: len(journal_lines(journal)) >= wanted or process.poll() is not None, f"line {wanted}")
    time.sleep(dice.uniform(0, 0.1))
    alive, children = process.poll() is None, children_of(process.pid)
    process.kill()
    _, err = process.communicate(timeout=30)
    assert alive or process.returncode == 0, err
    for child in children:
        wait_for(lambda: gone(child), f"the end of the orphan {child}")
    return alive


def check_round_by_round(report, journal):
    """Every round of the journal is in the report, once, and no other."""
    reported = {(one["duration_s"], one["samples"])
                for one in [*(one for trial in report["trials"] for one in trial["rounds"]),
                            *(probe["round"] for probe in report["probes"] + report["disturbed"])]}
    journalled = [(one["duration_s"], one["samples"]) for one in rounds_of(journal, any_part=True)]
    assert len(journalled) == len(set(journalled)), "a round was recorded twice"
    assert reported <= set(journalled), "the report holds rounds that the journal lacks"
    missing = set(journalled) - reported
    assert not missing, f"{len(missing)} of {len(journalled)} rounds are not in the report"


@test
def a_run_that_loses_its_last_child_leaves_an_interrupted_report(tmp):
    # Bug: an unfinished report that passes for a whole one, because an error ended its run.
    refused(70, "two processes died while preparing", *QUICK, "--batch", "16,32", "--workload", "once", cwd=tmp)
    report = json.loads((tmp / "feedrate-once.json").read_text())
    validate(report)
    assert report["interrupted"] is True and report["trials"], report


@test
def a_run_that_is_killed_goes_on_from_its_journal(tmp):
    # Bug: rounds that are lost or run twice after a kill, a report that is half a file or passes for
    # a whole run's, or a child that outlives its parent.
    report_path, journal = tmp / "feedrate-sound.json", tmp / "feedrate-sound.jsonl"
    dice, kills, resumed = random.Random(7), 0, 0
    fresh = [*QUICK, "--budget", "4s", "--workload", "sound"]
    while kills < 50:
        if is_finished(journal):  # another run, in the place of this one
            report_path.unlink(missing_ok=True)
            journal.unlink()
        goes_on = bool(journal_lines(journal))
        resumed += goes_on
        kills += kill_at(dice, ["--resume", report_path.name] if goes_on else fresh, journal, tmp)
        if report_path.exists():
            report = json.loads(report_path.read_text())
            validate(report)
            assert report["interrupted"] or is_finished(journal), "half a run passes for a whole one"
    assert resumed > 20, f"only {resumed} of {kills} kills hit a run that was gone on with"
    if not journal_lines(journal):
        start(*fresh, cwd=tmp).communicate(timeout=60)
    code, _, err = run("--resume", report_path.name, cwd=tmp)
    assert code == 0, err
    report = json.loads(report_path.read_text())
    validate(report)
    assert report["interrupted"] is False and journal_lines(journal)[-1]["finished"] is True
    check_round_by_round(report, journal)


def finish(tmp):
    """A run of a workload without a fault, from its first to its last line."""
    code, _, err = run(*QUICK, "--workload", "sound", cwd=tmp)
    assert code == 0, err


@test
def a_finished_run_resumes_to_the_same_report(tmp):
    # Bug: a search that depends on more than its answers: a clock, an address, the free memory.
    finish(tmp)
    path = tmp / "feedrate-sound.json"
    before = path.read_text()
    (tmp / "elsewhere").mkdir()
    path.rename(tmp / "elsewhere" / path.name)
    (tmp / "feedrate-sound.jsonl").rename(tmp / "elsewhere" / "feedrate-sound.jsonl")
    code, out, err = run("--resume", "elsewhere/feedrate-sound.jsonl", "--json", cwd=tmp)
    assert code == 0, err
    assert json.loads(out) == json.loads(before), "the report is another one"
    assert (tmp / "elsewhere" / path.name).read_text() == before
    assert not path.exists()


@test
def what_cannot_be_resumed_is_refused_with_one_sentence(tmp):
    # Bug: rates of two machines or two versions in one race, or a crash on a foreign file.
    finish(tmp)
    journal = tmp / "feedrate-sound.jsonl"
    whole = journal.read_text()
    lines = whole.splitlines(keepends=True)

    def changed(text, sentence):
        journal.write_text(text)
        refused(2, sentence, "--resume", "feedrate-sound.json", cwd=tmp)
    header = json.loads(lines[0])
    changed(json.dumps({**header, "journal_version": 99}) + "\n", "version 99")
    changed(json.dumps({**header, "tool": {**header["tool"], "version": "0.0.1"}}) + "\n", "0.0.1")
    machine = {**header["machine"], "fingerprint": "0" * 16}
    changed(json.dumps({**header, "machine": machine}) + "\n", "another machine")
    changed("no journal\n", "no journal of autotune")
    changed("[" * 100000 + "\n", "no journal of autotune")
    changed("", "holds no whole line")
    changed(lines[0][:100], "holds no whole line")
    changed("".join([lines[0], "{}\n", *lines[1:]]), "Line 2 .* is damaged")
    changed("".join([lines[0], *lines[4:]]), "is not what this program asks for")
    changed(whole.replace(lines[0], json.dumps({**header, "folder": "/nowhere"}) + "\n"), "can't be entered")
    refused(2, "no journal .*missing.jsonl", "--resume", "missing.json", cwd=tmp)
    journal.write_text(whole)
    refused(2, "leave out --budget", "--resume", "feedrate-sound.json", "--budget", "9s", cwd=tmp)
    refused(2, "leave out the command behind --", "--resume", "feedrate-sound.json", "--", "python", "x.py", cwd=tmp)
    journal.unlink()
    journal.mkdir()
    refused(2, "jsonl' can't be written: Is a directory; copy it", "--resume", "feedrate-sound.json", cwd=tmp)


@test
def a_place_where_no_journal_can_lie_is_refused_before_anything_is_measured(tmp):
    # Bug: exit 1, or a run that can't be resumed, for want of another name.
    (tmp / "feedrate-sound.jsonl").mkdir()
    refused(2, "jsonl' can't be written: Is a directory; choose another --output", *QUICK, "--workload",
            "sound", cwd=tmp)
    assert not (tmp / "feedrate-sound.json").exists()


@test
def two_runs_do_not_write_one_journal(tmp):
    # Bug: a journal in which the lines of two runs alternate.
    process = start(*QUICK, "--budget", "20s", "--workload", "sound", cwd=tmp)
    wait_for(lambda: journal_lines(tmp / "feedrate-sound.jsonl"), "a journal")
    refused(2, "Another autotune is writing", *QUICK, "--workload", "sound", cwd=tmp)
    refused(2, "Another autotune is writing", "--resume", "feedrate-sound.json", cwd=tmp)
    process.kill()
    process.communicate(timeout=30)


@test
def the_first_interrupt_writes_a_partial_report_and_the_second_ends_at_once(tmp):
    # Bug: Ctrl-C that kills the child before the parent, and with it the trial in progress; or a
    # child that goes on alone.
    for signals in (1, 2):
        process = subprocess.Popen([AUTOTUNE, *QUICK, "--budget", "60s", "--workload", "loop",
                                    "--batch", "32" if signals == 1 else "16", "--output", f"{signals}.json"],
                                   cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        wait_for(lambda: (tmp / f"{signals}.jsonl").exists(), "the first trial")
        if signals == 1:
            wait_for(lambda: len(rounds_of(tmp / "1.jsonl")) >= 2, "some rounds")
        time.sleep(0.3)
        children = children_of(process.pid)
        begin = time.monotonic()
        for _ in range(signals):
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            time.sleep(0.3)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, (process.returncode, err)
        for child in children:
            wait_for(lambda: gone(child), f"the end of the child {child}")
        if signals == 2:
            assert time.monotonic() - begin < 30, "the second interrupt was not at once"
            continue
        report = json.loads((tmp / "1.json").read_text())
        validate(report)
        assert report["interrupted"] is True
        assert not any("SIG" in (trial["reason"] or "") for trial in report["trials"]), "the trial was killed"


@test
def an_interrupted_run_can_be_resumed(tmp):
    # Bug: questions of a run that ends early in the journal, which a resumed run does not ask.
    process = start(*QUICK, "--budget", "6s", "--workload", "sound", cwd=tmp)
    wait_for(lambda: len(rounds_of(tmp / "feedrate-sound.jsonl")) >= 3, "some rounds")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    # Bug: nobody knows whether the signal was heard.
    assert process.returncode == 130 and "\nautotune: stopping after this trial; again to stop now\n" in err, err
    code, _, err = run("--resume", "feedrate-sound.json", "--quiet", cwd=tmp)
    assert code == 0 and err == "", err
    assert json.loads((tmp / "feedrate-sound.json").read_text())["interrupted"] is False


@test
def a_journal_that_does_not_fit_the_disk_is_one_sentence(tmp):
    # Bug: a run that dies, or stays silent, because its journal can't be written.
    def limited(size):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return limit
    code, out, err = run(*QUICK, "--workload", "sound", "--quiet", cwd=tmp, preexec_fn=limited(500))
    assert code == 70 and err.count("The journal") == 1 and "can't be resumed" in err, (code, err)
    assert out.startswith("autotune") and list(tmp.iterdir()) == [], list(tmp.iterdir())
    code, _, err = run(*QUICK, "--workload", "sound", "--quiet", cwd=tmp, preexec_fn=limited(6000))
    assert err.count("The journal") == 1, err
    lines = journal_lines(tmp / "feedrate-sound.jsonl")
    assert len(lines) > 1 and (tmp / "feedrate-sound.jsonl").read_bytes().endswith(b"\n"), "a torn journal"
    code, _, err = run("--resume", "feedrate-sound.json", "--quiet", cwd=tmp)
    assert code == 0 and err == "", err


@test
def a_report_on_standard_output_leaves_no_journal(tmp):
    # Bug: files in a folder where none were asked for.
    code, out, err = run(*QUICK, "--workload", "sound", "--output", "-", cwd=tmp)
    assert code == 0, err
    validate(json.loads(out))
    assert list(tmp.iterdir()) == []


@test
def trials_can_run_in_the_same_process(tmp):
    # Bug: a switch for debuggers that starts a child all the same.
    code, out, err = run(*QUICK, "--workload", "sound", "--in-process", "--json", cwd=tmp)
    assert code == 0, err
    validate(json.loads(out))
    code, _, _ = run(*QUICK, "--workload", "segfault", "--in-process", cwd=tmp)
    assert code == -signal.SIGSEGV, code


main()
