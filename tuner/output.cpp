// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <unistd.h>

#include <cstring>

#include "feedrate/core/clock.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/json.hpp"

namespace feedrate {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

ReportFile::ReportFile(const SweepOptions& options, const std::string& workload)
    : path_(options.output.empty() ? "feedrate-" + workload + ".json" : options.output) {
  if (is_standard_output()) return;
  const bool exists = access(path_.c_str(), F_OK) == 0;
  const bool writable = access(folder_of(path_).c_str(), W_OK | X_OK) == 0 &&
                        (!exists || access(path_.c_str(), W_OK) == 0);
  if (writable) return;
  throw Error(Fault::usage, "The report can't be written to '" + path_ +
                                "': " + std::strerror(errno) + "; choose another --output.");
}

void ReportFile::write(const Report& report) {
  if (is_standard_output()) return;
  const std::string text = json_text(to_json(report));
  write_file(path_, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void ReportFile::save(const Report& report) try {
  const double now_s = SteadyClock{}.now_s();
  if (last_s_ >= 0 && now_s - last_s_ < 1) return;
  last_s_ = now_s;
  write(report);
} catch (const Error&) {
}

}  // namespace feedrate
