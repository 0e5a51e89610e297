# SPDX-License-Identifier: Apache-2.0
"""The table of a run of tools/gpu-suite, as Markdown: what ran, and every figure that it made. Writes
DIR/results, too.

usage: gpu_summary.py DIR              the table
       gpu_summary.py --describe DIR   commit, machine and card of a call that adds to DIR
"""

import json
import pathlib
import sys

from gpu_card import card_of, describe, described, write_results


def table(heads, rows):
    if not rows:
        return []
    lines = [heads, ["---"] * len(heads), *rows]
    return ["", *("| " + " | ".join(str(cell).replace("|", "/") for cell in line) + " |" for line in lines)]


def number(value):
    return f"{value:.4g}"


def verdict(figure):
    """'>= 0.85: kept'; empty without a promise."""
    for sign, bound in ((">=", "at_least"), ("<=", "at_most")):
        if bound in figure:
            return f"{sign} {figure[bound]:g}: {'kept' if figure['kept'] else '**missed**'}"
    return ""


def figure_row(figure):
    low, high = figure["quartiles"]
    return [figure["bench"], figure["name"], f"{number(figure['median'])} {figure['unit']}".strip(),
            f"{number(low)} to {number(high)}", verdict(figure)]


def percent(share):
    return "-" if share is None else f"{100 * share:.0f} %"


def config_text(config):
    return ", ".join(f"{key} {value}".lower() for key, value in config.items())


def trial_row(name, label, trial):
    rate = trial["samples_per_s"]
    if not rate:
        return [name, label, trial["status"], "", "", "", "", config_text(trial["config"])]
    return [name, label, f"{rate['estimate']:,.0f}", percent(trial["of_best"]), percent(trial["fed"]),
            percent(trial["busy"]), percent(trial["nvml_busy"]), config_text(trial["config"])]


def answer_rows(answers):
    return [trial_row(answer["name"], label, answer[label])
            for answer in answers for label in ("default", "recommended") if answer[label]]


def run_row(run):
    status = run["status"]
    return [run["part"], run["name"], status if status in ("ok", "skipped") else f"**{status}**",
            f"{run['seconds']} s", run["why"]]


def summary(card):
    gpu = ", ".join(f"{key} {value}" for key, value in card["gpu"].items() if key != "name")
    lines = [f"# GPU suite, {card['date']}, commit {card['commit']}", "",
             f"{card['gpu'].get('name', 'no GPU')}{gpu and f' ({gpu})'}; {card['machine']['cpus']} CPUs "
             f"({card['machine']['cpu']}). Logs and the commands that made them: logs/."]
    lines += table(["part", "what", "", "time", "why"], [run_row(run) for run in card["runs"]])
    lines += table(["bench", "figure", "median", "quartiles", "promise"],
                   [figure_row(figure) for figure in card["figures"]])
    lines += ["", *(f"{answer['name']} is of a program of commit {answer['commit']}." for answer in card["autotune"]
                    if answer["commit"] != card["commit"])]
    lines += table(["autotune", "config", "samples/s", "utilization", "fed", "busy", "nvidia-smi", ""],
                   answer_rows(card["autotune"]))
    return "\n".join(lines)


def describe_call(folder):
    """The identity of this call, which must be that of earlier ones."""
    now, before = describe(), described(folder)
    if before and (before["commit"], before["gpu"]) != (now["commit"], now["gpu"]):
        sys.exit(f"tools: {folder} has results of commit {before['commit']} on {before['gpu'].get('name')}, and this "
                 f"is {now['commit']} on {now['gpu'].get('name')}; name another folder.")
    return json.dumps(now)


def main():
    folder = pathlib.Path(sys.argv[-1])
    if sys.argv[1] == "--describe":
        print(describe_call(folder))
        return
    card = card_of(folder)
    if not card:
        sys.exit(f"{folder} has no results of tools/gpu-suite.")
    write_results(folder, card)
    print(summary(card))


if __name__ == "__main__":
    main()
