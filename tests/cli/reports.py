# SPDX-License-Identifier: Apache-2.0
"""The verbs show and compare: reports of real runs, and files that are none. Prints TAP.

usage: reports.py AUTOTUNE SCHEMA
"""

import json
import re
import os
import pty
import shutil
import struct
import subprocess

from tap import AUTOTUNE, SCHEMA, main, refused, run, test, validate

QUICK = ["--workload", "tabular", "--budget", "1s", "--no-card", "--workers", "0,1", "--prefetch", "1",
         "--step-threads", "1", "--precision", "fp32", "--batch", "32"]
COMMITTED = SCHEMA.parent


def nodes(folder, factors):
    """Copies of a committed report, as of so many machines; factor 0.7 is a node 30 % slower."""
    for number, factor in enumerate(factors):
        report = json.loads((COMMITTED / "cpu-images.json").read_text())
        report["machine"]["fingerprint"] = f"{number:016x}"
        for trial in report["trials"]:
            for one in trial["rounds"]:
                one["samples"] = round(one["samples"] * factor)
        (folder / f"node{number}.json").write_text(json.dumps(report))
    return [f"node{number}.json" for number in range(len(factors))]


def on_terminal(columns, *arguments, cwd):
    """What autotune prints on a terminal of so many columns."""
    import fcntl
    import termios
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([AUTOTUNE, *arguments], cwd=cwd, stdout=terminal, stderr=subprocess.PIPE,
                          env={**os.environ, "TERM": "xterm"}) as process:
        os.close(terminal)
        text = b""
        while True:
            try:
                block = os.read(controller, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            text += block
        os.close(controller)
        assert process.wait() == 0, process.stderr.read()
    return text.decode()


@test
def show_prints_the_screen_that_its_run_printed(tmp):
    # Bug: a screen that says something else than the run did, because the report lacks a part of it.
    for device in (["--device", "cpu"], ["--device", "emulated:1ms@32"]):
        for verbose in ([], ["--verbose"]):
            output = f"{len(device[1])}{len(verbose)}.json"
            code, screen, err = run(*QUICK, *device, "--what-if", *verbose, "--output", output, cwd=tmp)
            assert code == 0, err
            code, shown, err = run("show", output, *verbose, cwd=tmp)
            assert code == 0, err
            assert shown == screen, (shown, screen)
            code, resumed, err = run("--resume", output, *verbose, "--quiet", cwd=tmp)
            assert code == 0, err
            assert resumed.splitlines()[:-1] == screen.splitlines()[:-1], (resumed, screen)


@test
def show_prints_the_screen_of_an_interrupted_run(tmp):
    # Bug: a report that no verb can read, since nothing is recommended in it.
    code, out, err = run(*QUICK[:2], "--budget", "60ms", "--no-card", "--workers", "0,1,2", "--output", "r.json",
                         cwd=tmp)
    assert code == 0, err
    assert run("show", "r.json", cwd=tmp)[:2] == (0, out)
    report = json.loads((tmp / "r.json").read_text())
    report["recommendation"], report["interrupted"] = None, True
    (tmp / "cut.json").write_text(json.dumps(report))
    code, out, err = run("show", "cut.json", cwd=tmp)
    assert code == 0 and "interrupted" in out and "No config was measured" in out, (out, err)


@test
def show_prints_each_committed_report_and_its_json(tmp):
    # Bug: an old report that the command of today refuses, or prints changed.
    for path in sorted(COMMITTED.glob("*.json")):
        document = json.loads(path.read_text())
        if "schema_version" not in document:
            continue
        code, out, err = run("show", str(path), "--color", "always", "--verbose", cwd=tmp)
        assert code == 0 and "SET" in out and "\x1b[1m" in out, (path.name, err)
        code, out, err = run("show", str(path), "--json", cwd=tmp)
        assert code == 0 and json.loads(out) == document, (path.name, err)
        validate(json.loads(out))


@test
def two_reports_have_a_ratio_and_many_have_outliers(tmp):
    # Bug: a slow node that nobody is told of, or a ratio upside down.
    files = nodes(tmp, [1, 1.01, 0.99, 0.7, 1.005])
    code, out, err = run("compare", *files, cwd=tmp)
    assert code == 0, err
    flat = " ".join(out.split())
    assert re.search(r"node3.json: rate [0-9,]+ samples/s, 30 % below the median", flat), out
    assert flat.count("below the median") == 1 and all(name in out for name in files), out
    code, out, err = run("compare", "node0.json", "node3.json", cwd=tmp)
    assert code == 0 and "node3.json is 0.70" in " ".join(out.split()) and "Two machines" in out, (out, err)


@test
def the_json_of_a_comparison_keeps_to_its_schema(tmp):
    # Bug: a key that the schema does not know, or that is not there.
    import jsonschema
    schema = json.loads((COMMITTED / "comparison.schema.json").read_text())
    files = nodes(tmp, [1, 1.01, 0.99, 0.7])
    other = str(COMMITTED / "cpu-tabular-waiting.json")
    for code, names in ((0, files), (0, files[:2]), (3, [files[0], other])):
        found, out, err = run("compare", "--json", *names, cwd=tmp)
        assert found == code, err
        jsonschema.Draft202012Validator(schema).validate(json.loads(out))
    assert "workload" in [one["key"] for one in json.loads(out)["differences"]], out


@test
def what_was_measured_differently_is_shown_but_not_ranked(tmp):
    # Bug: a cold run that is called slower than a warm one.
    files = nodes(tmp, [1, 1, 1])
    report = json.loads((tmp / files[1]).read_text())
    report["workload"]["cache"] = "cold"
    (tmp / files[1]).write_text(json.dumps(report))
    code, out, err = run("compare", *files, cwd=tmp)
    assert code == 3 and all(name in out for name in files), (out, err)
    assert "Not ranked, because the reports were measured differently: cache (warm; cold)." in " ".join(out.split()), out


@test
def runs_of_one_machine_are_compared_with_a_word_on_drift(tmp):
    # Bug: a change that is blamed for what the machine did on another day.
    report = json.loads((COMMITTED / "cpu-images.json").read_text())
    (tmp / "monday.json").write_text(json.dumps(report))
    report["tool"]["started_at"] = "2026-01-01T00:00:00Z"
    (tmp / "tuesday.json").write_text(json.dumps(report))
    code, out, err = run("compare", "monday.json", "tuesday.json", cwd=tmp)
    assert code == 0 and "drift is not excluded; 'autotune ab'" in " ".join(out.split()), (out, err)


@test
def a_comparison_fits_terminals_of_any_width(tmp):
    # Bug: lines that a narrow terminal breaks, or a wide one leaves unused.
    files = nodes(tmp, [1, 1.01, 0.7])
    for columns in (40, 80, 132):
        out = on_terminal(columns, "compare", *files, cwd=tmp)
        longest = max(len(line) for line in out.splitlines())
        assert longest <= columns, f"{longest} of {columns} columns: {out}"


@test
def files_that_are_no_reports_are_refused_with_one_sentence(tmp):
    # Bug: half a report taken for a whole one, or a crash with no name and no place.
    good = (COMMITTED / "cpu-images.json").read_text()
    report = json.loads(good)
    bad = {
        "cut.json": (good[:5000], r"cut or damaged: it is no JSON at line \d+, column \d+"),
        "empty.json": ("", "'empty.json' is empty"),
        "text.json": ("hello", "is no report, and no JSON object at all"),
        "other.json": ('{"a": 1}', "is JSON, but no report of autotune"),
        "deep.json": ('{"a": ' + "[" * 70 + "]" * 70 + "}", "deeper than 64 levels"),
        "newer.json": (json.dumps({**report, "schema_version": 99}), "has schema version 99"),
        "run.jsonl": ('{"journal_version":4}\n', "is the journal of a run, not its report; give 'run.json'"),
        "edited.json": (json.dumps({**report, "trials": report["trials"][:1]}), "is damaged at .*no (measured )?trial"),
        "typo.json": (json.dumps({**report, "budget": 1, "space": []}), "is damaged at space"),
    }
    for name, (text, sentence) in bad.items():
        (tmp / name).write_text(text)
        refused(4, sentence, "show", name, cwd=tmp)
        refused(4, sentence, "compare", str(COMMITTED / "cpu-images.json"), name, cwd=tmp)
    with open(tmp / "large.json", "wb") as file:
        file.truncate((64 << 20) + 1)
    refused(4, "'large.json' is larger than 64 MiB", "show", "large.json", cwd=tmp)
    refused(4, "'[.]' is a directory, not a file", "show", ".", cwd=tmp)
    refused(4, "'missing.json': No such file", "show", "missing.json", cwd=tmp)
    os.mkfifo(tmp / "pipe")
    refused(4, "'pipe' is a pipe, not a file", "show", "pipe", cwd=tmp)


@test
def a_wrong_number_of_reports_is_refused(tmp):
    # Bug: a report compared with itself, or counted twice in a median.
    files = nodes(tmp, [1, 1])
    shutil.copy(tmp / files[0], tmp / "copy.json")
    refused(2, "REPORT is required", "show", cwd=tmp)
    refused(2, "not expected: node1.json", "show", *files, cwd=tmp)
    refused(2, "REPORT is required", "compare", cwd=tmp)
    refused(2, "needs two reports or more; 'autotune show node0.json'", "compare", files[0], cwd=tmp)
    refused(2, "are the same file", "compare", files[0], "./node0.json", cwd=tmp)
    refused(2, "hold the same run", "compare", *files, "copy.json", cwd=tmp)


@test
def names_that_are_not_utf_8_and_closed_pipes_do_no_harm(tmp):
    # Bug: an exception on a name of bytes, or exit 70 behind `| head`.
    files = nodes(tmp, [1, 1.01])
    name = b"\xff\xfe.json"
    shutil.copy(tmp / files[0], os.path.join(os.fsencode(tmp), name))
    for arguments in (["show", name], ["compare", files[1], name], ["compare", "--json", files[1], name]):
        done = subprocess.run([AUTOTUNE, *arguments], cwd=tmp, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["reports"][1]["file"].endswith(".json")
    for arguments in (["show", files[0], "--verbose"], ["compare", *files], ["show", files[0], "--json"]):
        for prelude in ("", "trap '' PIPE; "):  # killed by SIGPIPE, or told by write()
            script = prelude + '"$0" "$@" | true; echo "${PIPESTATUS[0]}"'
            done = subprocess.run(["bash", "-c", script, AUTOTUNE, *arguments], cwd=tmp, text=True,
                                  capture_output=True, check=False)
            assert done.stderr == "" and done.stdout.strip() in ("0", "141"), (arguments, done)


main()
