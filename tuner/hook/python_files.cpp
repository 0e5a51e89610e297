// SPDX-License-Identifier: Apache-2.0
#include "hook/python_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "feedrate/core/error.hpp"
#include "python_text.hpp"

namespace feedrate {
namespace {

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return;
  throw Error(Fault::internal, "Can't write '" + path.string() + "': " + std::strerror(errno) +
                                   "; make room there.");
}

}  // namespace

void write_python_files(const std::string& folder) {
  for (const PythonText& file : python_texts) {
    write_file(std::filesystem::path(folder) / file.name, file.text);
  }
}

}  // namespace feedrate
