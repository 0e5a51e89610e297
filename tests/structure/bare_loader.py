# SPDX-License-Identifier: Apache-2.0
"""core, data/dataset, load and the front doors need the standard library alone.

The headers of other libraries are shadowed by files that only hold an #error, and no flag of
the build is used: what compiles here would compile on a machine without them.
"""

import pathlib
import re
import subprocess
import tempfile

from harness import INCLUDE, ROOT, Tap, compile_source, compiler, headers

SHADOWED = ["cblas.h", "openblas/cblas.h", "openblas_config.h", "f77blas.h", "mkl.h", "jpeglib.h",
            "jconfig.h", "jmorecfg.h", "jerror.h", "turbojpeg.h", "nlohmann/json.hpp",
            "nlohmann/json_fwd.hpp", "CLI/CLI.hpp", "CLI11.hpp", "cuda.h", "cuda_runtime.h",
            "cuda_runtime_api.h", "cublas_v2.h", "nvml.h", "zlib.h", "png.h",
            "catch2/catch_all.hpp", "catch2/catch_test_macros.hpp", "benchmark/benchmark.h"]
PROGRAM = ROOT / "tests/structure/bare_loader.cpp"
MESSAGE = "this header belongs to another library"


def shadow(folder):
    """Fills `folder` with the shadows; returns the flags that put it before everything else."""
    for name in SHADOWED:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#error {MESSAGE}\n")
    return [f"-I{folder}", f"-I{INCLUDE}"]


def run_program(folder, flags):
    """Messages from building and running the program with nothing linked but threads."""
    program = folder / "bare_loader"
    build = subprocess.run([*compiler(), "-pthread", *flags, PROGRAM, "-o", program],
                           capture_output=True, text=True, check=False)
    if build.returncode:
        return build.stderr
    run = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    return f"the program ended with {run.returncode}: {run.stdout}{run.stderr}" if run.returncode else ""


def readme_program():
    """The first C++ program of the README."""
    programs = re.findall(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    return next(program for program in programs if "int main" in program)


def run_readme(folder, flags):
    """Messages from the README's program where libjpeg and BLAS are absent: it is to say so."""
    source, program = folder / "readme.cpp", folder / "readme"
    source.write_text(readme_program())
    build = subprocess.run([*compiler(), "-pthread", *flags, source, "-o", program],
                           capture_output=True, text=True, check=False)
    if build.returncode:
        return build.stderr
    run = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    return "" if "link with -ljpeg" in run.stderr else f"it says: {run.stdout}{run.stderr}"


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        flags = shadow(folder)
        bare = [header for header in headers()
                if header.startswith(("feedrate/core/", "feedrate/load/"))
                or header == "feedrate/data/dataset.hpp"]
        source = "".join(f'#include "{header}"\n' for header in bare)
        tap.check(f"all {len(bare)} headers of core, data/dataset and load compile with nothing else",
                  "" if (result := compile_source(source, *flags, "-fsyntax-only"))[0] else result[1])
        tap.check("a program with a dataset of its own and a loader builds and runs",
                  run_program(folder, flags))
        # Bug: a front door that needs a library which many programs have no use for.
        for door in ["loader", "tune", "report_batch"]:
            succeeded, messages = compile_source(f'#include "feedrate/{door}.hpp"\n', *flags,
                                                 "-fsyntax-only")
            tap.check(f"{door}.hpp compiles with nothing else", "" if succeeded else messages)
        without = ["-DFEEDRATE_WITHOUT_BLAS", "-DFEEDRATE_WITHOUT_JPEG"]
        tap.check("README's program compiles without them, and says what it lacks",
                  run_readme(folder, [*flags, *without]))
        # Without this, a shadow that is never found would let everything pass.
        _, messages = compile_source('#include "feedrate/data/image/jpeg.hpp"\n', *flags, "-fsyntax-only")
        tap.check("the shadows do refuse a header that needs libjpeg",
                  "" if MESSAGE in messages else "feedrate/data/image/jpeg.hpp got past them")
    tap.finish()


if __name__ == "__main__":
    main()
