// SPDX-License-Identifier: Apache-2.0
#include "feedrate/cuda/library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "../planted_tree.hpp"

namespace feedrate::inline v0::cuda::library_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// A library that each program has open, and the file that it came from.
constexpr const char* known = "libm.so.6";

std::string file_of_known() {
  Dl_info info{};
  void* const library = dlopen(known, RTLD_NOW);
  REQUIRE(library);
  REQUIRE(dladdr(dlsym(library, "ceil"), &info) != 0);
  return info.dli_fname;
}

TEST_CASE("A library is opened from the loader's path, and its functions are found", "[library]") {
  // Bug: a library that is opened twice, or a function that is null and called.
  const LibrarySearch search{.name = known, .mend = "install it"};
  void* const library = open_library(search);
  double (*round_up)(double) = nullptr;
  find_function(library, search, "ceil", round_up);
  CHECK(round_up(2.5) == 3);
  CHECK_THROWS_MATCHES(
      find_function(library, search, "ceil_of_all", round_up), Error,
      MessageMatches(ContainsSubstring("libm.so.6 lacks ceil_of_all: install it.")));
}

TEST_CASE("A library is found in each of the folders that are named", "[library]") {
  // Bug: a folder before or behind the loader's own that is never looked into.
  test::PlantedTree tree;
  const std::string name = "libof-this-test-alone.so.1", folder = tree.root() + "/libraries";
  tree.plant("/libraries/readme", "");
  REQUIRE(::symlink(file_of_known().c_str(), (folder + "/" + name).c_str()) == 0);
  const std::string nowhere = tree.root() + "/none";
  CHECK(open_library({.name = name, .first = {nowhere, folder}, .mend = ""}));
  CHECK(open_library({.name = name, .last = {nowhere, folder}, .mend = ""}));
}

TEST_CASE("A missing library is reported with the searched places and what to do", "[library]") {
  // Bug: "not found" without the name, the folders or the remedy; a file that is no library taken
  // for a missing one.
  test::PlantedTree tree;
  tree.plant("/broken/libnone.so.1", "no library");
  const LibrarySearch search{.name = "libnone.so.1",
                             .first = {"/first"},
                             .last = {tree.root() + "/broken", "/last"},
                             .mend = "install it"};
  for (const char* part :
       {"libnone.so.1 can't be opened (/first/libnone.so.1 not found; libnone.so.1 not found; ",
        "broken/libnone.so.1: ", "; /last/libnone.so.1 not found): install it."}) {
    CHECK_THROWS_MATCHES(open_library(search), Error, MessageMatches(ContainsSubstring(part)));
  }
  try {
    open_library(search);
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::device);
  }
}

TEST_CASE("A list of folders is cut at its colons", "[library]") {
  // Bug: an empty entry that means the current folder.
  CHECK(folders_of("").empty());
  CHECK(folders_of("/a::/b c:") == std::vector<std::string>{"/a", "/b c"});
}

}  // namespace
}  // namespace feedrate::inline v0::cuda::library_tests
