// SPDX-License-Identifier: Apache-2.0
// Tests of machine/toolkit.hpp, on planted toolkits.
#include "feedrate/machine/toolkit.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "../planted_tree.hpp"

namespace feedrate::toolkit_tests {

namespace {

void plant_nvcc(test::PlantedTree& tree, const std::string& path) {
  tree.plant(path, "#!/bin/sh\n");
  std::filesystem::permissions(tree.root() + path, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("the toolkit's version is read from the header beside nvcc") {
  // Bug: a version of the wrong digits: 12040 is 12.4, not 12.04 or 12.40.
  test::PlantedTree tree;
  plant_nvcc(tree, "/cuda/bin/nvcc");
  tree.plant("/cuda/include/cuda.h", "#define CUDA_VERSION 12040\n");
  const CudaToolkit toolkit = find_cuda_toolkit({tree.root() + "/none", tree.root() + "/cuda/bin"});
  CHECK(toolkit.nvcc == tree.root() + "/cuda/bin/nvcc");
  CHECK(toolkit.version == "12.4");
  CHECK(toolkit.why_not == "");
}

TEST_CASE("a link to nvcc is followed to its toolkit") {
  // Bug: a link in /usr/bin, whose neighbour folder has no header of CUDA.
  test::PlantedTree tree;
  plant_nvcc(tree, "/cuda/bin/nvcc");
  tree.plant("/cuda/targets/x86_64-linux/include/cuda.h", "#define CUDA_VERSION 13000\n");
  tree.plant("/usr/bin/x", "");
  std::filesystem::create_symlink(tree.root() + "/cuda/bin/nvcc", tree.root() + "/usr/bin/nvcc");
  CHECK(find_cuda_toolkit({tree.root() + "/usr/bin"}).version == "13.0");
}

TEST_CASE("no toolkit is a value with a reason") {
  // Bug: a file that can't be run taken for a compiler, and a missing one without a reason.
  test::PlantedTree tree;
  tree.plant("/cuda/bin/other", "");
  const CudaToolkit toolkit = find_cuda_toolkit({tree.root() + "/cuda/bin"});
  CHECK(toolkit.nvcc == "");
  CHECK(toolkit.why_not == "no nvcc in CUDA_HOME, PATH or /usr/local/cuda");
}

}  // namespace feedrate::toolkit_tests
