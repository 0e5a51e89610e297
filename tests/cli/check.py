# SPDX-License-Identifier: Apache-2.0
"""Gates: --require, and the verb check with steps that take a planted time. Prints TAP.

usage: check.py AUTOTUNE_WITH_PLANTED_FAULTS SCHEMA
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

from tap import AUTOTUNE, SCHEMA, main, refused, run, test, validate

QUICK = ["--budget", "3s", "--no-card", "--workers", "0", "--step-threads", "1", "--precision", "fp32", "--search",
         "grid", "--batch", "32", "--against", "workers=0,batch=16", "--workload", "timed"]
# Sleeps are longer on a busy machine: what is planted is far beyond that.
WIDE = ["--budget", "3s", "--tolerate", "20%", "--max-loss", "60%"]
DISTURBED = "others took more of the CPUs"


def step_of(microseconds):
    """The environment in which each step takes so long."""
    return {"FEEDRATE_PLANTED_STEP_US": str(microseconds)}


def baseline(tmp, *more, others_share=1.0):
    """The report of a run with steps of 3 ms; those of the reference, batch 16, take five times as long. It was made on a
    busy machine, so that no program of today disturbs more."""
    code, _, err = run(*QUICK, "--output", "base.json", *more, cwd=tmp, env=step_of(3000))
    assert code == 0, f"exit {code}: {err}"
    report = json.loads((tmp / "base.json").read_text())
    validate(report)
    trial = report["trials"][report["recommendation"]["trial"]]
    assert trial["config"]["batch"] == 32 and trial["fed"], report["recommendation"]
    for one in trial["rounds"]:
        one["others_share"] = others_share
    write(tmp, report)
    return report


def check(tmp, *arguments, step=3000):
    """Exit code and gate of a check."""
    code, out, err = run("check", "--baseline", "base.json", *WIDE, "--json", *arguments, cwd=tmp, env=step_of(step))
    assert out, f"exit {code}: {err}"
    gate = json.loads(out)
    validate_gate(gate)
    return code, gate


def validate_gate(gate):
    import jsonschema
    schema = json.loads((SCHEMA.parent / "gate.schema.json").read_text())
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(gate))
    assert not errors, f"{list(errors[0].path)}: {errors[0].message}"


def conclusions(gate):
    return {metric["name"]: metric["conclusion"] for metric in gate["metrics"]}


def metric(gate, name):
    return next(one for one in gate["metrics"] if one["name"] == name)


def write(tmp, report):
    (tmp / "base.json").write_text(json.dumps(report))


def chosen(report):
    return report["trials"][report["recommendation"]["trial"]]


@test
def the_same_workload_passes_against_its_baseline(tmp):
    # Bug: a gate that alarms where nothing changed, or that judges less than it says.
    baseline(tmp)
    code, gate = check(tmp)
    assert code == 0 and gate["conclusion"] == "pass", gate
    judged = {name: one for name, one in conclusions(gate).items() if one}
    assert judged == {"samples_per_s": "pass", "fed": "pass", "speedup": "pass"}, judged
    ratio = metric(gate, "samples_per_s")["speed_ratio"]
    assert ratio["low"] < ratio["estimate"] < ratio["high"], ratio
    assert gate["verb"] == "check" and "timed" in gate["subject"], gate["subject"]


@test
def a_planted_slowdown_is_found_with_the_part_that_moved(tmp):
    # Bug: a regression that passes, or an alarm that says neither how much nor where.
    baseline(tmp)
    code, gate = check(tmp, step=15000)
    assert code == 1 and gate["conclusion"] == "slower", gate
    assert conclusions(gate)["samples_per_s"] == "slower", gate
    rate = metric(gate, "samples_per_s")
    assert rate["speed_ratio"]["high"] < 0.8 and re.match("The step alone became .* slower", rate["reason"]), rate
    code, out, err = run("check", "--baseline", "base.json", *WIDE, cwd=tmp, env=step_of(15000))
    assert code == 1 and out.startswith("autotune check") and "SLOWER" in out, (code, out, err)
    assert "repeat: autotune check --baseline base.json" in out, out


@test
def a_check_never_passes_on_missing_data(tmp):
    # Bug: a gate that is green since there was nothing to compare with.
    report = baseline(tmp)
    before = chosen(report)["ceilings"]
    chosen(report).update(ceilings=None, fed=None, interference=None)
    write(tmp, report)
    code, gate = check(tmp)
    assert code == 3 and conclusions(gate)["fed"] == "not_comparable", gate
    assert "does not have it" in metric(gate, "fed")["reason"], gate
    assert check(tmp, "--undecided", "pass")[0] == 0 and check(tmp, "--undecided", "fail")[0] == 1
    assert before, before


@test
def other_data_are_not_compared(tmp):
    # Bug: another dataset under the same name that is taken for a regression, or for none.
    report = baseline(tmp)
    report["workload"]["samples"] = 5000
    write(tmp, report)
    code, gate = check(tmp)
    assert code == 3 and gate["conclusion"] == "not_comparable" and gate["metrics"] == [], gate
    assert any("samples: 4,096, was 5,000" in note for note in gate["notes"]), gate["notes"]


@test
def another_machine_is_judged_by_what_carries_over(tmp):
    # Bug: rates of two machines compared, or a pass without the card that makes them comparable.
    report = baseline(tmp)
    report["machine"]["cpu_model"] = "Another CPU"
    write(tmp, report)
    code, gate = check(tmp)
    names = conclusions(gate)
    assert names["samples_per_s"] is None and names["fed"] == names["speedup"] == "pass", names
    assert "CPU model: " in metric(gate, "samples_per_s")["reason"], gate
    assert code == 3 and names["samples_per_s_by_card"] == "not_comparable", gate


@test
def a_check_beside_busy_programs_is_no_verdict(tmp):
    # Bug: a neighbour's build that fails this one, or a requirement that it decides.
    baseline(tmp, others_share=0.0)
    spin = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(spin) for _ in range(2 * os.cpu_count())]
    try:
        code, gate = check(tmp, "--require", "speedup >= 50", step=15000)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert code == 3 and gate["conclusion"] == "not_comparable", gate
    assert any(DISTURBED in note for note in gate["notes"]), gate["notes"]
    assert metric(gate, "samples_per_s")["value"]["estimate"] > 0, gate
    assert [one["fulfilment"] for one in gate["requirements"]] == ["inconclusive"], gate["requirements"]


@test
def requirements_are_judged_by_what_a_check_measures(tmp):
    # Bug: a requirement that is read and forgotten.
    baseline(tmp)
    code, gate = check(tmp, "--require", "samples_per_s >= 1", "--require", "speedup >= 50")
    assert code == 1, gate
    found = [one["fulfilment"] for one in gate["requirements"]]
    assert found == ["met", "not_met"], gate["requirements"]


@test
def a_baseline_that_can_not_be_used_is_one_sentence(tmp):
    # Bug: a crash, or a check against figures that nobody has measured.
    good = baseline(tmp)
    text = (tmp / "base.json").read_text()

    def is_refused(sentence, text, code=4):
        (tmp / "base.json").write_text(text)
        refused(code, sentence, "check", "--baseline", "base.json", cwd=tmp, env=step_of(3000))

    def edited(edit):
        report = json.loads(text)
        edit(report)
        return json.dumps(report)

    is_refused("is empty", "")
    is_refused("is no report", "hello")
    is_refused("is cut or damaged", text[:len(text) // 2])
    is_refused("knows up to", edited(lambda r: r.update(schema_version=99)))
    is_refused("lacks 'schema_version' or 'trials'", "{}")
    is_refused(r"edited or is damaged at trials\[\d+\]\.samples_per_s",
               edited(lambda r: chosen(r)["samples_per_s"].update(estimate=1e6)))
    is_refused(r"edited or is damaged at trials\[\d+\]\.fed", edited(lambda r: chosen(r).update(fed=0.1)))
    is_refused("edited or is damaged at recommendation.config",
               edited(lambda r: r["recommendation"]["config"].update(workers=7)))
    is_refused("did not end", edited(lambda r: r.update(interrupted=True)))
    is_refused("edited or is damaged at tool.command_line",
               edited(lambda r: r["tool"].update(command_line="autotune --nonsense")))
    is_refused("the report of a command.*autotune ab.*--require",
               edited(lambda r: r["workload"].update(kind="command")), code=2)
    (tmp / "base.json").unlink()
    refused(4, "base.json", "check", "--baseline", "base.json", cwd=tmp)
    assert good


@test
def nonsense_is_exit_2_with_one_sentence(tmp):
    # Bug: a gate that is misread and passes.
    baseline(tmp)
    base = ["check", "--baseline", "base.json"]
    for sentence, words in (
            ("give --baseline", ["check"]),
            ("--update needs --reason", [*base, "--update"]),
            ("--reason goes with --update", [*base, "--reason", "new"]),
            ("--tolerate must be less", [*base, "--tolerate", "10%"]),
            ("--max-loss 100% must lie", [*base, "--max-loss", "100%"]),
            ("--budget must be more", [*base, "--budget", "0"]),
            ("--data goes with a baseline of --data", [*base, "--data", "."]),
            ("names no metric: use one of samples_per_s, fed", [*base, "--require", "utilization > 1"]),
            ("names no metric: use one of fed, busy, utilization", [*QUICK, "--require", "fad > 1"]),
            ("needs one of >=", [*QUICK, "--require", "fed"]),
            ("names no metric: use one of read_bytes_per_s", ["doctor", "--require", "fed > 1"]),
            ("--undecided 'maybe' makes no sense", [*QUICK, "--undecided", "maybe"])):
        refused(2, sentence, *words, cwd=tmp, env=step_of(3000))


@test
def an_update_keeps_why_and_what_was_before(tmp):
    # Bug: a baseline that changed, and nobody knows why; or one that is written half.
    old = baseline(tmp)
    (tmp / "base.json").rename(tmp / "v1.json")
    (tmp / "base.jsonl").rename(tmp / "v1.jsonl")
    (tmp / "v1.json").chmod(0o600)
    (tmp / "base.json").symlink_to("v1.json")
    code, gate = check(tmp, "--update", "--reason", "a slower step, on purpose", step=9000)
    assert code == 0 and any("was updated" in note for note in gate["notes"]), gate
    assert (tmp / "base.json").is_symlink(), "the link was replaced"
    assert (tmp / "v1.json").stat().st_mode & 0o777 == 0o600, "others may read it now"
    new = json.loads((tmp / "base.json").read_text())
    validate(new)
    assert new["baseline"]["reason"] == "a slower step, on purpose", new["baseline"]
    assert new["baseline"]["before"]["samples_per_s"] == chosen(old)["samples_per_s"], new["baseline"]
    assert chosen(new)["samples_per_s"]["estimate"] < 0.6 * chosen(old)["samples_per_s"]["estimate"]
    # The journal would bring the old figures back.
    assert sorted(path.name for path in tmp.iterdir()) == ["base.json", "v1.json"], list(tmp.iterdir())
    for one in chosen(new)["rounds"]:
        one["others_share"] = 1.0
    write(tmp, new)
    code, gate = check(tmp, step=9000)
    assert code == 0, gate


@test
def a_baseline_of_another_machine_is_not_updated(tmp):
    # Bug: a report with figures of two machines.
    report = baseline(tmp)
    report["machine"]["cpu_model"] = "Another CPU"
    write(tmp, report)
    before = (tmp / "base.json").read_bytes()
    refused(2, "--update needs the machine", "check", "--baseline", "base.json", "--update", "--reason", "x",
            cwd=tmp, env=step_of(3000))
    assert (tmp / "base.json").read_bytes() == before


@test
def a_config_that_can_not_be_run_any_more_is_exit_6(tmp):
    # Bug: a crash of the step that is taken for a verdict.
    baseline(tmp)
    refused(6, "can't be run any more.*SIGSEGV", "check", "--baseline", "base.json", *WIDE, cwd=tmp,
            env=step_of("crash"))


@test
def an_interrupted_check_is_no_verdict(tmp):
    # Bug: a part of the rounds that passes.
    baseline(tmp)
    process = subprocess.Popen([AUTOTUNE, "check", "--baseline", "base.json", "--budget", "60s"], cwd=tmp,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("Checking"):
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "" and "interrupted" in err, (process.returncode, out, err)


@test
def a_run_with_requirements_ends_by_them(tmp):
    # Bug: exit 0 for a run that misses what was required, or a report that does not say so.
    words = [*QUICK, "--json", "--require", "speedup >= 1.2"]
    code, out, err = run(*words, cwd=tmp, env=step_of(3000))
    report = json.loads(out)
    validate(report)
    assert code == 0 and [one["fulfilment"] for one in report["requirements"]] == ["met"], (code, err)
    code, out, _ = run(*words, "--require", "memory_bytes < 1", cwd=tmp, env=step_of(3000))
    found = json.loads(out)["requirements"]
    assert code == 1 and [one["fulfilment"] for one in found] == ["met", "not_met"], found
    code, out, _ = run(*QUICK, "--require", "memory_bytes < 1", "--write", "csv=gate.csv", cwd=tmp, env=step_of(3000))
    assert "memory_bytes" in (tmp / "gate.csv").read_text() and "not_met" in (tmp / "gate.csv").read_text()
    assert code == 1 and "GATE  not met: memory_bytes < 1" in out, (code, out)


@test
def an_acceptance_test_of_a_node_ends_by_its_requirements(tmp):
    # Bug: a node that lacks what a fleet needs, and is accepted.
    code, out, err = run("doctor", "--json", "--require", "cpus >= 1", "--require", "copy_bytes_per_s > 1kB/s",
                         cwd=tmp)
    answer = json.loads(out)
    assert [one["fulfilment"] for one in answer["requirements"]] == ["met", "met"], answer["requirements"]
    assert code == (1 if answer["status"] == "problem" else 0), err
    code, out, err = run("doctor", "--require", "gpus >= 9000", cwd=tmp)
    assert code == 1 and "not met: gpus >= 9000: gpus is 0" in out, (code, out, err)


main()
