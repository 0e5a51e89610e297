// SPDX-License-Identifier: Apache-2.0
#include "screen/apply_patch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../planted_tree.hpp"

namespace feedrate::apply_patch_tests {
namespace {

std::atomic<bool> interrupts{false};  ///< each rename of a file
std::atomic<int> renames{-1};         ///< that succeed, until others fail; -1: all do

}  // namespace
}  // namespace feedrate::apply_patch_tests

extern "C" int rename(const char* from, const char* to) noexcept {
  if (feedrate::apply_patch_tests::interrupts) ::raise(SIGINT);
  std::atomic<int>& left = feedrate::apply_patch_tests::renames;
  if (left >= 0 && left-- == 0) {
    left = -1;
    errno = EACCES;
    return -1;
  }
  return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace feedrate::apply_patch_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

const std::string before = "import torch\nloader = DataLoader(data)\nfor x in loader:\n    step(x)";
const std::string after =
    "import torch\nloader = DataLoader(data, num_workers=8)\nfor x in loader:\n    step(x)";
const std::string patch =
    "--- a/src/train.py\n+++ b/src/train.py\n@@ -1,4 +1,4 @@\n import torch\n"
    "-loader = DataLoader(data)\n+loader = DataLoader(data, num_workers=8)\n for x in loader:\n"
    "     step(x)\n\\ No newline at end of file\n";

/// A repository with a script.
struct Repository {
  test::PlantedTree tree;
  std::string script = tree.root() + "/src/train.py";

  Repository() {
    fs::create_directory(tree.root() + "/src");
    write(script, before);
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// What a run of the script recommends.
  Report report() const {
    Report report;
    report.workload.script.emplace().loader.file = script;
    report.settings = {{"pytorch", "", "", patch}};
    return report;
  }
};

TEST_CASE("A patch changes the file below the folder that its names are told from", "[apply]") {
  // Bug: a file in a sub-folder of a repository that is looked for beside the script, or a last
  // line that gets an end.
  const Repository repository;
  const auto files = patched_files(repository.report());
  REQUIRE(files.size() == 1);
  CHECK(files.front().after == after);
  chmod(repository.script.c_str(), 0755);
  apply_change(repository.report(), true);
  CHECK(Repository::text_of(repository.script) == after);
  CHECK(Repository::text_of(repository.script + ".orig") == before);
  CHECK((fs::status(repository.script).permissions() & fs::perms::owner_exec) != fs::perms::none);
}

TEST_CASE("A script that is edited while the question stands keeps its edits", "[apply]") {
  // Bug: the text of before the question, written over what the user has saved meanwhile.
  const Repository repository;
  const auto files = patched_files(repository.report());
  Repository::write(repository.script, "# new\n" + before);
  CHECK_THROWS_WITH(replace_files(files), ContainsSubstring("was changed meanwhile"));
  CHECK(Repository::text_of(repository.script) == "# new\n" + before);
  CHECK_FALSE(fs::exists(repository.script + ".orig"));
}

TEST_CASE("A script that has changed since is refused, and nothing is written", "[apply]") {
  // Bug: the change lands in the wrong line, or a half-changed file.
  const Repository repository;
  Repository::write(repository.script, "# new\n" + before);
  CHECK_THROWS_WITH(apply_change(repository.report(), true),
                    ContainsSubstring("no longer what was tuned"));
  CHECK(Repository::text_of(repository.script) == "# new\n" + before);
  CHECK_FALSE(fs::exists(repository.script + ".orig"));
  fs::remove(repository.script);
  CHECK_THROWS_WITH(apply_change(repository.report(), true),
                    ContainsSubstring("no longer where it was tuned"));
}

TEST_CASE("Of several files all are replaced, or none", "[apply]") {
  // Bug: one of two files changed, which can neither be finished nor is told of.
  const Repository repository;
  const std::string other = repository.tree.root() + "/src/settings.json";
  Repository::write(other, "4");
  for (int succeed = 0; succeed < 4; ++succeed) {
    renames = succeed;
    CHECK_THROWS_AS(replace_files({{repository.script, before, after}, {other, "4", "8"}}), Error);
    CHECK(Repository::text_of(repository.script) == before);
    CHECK(Repository::text_of(other) == "4");
    CHECK_FALSE(fs::exists(repository.script + ".orig"));
    CHECK_FALSE(fs::exists(other + ".orig"));
  }
  replace_files({{repository.script, before, after}, {other, "4", "8"}});
  CHECK(Repository::text_of(other) == "8");
}

/// For a handler, which may call few functions.
char found_by_handler[4096];
volatile ssize_t found_bytes = 0;
const char* script_of_handler = nullptr;

void read_script(int) {
  const int file = ::open(script_of_handler, O_RDONLY | O_CLOEXEC);
  found_bytes = ::read(file, found_by_handler, sizeof found_by_handler);
  ::close(file);
}

TEST_CASE("Ctrl-C waits until the script is replaced", "[apply]") {
  // Bug: a draft that is left beside the script.
  const Repository repository;
  script_of_handler = repository.script.c_str();
  const auto before_it = ::signal(SIGINT, read_script);
  interrupts = true;
  replace_files(patched_files(repository.report()));
  interrupts = false;
  ::signal(SIGINT, before_it);
  REQUIRE(found_bytes > 0);
  CHECK(std::string(found_by_handler, static_cast<std::size_t>(found_bytes)) == after);
}

TEST_CASE("The change of an interrupted run is not applied", "[apply]") {
  // Bug: Ctrl-C during the confirmation, and a change that nothing has confirmed.
  const Repository repository;
  Report report = repository.report();
  report.outcome.interrupted = true;
  CHECK_THROWS_WITH(apply_change(report, true), ContainsSubstring("interrupted before"));
  CHECK(Repository::text_of(repository.script) == before);
}

TEST_CASE("Another .orig file is not overwritten", "[apply]") {
  // Bug: the only copy of somebody's older version is lost.
  const Repository repository;
  Repository::write(repository.script + ".orig", "older\n");
  CHECK_THROWS_WITH(apply_change(repository.report(), true), ContainsSubstring("other content"));
  CHECK(Repository::text_of(repository.script) == before);
  CHECK(Repository::text_of(repository.script + ".orig") == "older\n");
}

TEST_CASE("A link stays a link, and what it points to is changed", "[apply]") {
  // Bug: a link that is replaced by a file, so that the repository behind it stays as it was.
  const Repository repository;
  const std::string real = repository.tree.root() + "/real.py";
  fs::rename(repository.script, real);
  fs::create_symlink(real, repository.script);
  apply_change(repository.report(), true);
  CHECK(fs::is_symlink(repository.script));
  CHECK(Repository::text_of(real) == after);
}

TEST_CASE("Several hunks, and line ends of Windows, are kept as they are", "[apply]") {
  // Bug: a second hunk that is counted from the changed file.
  const test::PlantedTree tree;
  std::string text, hunks = "--- a/x.py\n+++ b/x.py\n";
  for (int line = 1; line <= 20; ++line) text += std::to_string(line) + "\r\n";
  Repository::write(tree.root() + "/x.py", text);
  hunks += "@@ -2,2 +2,3 @@\n 2\r\n+2.5\r\n 3\r\n@@ -18,2 +19,1 @@\n-18\r\n 19\r\n";
  const auto files = patched_files(hunks, tree.root());
  REQUIRE(files.size() == 1);
  CHECK_THAT(files.front().after, ContainsSubstring("2\r\n2.5\r\n3\r\n"));
  CHECK_THAT(files.front().after, ContainsSubstring("17\r\n19\r\n20\r\n"));
}

}  // namespace
}  // namespace feedrate::apply_patch_tests
