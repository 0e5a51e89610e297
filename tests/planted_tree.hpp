// SPDX-License-Identifier: Apache-2.0
// A folder of small files that a test plants, such as a fake /proc; gone when the test ends.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <stdlib.h>

namespace feedrate::test {

class PlantedTree {
 public:
  PlantedTree() {
    std::string name = (std::filesystem::temp_directory_path() / "feedrate-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  PlantedTree(const PlantedTree&) = delete;
  PlantedTree& operator=(const PlantedTree&) = delete;
  ~PlantedTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  const std::string& root() const noexcept { return root_; }

  /// Writes `text` to root + path, making the folders above it.
  PlantedTree& plant(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path, std::ios::binary) << text;
    return *this;
  }

 private:
  std::string root_;
};

}  // namespace feedrate::test
