# SPDX-License-Identifier: Apache-2.0
"""The programs in README.md and docs/ compile, and the commands named there exist."""

import re

from harness import INCLUDE, ROOT, Tap, compile_source, flags_of_build

tap = Tap()
for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
    text = page.read_text()
    programs = [code for code in re.findall(r"```cpp\n(.*?)```", text, re.S) if "int main" in code]
    for number, program in enumerate(programs, 1):
        fine, messages = compile_source(program, f"-I{INCLUDE}", *flags_of_build(), "-fsyntax-only")
        tap.check(f"program {number} in {page.name} compiles", "" if fine else messages)
    missing = [path for path in re.findall(r"\]\(([^)#:]+)\)", text) if not (page.parent / path).exists()]
    tap.check(f"every link in {page.name} leads somewhere", missing)
tap.finish()
