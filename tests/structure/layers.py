# SPDX-License-Identifier: Apache-2.0
"""The house: rooms include only those below them, in no circle; headers are light and small."""

import collections
import os
import pathlib
import re
import statistics

from harness import CUDA, INCLUDE, ROOT, Tap, headers, includes

# The rooms, bottom up: each may include those of the lines above it and itself. Rooms of one line
# don't know each other.
ROOMS = (
    ("core",),
    ("machine",),
    ("data", "train"),
    ("data/image", "train/kernels"),
    ("data/texture", "train/cpu"),
    ("load",),
    ("load/sources",),
    ("load/stream",),
    ("cuda",),
    ("cuda/train",),
    ("measure",),
    ("compare",),
    ("card",),
    ("tune/model",),
    ("tune/objective",),
    ("tune/state",),
    ("tune/race",),
    ("tune/search", "tune/diagnose"),
    ("tune",),
    ("tune/program",),
    ("report",),
    ("report/text",),
    ("report/gate",),
    ("report/json", "report/screen"),
    ("report/formats", "report/comparison"),
    # Not of the library: what is compiled. The command stands on all of it, its rooms bottom up.
    ("cuda/src",),
    ("tuner/process", "tuner/values", "tuner/doctor"),
    ("tuner/request", "tuner/hook"),
    ("tuner/workload", "tuner/journal"),
    ("tuner/trials",),
    ("tuner/command",),
    ("tuner/script",),
    ("tuner/plan",),
    ("tuner/screen",),
    ("tuner/gate", "tuner/check"),
    ("tuner/ab",),
    ("tuner/verbs",),
    ("tuner",),
    ("bench",),
    ("bench/cuda",),
    ("bench/simulate/machine",),
    ("bench/simulate",),
)
FLOORS = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}
PROGRAMS = ("tuner", "bench", "cuda/src")
LONGEST, MEDIAN = 250, 90
LONGEST_FUNCTION = 50
FILES_PER_ROOM = 20


def folder_of(file):
    """The room of feedrate/ROOM/name or PROGRAM/ROOM/name; None for what lies in feedrate/ itself."""
    folder = file.rpartition("/")[0]
    return None if folder == "feedrate" else folder.removeprefix("feedrate/")


def places():
    """header -> where it lies, for all headers of the library."""
    roots = ((INCLUDE, "hpp"), (CUDA, "hpp"), (CUDA, "cuh"))
    return {header: root / header for root, suffix in roots for header in headers(root, suffix)}


def graph():
    """header -> the project's headers that it includes."""
    return {header: [name for _, name in includes(path) if name.startswith("feedrate/")]
            for header, path in places().items()}


def file_is_of_program(file):
    return not file.startswith("feedrate/")


def files_of_programs():
    """file -> where it lies, for what is compiled: the command, the benchmarks, the CUDA library."""
    return {path.relative_to(ROOT).as_posix(): path for program in PROGRAMS
            for path in sorted((ROOT / program).rglob("*"))
            if path.suffix in (".hpp", ".cpp", ".cu", ".cuh")}


def graph_of_programs():
    """file -> the project's files that it includes, found from its own folder, or from tuner/."""
    files = files_of_programs()

    def target(file, name):
        beside = os.path.normpath(pathlib.PurePosixPath(file).parent / name)
        return next((found for found in (beside, f"tuner/{name}") if found in files), name)

    return {file: [found for _, name in includes(path)
                   if (found := target(file, name)) in files or found.startswith("feedrate/")]
            for file, path in files.items()}


def climbs(edges):
    """Includes of rooms that are not below."""
    for header, targets in edges.items():
        own = folder_of(header)
        if own is None:
            continue  # the front doors stand above all rooms
        if own not in FLOORS:
            yield f"{header}: the room {own} is not in the table"
            continue
        for target in targets:
            other = folder_of(target)
            if other is None and file_is_of_program(header):
                continue  # programs may come in by the front doors
            if other != own and FLOORS.get(other, 99) >= FLOORS[own]:
                yield f"{header} includes {target}, which is in no room below"


def circles(edges):
    """Headers that include themselves by way of others."""
    finished, path = set(), []

    def visit(header):
        if header in path:
            yield " -> ".join([*path[path.index(header):], header])
            return
        if header in finished:
            return
        path.append(header)
        for target in edges.get(header, []):
            yield from visit(target)
        path.pop()
        finished.add(header)

    for header in edges:
        yield from visit(header)


def crowded():
    """Rooms with more files than one looks through at a glance."""
    counts = collections.Counter(map(folder_of, [*places(), *files_of_programs()]))
    return [f"{room}: {count} files" for room, count in counts.items() if count > FILES_PER_ROOM]


def offenders(pattern, allowed):
    """Headers that include what matches, outside of what is allowed (a pattern of headers)."""
    return [f"{header} includes {name}" for header in headers()
            for _, name in includes(INCLUDE / header)
            if re.fullmatch(pattern, name) and not re.match(allowed, header)]


def project_includes_in_brackets():
    return [f"{header} includes <{name}>" for header, path in places().items()
            for kind, name in includes(path) if kind == "<" and name.startswith("feedrate/")]


def dangling(edges):
    return [f"{header} includes {target}, which does not exist"
            for header, targets in edges.items() for target in targets if target not in edges]


def preambles():
    """The licence, what the file is (in one sentence, of one line or two), then the guard."""
    for header, path in places().items():
        text = path.read_text()
        if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
            yield f"{header} does not begin with its SPDX line"
        elif not re.match(r".*\n(// .*\n){1,3}#pragma once\n", text):
            yield f"{header} does not say what it is, and then '#pragma once'"


def unversioned():
    """Headers whose namespace is not the inline one of the major version."""
    major = re.search(r"version: '(\d+)", (ROOT / "meson.build").read_text())[1]
    for header, path in places().items():
        for line in re.findall(r"^namespace feedrate.*\{$", path.read_text(), re.M):
            if not line.startswith(f"namespace feedrate::inline v{major}"):
                yield f"{header}: {line}"


def lengths(files):
    return {file: len(path.read_text().splitlines()) for file, path in files.items()}


def long_functions(files):
    """Bodies, found by their layout: a line that opens one, and the next brace as far to the left."""
    for header, path in files.items():
        lines = path.read_text().splitlines()
        for start, line in enumerate(lines):
            opening = re.match(r"( *)(?!namespace|class|struct|enum|union|extern|: p)[^/# ].*\{$", line)
            if not opening or re.search(r"\b(class|struct|enum)\b[^()]*\{$", line):
                continue
            closing = re.compile(rf" {{0,{len(opening[1])}}}\}}")
            end = next((n for n in range(start + 1, len(lines)) if closing.match(lines[n])), start)
            if end - start - 1 > LONGEST_FUNCTION:
                yield f"{header}:{start + 1} has a body of {end - start - 1} lines"


def stray_cuda():
    """Device code, which nothing under include/ may hold."""
    return [f"{path.relative_to(ROOT)} belongs under cuda/" for path in INCLUDE.rglob("*")
            if path.suffix in (".cu", ".cuh")]


def without_comments(path):
    return re.sub(r"//.*", "", path.read_text())


def plain_headers_with_device_code():
    """What a C++ compiler alone must be able to read."""
    return [f"{header} includes {name}" for header, path in places().items()
            for _, name in includes(path) if header.endswith(".hpp") and name.endswith(".cuh")]


def strays(pattern, allowed):
    """Device files that hold what matches, outside of those that may."""
    return [f"{path.relative_to(ROOT)} holds it" for path in sorted((ROOT / "cuda").rglob("*"))
            if path.suffix in (".hpp", ".cuh", ".cu", ".cpp") and path.name not in allowed
            and re.search(pattern, without_comments(path))]


def main():
    tap, edges, long = Tap(), graph(), lengths(places())
    programs, every_file = graph_of_programs(), {**places(), **files_of_programs()}
    tap.check("headers include only the rooms below their own", climbs(edges))
    tap.check("no header includes itself by way of others", circles(edges))
    tap.check("files of the command, the benchmarks and the CUDA library include only the rooms "
              "below their own", climbs(programs))
    tap.check("none of those files includes itself by way of others", circles(programs))
    tap.check(f"no room has more than {FILES_PER_ROOM} files", crowded())
    tap.check("every header that is included exists", dangling(edges))
    tap.check("the project's headers are included in quotes", project_includes_in_brackets())
    tap.check("nothing under include/ includes CUDA",
              offenders(r"(cuda|cublas|cudnn|nvml|nvtx|cub/|thrust/|feedrate/cuda/).*", "$"))
    tap.check("there is no device code under include/", stray_cuda())
    tap.check("no plain header includes device code", plain_headers_with_device_code())
    tap.check("kernels are launched in launch.cuh alone", strays(r"<<<", {"launch.cuh"}))
    tap.check("threads of a block talk in the launcher and the reductions alone",
              strays(r"__shared__|__syncthreads|__shfl|cub/",
                     {"launch.cuh", "reduce.cuh"}))
    tap.check("JSON is in the report and the journal alone",
              offenders(r"nlohmann/.*", r"feedrate/report/json/"))
    tap.check("CLI11 is in the command alone", offenders(r"CLI/.*", "$"))
    tap.check("libjpeg is in data and card alone",
              offenders(r"jpeglib\.h", "feedrate/(data|card)/"))
    tap.check("CBLAS is in train and card alone",
              offenders(r"(openblas/)?cblas\.h", "feedrate/(train|card)/"))
    tap.check("no header includes iostream or regex", offenders("iostream|regex", "$"))
    tap.check("filesystem is in the readers and writers of folders alone",
              offenders("filesystem", "feedrate/(data|machine)/"))
    tap.check("the library is in the inline namespace of its version", unversioned())
    tap.check("every header opens with its licence, its purpose and its guard", preambles())
    tap.check(f"no file is longer than {LONGEST} lines",
              [f"{file}: {n} lines" for file, n in lengths(every_file).items() if n > LONGEST])
    tap.check(f"half of the headers have at most {MEDIAN} lines",
              [] if statistics.median(long.values()) <= MEDIAN else ["the median is larger"])
    tap.check(f"no function is longer than {LONGEST_FUNCTION} lines", long_functions(every_file))
    tap.finish()


if __name__ == "__main__":
    main()
