# SPDX-License-Identifier: Apache-2.0
"""No file of the project names a machine's own paths, a package registry's host, or how it was made; and
what decides holds no sentences."""

import re
import subprocess

from harness import INCLUDE, ROOT, Tap

# Written in two halves, so that this file does not find itself.
FORBIDDEN = {
    "paths of one machine": [r"(?<![\w.])/wo" r"rk/", r"/opt/ve" r"nv", r"/opt/chr" r"oot",
                             r"/home/(?!u\b|user\b|you\b|me\b)[a-z]+/", r"(?<![\w.])/ro" r"ot/",
                             r"/tm" r"p/[a-z]\d"],
    "hosts of package registries": [r"deb\.debi" r"an\.org", r"(archive|security)\.ubun" r"tu\.com",
                                    r"py" r"pi\.org", r"pythonho" r"sted\.org", r"npmj" r"s\.org",
                                    r"snapshot\.debi" r"an\.org"],
    "how it was made": [r"\bissue #?\d+", r"\bclau" r"de\b", r"\banthro" r"pic\b", r"\bchat" r"gpt\b",
                        r"\bAI ag" r"ents?\b", r"\bDES" r"IGN\.md\b", r"\bSTY" r"LE\.md\b",
                        r"\bFAC" r"TS\.md\b", r"\bTEST" r"PLAN\.md\b"],
    "a type by a name that it no longer has": [
        r"(?-i:\b(?:Like" r"ness|Rendez" r"vous|Surround" r"ings|Park" r"ing|Cr" r"ew|Cost" r"ed)\b)",
        r"(?-i:\b(?:class|struct|[Tt]hrows what) (?:Attac" r"hed|Launc" r"hed|Super" r"vised)\b)",
        r"(?-i:\b(?:class|struct) (?:Jud" r"ge|Stand" r"ing|Po" r"t|Tri" r"als)\b)",
        r"\b(?:is_wi" r"ld|look_bri" r"efly|take_back_cho" r"ice)\b"],
    "a threshold by a vague word": [
        r"\bconstexpr [\w:<> ]*\b(?:mu" r"ch|litt" r"le|fe" r"w|wor" r"th|dou" r"bt)\b ="],
    # The field's word, or two short sentences.
    "words that need a second reading": [
        r"\b(?:launc" r"hed|ma" r"de) anew\b", r"\bta" r"ken back\b", r"\bis to st" r"ay as it is\b",
        r"\bthat make no sen" r"se\b", r"\blies? beh" r"ind\b", r"\bto be ha" r"d\b", r"\btwo po" r"ts\b",
        r"\brates? (?:was|were) predicted with" r"in\b", r"\bquieter mach" r"ine\b",
        r"\bprocesses de" r"ny\b", r"\bmay come twi" r"ce\b"],
}


def files():
    """What git tracks or would track; else, in an unpacked archive, everything."""
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-co",
               "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
        return [ROOT / name for name in names if name and (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        ours = ["bench", "cuda", "docs", "examples", "include", "python", "tests", "tools", "tuner"]
        return [path for name in ours for path in (ROOT / name).rglob("*") if path.is_file()]


def texts():
    for path in files():
        try:
            yield path.relative_to(ROOT), path.read_text()
        except UnicodeDecodeError:
            continue  # pictures and other fixtures


LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
WORDS = re.compile(r"[A-Za-z]\W* [a-z]")
# Errors are for the programmer or the user who reads no report; a file's own comment begins with "#".
EXEMPT = re.compile(r"\bError\(|\bstatic_assert\(|\brefuse(_\w+)?\(")


def sentences_in_the_tuner():
    """Texts of two words or more under tune/, outside of errors: report/text/ turns data
    into sentences."""
    for path in sorted((INCLUDE / "feedrate" / "tune").rglob("*.hpp")):
        text = re.sub(r"//.*", "", path.read_text())
        blank = LITERAL.sub(lambda match: '"' + "." * len(match[1]) + '"', text)
        for match in LITERAL.finditer(text):
            begin = max(blank.rfind(mark, 0, match.start()) for mark in ";{}")
            statement = blank[begin + 1:match.start()]
            if WORDS.search(match[1]) and not match[1].startswith("#") and not EXEMPT.search(statement):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(ROOT)}:{line}: {match[0]}"


def main():
    tap, all_texts = Tap(), list(texts())
    for what, patterns in FORBIDDEN.items():
        joined = re.compile("|".join(patterns), re.I)
        tap.check(f"no file names {what}",
                  [f"{path}: {match[0]}" for path, text in all_texts if (match := joined.search(text))])
    tap.check("there is no sentence for people under tune/", sentences_in_the_tuner())
    tap.finish()


if __name__ == "__main__":
    main()
