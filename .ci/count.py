# SPDX-License-Identifier: Apache-2.0
"""count.py TESTLOG STATUS: prints "passed failed skipped" of a run of `meson test`.

A check is a test case of Catch2 or of Python's unittest, a line of TAP, or, for anything else, a whole test.
STATUS is the exit code of the run: a run that failed has at least one failure.
"""

import json
import re
import sys


def of_tap(output):
    skipped = len(re.findall(r"^(?:ok .*|1\.\.0 *)# SKIP", output, re.M | re.I))
    good = len(re.findall(r"^ok\b", output, re.M)) - len(re.findall(r"^ok .*# SKIP", output, re.M | re.I))
    return good, len(re.findall(r"^not ok\b", output, re.M)), skipped


def of_catch2(output):
    """None when there is no summary: the program did not get to its end."""
    if all_passed := re.search(r"^All tests passed \(.* in (\d+) test cases?\)", output, re.M):
        return int(all_passed[1]), 0, 0
    if summary := re.search(r"^test cases: *\d+(.*)", output, re.M):
        def count(word):
            found = re.search(rf"(\d+) {word}", summary[1])
            return int(found[1]) if found else 0
        return count("passed"), count("failed"), count("skipped")
    return None


def of_unittest(errors):
    """None when there is no summary. A run of no test has shown nothing."""
    ran = re.search(r"^Ran (\d+) tests? in", errors, re.M)
    if ran is None:
        return None

    def count(word):
        found = re.search(rf"(?<!expected ){word}=(\d+)", errors[ran.end():])
        return int(found[1]) if found else 0
    failed, skipped = count("failures") + count("errors") + count("unexpected successes"), count("skipped")
    return max(0, int(ran[1]) - failed - skipped), failed if ran[1] != "0" else max(failed, 1), skipped


def of_test(test):
    """(passed, failed, skipped) of one entry of the log."""
    output = test.get("stdout", "")
    if re.search(r"^(1\.\.\d+|(not )?ok \d+)", output, re.M):
        counted = of_tap(output)
    else:
        counted = of_catch2(output) or of_unittest(test.get("stderr", ""))
    good, skip = test["result"] in ("OK", "EXPECTEDFAIL"), test["result"] == "SKIP"
    if counted is None:
        counted = (int(good), int(not good and not skip), int(skip))
    passed, failed, skipped = counted
    if not good and not skip:
        failed = max(failed, 1)  # crashed or timed out, whatever it had printed before
    return passed, failed, skipped


def main():
    log, status = sys.argv[1], int(sys.argv[2])
    with open(log, encoding="utf-8") as lines:
        counts = [of_test(json.loads(line)) for line in lines if line.strip()]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    if not counts or (status and not failed):
        failed += 1
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
