# SPDX-License-Identifier: Apache-2.0
"""Writes the files of a Debian package to stdout as a tar archive, without dpkg.

usage: deb_files.py FILE.deb
"""

import lzma
import sys
import zlib

HEADER = 60  # of a member of an ar archive: name (16 bytes), ..., size (10 bytes from 48)


def members(data):
    """(name, content) of each member of an ar archive."""
    at = len(b"!<arch>\n")
    while at + HEADER <= len(data):
        size = int(data[at + 48:at + 58])
        yield data[at:at + 16].decode().strip().rstrip("/"), data[at + HEADER:at + HEADER + size]
        at += HEADER + size + size % 2


def unpacked(name, content):
    if name.endswith(".xz"):
        return lzma.decompress(content)
    if name.endswith(".gz"):
        return zlib.decompress(content, wbits=31)
    if name.endswith(".tar"):
        return content
    sys.exit(f"{sys.argv[1]}: {name} is compressed in a way that needs dpkg-deb; install dpkg.")


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    for name, content in members(data) if data.startswith(b"!<arch>\n") else ():
        if name.startswith("data.tar"):
            sys.stdout.buffer.write(unpacked(name, content))
            return
    sys.exit(f"{sys.argv[1]} is no package of Debian's, or is damaged; collect it again.")


if __name__ == "__main__":
    main()
