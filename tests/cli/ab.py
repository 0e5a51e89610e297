# SPDX-License-Identifier: Apache-2.0
"""The verb ab: two commands or two configs, and what becomes of them. Prints TAP.

usage: ab.py AUTOTUNE GATE_SCHEMA

Rates are printed by programs that make them up, so that no verdict depends on the machine.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from tap import AUTOTUNE, main, refused, run, test, validate

# Prints the rates that it is given, in turns, for ever.
PRINTER = """
import itertools, sys, time
for rate in itertools.cycle(sys.argv[1:]):
    print(rate, "img/s", flush=True)
    time.sleep(0.002)
"""
RATE = ["--rate", "regex:([0-9.a-z]+) img/s", "--seconds", "20ms"]

# Stands in for a Google Benchmark program: each word is a benchmark, NAME:TIME:UNIT. With more
# than one list of words, separated by "then", each run takes the next one.
BENCHMARKS = """
import json, os, pathlib, sys
lists = " ".join(sys.argv[2:]).split(" then ")
count = pathlib.Path(sys.argv[1])
run = int(count.read_text()) if count.exists() else 0
count.write_text(str(run + 1))
rows = [word.split(":") for word in lists[min(run, len(lists) - 1)].split()]
pathlib.Path(os.environ["BENCHMARK_OUT"]).write_text(json.dumps({"benchmarks": [
    {"name": name, "run_type": "iteration", "real_time": float(time), "time_unit": unit}
    for name, time, unit in rows]}))
"""


def program(cwd, name, text):
    path = pathlib.Path(cwd) / name
    path.write_text(text)
    return str(path)


def printer(cwd, *rates):
    return ["--", sys.executable, program(cwd, "train.py", PRINTER), *rates]


def benchmarks(cwd, count, *words):
    return ["--", sys.executable, program(cwd, "bench.py", BENCHMARKS), count, *words]


@test
def equal_commands_pass_with_exit_code_0(cwd):
    # Bug: a gate that cries wolf.
    code, out, err = run("ab", *RATE, *printer(cwd, "100"), *printer(cwd, "100"), cwd=cwd)
    assert code == 0, (code, err)
    assert "PASS: no metric is more than 10 % slower" in out, out
    assert "6 blocks of four runs" in out, out


@test
def a_head_that_is_slower_by_a_fifth_is_exit_code_1_with_one_line_of_reasons(cwd):
    # Bug: a planted slowdown of 20 % passes.
    code, out, _ = run("ab", *RATE, *printer(cwd, "100"), *printer(cwd, "80"), cwd=cwd)
    assert code == 1, (code, out)
    assert "SLOWER" in out and "-20 %" in out and "repeat: autotune ab" in out, out


@test
def a_faster_head_passes(cwd):
    # Bug: any change is an alarm.
    code, out, _ = run("ab", *RATE, *printer(cwd, "100"), *printer(cwd, "150"), cwd=cwd)
    assert code == 0 and "+50 %" in out, (code, out)


@test
def what_the_budget_leaves_open_is_exit_code_3_or_as_undecided_says(cwd):
    # Bug: a gate without data passes.
    commands = [*printer(cwd, "100"), *printer(cwd, "100")]
    for undecided, wanted in (([], 3), (["--undecided", "pass"], 0), (["--undecided", "fail"], 1)):
        code, out, _ = run("ab", *RATE, "--budget", "1ms", *undecided, *commands, cwd=cwd)
        assert code == wanted and "INCONCLUSIVE" in out and "raise --budget" in out, (code, out)


@test
def the_result_as_json_keeps_to_its_schema_and_has_every_run(cwd):
    # Bug: a verdict that nobody can check.
    code, out, _ = run("ab", "--json", *RATE, *printer(cwd, "100"), *printer(cwd, "80"), cwd=cwd)
    gate = json.loads(out)
    validate(gate)
    assert code == 1 and gate["conclusion"] == "slower", gate["conclusion"]
    assert len(gate["runs"]) == 48, len(gate["runs"])
    assert {run["values"][0] for run in gate["runs"] if run["side"] == "head"} == {80.0}
    assert not list(pathlib.Path(cwd).glob("feedrate-*")), "files that nobody asked for"


@test
def a_command_against_itself_passes_with_aa(cwd):
    # Bug: --aa needs the command twice; exit code 4 on a machine without a cache folder, as CI's are.
    code, out, err = run("ab", "--aa", *RATE, *printer(cwd, "100"), cwd=cwd,
                         env={"XDG_CACHE_HOME": str(pathlib.Path(cwd, "none"))})
    assert code == 0 and "with itself" in out, (code, out, err)


@test
def a_planted_loss_of_half_of_the_rate_is_found(cwd):
    # Bug: a gate that can't see, and that nobody has asked.
    work = program(cwd, "work.py", """
import time
while True:
    begin = time.perf_counter()
    for _ in range(100):  # long enough to be stopped now and then
        sum(range(20000))
    print(100 / (time.perf_counter() - begin), "img/s", flush=True)
""")
    code, out, err = run("ab", "--plant", "50%", "--rate", "regex:([0-9.]+) img/s", "--seconds", "0.2",
                         "--", sys.executable, work, cwd=cwd)
    assert code == 0 and "PASS: the requirement is met" in out, (code, out, err)


@test
def a_command_runs_as_it_is_written(cwd):
    # Bug: "{batch}" in a command is replaced as if it were tuned.
    echo = ["--", "sh", "-c", "echo got {batch} {workers}; exit 3"]
    refused(4, "it printed last: .got {batch} {workers}", "ab", *RATE, *echo, *echo, cwd=cwd)


@test
def the_rate_that_was_asked_for_is_compared_even_where_a_side_reports_another(cwd):
    # Bug: the printed rate of one side beside the reported rate of the other.
    base = program(cwd, "plain.py", """
import time
while True:
    print("800 img/s", flush=True)
    time.sleep(0.02)
""")
    head = program(cwd, "helped.py", """
import itertools, time
import feedrate
for _ in feedrate.watch(itertools.repeat(0), 8):
    print("800 img/s", flush=True)
    time.sleep(0.02)
""")
    code, out, err = run("ab", *RATE, "--", sys.executable, base,
                         "--", sys.executable, head, cwd=cwd)
    assert code == 0 and "PASS" in out, (code, out, err)


@test
def each_benchmark_of_a_program_is_a_metric(cwd):
    # Bug: the mean over all benchmarks hides the one that got slower.
    base = benchmarks(cwd, "base", "decode/8:10:us", "resize:5:ms")
    head = benchmarks(cwd, "head", "decode/8:10:us", "resize:7:ms")
    code, out, _ = run("ab", "--benchmark-json", *base, *head, cwd=cwd)
    assert code == 1 and "SLOWER: 1 of 2 metrics is slower" in out, (code, out)
    assert "slower: resize: 7.00 ms, base 5.00 ms" in out, out


@test
def benchmarks_or_units_that_change_between_runs_are_refused(cwd):
    # Bug: a benchmark that was deleted passes for ever.
    base = benchmarks(cwd, "base", "a:10:us", "b:5:ms")
    for words, sentence in ((["a:10:us"], "HEAD lacks 'b'"),
                            (["a:10:us", "b:5:us"], "HEAD has 'b' in us"),
                            (["a:10:us", "b:5:ms", "c:1:ms"], "HEAD has 'c'"),
                            (["a:10:us b:5:ms then a:10:us b:5:ms then a:10:us"], "HEAD lacks 'b'"),
                            (["a:nan:us", "b:5:ms"], "no JSON of Google|no time")):
        (pathlib.Path(cwd) / "head").unlink(missing_ok=True)
        refused(4, sentence, "ab", "--benchmark-json", *base,
                *benchmarks(cwd, "head", *words), cwd=cwd)


@test
def a_command_that_fails_in_one_of_its_runs_is_exit_code_4_and_named(cwd):
    # Bug: the runs that succeeded are compared, and a crash passes.
    counted = program(cwd, "counted.py", """
import pathlib, sys
count = pathlib.Path("count")
run = int(count.read_text()) if count.exists() else 0
count.write_text(str(run + 1))
if run == 3:
    print("no space left", file=sys.stderr)
    sys.exit(7)
""")
    refused(4, "'counted.py' ended by itself with exit code 7; it printed last: .no space left",
            "ab", "--time", "--", "true", "--", sys.executable, counted, cwd=cwd)


@test
def a_command_without_a_rate_is_refused(cwd):
    # Bug: NaN compares as equal to everything.
    rest = printer(cwd, "100")
    refused(2, "printed no rate .* caught 'nan'", "ab", *RATE, "--trial-timeout", "2s", *printer(cwd, "nan"), *rest, cwd=cwd)
    refused(2, "nothing that matches", "ab", *RATE, "--", "echo", "hello", *rest, cwd=cwd)
    refused(2, "three ways to tell its speed", "ab", "--", "echo", "hello", *rest, cwd=cwd)
    refused(2, "'nonesuch' is not in the PATH", "ab", "--time", "--", "nonesuch", *rest, cwd=cwd)
    refused(4, "wrote no results", "ab", "--benchmark-json", "--", "true", "--", "true", cwd=cwd)


@test
def a_command_that_hangs_is_ended_and_named(cwd):
    # Bug: a gate that never ends.
    refused(4, "did not end within 300 ms", "ab", "--time", "--trial-timeout", "0.3", "--", "sleep",
            "1000", "--", "true", cwd=cwd)


@test
def ctrl_c_ends_both_commands_and_is_exit_code_130(cwd):
    # Bug: commands that outlive the gate.
    words = [*RATE, "--blocks", "1000", *printer(cwd, "100", "300"), *printer(cwd, "100", "300")]
    gate = subprocess.Popen([AUTOTUNE, "ab", *words], cwd=cwd, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)

    def runs():
        return [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                if os.path.join(cwd, "train.py").encode() in _bytes_of(path) and str(gate.pid) not in path.parts]

    while not runs() and gate.poll() is None:
        time.sleep(0.05)
    gate.send_signal(signal.SIGINT)
    _, err = gate.communicate(timeout=30)
    assert gate.returncode == 130, (gate.returncode, err)
    assert not runs(), runs()


def _bytes_of(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


@test
def two_configs_of_a_built_in_workload_are_compared_in_processes_of_ours(cwd):
    # Bug: --base and --head take the same config. An emulated step gives both the same rate, and a busy
    # machine any verdict.
    code, out, err = run("ab", "--json", "--workload", "tabular", "--device", "emulated:20ms@32",
                         "--base", "workers=1", "--head", "workers=2", "--seconds", "50ms",
                         "--blocks", "6", cwd=cwd)
    assert code in (0, 1, 3), (code, err)
    gate = json.loads(out)
    validate(gate)
    names = [metric["name"] for metric in gate["metrics"]]
    assert names[:2] == ["samples_per_s", "fed"] and "memory_bytes" in names, names
    memory = gate["metrics"][names.index("memory_bytes")]
    assert memory["base"]["estimate"] > 0, memory
    refused(2, "--head names 'worker'", "ab", "--base", "workers=1", "--head", "worker=2", cwd=cwd)
    refused(2, "give both --base and --head", "ab", "--base", "workers=1", cwd=cwd)
    refused(4, "nonesuch", "ab", "--data", "nonesuch", "--base", "workers=1", "--head", "workers=2",
            cwd=cwd)


@test
def a_requirement_of_head_is_judged_beside_the_comparison(cwd):
    # Bug: a gate whose HEAD is no slower than a BASE that was too slow already.
    commands = [*printer(cwd, "100"), *printer(cwd, "100")]
    code, out, _ = run("ab", *RATE, "--require", "samples_per_s >= 200", *commands, cwd=cwd)
    assert code == 1 and "not met: samples_per_s >= 200" in " ".join(out.split()), (code, out)
    code, out, _ = run("ab", *RATE, "--require", "samples_per_s >= 90", *commands, cwd=cwd)
    assert code == 0, (code, out)
    refused(2, "nonesuch", "ab", *RATE, "--require", "nonesuch >= 1", *commands, cwd=cwd)


@test
def its_help_fits_a_terminal_and_names_the_exit_codes(cwd):
    # Bug: a gate whose exit codes have to be found by trying.
    code, out, _ = run("ab", "--help", cwd=cwd)
    assert code == 0 and "0: pass, 1: slower, 3: inconclusive" in " ".join(out.split()), out
    assert max(map(len, out.splitlines())) <= 80


main()
