// SPDX-License-Identifier: Apache-2.0
// A folder for the tests of journals, and a header to begin them with.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "../planted_tree.hpp"
#include "journal/journal_header.hpp"

namespace feedrate::testing {

/// A folder of its own, removed at the end.
class JournalFolder {
 public:
  std::string file(const std::string& name) const { return tree_.root() + "/" + name; }

 private:
  test::PlantedTree tree_;
};

inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline JournalHeader example_header() {
  JournalHeader header;
  header.tool.version = "0.1.0";
  header.machine.fingerprint = "0123456789abcdef";
  header.arguments = {"--budget", "60s"};
  header.workload.name = "images";
  header.batches = {32};
  return header;
}

}  // namespace feedrate::testing
