# SPDX-License-Identifier: Apache-2.0
"""The pages: their programs compile, their links lead somewhere, and they begin with a command."""

import re

from harness import INCLUDE, ROOT, Tap, compile_source, flags_of_build

LONGEST_README = 120
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [*(ROOT / name for name in ("README.md", "results/README.md", "tests/README.md", "python/README.md")), *DOCS]


def programs(text):
    return [code for code in re.findall(r"```cpp\n(.*?)```", text, re.S) if "int main" in code]


def anchors(page):
    """The headings of a page as links name them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def dead_links(page):
    for path, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", page.read_text()):
        target = page.parent / path if path else page
        if not target.exists():
            yield path
        elif anchor and anchor not in anchors(target):
            yield f"{path}#{anchor}"


def tests_that_are_gone():
    """Names in the table of defects that no test has."""
    page = (ROOT / "tests/README.md").read_text()
    table = page.partition("## Defects")[2].partition("\n## ")[0]
    sources = "\n".join(path.read_text() for path in sorted((ROOT / "tests").rglob("*")) if path.suffix in (".cpp", ".py"))
    names = [name.strip() for row in table.splitlines()[6:] if row.startswith("|")
             for name in row.split("|")[2].split(";")]
    return [name for name in names if f'TEST_CASE("{name}"' not in re.sub(r'"\n\s*"', "", sources)
            and f"def {name.replace(' ', '_')}(" not in sources]


def main():
    tap = Tap()
    for page in PAGES:
        for number, program in enumerate(programs(page.read_text()), 1):
            fine, messages = compile_source(program, f"-I{INCLUDE}", *flags_of_build(), "-fsyntax-only")
            tap.check(f"program {number} in {page.name} compiles", "" if fine else messages)
        # Bug: a heading that was renamed, and links that then lead to the top of its page.
        tap.check(f"every link in {page.relative_to(ROOT)} leads somewhere", dead_links(page))
    # Bug: a defect whose test was renamed or removed.
    tap.check("every defect in tests/README.md has its test", tests_that_are_gone())
    # Bug: a page that explains before it says what to run.
    tap.check("every page of docs/ begins with a command", [
        page.name for page in DOCS if not re.match(r"# .*\n\n    \$ ", page.read_text())])
    length = len((ROOT / "README.md").read_text().splitlines())
    tap.check(f"README.md has at most {LONGEST_README} lines",
              f"it has {length}" if length > LONGEST_README else "")
    tap.finish()


if __name__ == "__main__":
    main()
