# SPDX-License-Identifier: Apache-2.0
"""The recipe for Conan 2, of this checkout: `conan create packaging/conan`. See packaging/README.md."""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy

TOP = "CMakeLists.txt", "LICENSE"
FOLDERS = "include", "cuda/include", "packaging/cmake"


class Feedrate(ConanFile):
    name = "feedrate"
    license = "Apache-2.0"
    description = "A data loader, training steps and a tuner that keep GPUs fed; header-only C++20"
    topics = ("deep-learning", "data-loader", "benchmark", "autotuning", "header-only")
    package_type = "header-library"
    settings = "os", "compiler", "build_type", "arch"
    generators = "CMakeToolchain"
    no_copy_source = True

    def set_version(self):
        header = Path(self.recipe_folder).parents[1] / "include/feedrate/core/version.hpp"
        self.version = ".".join(re.findall(r"define FEEDRATE_VERSION_\w+ (\d+)$", header.read_text(), re.M)[:3])

    def export_sources(self):
        top = Path(self.recipe_folder).parents[1]
        for name in TOP:
            copy(self, name, top, self.export_sources_folder)
        for folder in FOLDERS:
            copy(self, "*", top / folder, Path(self.export_sources_folder) / folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def package_id(self):
        self.info.clear()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")

    def package_info(self):
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        # feedrateConfig.cmake is the project's own: it has a target for each library that is found.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/feedrate"]
        self.cpp_info.system_libs = ["pthread"]
