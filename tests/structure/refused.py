# SPDX-License-Identifier: Apache-2.0
"""What must not compile, and with which sentence: tests/refused/*.cpp.

The first line of each file is `// refused: SENTENCE`. The file must fail to compile with that
sentence, and must compile with -DFEEDRATE_ACCEPTED, which takes the mistake out: a file that is
refused for another reason than its own proves nothing.
"""

from harness import INCLUDE, ROOT, Tap, compile_source, flags_of_build, in_parallel

MARK = "// refused: "


def fault_of(path):
    """What is wrong with the refusal of this file, or nothing."""
    source = path.read_text()
    first = source.split("\n", 1)[0]
    if not first.startswith(MARK):
        return f"its first line is not '{MARK}SENTENCE'"
    flags = ["-fsyntax-only", f"-I{INCLUDE}", *flags_of_build()]
    succeeded, messages = compile_source(source, *flags)
    if succeeded:
        return "it compiles"
    if first.removeprefix(MARK) not in messages:
        return f"it is refused, but not with '{first.removeprefix(MARK)}':\n{messages}"
    succeeded, messages = compile_source(source, *flags, "-DFEEDRATE_ACCEPTED")
    return "" if succeeded else f"it is refused without its mistake, too:\n{messages}"


def main():
    tap = Tap()
    files = sorted((ROOT / "tests/refused").glob("*.cpp"))
    for path, fault in zip(files, in_parallel(fault_of, files)):
        tap.check(f"{path.name} is refused with its sentence", fault)
    tap.finish()


if __name__ == "__main__":
    main()
