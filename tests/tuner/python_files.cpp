// SPDX-License-Identifier: Apache-2.0
#include "hook/python_files.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "../planted_tree.hpp"
#include "feedrate/core/error.hpp"

namespace feedrate::python_files_tests {
namespace {

using Texts = std::map<std::string, std::string>;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The modules directly in a folder and in its package.
Texts modules_below(const std::filesystem::path& folder) {
  Texts texts;
  for (const char* const part : {".", "feedrate"}) {
    if (!std::filesystem::is_directory(folder / part)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder / part)) {
      if (entry.path().extension() != ".py") continue;
      texts[part + ("/" + entry.path().filename().string())] = text_of(entry.path());
    }
  }
  return texts;
}

TEST_CASE("autotune carries every module of the hook, byte for byte", "[python_files]") {
  // Bug: a new module that the build does not list is missing in the user's process alone.
  const test::PlantedTree tree;
  write_python_files(tree.root());
  Texts ours = modules_below(FEEDRATE_TEST_DATA "/../../python");
  for (const char* const of_the_package : {"command", "torch", "transforms"}) {
    REQUIRE(ours.erase("feedrate/" + std::string(of_the_package) + ".py") == 1);
  }
  const Texts written = modules_below(tree.root());
  for (const auto& [name, text] : ours) {
    INFO(name);
    REQUIRE(written.contains(name));
    CHECK((written.at(name) == text));
  }
  CHECK(written.size() == ours.size());
}

TEST_CASE("A folder that can't be written is named", "[python_files]") {
  // Bug: half a package, and a user's script that fails in its import.
  test::PlantedTree tree;
  tree.plant("/file", "");
  CHECK_THROWS_AS(write_python_files(tree.root() + "/file"), Error);
}

}  // namespace
}  // namespace feedrate::python_files_tests
