// SPDX-License-Identifier: Apache-2.0
#include "screen/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "feedrate/core/clock.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/json/json.hpp"
#include "feedrate/report/text/clean_text.hpp"

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

/// Throws Error(usage) where there is a file that is neither empty nor begins as a report does.
void require_report(const std::string& path) {
  std::ifstream there(path, std::ios::binary);
  std::string begin(64, '\0');
  there.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(there.gcount()));
  std::erase_if(begin, [](unsigned char c) { return std::isspace(c); });
  if (begin.empty() || begin.starts_with("{\"schema_version\":")) return;
  throw Error(Fault::usage, "--output '" + path +
                                "' is there and is no report, and would be lost: choose another "
                                "file, or move it away.");
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

void require_other_file(const std::string& flag, const std::string& file,
                        const std::string& input) {
  std::error_code missing;
  if (input.empty() || !std::filesystem::equivalent(file, input, missing)) return;
  throw Error(Fault::usage, flag + " '" + file +
                                "' is read by this command, and would be lost: name another file.");
}

ReportFile::ReportFile(const std::string& file, const std::string& workload)
    : path_(writable_path("--output", file.empty() ? "feedrate-" + workload + ".json" : file)) {
  if (!is_standard_output()) require_report(path_);
}

void ReportFile::write(const Report& report) try {
  if (is_standard_output()) return;
  const std::string text = json_text(to_json(report));
  const mode_t mode = report.workload.kind == "command" ? 0600 : 0666;
  write_file(path_, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, mode);
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

void print_out(const std::string& whole) {
  const std::string& text = isatty(STDOUT_FILENO) ? terminal_text(whole) : whole;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if ((written && std::fflush(stdout) == 0) || errno == EPIPE) return;
  throw Error(Fault::internal, "The result could not be written to standard output.");
}

bool is_agreed(const std::string& question) {
  std::signal(SIGINT, SIG_DFL);
  std::cout << question << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

void print_error(const std::string& text) {
  std::fputs((isatty(STDERR_FILENO) ? terminal_text(text) : text).c_str(), stderr);
}

}  // namespace feedrate
