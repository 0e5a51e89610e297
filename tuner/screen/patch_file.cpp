// SPDX-License-Identifier: Apache-2.0
#include "screen/patch_file.hpp"

#include <cstdint>
#include <fstream>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file_writer.hpp"
#include "screen/output.hpp"

namespace feedrate {

void require_patch_file(const std::string& file) {
  if (file.empty()) return;
  const std::string path = writable_path("--patch", file);
  if (path == "-") {
    throw Error(Fault::usage,
                "--patch - can't go to standard output beside the screen: name a file, or write "
                "autotune show REPORT --patch afterwards.");
  }
  std::ifstream there(path);
  std::string first, second;
  if (!std::getline(there, first)) return;
  std::getline(there, second);
  const bool is_patch =
      first.starts_with("--- ") && second.starts_with("+++ ");  // a YAML file has "---"
  if (!is_patch) throw_would_be_lost("--patch", path, "patch");
}

std::string patch_of(const Report& report) {
  std::string text;
  for (const Setting& setting : report.settings) text += setting.patch;
  return text;
}

void write_patch(const Report& report, const std::string& file) try {
  if (file.empty()) return;
  const std::string text = patch_of(report);
  write_file(writable_path("--patch", file),
             {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
} catch (const Error& error) {
  throw Error(Fault::internal, "The patch was not written: " + std::string(error.what()));
}

}  // namespace feedrate
