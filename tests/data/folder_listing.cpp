// SPDX-License-Identifier: Apache-2.0
// Tests of data/folder_listing.hpp: which files are samples, and of which class.
#include "feedrate/data/folder_listing.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support.hpp"

namespace feedrate::folder_listing_tests {
using namespace feedrate::test;

namespace {

void touch(const TemporaryFolder& folder, const std::string& name) {
  write_bytes(folder / name, Bytes{1});
}

/// Path below the folder and label of each image.
std::vector<std::pair<std::string, int>> listed(const TemporaryFolder& folder) {
  const FolderListing listing = list_image_folder(folder.path());
  std::vector<std::pair<std::string, int>> found;
  for (std::size_t i = 0; i < listing.paths.size(); ++i) {
    found.emplace_back(listing.paths[i].substr(folder.path().size() + 1), listing.labels[i]);
  }
  return found;
}

using Found = std::vector<std::pair<std::string, int>>;

}  // namespace

TEST_CASE("Classes are the sorted folders, images are found at any depth and in any case") {
  // Bug: the order is that of the disk, and labels change from machine to machine.
  const TemporaryFolder folder;
  for (const char* name : {"dog/b.JPG", "cat/deep/er/z.jpeg", "cat/a.jpg", "cat/notes.txt",
                           "dog/a.JpEg", "ant/readme.md", "dog/.jpg", ".hidden/a.jpg"}) {
    touch(folder, name);
  }
  CHECK(listed(folder) ==
        Found{{"cat/a.jpg", 1}, {"cat/deep/er/z.jpeg", 1}, {"dog/a.JpEg", 2}, {"dog/b.JPG", 2}});
  CHECK(list_image_folder(folder.path()).classes == std::vector<std::string>{"ant", "cat", "dog"});
}

TEST_CASE("Images without class folders have label 0; beside class folders they are counted out") {
  // Bug: loose pictures become a class of their own and shift all labels.
  const TemporaryFolder folder;
  touch(folder, "b.jpg");
  touch(folder, "a.jpg");
  touch(folder, "notes/readme.txt");
  CHECK(listed(folder) == Found{{"a.jpg", 0}, {"b.jpg", 0}});
  CHECK(list_image_folder(folder.path()).classes.empty());
  touch(folder, "cat/c.jpg");
  CHECK(listed(folder) == Found{{"cat/c.jpg", 0}});
  CHECK(list_image_folder(folder.path()).ignored == 2);
}

TEST_CASE("Links are followed, but not in circles") {
  // Bug: a link to the folder above is followed until the path is too long.
  const TemporaryFolder folder, elsewhere;
  touch(elsewhere, "x.jpg");
  touch(folder, "cat/a.jpg");
  std::filesystem::create_directory_symlink(elsewhere.path(), folder / "cat/away");
  std::filesystem::create_directory_symlink(folder.path(), folder / "cat/round");
  std::filesystem::create_directory_symlink(elsewhere.path(), folder / "dog");
  CHECK(listed(folder) == Found{{"cat/a.jpg", 0}, {"cat/away/x.jpg", 0}, {"dog/x.jpg", 1}});
}

TEST_CASE("Links that double the paths at each level are followed once each") {
  // Bug: 30 folders, each with two links to the next, take 2^30 visits.
  constexpr int levels = 30;
  const TemporaryFolder folder, away;
  const auto level = [&](int number) { return away / std::to_string(number); };
  for (int number = 0; number < levels; ++number) std::filesystem::create_directory(level(number));
  for (int number = 0; number + 1 < levels; ++number) {
    std::filesystem::create_directory_symlink(level(number + 1), level(number) + "/a");
    std::filesystem::create_directory_symlink(level(number + 1), level(number) + "/b");
  }
  touch(away, std::to_string(levels - 1) + "/last.jpg");
  std::filesystem::create_directory_symlink(level(0), folder / "cat");
  CHECK(listed(folder).size() == 1);
}

TEST_CASE("Names that are no text are kept as they are") {
  // Bug: names pass through a conversion that drops or replaces bytes.
  const TemporaryFolder folder;
  touch(folder, "cat/\xff\xfe.jpg");
  touch(folder, "cat/line\nbreak.jpg");
  CHECK(listed(folder) == Found{{"cat/line\nbreak.jpg", 0}, {"cat/\xff\xfe.jpg", 0}});
}

TEST_CASE("A missing folder, a file and an empty folder are refused, each by a sentence") {
  // Bug: no images at all passes for a dataset of size 0.
  const TemporaryFolder folder;
  const auto refusal = [](const std::string& path) {
    return error_of([&] { list_image_folder(path); });
  };
  CHECK(contains(refusal(folder / "gone"), "gone': No such file"));
  CHECK(contains(refusal(folder.path()), "holds no .jpg or .jpeg file"));
  touch(folder, "file");
  CHECK(contains(refusal(folder / "file"), "file' is not a folder"));
}

}  // namespace feedrate::folder_listing_tests
