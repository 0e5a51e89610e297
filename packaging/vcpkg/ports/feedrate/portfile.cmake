# SPDX-License-Identifier: Apache-2.0
# The port of this checkout, as an overlay (see packaging/README.md). In a registry, vcpkg_from_git takes the
# place of the first line.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # headers alone

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/feedrate)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
