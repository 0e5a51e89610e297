# SPDX-License-Identifier: Apache-2.0
"""docs/ci.md and examples/ci/ as a reader uses them: each command of the page runs, with run times cut
short, in a folder that has what the page speaks of. Prints TAP.

usage: ci_docs.py AUTOTUNE FIXTURES SCHEMA_OF_GATES
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

from tap import AUTOTUNE, Skip, main, run, test, validate

FIXTURES = pathlib.Path(sys.argv[2]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
GATE = ROOT / "examples/ci/gate.sh"
# With which options a verb is cut short.
SHORT = {"ab": {"--seconds": "0.05s", "--budget": "4s"},
         "check": {"--budget": "4s"},
         "tune": {"--budget": "2s", "--no-card": None}}
VERDICTS = (0, 1, 3)

PROGRAM = f"""\
    #!{sys.executable}
    # Prints its rate until it is ended: the file `rate`, and some noise that no clock makes.
    import itertools, pathlib, sys, time
    rate = float((pathlib.Path(sys.argv[0]).parent / "rate").read_text())
    for number in itertools.count():
        print(f"{{rate * (1 + 0.01 * (number * 7 % 5 - 2)):.1f}} img/s", flush=True)
        time.sleep(0.005)
    """
BENCH = f"""\
    #!{sys.executable}
    import json, os
    names = ("BM_Read/8", "BM_Read/64")
    json.dump({{"context": {{}}, "benchmarks": [
        {{"name": name, "run_name": name, "run_type": "iteration", "iterations": 1, "real_time": 10.0,
          "cpu_time": 10.0, "time_unit": "ns"}} for name in names]}}, open(os.environ["BENCHMARK_OUT"], "w"))
    """


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    path.chmod(0o755)


def git(*words, cwd):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=cwd, check=True,
                   capture_output=True)


def commit(folder, rate):
    (folder / "rate.in").write_text(str(rate))
    git("add", "-A", cwd=folder)
    git("commit", "-qm", f"rate {rate}", cwd=folder)


def repository(folder, *rates):
    """A repository whose program `train` has that rate in each commit, once `make` has built it;
    origin/main is the first commit."""
    if not shutil.which("git"):
        raise Skip("git is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    git("init", "-q", ".", cwd=folder)
    executable(folder / "train", PROGRAM)
    executable(folder / "bench", BENCH)
    for number, rate in enumerate(rates):
        commit(folder, rate)
        if number == 0:
            git("update-ref", "refs/remotes/origin/main", "HEAD", cwd=folder)
    executable(folder.parent / "bin/make", "#!/bin/sh\nexec cp rate.in rate\n")
    return folder


def with_tools(folder, **more):
    """The environment in which `autotune` and `make` are commands."""
    executable(folder / "bin/autotune", f"#!/bin/sh\nexec {shlex.quote(AUTOTUNE)} \"$@\"\n")
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **more}


def yard(tmp):
    """What the page speaks of: two builds, pictures, scripts, a repository, a baseline."""
    repo = repository(tmp / "repo", 1000, 900)
    for side in ("base", "head"):
        executable(repo / side / "train", PROGRAM)
        (repo / side / "rate").write_text("1000")
        executable(repo / side / "bench", BENCH)
        executable(repo / side / "convert", "#!/bin/sh\nexec sleep 0.02\n")
        for script in ("train.py", "rows.py"):
            shutil.copy(ROOT / "tests/cli/scripts" / script, repo / side)
    pictures = sorted((FIXTURES / "images").glob("*.jpg"))
    for number in range(400):  # a batch of h100/resnet50
        target = repo / f"train-images/class_{number % 2}/{number}.jpg"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(pictures[number % len(pictures)], target)
    (repo / "examples").symlink_to(ROOT / "examples")
    (repo / "tools").mkdir()
    (repo / "tools/autotune").symlink_to(AUTOTUNE)
    return repo


def page_commands():
    """The commands of the page, in order: indented lines that begin with a command of ours."""
    text = (ROOT / "docs/ci.md").read_text().replace("\\\n", " ")
    commands = re.findall(r"^    (?:\$ )?((?:tools/)?autotune (?!.*·).*|sh .*)$", text, re.M)
    return [re.sub(r"\s+#.*|\s{2,}\(.*\)$", "", command) for command in commands]


def verb_of(words):
    return words[1] if words[0].endswith("autotune") and not words[1].startswith("-") else "tune"


def shortened(command):
    """The same command with short run times."""
    words = shlex.split(command)
    script = words[0] == "sh"
    limits = dict(SHORT.get("ab" if script else verb_of(words), {}))
    end = words.index("--") if "--" in words else len(words)
    own, rest = words[:end], words[end:]
    for flag, value in limits.items():
        if flag in own:
            own[own.index(flag) + 1] = value
        else:
            own += [flag] if value is None else [flag, value]
    return own + rest


def run_page_command(command, folder):
    """Runs it; returns (exit code, stdout, stderr)."""
    path = os.environ.get("PYTHONPATH", "")
    environment = with_tools(folder.parent, PYTHONPATH=f"{path}:{ROOT / 'tests/stub'}".strip(":"),
                             CUDA_VISIBLE_DEVICES="", GITHUB_STEP_SUMMARY=str(folder / "summary.md"))
    words = [os.path.expandvars(word.replace("$GITHUB_STEP_SUMMARY", environment["GITHUB_STEP_SUMMARY"]))
             for word in shortened(command)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=200,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def add_test_of(number, command):
    def one(tmp):
        # Bug: a command of the page that has a wrong option, or that does not do what the page says.
        folder = yard(tmp)
        if "--baseline" in command:  # the page makes it first
            made = next(other for other in page_commands() if "--output baseline.json" in other)
            code, _, err = run_page_command(made, folder)
            assert code == 0, f"{made}: {err}"
        code, out, err = run_page_command(command, folder)
        assert code in VERDICTS, f"{command}: exit {code}: {err[-600:]}"
        for file in re.findall(r"--write [\w-]+=(\w[\w.]*)", command):
            assert (folder / file).stat().st_size > 0, f"{file} was not written"
        for line in err.splitlines():
            assert not line.startswith("autotune: "), err
    name = re.sub(r"\W+", "_", command)[:60].strip("_")
    one.__name__ = f"command_{number}_of_the_page_{name}"
    test(one)


@test
def the_page_has_commands_of_each_kind(tmp):
    # Bug: a page whose commands are no longer found, and a test that runs none of them.
    commands = page_commands()
    assert len(commands) >= 12, commands
    for word in ("ab --benchmark-json", "ab --time", "--plant", "--aa", "--require", "check --baseline",
                 "--update", "emulated:h100/resnet50", "gate.sh", "--write junit", "ab --data"):
        assert any(word in command for command in commands), word


@test
def the_pages_name_every_option_of_ab(tmp):
    # Bug: an option that nobody documents.
    _, out, _ = run("ab", "--help", cwd=tmp)
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("ci.md", "options.md"))
    unknown = [option for option in re.findall(r"^ +(?:-\w,)?(--[\w-]+)", out, re.M) if option not in pages]
    assert not unknown, unknown


for place, found in enumerate(page_commands(), 1):
    add_test_of(place, found)


RECORDER = """\
    #!/bin/sh
    # In the place of autotune: writes its words down, and the rates of both builds.
    for word; do printf '%s\\n' "$word"; done >"$RECORD"
    for word; do [ ! -f "$word/rate" ] || cat "$word/rate" >>"$RECORD.rates"; done
    exit 3
    """


def recorded(tmp, repo, *words):
    """Runs gate.sh with the recorder; returns (exit code, words of autotune, rates of the sides)."""
    executable(tmp / "recorder", RECORDER)
    environment = with_tools(tmp, AUTOTUNE=str(tmp / "recorder"), RECORD=str(tmp / "record"))
    done = subprocess.run(["sh", GATE, *words], cwd=repo, env=environment, capture_output=True, text=True,
                          timeout=60, check=False)
    if not (tmp / "record").exists():
        return done.returncode, done.stderr, ""
    return (done.returncode, (tmp / "record").read_text().splitlines(),
            (tmp / "record.rates").read_text())


@test
def the_script_builds_both_commits_and_passes_words_on_unchanged(tmp):
    # Bug: a gate that compares HEAD with itself, or with the tip of main, or splits a word with a space.
    repo = repository(tmp / "repo", 1000, 900)
    git("checkout", "-q", "-b", "topic", "origin/main", cwd=repo)
    commit(repo, 800)
    git("update-ref", "refs/remotes/origin/main", "main" if branch_exists(repo, "main") else "master", cwd=repo)
    code, words, rates = recorded(tmp, repo, "origin/main", "make", "--rate", "regex:it's (.*)", "--",
                                  "./train", "a  b", "$HOME")
    assert code == 3, words  # autotune's own
    assert words[:3] == ["ab", "--rate", "regex:it's (.*)"] and words.count("--") == 2, words
    first, second = words.index("--"), len(words) - 1 - words[::-1].index("--")
    assert words[first + 5:second] == words[second + 5:] == ["./train", "a  b", "$HOME"], words
    assert rates == "1000800", rates
    left = subprocess.run(["git", "worktree", "list"], cwd=repo, capture_output=True, text=True, check=True)
    assert len(left.stdout.splitlines()) == 1, left.stdout


def branch_exists(repo, name):
    return subprocess.run(["git", "rev-parse", "--verify", "-q", name], cwd=repo, capture_output=True,
                          check=False).returncode == 0


@test
def the_script_compares_with_the_commit_before_on_the_main_branch(tmp):
    # Bug: a push to main that is compared with itself, and passes for ever.
    repo = repository(tmp / "repo", 1000, 800)
    git("update-ref", "refs/remotes/origin/main", "HEAD", cwd=repo)
    _, _, rates = recorded(tmp, repo, "origin/main", "make", "--time", "--", "./train")
    assert rates == "1000800", rates


@test
def the_script_gives_one_side_to_a_self_check(tmp):
    # Bug: --plant with two commands, which autotune refuses.
    repo = repository(tmp / "repo", 1000, 800)
    _, words, rates = recorded(tmp, repo, "origin/main", "make", "--plant", "10%", "--", "./train")
    assert words.count("--") == 1 and rates == "1000", words


@test
def what_the_script_can_not_do_is_one_sentence(tmp):
    # Bug: a gate that goes on without a build, or ends with the exit code of a slowdown.
    repo = repository(tmp / "repo", 1000)
    for code, sentence, words in (
            (2, "Usage: gate.sh", ("origin/main", "make")),
            (2, "no command behind --", ("origin/main", "make", "--time", "--")),
            (2, "no commit 'origin/other' here", ("origin/other", "make", "--", "./train")),
            (2, "no commit before HEAD", ("origin/main", "make", "--", "./train"))):
        found, err, _ = recorded(tmp, repo, *words)
        assert found == code and sentence in err, (found, err)
    commit(repo, 900)
    found, err, _ = recorded(tmp, repo, "origin/main", "echo no; false", "--", "./train")
    assert found == 4 and "gate.sh: BUILD failed on base" in err, (found, err)


@test
def a_slower_commit_fails_the_gate(tmp):
    # Bug: a gate of scripts and options that passes whatever the program does.
    repo = repository(tmp / "repo", 1000, 700)
    done = subprocess.run(["sh", GATE, "origin/main", "make", "--rate", "regex:([0-9.]+) img/s", "--seconds",
                           "0.05s", "--write", "json=gate.json", "--", "./train"], cwd=repo,
                          env=with_tools(tmp), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
    gate = json.loads((repo / "gate.json").read_text())
    validate(gate)
    judged = [metric for metric in gate["metrics"] if metric["conclusion"]]
    assert judged[0]["conclusion"] == "slower", judged
    assert abs(judged[0]["speed_ratio"]["estimate"] - 0.7) < 0.05, judged


@test
def the_files_of_the_ci_systems_call_the_script_with_options_that_exist(tmp):
    # Bug: a workflow that is copied and fails at its first line.
    try:
        import yaml
    except ImportError as error:
        raise Skip("PyYAML is not installed") from error
    github = yaml.safe_load((ROOT / "examples/ci/github.yml").read_text())
    gitlab = yaml.safe_load((ROOT / "examples/ci/gitlab.yml").read_text())
    steps = [step.get("run", "") for step in github["jobs"]["gate"]["steps"]]
    calls = [line for line in (*steps, *gitlab["performance-gate"]["script"]) if "gate.sh" in line]
    assert len(calls) == 2, calls
    repo = repository(tmp / "repo", 1000, 900)
    for call in calls:
        words = shlex.split(call)
        assert words[:2] == ["sh", "feedrate/examples/ci/gate.sh"], words
        code, passed, _ = recorded(tmp, repo, "origin/main", *words[3:])
        assert code == 3 and passed[0] == "ab" and passed[-1] == "./bench", passed
    for call in calls:
        words = shlex.split(call.replace("$GITHUB_STEP_SUMMARY", "summary.md"))
        done = subprocess.run(["sh", GATE, "origin/main", *words[3:words.index("--")], "--budget", "4s", "--",
                               "./bench"], cwd=repo, env=with_tools(tmp), capture_output=True, text=True,
                              timeout=200, check=False)
        assert done.returncode in VERDICTS, done.stderr
    for name in ("gate.xml", "gate.json", "gate.txt", "summary.md"):
        assert (repo / name).stat().st_size > 0, name


main()
