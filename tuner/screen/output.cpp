// SPDX-License-Identifier: Apache-2.0
#include "screen/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "feedrate/core/clock.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/json/json.hpp"

namespace feedrate {
namespace {

/// Whether a file can be made beside `path`, as the report's draft will be; errno says why not.
bool can_write(const std::string& path) {
  std::string draft = path + ".XXXXXX";
  const int descriptor = mkstemp(draft.data());
  if (descriptor < 0) return false;
  close(descriptor);
  return unlink(draft.c_str()) == 0;
}

}  // namespace

std::string writable_path(const std::string& flag, const std::string& file) {
  if (file == "-") return file;
  std::string path = file;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      throw Error(Fault::usage, flag + " '" + path +
                                    "' is a folder or a device: name a file, or - for standard "
                                    "output.");
    }
    path = std::filesystem::canonical(path).string();  // a link stays one
  }
  if (can_write(path)) return path;
  throw Error(Fault::usage, flag + " can't be written to '" + path + "': " + std::strerror(errno) +
                                "; choose another file.");
}

ReportFile::ReportFile(const std::string& file, const std::string& workload)
    : path_(writable_path("--output", file.empty() ? "feedrate-" + workload + ".json" : file)) {}

void ReportFile::write(const Report& report) try {
  if (is_standard_output()) return;
  const std::string text = json_text(to_json(report));
  write_file(path_, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
} catch (const Error& error) {
  throw Error(Fault::internal, "The report was not written: " + std::string(error.what()));
}

void ReportFile::save(const std::function<const Report&()>& make) try {
  const double now_s = SteadyClock{}.now_s();
  if (last_s_ >= 0 && now_s - last_s_ < 1) return;
  last_s_ = now_s;
  write(make());
} catch (const Error&) {
}

void print_out(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if ((written && std::fflush(stdout) == 0) || errno == EPIPE) return;
  throw Error(Fault::internal, "The result could not be written to standard output.");
}

}  // namespace feedrate
