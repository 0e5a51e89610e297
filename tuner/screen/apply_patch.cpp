// SPDX-License-Identifier: Apache-2.0
#include "screen/apply_patch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "feedrate/core/error.hpp"
#include "process/signals.hpp"
#include "screen/output.hpp"
#include "screen/patch_file.hpp"
#include "screen/replaced_files.hpp"

namespace feedrate {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string_view>;

/// With their ends; the last one may have none.
Lines patch_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end == std::string_view::npos ? end : end + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

/// "a/train.py" of "--- a/train.py": without the first folder, as of `patch -p1`.
std::string file_named_in(std::string_view header) {
  header.remove_prefix(4);
  header = header.substr(0, header.find_first_of("\t\n"));
  return std::string(header.substr(header.find('/') + 1));
}

std::vector<std::string> files_named_in(const std::string& patch) {
  std::vector<std::string> names;
  for (const std::string_view line : patch_lines(patch)) {
    if (line.starts_with("+++ ")) names.push_back(file_named_in(line));
  }
  return names;
}

/// The command line that belongs to the change, where its options set a value.
std::string launch_beside(const Report& report) {
  std::string text;
  for (const Setting& setting : report.settings) {
    if (setting.framework == "command line") text += "Launch it so: " + setting.text + "\n";
  }
  return text;
}

/// What no patch changes of a script, as in a file of another encoding; remarks are in brackets.
std::string left_by_hand(const Report& report) {
  std::string text;
  if (!report.workload.script) return text;
  for (const Setting& setting : report.settings) {
    const bool is_change = setting.framework == "pytorch" && !setting.text.starts_with('(');
    if (is_change && setting.patch.empty())
      text += "To be changed by hand:\n" + setting.text + "\n";
  }
  return text;
}

/// One file of a diff, whose text grows as its lines are read.
class Patching {
 public:
  Patching(std::string path, std::string before)
      : path_(std::move(path)), before_(std::move(before)), lines_(patch_lines(before_)) {}
  Patching(const Patching&) = delete;
  Patching& operator=(const Patching&) = delete;

  /// "@@ -21,7 +21,7 @@": what comes before stays.
  void begin_hunk(const std::string& header) {
    int first = 0, count = 1;
    if (std::sscanf(header.c_str(), "@@ -%d,%d", &first, &count) < 1) refuse();
    const int at = count == 0 ? first : first - 1;
    if (at < static_cast<int>(next_)) refuse();
    while (next_ < static_cast<std::size_t>(at)) keep();
  }

  /// A line of a hunk, behind its mark.
  void take(char mark, std::string_view line) {
    if (mark == '+') {
      after_ += line;
      return;
    }
    if (next_ >= lines_.size() || lines_[next_] != line) refuse();
    if (mark == ' ')
      keep();
    else
      ++next_;
  }

  PatchedFile finished() {
    while (next_ < lines_.size()) keep();
    return {path_, before_, after_};
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error(Fault::data, "'" + path_ +
                                 "' is no longer what was tuned: run autotune again, or change it "
                                 "by hand.");
  }
  void keep() {
    if (next_ >= lines_.size()) refuse();
    after_ += lines_[next_++];
  }

  std::string path_;
  std::string before_;
  std::string after_;
  Lines lines_;
  std::size_t next_ = 0;
};

bool is_of_hunk(std::string_view line) {
  return !line.empty() && (line[0] == ' ' || line[0] == '-' || line[0] == '+');
}

}  // namespace

std::vector<PatchedFile> patched_files(const std::string& patch, const std::string& root) {
  std::vector<PatchedFile> files;
  std::optional<Patching> patching;
  const auto finish = [&] {
    if (patching) files.push_back(patching->finished());
    patching.reset();
  };
  const Lines lines = patch_lines(patch);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    std::string_view line = lines[at];
    const bool names =
        line.starts_with("--- ") && at + 1 < lines.size() && lines[at + 1].starts_with("+++ ");
    if (names) {
      finish();
      const std::string path = (fs::path(root) / file_named_in(line)).string();
      patching.emplace(path, content_of(path));
      ++at;
    } else if (patching && line.starts_with("@@ ")) {
      patching->begin_hunk(std::string(line));
    } else if (patching && is_of_hunk(line)) {
      const bool has_no_end = at + 1 < lines.size() && lines[at + 1].starts_with("\\");
      if (has_no_end) line.remove_suffix(1);
      patching->take(line[0], line.substr(1));
    }
  }
  finish();
  return files;
}

std::vector<PatchedFile> patched_files(const Report& report) {
  const std::string patch = patch_of(report);
  if (patch.empty() || !report.workload.script) return {};
  const std::vector<std::string> names = files_named_in(patch);
  const fs::path script = report.workload.script->loader.file;
  for (fs::path root = script.parent_path();; root = root.parent_path()) {
    const auto is_there = [&](const std::string& name) { return fs::exists(root / name); };
    if (std::all_of(names.begin(), names.end(), is_there))
      return patched_files(patch, root.string());
    if (!root.has_relative_path()) break;
  }
  throw Error(Fault::data, "'" + names.front() +
                               "' is no longer where it was tuned, in or above '" +
                               script.parent_path().string() + "'.");
}

void require_somebody_to_ask(bool yes) {
  if (yes || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) return;
  throw Error(Fault::usage,
              "Nobody can be asked here whether to change the script: add --yes, or write "
              "autotune show REPORT --patch to see the change.");
}

void apply_change(const Report& report, bool yes) {
  if (report.outcome.interrupted) {
    throw Error(Fault::usage,
                "The run was interrupted before fresh processes could confirm the change: run "
                "autotune --resume REPORT, then apply.");
  }
  const auto files = patched_files(report);
  const std::string rest = left_by_hand(report) + launch_beside(report);
  if (files.empty()) return print_out(rest.empty() ? "No file is to be changed.\n" : rest);
  print_out(patch_of(report));
  if (!yes && !is_agreed("Apply this? [y/N] ")) return;
  const SignalsWait told;  // until the user knows what was changed
  replace_files(files);
  for (const PatchedFile& file : files) {
    print_out("Changed " + file.path + "; " + file.path + ".orig is what it was.\n");
  }
  print_out(rest);
}

void require_change_can_be_made(const TuneRequest& request) {
  const CommandRequest& command = request.command;
  require_patch_file(command.patch);
  if (!command.apply) return;
  if (request.output.prints_json()) {
    throw Error(Fault::usage,
                "--apply shows the change on standard output, where the JSON goes: leave one out, "
                "or write autotune apply REPORT afterwards.");
  }
  require_somebody_to_ask(command.yes);
}

void require_change_of(const std::string& script, const CommandRequest& command) {
  std::error_code ignored;
  if (!command.apply || !fs::exists(fs::symlink_status(script + ".orig", ignored))) return;
  require_no_other_original(script, content_of(script));
}

void make_change(const Report& report, const CommandRequest& command) {
  if (report.outcome.interrupted) return;
  write_patch(report, command.patch);
  if (command.apply) apply_change(report, command.yes);
}

}  // namespace feedrate
