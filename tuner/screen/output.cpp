// SPDX-License-Identifier: Apache-2.0
#include "screen/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "feedrate/core/clock.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/formats/formats.hpp"
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

/// Up to `count` characters of a file, without white space.
std::string beginning_of(const std::string& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (char c; text.size() < count && file.get(c);) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) text += c;
  }
  return text;
}

/// Whether a text begins as `pattern`, in which '*' is any JSON string.
bool begins_as(std::string_view text, std::string_view pattern) {
  for (const char wanted : pattern) {
    std::size_t length = 1;
    if (wanted == '*') {
      if (!text.starts_with('"')) return false;
      while (length < text.size() && text[length] != '"') length += text[length] == '\\' ? 2 : 1;
      ++length;
    } else if (!text.starts_with(wanted)) {
      return false;
    }
    text.remove_prefix(std::min(length, text.size()));
  }
  return true;
}

extern "C" void on_signal_at_question(int) {
  constexpr char heard[] = "\nautotune: interrupted; nothing was changed\n";
  [[maybe_unused]] const auto put = ::write(STDERR_FILENO, heard, sizeof heard - 1);
  _exit(130);
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

void require_replaceable(const std::string& flag, const std::string& path, std::string_view begins,
                         std::string_view kind) {
  if (path == "-") return;
  std::string ours(begins);
  std::erase_if(ours, [](unsigned char c) { return std::isspace(c); });
  constexpr std::size_t longest = 4096;  // of a name in the place of '*'
  const std::string there = beginning_of(path, longest);
  const bool is_empty = there.empty() || (there == "{}" && ours.starts_with("{*"));
  if (!is_empty && !begins_as(there, ours)) throw_would_be_lost(flag, path, kind);
}

void require_different(const std::vector<NamedFile>& files) {
  std::map<std::filesystem::path, std::string> flags;
  for (const NamedFile& file : files) {
    if (file.path.empty() || file.path == "-") continue;
    const auto [first, is_new] = flags.emplace(
        std::filesystem::weakly_canonical(std::filesystem::absolute(file.path)), file.flag);
    if (is_new) continue;
    throw Error(Fault::usage, file.flag + " '" + file.path + "' is also the file of " +
                                  first->second + ", and one would be lost: name another file.");
  }
}

void throw_would_be_lost(const std::string& flag, const std::string& path, std::string_view kind) {
  throw Error(Fault::usage, flag + " '" + path + "' is there and is no " + std::string(kind) +
                                ", and would be lost: choose another file, or move it away.");
}

ReportFile::ReportFile(const std::string& file, const std::string& workload)
    : path_(writable_path("--output", file.empty() ? "feedrate-" + workload + ".json" : file)) {
  require_replaceable("--output", path_, "{\"schema_version\":", "report");
  if (begins_as(beginning_of(path_, 64), json_gate_begins)) {
    throw_would_be_lost("--output", path_, "report");
  }
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
  const auto on_interrupt = std::signal(SIGINT, on_signal_at_question);
  const auto on_end = std::signal(SIGTERM, on_signal_at_question);
  (isatty(STDOUT_FILENO) ? std::cout : std::cerr) << question << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_end);
  return answer == "y" || answer == "Y" || answer == "yes";
}

void print_error(const std::string& text) {
  std::fputs((isatty(STDERR_FILENO) ? terminal_text(text) : text).c_str(), stderr);
}

}  // namespace feedrate
