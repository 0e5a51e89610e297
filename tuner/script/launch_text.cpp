// SPDX-License-Identifier: Apache-2.0
#include "script/launch_text.hpp"

#include <algorithm>

#include "feedrate/report/text/shell.hpp"

namespace feedrate {
namespace {

using LaunchWords = std::vector<std::string>;

/// Behind the program itself; of words that come twice the last ones count, as for argparse.
void replace_words(LaunchWords& command, const LaunchWords& old, const LaunchWords& given) {
  auto at = old.empty() ? command.end()
                        : std::find_end(command.begin() + 1, command.end(), old.begin(), old.end());
  if (at != command.end()) {
    at = command.erase(at, at + static_cast<std::ptrdiff_t>(old.size()));
  }
  command.insert(at, given.begin(), given.end());
}

std::string file_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Whether the command ends with the script's arguments, or where it has none with the script.
bool gives_arguments(const LaunchWords& command, const LaunchWords& argv) {
  if (argv.size() > command.size()) return false;
  if (argv.size() > 1) return std::equal(argv.rbegin(), argv.rend() - 1, command.rbegin());
  const bool is_module = std::find(command.begin(), command.end(), "-m") != command.end();
  return argv.empty() || is_module || file_of(argv.front()) == file_of(command.back());
}

/// "Give the script -j 8 where it is launched."
std::string advice(const Json& options) {
  LaunchWords all;
  for (const Json& option : options) {
    const auto given = option.at("given").get<LaunchWords>();
    all.insert(all.end(), given.begin(), given.end());
  }
  return "Give the script " + shell_line(all) + " where it is launched.";
}

}  // namespace

std::string launch_text(LaunchWords command, const LaunchWords& argv, const Json& options,
                        const Json& environment) {
  if (options.empty() && environment.empty()) return {};
  if (!options.empty() && !gives_arguments(command, argv)) return advice(options);
  for (const Json& option : options) {
    replace_words(command, option.at("words").get<LaunchWords>(),
                  option.at("given").get<LaunchWords>());
  }
  std::string text;
  for (const auto& [name, value] : environment.items()) {
    text += name + "=" + shell_quoted(value.get<std::string>()) + " ";
  }
  return text + shell_line(command);
}

}  // namespace feedrate
