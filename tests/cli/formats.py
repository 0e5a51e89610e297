# SPDX-License-Identifier: Apache-2.0
"""What a gate writes, as its readers take it: each format is read by a program or package that is not
ours. A reader that is missing is a skip. Prints TAP.

usage: formats.py AUTOTUNE_WITH_GATES SCHEMA_OF_GATES
"""

import csv
import importlib
import io
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import xml.etree.ElementTree

from tap import AUTOTUNE, Skip, main, refused, run, test, validate

HOSTILE_BEGINS, HOSTILE_ENDS = "a|b<c>&\"'`*_[x](y)\\,;:%=#{}$@ ::error::", " grün"
# Where Debian's package puts Google Benchmark's compare.py, here or unpacked in the clone.
COMPARE_FOLDERS = ("usr/share/benchmark", ".deps/root/usr/share/benchmark")


def needs(module, package):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Skip(f"{package} is not installed") from error


def document(name, form, cwd, *more, code=None):
    """What the gate of that name writes in a format."""
    found, _, err = run("gate", name, "--write", f"{form}=gate.out", *more, cwd=cwd)
    assert code is None or found == code, f"exit {found} instead of {code}: {err}"
    return (cwd / "gate.out").read_bytes().decode()  # strictly UTF-8


def hostile(names):
    """The one name among them that holds everything that a format could be broken by."""
    found = [name for name in names if name.startswith(HOSTILE_BEGINS) and name.endswith(HOSTILE_ENDS)]
    assert len(found) == 1, names
    return found[0]


@test
def each_conclusion_has_its_exit_code(tmp):
    # Bug: an open question that passes or fails a build in silence.
    for name, wanted in (("pass", (0, 0, 0)), ("slower", (1, 1, 1)), ("inconclusive", (3, 0, 1)),
                         ("not_comparable", (3, 0, 1))):
        for words, code in zip(((), ("--undecided", "pass"), ("--undecided", "fail")), wanted):
            found, out, err = run("gate", name, *words, cwd=tmp)
            assert found == code and out and not err, (name, words, found, err)
    refused(2, "--undecided 'maybe'", "gate", "pass", "--undecided", "maybe", cwd=tmp)


@test
def the_screen_says_what_and_how_much_and_how_to_repeat_it(tmp):
    # Bug: a red build without the command that shows it again.
    _, out, _ = run("gate", "slower", cwd=tmp)
    assert re.search(r"^SLOWER: 1 of 2 metrics is slower$", out, re.M), out
    assert re.search(r"^- slower: batches_per_s: 8,800 samples/s, base 10,000 samples/s, speed -12 %",
                     out, re.M), out
    assert re.search(r"^repeat: autotune ab --rate 'x \(\.\*\)' -- \./base -- \./head$", out, re.M), out
    _, quiet, _ = run("gate", "slower", "--quiet", cwd=tmp)
    assert quiet.startswith("SLOWER") and len(quiet) < len(out) / 2, quiet


@test
def json_keeps_to_its_schema(tmp):
    # Bug: a document that its own schema refuses.
    for name in ("pass", "slower", "inconclusive", "not_comparable", "hostile"):
        _, out, _ = run("gate", name, "--json", cwd=tmp)
        validate(json.loads(out))
        validate(json.loads(document(name, "json", tmp)))


@test
def junitparser_reads_junit(tmp):
    # Bug: a file that CI systems refuse, or an inconclusive result that they count as a success.
    junitparser = needs("junitparser", "junitparser")
    suite = next(iter(junitparser.JUnitXml.fromstring(document("hostile", "junit", tmp).encode())))
    # Up to version 1 a case has one result, not a list of them.
    def kind(case):
        results = case.result if isinstance(case.result, list) else [case.result] if case.result else []
        return [type(result).__name__ for result in results]
    kinds = {case.name: kind(case) for case in suite}
    assert kinds[hostile(kinds)] == ["Failure"] and kinds["fast"] == [], kinds
    assert kinds["noisy"] == kinds["disturbed"] == ["Skipped"] and kinds["busy >= 0.90"] == ["Failure"], kinds
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (7, 2, 0, 3), suite
    strict = document("hostile", "junit", tmp, "--undecided", "fail", code=1)
    assert 'failures="5" errors="0" skipped="0"' in strict, strict


@test
def any_xml_parser_reads_junit(tmp):
    # Bug: a name that ends the attribute, or a control character, which no XML 1.0 may hold.
    tree = xml.etree.ElementTree.fromstring(document("hostile", "junit", tmp))
    assert tree.tag == "testsuites" and tree[0].tag == "testsuite"
    hostile([case.get("name") for case in tree.iter("testcase")])
    failure = next(tree.iter("failure"))
    assert "20 %" in failure.get("message") and "Repeat: autotune ab" in failure.text, failure.text


@test
def compare_py_of_google_benchmark_reads_its_json(tmp):
    # Bug: JSON in which compare.py finds no benchmark, or rates that it takes for times.
    needs("scipy", "scipy, which compare.py imports,")
    roots = (pathlib.Path("/"), pathlib.Path(__file__).resolve().parents[2])
    found = [root / folder / "compare.py" for root in roots for folder in COMPARE_FOLDERS]
    compare = next((path for path in found if path.is_file()), None)
    if not compare:
        raise Skip("compare.py of Google Benchmark is not installed")
    text = document("hostile", "google-benchmark", tmp)
    (tmp / "gate.json").write_text(text)
    done = subprocess.run([sys.executable, compare, "--no-color", "filters", "gate.json", "^base/",
                           "^head/"], cwd=tmp, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\[\^base/ vs\. \^head/\](.*?) +([-+][\d.]+) +([-+][\d.]+) ", done.stdout, re.M)
    changes = {name: float(change) for name, change, _ in rows}
    assert abs(changes["fast"] - 0.0101) < 1e-4, done.stdout  # 1 % less speed takes 1.01 % more time
    assert changes[hostile(changes)] == 0.25, changes
    assert "memory_bytes" not in text


@test
def markdown_is_one_table_whatever_the_names_hold(tmp):
    # Bug: a name with a pipe or a tag that breaks the table, or that runs in the reader's browser.
    markdown = needs("markdown_it", "markdown-it-py").MarkdownIt("commonmark").enable("table")
    text = document("hostile", "markdown", tmp)
    html = xml.etree.ElementTree.fromstring(f"<div>{markdown.render(text)}</div>")
    rows = [["".join(cell.itertext()) for cell in row] for row in html.iter("tr")]
    assert len(rows) == 6 and {len(row) for row in rows} == {6}, rows
    assert rows[1][0] == hostile([row[0] for row in rows]) and rows[1][1] == "slower", rows
    assert not list(html.iter("c")) and not list(html.iter("a")), text
    assert html[0].tag == "h3" and "SLOWER" in "".join(html[0].itertext()), text
    assert "./base -- ./head" in "".join(next(html.iter("pre")).itertext()), text


def workflow_commands(text):
    """(kind, title, message) of each line, as GitHub's runner reads them: properties end at the
    first "::", and only there are : and , escaped."""
    for line in text.splitlines():
        kind, title, message = re.fullmatch(r"::(\w+) title=([^,:]*)::(.*)", line).groups()
        for code, character in (("%3A", ":"), ("%2C", ","), ("%25", "%")):
            title = title.replace(code, character)
        yield kind, title, message.replace("%25", "%")


@test
def annotations_are_single_commands_of_the_runner(tmp):
    # Bug: a name with a line break or "::" that starts a command of its own.
    found = list(workflow_commands(document("hostile", "annotations", tmp)))
    kinds = [kind for kind, _, _ in found]
    assert kinds == ["error"] * 2 + ["warning"] * 3 + ["notice"], kinds
    assert found[1][1] == "autotune ab: slower" and "20 %" in found[1][2], found
    assert found[-1][1].startswith("autotune ab: SLOWER: 1 of 4 metrics is slower, 1 of 3"), found
    strict = document("hostile", "annotations", tmp, "--undecided", "fail")
    assert [kind for kind, _, _ in workflow_commands(strict)] == ["error"] * 5 + ["notice"], strict


@test
def python_reads_csv(tmp):
    # Bug: a comma or quote in a name that shifts the columns, or infinity in a spreadsheet.
    rows = list(csv.DictReader(io.StringIO(document("hostile", "csv", tmp), newline=""), strict=True))
    assert len(rows) == 8 and all(None not in row for row in rows), rows
    metrics = {row["name"]: row for row in rows if row["kind"] == "metric"}
    assert float(metrics[hostile(metrics)]["speed_ratio"]) == 0.8, metrics
    assert metrics["memory_bytes"]["value"] == "3e+09" and metrics["memory_bytes"]["value_low"] == ""
    assert [row["conclusion"] for row in rows if row["kind"] == "requirement"] == [
        "met", "not_met", "inconclusive"], rows


@test
def the_client_of_prometheus_reads_openmetrics(tmp):
    # Bug: a quote or backslash in a label, a name that comes twice, or a missing end.
    parser = needs("prometheus_client.openmetrics.parser", "prometheus_client")
    text = document("hostile", "openmetrics", tmp)
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    values = families["feedrate_gate_metric"].samples
    name = hostile({sample.labels["metric"] for sample in values})
    estimates = {(sample.labels["metric"], sample.labels["side"]): sample.value for sample in values
                 if sample.labels["bound"] == "estimate"}
    assert estimates[name, "head"] == 8000 and estimates[name, "base"] == 10000, estimates
    now = [sample.labels["feedrate_gate_conclusion"] for sample in
           families["feedrate_gate_conclusion"].samples if sample.value and sample.labels["metric"] == name]
    assert now == ["slower"], now
    assert families["feedrate_gate"].samples[0].labels["machine"] == "0123456789abcdef"
    assert len(families["feedrate_gate_requirement"].samples) == 9


@test
def bencher_gets_its_documented_shape(tmp):
    # Bug: null for a bound, which Bencher refuses, or seconds where its latency is in nanoseconds.
    text = document("hostile", "bencher", tmp)
    benchmarks = json.loads(text)
    for measures in benchmarks.values():
        for metric in measures.values():
            assert set(metric) <= {"value", "lower_value", "upper_value"} and "value" in metric, metric
            assert all(isinstance(value, (int, float)) for value in metric.values()), metric
            assert metric.get("lower_value", metric["value"]) <= metric["value"], metric
            assert metric.get("upper_value", metric["value"]) >= metric["value"], metric
    assert benchmarks["fast"]["throughput"]["value"] == 9900, benchmarks
    assert benchmarks["memory_bytes"] == {"memory-bytes": {"value": 3e9}}, benchmarks


@test
def a_file_that_cannot_be_written_is_one_sentence_before_anything_is_measured(tmp):
    # Bug: minutes of measuring, and then no place for the result.
    for sentence, word in (("missing/x.xml'", "junit=missing/x.xml"), ("names no file", "junit"),
                           ("names no file", "junit="), ("no format 'pdf'; use one of", "pdf=x"),
                           ("is a folder or a device", "csv=.")):
        refused(2, re.escape(sentence), "gate", "pass", "--write", word, cwd=tmp)
    refused(2, "Only one document", "gate", "pass", "--write", "csv=-", "--write", "junit=-", cwd=tmp)
    refused(2, "Only one document", "gate", "pass", "--write", "csv=-", "--json", cwd=tmp)
    assert list(tmp.iterdir()) == [], "something was left behind"


@test
def a_file_is_replaced_by_a_document_of_its_own_format_alone(tmp):
    # Bug: --write junit=train.py, and the script is gone; or yesterday's document stands in today's way.
    for form in ("annotations", "bencher", "csv", "google-benchmark", "json", "junit", "markdown", "openmetrics"):
        word = f"{form}=document"
        for verdict in ("pass", "slower"):
            run("gate", verdict, "--write", word, cwd=tmp)
            assert run("gate", verdict, "--write", f"{form}=-", cwd=tmp)[1] == (tmp / "document").read_text(), word
        (tmp / "document").write_text("{}\n")  # bencher's, where no metric is known
        run("gate", "pass", "--write", word, cwd=tmp)
        assert ((tmp / "document").read_text() == "{}\n") == (form != "bencher"), word
        for other in ("import torch\n", '{"compilerOptions": {"strict": true}}', "---\nlr: 0.1\n"):
            (tmp / "document").write_text(other)
            refused(2, f"--write '.*document' is there and is no document of the format {form}, and would be lost",
                    "gate", "pass", "--write", word, cwd=tmp)
            assert (tmp / "document").read_text() == other
        (tmp / "document").unlink()


@test
def a_document_on_standard_output_stands_there_alone(tmp):
    # Bug: the screen in the middle of an XML file.
    code, out, err = run("gate", "slower", "--write", "junit=-", cwd=tmp)
    xml.etree.ElementTree.fromstring(out)
    assert code == 1 and err.startswith("autotune ab"), err


@test
def a_full_disk_leaves_what_was_there(tmp):
    # Bug: half an XML file in the place of yesterday's, or a verdict that is lost with it.
    run("gate", "pass", "--write", "junit=gate.xml", cwd=tmp)
    yesterday = (tmp / "gate.xml").read_text()
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    code, out, err = run("gate", "pass", "--write", "junit=gate.xml", "--write", "bencher=b.json",
                         cwd=tmp, preexec_fn=small_files)
    assert code not in (0, 3) and "gate.xml': File too large" in err, (code, err)
    assert len(err.strip().splitlines()) == 1 and "PASS" in out, (out, err)
    assert (tmp / "gate.xml").read_text() == yesterday and len(list(tmp.iterdir())) == 1
    with open("/dev/full", "w") as full:
        done = subprocess.run([AUTOTUNE, "gate", "pass"], cwd=tmp, stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False)
    assert done.returncode not in (0, 3) and "standard output" in done.stderr, done.stderr


main()
