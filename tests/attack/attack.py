# SPDX-License-Identifier: Apache-2.0
"""Attacks the readers and the command with damaged input: pictures, their notes, arrays, reports,
journals and command lines. Each is read or refused in a sentence; a crash, a hang, a report of a
sanitizer, an exit code that is not documented, a process or a file that is left fails.

    python3 tests/attack/attack.py BUILD [--share X] [--first SEED] [--output FILE] [--as-built]

BUILD is a build folder, best with sanitizers: meson setup build-attack -Db_sanitize=address,undefined
-Db_lundef=false. Half of the command lines resume damaged journals.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Inputs of each kind at --share 1; a report takes a hundred times as long as a picture.
INPUTS = {"jpeg": 100_000, "exif": 100_000, "npy": 80_000, "report": 10_000, "journal": 10_000}
LINES = 1_000
CHUNK = 1_000
LONGEST_S = 120
EXITS = {0, 1, 2, 3, 4, 5, 6}  # docs/options.md; 70 is an error that nobody expected
DRAFT = re.compile(r"\.part\d+$")  # of data/file_writer.hpp
VALUES = ("0", "1", "2", "-1", "4096", "99999999999999999999", "1e30", "nan", "", " ", "1,2", "1:8:x2",
          "8:1:x2", "1,,2", "on", "off", "on,off", "cpu", "cuda", "fp32", "bf16,fp16", "images", "tabular",
          "/", "/dev/null", "absent", "x.npy", "workers=2", "workers=,", "batch=64,batch=3", "0.2s", "1us",
          "5%", "\x1b[2J", "ä\udcff", "a" * 3000, "../../..", "regex:(", "regex:(a+)+$", "=", "--", "{}")


class Attack:
    def __init__(self, build, folder):
        self.build, self.folder = pathlib.Path(build).resolve(), pathlib.Path(folder)
        self.autotune = self.build / "tuner/autotune"
        self.reports = self.folder / "reports"
        self.failures = []
        self.environment = dict(os.environ, HOME=str(self.folder), XDG_CACHE_HOME=str(self.folder / "cache"),
                                UBSAN_OPTIONS="halt_on_error=1:abort_on_error=1",
                                ASAN_OPTIONS="abort_on_error=1:allocator_may_return_null=1")

    def make_reports(self):
        """A report and a journal as the command writes them today."""
        self.reports.mkdir()
        for device in ("cpu", "emulated:1ms@32"):
            name = self.reports / (device.partition(":")[0] + ".json")
            subprocess.run([self.autotune, "--workload", "tabular", "--device", device, "--budget", "2s",
                            "--output", name], env=self.environment, check=True, timeout=600,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def read_damaged(self, kind, first, count):
        """Inputs of one kind, in a process of their own; what it printed."""
        trace = self.folder / ("%s-%d" % (kind, first))
        done = subprocess.run(
            [self.build / "tests/attack/attack", ROOT / "tests/fixtures", self.reports, kind, str(first),
             str(count), trace],
            env=self.environment, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode == 0:
            return int(re.search(r"(\d+) read", done.stdout).group(1))
        seed, = struct.unpack("<Q", trace.read_bytes())
        hangs = done.returncode == -signal.SIGALRM
        self.failures.append("%s %d: %s" % (kind, seed, "hangs" if hangs else done.stderr[-1500:]))
        rest = first + count - seed - 1
        return self.read_damaged(kind, seed + 1, rest) if rest and len(self.failures) < 20 else 0

    def command_line(self, seed):
        draw = random.Random(seed)
        options = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.help, re.M)
        words = ["--budget", "0.3s", "--workload", "tabular", "--device", "cpu"]
        words = words[: 2 * draw.randint(1, 3)]
        if draw.random() < 0.2:
            words = [draw.choice(("show", "compare", "check", "workloads", "apply", "doctor"))]
        for _ in range(draw.randint(0, 4)):
            words.append(draw.choice(options))
            if draw.random() < 0.8:
                words.append(draw.choice(VALUES))
        if draw.random() < 0.15:
            words += ["--", draw.choice(("true", "false", "absent", "sh")), draw.choice(("-c", "x"))]
        return words

    def resumed(self, seed, folder):
        draw = random.Random(seed)
        text = bytearray((self.reports / "cpu.jsonl").read_bytes())
        for _ in range(draw.randint(1, 5)):
            at = draw.randrange(len(text))
            text[at:at + draw.randint(0, 30)] = bytes(draw.choice((b"", b"\0", b"9", b"null", b"\n", b"}")))
        (folder / "cpu.jsonl").write_bytes(text)
        shutil.copy(self.reports / "cpu.json", folder)
        return ["--resume", "cpu.json", "--yes"]

    def run_command(self, seed):
        """One command line in an empty folder; what is wrong with how it ended."""
        folder = self.folder / ("line-%d" % seed)
        folder.mkdir()
        words = self.resumed(seed, folder) if seed % 2 else self.command_line(seed)
        before = set(os.listdir(folder))
        terminal, its_end = pty.openpty()
        started = subprocess.Popen([self.autotune, *words], env=self.environment, cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=its_end, stderr=its_end,
                                   start_new_session=True)
        os.close(its_end)
        said, in_time = read_terminal(terminal, time.monotonic() + LONGEST_S)
        if not in_time:
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        if not in_time:
            return "hangs", words
        wrong = []
        if started.returncode not in EXITS:
            wrong.append("exit code %d: %s" % (started.returncode, said[-800:].decode(errors="replace")))
        if started.returncode and not said.strip():
            wrong.append("exit code %d without a word" % started.returncode)
        if b"\x1b[2J" in said:
            wrong.append("an escape sequence of the input reaches the terminal")
        if left := [name for name in set(os.listdir(folder)) - before if DRAFT.search(name)]:
            wrong.append("files are left: %s" % left)
        if alive := session_members(started.pid):
            wrong.append("processes are left: %s" % alive)
        shutil.rmtree(folder)
        return "; ".join(wrong), words

    def build_all(self):
        subprocess.run(["ninja", "-C", self.build, "--quiet", "tests/attack/attack", "tuner/autotune"],
                       check=True)

    def sanitizers(self):
        options = json.loads((self.build / "meson-info/intro-buildoptions.json").read_text())
        return next(option["value"] for option in options if option["name"] == "b_sanitize")

    def run(self, share, first):
        self.help = subprocess.run([self.autotune, "--help"], env=self.environment, text=True,
                                   capture_output=True, check=True).stdout
        self.make_reports()
        summary = {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for kind, most in INPUTS.items():
                inputs = max(1, round(share * most))
                chunks = [(kind, first + at, min(CHUNK, inputs - at)) for at in range(0, inputs, CHUNK)]
                read = sum(pool.map(lambda chunk: self.read_damaged(*chunk), chunks))
                summary[kind] = {"inputs": inputs, "read": read, "refused": inputs - read}
                print("%s: %d inputs, %d read" % (kind, inputs, read), flush=True)
            lines = max(2, round(share * LINES))
            for wrong, words in pool.map(self.run_command, range(first, first + lines)):
                if wrong:
                    self.failures.append("%s: %s" % (words, wrong))
            summary["command lines"] = {"inputs": lines}
            print("command lines: %d" % lines, flush=True)
        return summary


def read_terminal(terminal, end_s):
    """What is written to a terminal until its last writer ends, and whether that was in time."""
    said = b""
    try:
        while (left_s := end_s - time.monotonic()) > 0:
            if not select.select([terminal], [], [], left_s)[0]:
                break
            said += os.read(terminal, 65536)
    except OSError:  # Linux tells the end of a terminal by EIO
        return said, True
    finally:
        os.close(terminal)
    return said, False


def session_members(session):
    """Processes of a session that are still there."""
    members = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            members.append(entry.parent.name)
    return members


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("--first", type=int, default=9_000_001)
    parser.add_argument("--output")
    parser.add_argument("--as-built", action="store_true", help="BUILD is up to date")
    options = parser.parse_args()
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(options.build, folder)
        if not options.as_built:
            attack.build_all()
        summary = attack.run(options.share, options.first)
    for failure in attack.failures:
        print("not ok - %s" % failure)
    total = sum(kind["inputs"] for kind in summary.values())
    print("%d inputs in %d s: %d failed" % (total, time.monotonic() - started_s, len(attack.failures)))
    if options.output:
        sys.path.append(str(ROOT / "bench/peers"))
        import origin
        record = dict(origin.origin(), sanitizers=attack.sanitizers(), first_seed=options.first, kinds=summary, inputs=total,
                      failures=len(attack.failures))
        pathlib.Path(options.output).write_text(json.dumps(record, indent=2) + "\n")
    sys.exit(bool(attack.failures))


if __name__ == "__main__":
    main()
