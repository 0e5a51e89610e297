# SPDX-License-Identifier: Apache-2.0
"""Each packaging system: builds the package of this checkout and a program with it. Prints TAP.

usage: systems.py COMPILER...
"""

import os
import pathlib
import shutil
import subprocess
import sys

import ways
from ways import ROOT, SUM, Skip, need, project, run

FIND = "find_package(feedrate REQUIRED)"


def conan_creates_a_package_that_cmake_finds(tmp):
    need("conan")
    need("cmake")
    home = {"CONAN_HOME": str(tmp / "conan"), "PIP_NO_INDEX": "1"}
    run("conan", "profile", "detect", **home)
    standard = ["-s", "compiler.cppstd=20"]
    run("conan", "create", ROOT / "packaging/conan", "--no-remote", *standard, **home)
    needs = tmp / "needs"
    needs.mkdir()
    (needs / "conanfile.txt").write_text("[requires]\nfeedrate/0.1.0\n[generators]\nCMakeToolchain\nCMakeDeps\n")
    run("conan", "install", needs, "--no-remote", "-of", tmp / "found", *standard, **home)
    toolchain = next((tmp / "found").rglob("conan_toolchain.cmake"))
    found = ways.built_by_cmake(tmp, FIND, [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DCMAKE_BUILD_TYPE=Release"])
    assert found == SUM, found


def vcpkg_install(tmp, port, *options):
    """The prefix of a port that vcpkg has installed."""
    need("cmake")
    root = os.environ.get("VCPKG_ROOT")
    vcpkg = shutil.which("vcpkg") or (root and shutil.which(f"{root}/vcpkg"))
    if not vcpkg or not root:
        raise Skip("there is no vcpkg, or VCPKG_ROOT is not set")
    run(vcpkg, "install", port, f"--overlay-ports={ROOT / 'packaging/vcpkg/ports'}", *options,
        f"--x-install-root={tmp / 'installed'}", f"--x-buildtrees-root={tmp / 'trees'}",
        f"--x-packages-root={tmp / 'packages'}", "--binarysource=clear", "--no-print-usage",
        VCPKG_FORCE_SYSTEM_BINARIES="1", VCPKG_DISABLE_METRICS="1")
    return next((tmp / "installed").glob("*-linux*"))


def vcpkg_installs_a_port_that_cmake_finds(tmp):
    prefix = vcpkg_install(tmp, "feedrate")
    found = ways.built_by_cmake(tmp, FIND, [f"-DCMAKE_PREFIX_PATH={prefix}"])
    assert found == SUM, found


def vcpkg_installs_the_features_with_their_libraries(tmp):
    """The ports of the libraries get their sources from the network: empty ones stand in for them, as vcpkg's users
    write for libraries that the system has, and CMake finds those of this machine."""
    for library in ("libjpeg-turbo", "openblas"):
        port = tmp / "ports" / library
        port.mkdir(parents=True)
        (port / "vcpkg.json").write_text(f'{{"name": "{library}", "version": "0"}}')
        (port / "portfile.cmake").write_text("set(VCPKG_POLICY_EMPTY_PACKAGE enabled)\n")
    prefix = vcpkg_install(tmp, "feedrate[images,train]", f"--overlay-ports={tmp / 'ports'}")
    found = ways.built_by_cmake(tmp, "find_package(feedrate REQUIRED COMPONENTS images train)",
                                [f"-DCMAKE_PREFIX_PATH={prefix}"], "feedrate::images feedrate::train",
                                "target_compile_definitions(consumer PRIVATE WITH_IMAGES)")
    assert found == ways.SUM_WITH_PART, found


def a_wrap_fetches_the_subproject(tmp):
    need("meson")
    need("git")
    state = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if state.returncode:
        raise Skip("this is no git checkout")
    folder = project(tmp)
    wrap = (ROOT / "packaging/wrap/feedrate.wrap.in").read_text()
    wrap = wrap.replace("url = REPOSITORY", f"url = file://{ROOT}").replace("revision = REVISION",
                                                                           "revision = " + state.stdout.strip())
    (folder / "subprojects").mkdir()
    (folder / "subprojects/feedrate.wrap").write_text(wrap)
    (folder / "meson.build").write_text(ways.MESON.format(part="", defines="[]"))
    run("meson", "setup", folder / "build", folder)
    run("meson", "compile", "-C", folder / "build")
    assert run(folder / "build/consumer") == SUM


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).parent))
    sys.exit(ways.main([conan_creates_a_package_that_cmake_finds, vcpkg_installs_a_port_that_cmake_finds,
                        vcpkg_installs_the_features_with_their_libraries, a_wrap_fetches_the_subproject]))
