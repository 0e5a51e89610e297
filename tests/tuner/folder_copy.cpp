// SPDX-License-Identifier: Apache-2.0
#include "process/folder_copy.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "../planted_tree.hpp"
#include "feedrate/core/error.hpp"
#include "process/launch.hpp"
#include "processes.hpp"

namespace feedrate::folder_copy_tests {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using test::PlantedTree;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// All that is beside a folder, hidden or not, but the folder itself.
std::size_t count_beside(const std::string& folder) {
  const fs::path path = folder;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(path.parent_path())) {
    count += entry.path() != path;
  }
  return count;
}

std::string refusal_of(const std::string& folder) {
  try {
    const FolderCopy copy(folder);
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::usage);
    return error.what();
  }
  return "It is copied.";
}

TEST_CASE("A copy holds what the folder holds, and nothing written there reaches it",
          "[folder_copy]") {
  // Bug: a script that finds another file, or may not run one; a checkpoint that is overwritten.
  PlantedTree tree;
  const std::string folder = tree.root() + "/project";
  tree.plant("/project/last.pt", "weights").plant("/project/sub/run.sh", "exit 0\n");
  ::chmod((folder + "/sub/run.sh").c_str(), 0751);
  const timespec times[2] = {{1000, 0}, {2000, 5}};
  ::utimensat(AT_FDCWD, (folder + "/last.pt").c_str(), times, 0);
  std::string copied;
  {
    const FolderCopy copy(folder);
    copied = copy.path();
    CHECK(copy.original() == folder);
    CHECK(fs::path(copied).parent_path() == tree.root());
    CHECK(text_of(copied + "/last.pt") == "weights");
    struct stat status {};
    REQUIRE(::stat((copied + "/sub/run.sh").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0751);
    REQUIRE(::stat((copied + "/last.pt").c_str(), &status) == 0);
    CHECK(status.st_mtim.tv_sec == 2000);
    std::ofstream(copied + "/last.pt") << "junk";
    fs::remove(copied + "/sub/run.sh");
    std::ofstream(copied + "/new") << "junk";
    ::chmod((copied + "/sub").c_str(), 0500);
  }
  CHECK_FALSE(fs::exists(copied));
  CHECK(text_of(folder + "/last.pt") == "weights");
  CHECK(text_of(folder + "/sub/run.sh") == "exit 0\n");
  CHECK(count_beside(folder) == 0);
}

TEST_CASE("Links of a copy lead to what they led to, and into the copy where that is in the folder",
          "[folder_copy]") {
  // Bug: data that is not found, or a write through a link into the folder itself.
  PlantedTree tree;
  const std::string folder = tree.root() + "/project";
  tree.plant("/data/a", "far").plant("/project/b", "near").plant("/project/sub/c", "deep");
  fs::create_symlink("../data/a", folder + "/out");
  fs::create_symlink(tree.root() + "/data/a", folder + "/out-absolute");
  fs::create_symlink("../b", folder + "/sub/in");
  fs::create_symlink(folder + "/b", folder + "/in-absolute");
  fs::create_symlink("../project/b", folder + "/back");
  fs::create_symlink("nothing", folder + "/dangling");
  fs::create_directory_symlink("../../data", folder + "/sub/folder");
  const FolderCopy copy(folder);
  CHECK(text_of(copy.path() + "/out") == "far");
  CHECK(text_of(copy.path() + "/out-absolute") == "far");
  CHECK(text_of(copy.path() + "/../data/a") == "far");
  CHECK(text_of(copy.path() + "/sub/folder/a") == "far");
  CHECK(fs::canonical(copy.path() + "/sub/in") == copy.path() + "/b");
  CHECK(fs::canonical(copy.path() + "/in-absolute") == copy.path() + "/b");
  CHECK(fs::canonical(copy.path() + "/back") == copy.path() + "/b");
  CHECK(fs::read_symlink(copy.path() + "/dangling") == copy.path() + "/nothing");
}

TEST_CASE("What is large and not a training's own is linked, and what is no file is left out",
          "[folder_copy]") {
  // Bug: gigabytes of PyTorch that are copied for each launch; a pipe that is waited for.
  PlantedTree tree;
  const std::string folder = tree.root() + "/project";
  tree.plant("/project/.git/HEAD", "ref").plant("/project/env/pyvenv.cfg", "home = /usr\n");
  tree.plant("/project/env/bin/tool", "x").plant("/project/conda/conda-meta/history", "x");
  REQUIRE(::mkfifo((folder + "/pipe").c_str(), 0600) == 0);
  const FolderCopy copy(folder);
  for (const char* const name : {"/.git", "/env", "/conda"}) {
    CHECK(fs::read_symlink(copy.path() + name) == folder + name);
  }
  CHECK_FALSE(fs::exists(fs::symlink_status(copy.path() + "/pipe")));
}

TEST_CASE("Paths into the folder lead into the copy, wherever they stand in a text",
          "[folder_copy]") {
  // Bug: --out /project/run that is written to, or /project2 that is taken for it.
  PlantedTree tree;
  const std::string folder = tree.root() + "/project";
  tree.plant("/project/train.py", "");
  const FolderCopy copy(folder);
  const auto with = [](const std::string& path) {
    return std::vector<std::string>{path,
                                    path + "/train.py",
                                    "--out=" + path + "/run",
                                    "a=" + path + ":" + path + "/b",
                                    "cd " + path + " && ls '" + path + "'",
                                    "[" + path + "/x]",
                                    "file://" + path + "/runs",
                                    "sqlite:///" + path + "/study.db",
                                    "-o" + path + "/out",
                                    "@" + path + "/args"};
  };
  const auto texts = with(folder), wanted = with(copy.path());
  for (std::size_t t = 0; t < texts.size(); ++t) CHECK(copy.moved(texts[t]) == wanted[t]);
  for (const std::string& other : {folder + "2/x", "--out=" + folder + "2", "/mnt" + folder,
                                   "/mnt/" + folder, std::string("train.py"), std::string()}) {
    CHECK(copy.moved(other) == other);
  }
}

TEST_CASE("A folder that can't be copied is refused with what to do, and leaves nothing",
          "[folder_copy]") {
  // Bug: a full disk, or half a copy that stays.
  PlantedTree tree;
  const std::string folder = tree.root() + "/project";
  tree.plant("/project/a", "x");
  fs::resize_file(folder + "/a", (std::uintmax_t{4} << 30) + 1);  // of holes
  CHECK_THAT(refusal_of(folder), ContainsSubstring("holds more than 4 GiB or 100,000 files: move"));
  CHECK_THAT(refusal_of("/"), ContainsSubstring("can't copy '/': name a smaller folder"));
  CHECK_THAT(refusal_of(tree.root() + "/none"), ContainsSubstring("No such file"));
  CHECK_THAT(refusal_of("/proc/self"), ContainsSubstring("--keep-state can't copy the folder"));
  CHECK(count_beside(folder) == 0);
}

TEST_CASE("A command runs in a copy that goes with it", "[folder_copy][launch]") {
  // Bug: a checkpoint that is overwritten by its whole path, a PWD that leads into the folder, or a
  // copy that stays because the command took away its own right to write.
  PlantedTree tree;
  const std::string folder = tree.root() + "/project";
  tree.plant("/project/last.pt", "weights");
  const LaunchSpec spec{
      .command = {"sh", "-c",
                  "echo junk >\"$1\"; chmod a-w .; printenv PWD; echo \"$1\" $OUT; "
                  "exec sleep 1000",
                  "sh", folder + "/last.pt"},
      .environment = {{"OUT", folder + "/out"}},
      .folder = folder,
      .in_copy = true};
  {
    RunningCommand launched(spec);
    std::string said;
    REQUIRE(test::becomes([&] {
      launched.listen();
      said += launched.take_output();
      return std::count(said.begin(), said.end(), '\n') == 2;
    }));
    CHECK(said.find(folder) == std::string::npos);
    CHECK(launched.last_lines() == folder + "\n" + folder + "/last.pt " + folder + "/out");
    CHECK(count_beside(folder) == 1);
  }
  CHECK(count_beside(folder) == 0);
  CHECK(text_of(folder + "/last.pt") == "weights");
}

TEST_CASE("A folder that can't be copied ends the start of its command", "[folder_copy][launch]") {
  // Bug: a command that runs in the folder itself.
  PlantedTree tree;
  const std::string folder = tree.root() + "/project";
  tree.plant("/project/a", "x");
  fs::resize_file(folder + "/a", (std::uintmax_t{4} << 30) + 1);
  try {
    RunningCommand launched({.command = {"sh", "-c", "rm a"}, .folder = folder, .in_copy = true});
    FAIL("it runs");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::usage);
    CHECK_THAT(error.what(), ContainsSubstring("move its data away"));
  }
  CHECK(fs::exists(folder + "/a"));
}

}  // namespace
}  // namespace feedrate::folder_copy_tests
