# SPDX-License-Identifier: Apache-2.0
"""Turns Python files into a C++ header that holds their text: embed.py HEADER ROOT FILE..."""

import pathlib
import sys

HEADER = """\
// Made by embed.py: the modules that autotune carries with it.
#pragma once

#include <array>
#include <string_view>

namespace feedrate {{

/// A file: its path below the folder of all, and its text.
struct PythonText {{
  std::string_view name, text;
}};

inline constexpr std::array<PythonText, {count}> python_texts = {{{{
{entries}}}}};

}}  // namespace feedrate
"""


def literal(line):
    """A line of bytes as a string literal; octal escapes, which no next digit can make longer."""
    plain = set(range(ord(" "), 127)) - set(b'"\\?')
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in line) + '"'


def entry(root, path):
    """One file as the elements of a PythonText."""
    text = path.read_bytes()
    if b"\0" in text:
        raise SystemExit(f"{path} holds a zero byte: this is no text.")
    compile(text, str(path), "exec")  # what the build can tell, no user needs to find
    lines = text.splitlines(keepends=True) or [b""]
    name = path.resolve().relative_to(root).as_posix()
    return f'{{"{name}",\n' + "\n".join(literal(line) for line in lines) + "},\n"


def main():
    header, root, *files = sys.argv[1:]
    root = pathlib.Path(root).resolve()
    entries = [entry(root, pathlib.Path(file)) for file in files]
    text = HEADER.format(count=len(entries), entries="".join(entries))
    pathlib.Path(header).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
