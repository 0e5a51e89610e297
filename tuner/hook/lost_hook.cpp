// SPDX-License-Identifier: Apache-2.0
#include "hook/lost_hook.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "feedrate/core/system_files.hpp"
#include "process/process_tree.hpp"

namespace feedrate {
namespace {

std::string proc_file(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

/// Environment and command line have a zero behind each entry.
std::vector<std::string_view> entries_of(const std::string& text) {
  std::vector<std::string_view> entries = split(text, '\0');
  if (!entries.empty() && entries.back().empty()) entries.pop_back();
  return entries;
}

bool is_python(pid_t pid) {
  std::error_code unknown;
  return std::filesystem::read_symlink(proc_file(pid, "exe"), unknown)
      .filename()
      .string()
      .starts_with("python");
}

/// Letters of a word of flags: those before one that takes a value (c, m, W, X), and that one.
/// Source: "Command line and environment" of Python's documentation.
std::string_view flags_in(std::string_view word) {
  if (word.starts_with("--")) return {};
  return word.substr(1, word.find_first_of("cmWX"));
}

/// The flag by which Python ignores the hook; 0 for none.
char isolation_of(pid_t pid) {
  const std::string text = read_text(proc_file(pid, "cmdline")).value_or("");
  const std::vector<std::string_view> words = entries_of(text);
  for (std::size_t w = 1; w < words.size() && words[w].starts_with('-') && words[w] != "-"; ++w) {
    const std::string_view flags = flags_in(words[w]);
    const std::size_t found = flags.find_first_of("IES");
    if (found != flags.npos) return flags[found];
    if (flags.find_first_of("cm") != flags.npos) break;  // what follows is for the program
    w += words[w].ends_with('W') || words[w].ends_with('X');
  }
  return 0;
}

/// How this process lost the hook; empty where it has it.
std::string how_lost(pid_t pid, const std::string& folder) {
  const auto text = read_text(proc_file(pid, "environ"));
  if (!text) return {};                                           // not ours to read
  if (text->find(std::string(2, '\0')) != text->npos) return {};  // setproctitle writes over it
  const std::vector<std::string_view> variables = entries_of(*text);
  const auto has = [&](std::string_view begin, std::string_view part) {
    return std::any_of(variables.begin(), variables.end(), [&](std::string_view variable) {
      return variable.starts_with(begin) && variable.find(part) != variable.npos;
    });
  };
  if (!has("FEEDRATE_ATTACH=", folder)) {
    return "runs PyTorch without the environment that it was given, and so without autotune's "
           "hook: keep PYTHONPATH, and all variables that begin with FEEDRATE_";
  }
  if (!has("PYTHONPATH=", folder)) {
    return "runs PyTorch with a PYTHONPATH of its own, and so without autotune's hook: write "
           "PYTHONPATH=FOLDER:$PYTHONPATH there, or set it before autotune";
  }
  const char flag = is_python(pid) ? isolation_of(pid) : '\0';
  if (!flag) return {};
  return std::string("runs python -") + flag +
         ", which ignores autotune's hook: leave out -I, -E and -S";
}

bool has_pytorch(pid_t pid) {
  return read_text(proc_file(pid, "maps")).value_or("").find("/libtorch") != std::string::npos;
}

}  // namespace

std::string how_hook_is_lost(pid_t root, const std::string& folder) {
  std::string how;
  for (const ProcessMark& process : descendants_of(root)) {
    const std::string lost = how_lost(process.pid, folder);
    if (lost.empty() && is_python(process.pid)) return {};  // it may come to a loop
    if (!lost.empty() && how.empty() && has_pytorch(process.pid)) how = lost;
  }
  return how;
}

}  // namespace feedrate
