# SPDX-License-Identifier: Apache-2.0
"""Each way to use the headers in a project of one's own, without network. Prints TAP.

usage: ways.py COMPILER...
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONSUMER = ROOT / "tests/packaging/consumer.cpp"
SUM, SUM_WITH_PART = "328350", "328351"
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(consumer LANGUAGES CXX)
{find}
add_subdirectory(app)
"""
APP = """add_executable(consumer ${{CMAKE_SOURCE_DIR}}/consumer.cpp)
target_compile_options(consumer PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
target_link_libraries(consumer PRIVATE {target})
{more}
"""
MESON = """project('consumer', 'cpp', default_options: ['cpp_std=c++20', 'warning_level=3', 'werror=true'])
executable('consumer', 'consumer.cpp', dependencies: dependency('feedrate{part}', fallback: 'feedrate'), cpp_args: {defines})
"""
# What each part is found by, and the CMake component of the same name.
PARTS = {"images": "jpeglib.h", "train": "cblas.h", "cuda": "cuda_runtime_api.h"}


class Skip(Exception):
    """Why a way can't be tried here."""


def run(*words, cwd=None, **environment):
    done = subprocess.run(list(map(str, words)), cwd=cwd, capture_output=True, text=True, check=False,
                          env={**os.environ, "CXX": " ".join(sys.argv[1:]), **environment})
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
    return done.stdout.strip()


def need(program):
    if shutil.which(program) is None:
        raise Skip(f"there is no {program}")


def parts_here():
    """The parts that have here what they need."""
    include = {"cuda": ["-I/usr/local/cuda/include"], "train": ["-I" + str(path) for path in pathlib.Path("/usr/include").glob(
        "*/openblas*")]}
    found = [part for part, header in PARTS.items()
             if not subprocess.run([*sys.argv[1:], *include.get(part, []), "-x", "c++", "-fsyntax-only", "-"],
                                   input=f"#include <cstdio>\n#include <{header}>\n", text=True, capture_output=True,
                                   check=False).returncode]
    return found


def some_parts():
    if found := parts_here():
        return found
    raise Skip("there is neither libjpeg nor a BLAS nor CUDA")


def project(tmp):
    folder = tmp / "project"
    folder.mkdir()
    shutil.copy(CONSUMER, folder)
    return folder


def built_by_cmake(tmp, find, options=(), target="feedrate::feedrate", more=""):
    """What the consumer prints. It is built below the folder that finds the targets."""
    folder = project(tmp)
    (folder / "app").mkdir()
    (folder / "CMakeLists.txt").write_text(CMAKE.format(find=find))
    (folder / "app/CMakeLists.txt").write_text(APP.format(target=target, more=more))
    run("cmake", "-S", folder, "-B", folder / "build", *options)
    run("cmake", "--build", folder / "build")
    return run(folder / "build/app/consumer")


def moved_install(tmp, install):
    """The prefix of an install, moved to where it was not made for."""
    install(tmp / "prefix")
    (tmp / "prefix").rename(tmp / "elsewhere")
    return tmp / "elsewhere"


def by_cmake(prefix):
    run("cmake", "-S", ROOT, "-B", prefix.parent / "build", f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run("cmake", "--install", prefix.parent / "build")


def by_meson(prefix):
    off = [f"-D{part}=disabled" for part in ("tuner", "tests", "bench", "cuda")]
    run("meson", "setup", prefix.parent / "build", ROOT, f"--prefix={prefix}", "-Dexamples=false", *off)
    run("meson", "install", "-C", prefix.parent / "build")


def find_package_finds_an_install_of_cmake_that_was_moved(tmp):
    need("cmake")
    prefix = moved_install(tmp, by_cmake)
    assert (prefix / "include/feedrate/cuda/feed.hpp").exists(), "the CUDA headers are not installed"
    found = built_by_cmake(tmp, "find_package(feedrate 0.1 REQUIRED)", options=[f"-DCMAKE_PREFIX_PATH={prefix}"])
    assert found == SUM, found


def find_package_finds_an_install_of_meson_and_its_parts(tmp):
    need("cmake")
    need("meson")
    prefix = moved_install(tmp, by_meson)
    for part in some_parts():
        shutil.rmtree(tmp / "project", ignore_errors=True)
        found = built_by_cmake(tmp, f"find_package(feedrate REQUIRED COMPONENTS {part})",
                               [f"-DCMAKE_PREFIX_PATH={prefix}"], f"feedrate::{part}",
                               f"target_compile_definitions(consumer PRIVATE WITH_{part.upper()})")
        assert found == SUM_WITH_PART, (part, found)


def a_version_that_is_not_compatible_is_refused(tmp):
    need("cmake")
    prefix = moved_install(tmp, by_cmake)
    try:
        built_by_cmake(tmp, "find_package(feedrate 0.2 REQUIRED)", options=[f"-DCMAKE_PREFIX_PATH={prefix}"])
    except AssertionError as refused:
        assert "0.2" in str(refused) and "compatible" in str(refused), refused
    else:
        raise AssertionError("0.1 passes for 0.2")


def add_subdirectory_takes_the_sources_and_installs_nothing(tmp):
    need("cmake")
    assert built_by_cmake(tmp, f"add_subdirectory({ROOT} feedrate)") == SUM
    run("cmake", "--install", tmp / "project/build", f"--prefix={tmp / 'prefix'}")
    assert not (tmp / "prefix/include").exists(), "headers of ours are installed with another project"


def fetch_content_takes_the_sources(tmp):
    need("cmake")
    find = f"include(FetchContent)\nFetchContent_Declare(feedrate SOURCE_DIR {ROOT})\nFetchContent_MakeAvailable(feedrate)"
    assert built_by_cmake(tmp, find) == SUM


def project_with_subproject(tmp):
    """The folder of a project that has feedrate below it, and needs its headers."""
    need("meson")
    folder = project(tmp)
    (folder / "subprojects").mkdir()
    (folder / "subprojects/feedrate").symlink_to(ROOT)
    (folder / "meson.build").write_text(MESON.format(part="", defines="[]"))
    return folder


def a_meson_subproject_is_the_dependency_alone(tmp):
    folder = project_with_subproject(tmp)
    run("meson", "setup", folder / "build", folder)
    run("meson", "compile", "-C", folder / "build")
    assert run(folder / "build/consumer") == SUM
    for what in ("targets", "tests", "installed"):
        told = run("meson", "introspect", f"--{what}", folder / "build")
        assert "feedrate/" not in told.replace("subprojects/feedrate", "") and (what == "targets" or
                                                                              told in ("[]", "{}")), (what, told)


def a_meson_subproject_needs_threads_alone(tmp):
    # Bug: as distributions build, auto_features made libjpeg and a BLAS necessary for the headers.
    folder = project_with_subproject(tmp)
    run("meson", "setup", folder / "build", folder, "-Dauto_features=enabled", PKG_CONFIG_LIBDIR=str(tmp))


def a_meson_subproject_has_parts(tmp):
    folder = project_with_subproject(tmp)
    for part in some_parts():
        if part == "cuda":  # a project brings its own runtime
            continue
        (folder / "meson.build").write_text(MESON.format(part="-" + part, defines=f"['-DWITH_{part.upper()}']"))
        run("meson", "setup", folder / part, folder)
        run("meson", "compile", "-C", folder / part)
        assert run(folder / part / "consumer") == SUM_WITH_PART, part


def built_by_pkg_config(tmp, prefix, words, defines=()):
    """What the consumer prints."""
    flags = run("pkg-config", "--cflags", "--libs", *words, PKG_CONFIG_PATH=str(prefix / "share/pkgconfig")).split()
    run(*sys.argv[1:], "-std=c++20", *defines, CONSUMER, "-o", tmp / "consumer", *flags)
    return run(tmp / "consumer")


def pkg_config_tells_the_flags_of_an_install_that_was_moved(tmp):
    need("meson")
    need("pkg-config")
    prefix = moved_install(tmp, by_meson)
    assert built_by_pkg_config(tmp, prefix, ["--define-prefix", "feedrate"]) == SUM
    prefix.rename(tmp / "prefix")  # --define-prefix would move the libraries of a part, too
    for part in parts_here():
        if part != "cuda":  # CUDA has no file for pkg-config
            found = built_by_pkg_config(tmp, tmp / "prefix", ["feedrate-" + part], [f"-DWITH_{part.upper()}"])
            assert found == SUM_WITH_PART, (part, found)


WAYS = [find_package_finds_an_install_of_cmake_that_was_moved, find_package_finds_an_install_of_meson_and_its_parts,
        a_version_that_is_not_compatible_is_refused, add_subdirectory_takes_the_sources_and_installs_nothing,
        fetch_content_takes_the_sources, a_meson_subproject_is_the_dependency_alone,
        a_meson_subproject_needs_threads_alone, a_meson_subproject_has_parts,
        pkg_config_tells_the_flags_of_an_install_that_was_moved]


def main(ways):
    print(f"1..{len(ways)}")
    failed = 0
    for number, way in enumerate(ways, 1):
        title = way.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory() as folder:
            try:
                way(pathlib.Path(folder))
                print(f"ok {number} - {title}", flush=True)
            except Skip as why:
                print(f"ok {number} - {title} # SKIP {why}", flush=True)
            except AssertionError as error:
                failed = 1
                print(f"not ok {number} - {title}", flush=True)
                for line in str(error).splitlines():
                    print("# " + line)
    return failed


if __name__ == "__main__":
    sys.exit(main(WAYS))
