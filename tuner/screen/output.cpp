// SPDX-License-Identifier: Apache-2.0
#include "screen/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

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

ReportFile::ReportFile(const std::string& file, const std::string& workload)
    : path_(file.empty() ? "feedrate-" + workload + ".json" : file) {
  if (is_standard_output()) return;
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      throw Error(Fault::usage, "--output '" + path_ +
                                    "' is a folder or a device: name a file, or - for standard "
                                    "output.");
    }
    path_ = std::filesystem::canonical(path_).string();  // a link stays one
  }
  if (can_write(path_)) return;
  throw Error(Fault::usage, "The report can't be written to '" + path_ +
                                "': " + std::strerror(errno) + "; choose another --output.");
}

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

}  // namespace feedrate
